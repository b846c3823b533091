// The bulk content of a simulated client: what it offers and receives over a second connection to its daemon.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libclient/bulk/attachment.h"
#include "libclient/codes/erasure_code.h"
#include "tests/sim/sim_client.h"
#include "tests/support/bulk_store.h"

namespace spindled::sim {

/// Beside a SimClient that hears of channels. Offers contents, and accepts what others offer where it is to. Jobs of
/// its engines are done at once.
class BulkClient final : private StreamOwner {
 public:
  using Bytes = std::vector<std::uint8_t>;

  struct Options {
    bool accepts = true;
    /// Whether it serves others once it has complete blocks.
    bool serves = true;
    /// Contents are sizes: their bytes are zeros that nobody keeps or hashes, and the code counts symbols
    /// (codes::CountingCode). All that offer and receive them agree on this.
    bool is_hollow = false;
  };

  BulkClient(World world, SimClient& session, Options options);
  ~BulkClient() override;
  BulkClient(const BulkClient&) = delete;
  BulkClient& operator=(const BulkClient&) = delete;

  void offer(const std::string& group, Bytes content);
  /// The same for one whose contents are hollow.
  void offer(const std::string& group, std::uint64_t size, std::uint8_t weight = protocol::kChannelWeightDefault);
  /// What it has received, once that is whole; null before.
  const Bytes* received(const BulkChannelId& channel) const;
  /// Whether it has received all of it.
  bool is_done(const BulkChannelId& channel) const;
  /// What has come of the channel so far; nothing: it does not receive it.
  std::optional<spindle::bulk::ReceiverCounters> counters(const BulkChannelId& channel) const;
  /// How many symbols its blocks took, as far as they are complete; nothing: it does not receive it.
  std::optional<spindle::test::DecodingCounters> decoding(const BulkChannelId& channel) const;
  SimClient& session() { return session_; }
  /// Ends its connection for content, and opens another.
  void break_attachment();

 private:
  static constexpr Duration kTick = 2ms;

  struct Content;
  struct Offered {
    Bytes bytes;
    std::uint64_t size = 0;
  };

  void stream_connected(StreamRef end) override;
  void stream_readable(StreamRef end) override;
  void stream_writable(StreamRef) override { flush(); }
  void stream_closed(StreamRef end, std::string_view why) override;

  void tick();
  void attach();
  void look_at(const BulkChannelId& id);
  void work(Content& content);
  void flush();
  spindle::bulk::Nanoseconds now() const { return world_.events.now().time_since_epoch(); }

  World world_;
  SimClient& session_;
  Options options_;
  std::unique_ptr<const spindle::codes::ErasureCode> code_;
  std::unique_ptr<const spindle::bulk::Hasher> hasher_;
  std::vector<Offered> offered_;  // whose channels are not known yet, in the order of the offers
  std::map<BulkChannelId, std::unique_ptr<Content>> contents_;
  std::optional<spindle::bulk::Attachment> attachment_;
  StreamRef end_;
  bool is_connected_ = false;
  bool has_asked_ = false;  // for a token
  std::shared_ptr<bool> is_alive_ = std::make_shared<bool>(true);
};

}  // namespace spindled::sim
