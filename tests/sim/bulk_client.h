// The bulk content of a simulated client: what it offers and receives over a second connection to its daemon.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libclient/bulk/attachment.h"
#include "libclient/bulk/bulk_holder.h"
#include "tests/checkers/history.h"
#include "tests/sim/content_disk.h"
#include "tests/sim/sim_client.h"

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
    /// That of a program that ran before; none: an empty one. All that offer and receive a content agree on its kind.
    std::shared_ptr<ContentDisk> disk = nullptr;
    spindle::bulk::ReceiverLimits limits = {};
    /// How often it looks whether there is something to do.
    Duration tick = 2ms;
    /// Whether it hashes what it offers without waiting until that is asked for.
    bool hashes_ahead = false;
  };

  BulkClient(World world, SimClient& session, Options options);
  ~BulkClient() override;
  BulkClient(const BulkClient&) = delete;
  BulkClient& operator=(const BulkClient&) = delete;

  void offer(const std::string& group, Bytes content);
  /// The same where contents are hollow (ContentDisk::Kind).
  void offer(const std::string& group, std::uint64_t size, std::uint8_t weight = protocol::kChannelWeightDefault);
  /// In blocks of so many symbols of the least size.
  void offer(const std::string& group, Bytes content, std::uint32_t block_symbols, std::uint32_t linger_s);
  /// What it has received, once that is whole; null before.
  const Bytes* received(const BulkChannelId& channel) const;
  /// Whether it has received all of it.
  bool is_done(const BulkChannelId& channel) const;
  /// What has come of the channel so far; nothing: it does not receive it.
  std::optional<spindle::bulk::ReceiverCounters> counters(const BulkChannelId& channel) const;
  /// What it has sent of the channel so far; nothing: it has nothing to give.
  std::optional<spindle::bulk::HolderCounters> sent(const BulkChannelId& channel) const;
  /// How many symbols its blocks took, as far as they are complete; nothing: it does not receive it.
  std::optional<spindle::test::DecodingCounters> decoding(const BulkChannelId& channel) const;
  SimClient& session() { return session_; }
  const std::shared_ptr<ContentDisk>& disk() const { return options_.disk; }
  /// Ends its connection for content, and opens another.
  void break_attachment();
  /// Its program has ended, and another one has its disk.
  void end();
  /// Whether it reads what comes on that connection.
  void set_reading(bool on);
  /// The most that it sends of each content that it offers, from now on, in bytes per second; 0: as much as goes.
  void set_cap(std::uint64_t bytes_per_second);
  /// Whether it is there, and offers it.
  bool offers(const BulkChannelId& channel) const;
  /// That it is to receive, and has not written.
  std::uint32_t missing_blocks(const BulkChannelId& channel) const;

  /// Calls `note(channel, gives)` for each channel of which it has something to give, or of which it lacks something.
  template <typename Note>
  void note_standing(Note&& note) const {
    for (const auto& [id, content] : contents_) {
      const Standing standing = standing_of(*content);
      if (standing != Standing::none) note(id, standing == Standing::gives);
    }
  }
  /// For the checkers: of each channel that it had to do with, in any session.
  std::vector<checkers::ContentHistory> histories() const;

 private:
  struct Content;
  struct Offered {
    Bytes bytes;
    std::uint64_t size = 0;
  };
  void offer(const std::string& group, protocol::ContentTerms terms, Bytes content);
  enum class Standing : std::uint8_t { none, lacks, gives };

  void stream_connected(StreamRef end) override;
  void stream_readable(StreamRef end) override;
  void stream_writable(StreamRef) override { flush(); }
  void stream_closed(StreamRef end, std::string_view why) override;

  void tick();
  void attach();
  /// Its session is another one, whose daemon knows nothing of what it did before.
  void begin_anew();
  void look_at(const BulkChannelId& id);
  void begin(Content& content, const ClientChannel& channel);
  void say(Content& content);
  void look_at_disk(Content& content);
  void work(Content& content);
  void take_back(Content& content);
  void give_up_bad_blocks(Content& content);
  /// Opens the channel on the second connection, or goes on with other engines.
  void add_to_attachment(const Content& content);
  void note_bad(Content& content, std::uint32_t block);
  void note_done(Content& content);
  /// Holds what it has sent of it to the cap.
  void note_sent(Content& content);
  void forge(spindle::bulk::LoadedBlock& block);
  void note_written(Content& content);
  void read();
  void flush();
  bool is_there(const Content& content) const;
  Standing standing_of(const Content& content) const;
  checkers::ContentHistory history_of(const Content& content) const;
  spindle::bulk::Nanoseconds now() const { return world_.events.now().time_since_epoch(); }

  World world_;
  SimClient& session_;
  Options options_;
  std::map<std::string, Offered> offered_;  // whose channels are not known yet, by the names of the contents
  std::size_t offers_ = 0;
  std::map<BulkChannelId, std::unique_ptr<Content>> contents_;
  std::vector<checkers::ContentHistory> former_;  // of former sessions
  std::size_t sessions_ = 0;                      // former ones
  std::size_t returns_ = 0;
  std::optional<spindle::bulk::Attachment> attachment_;
  StreamRef end_;
  bool is_connected_ = false;
  bool is_reading_ = true;
  std::uint64_t cap_ = 0;
  std::optional<std::size_t> asked_at_;  // for a token, when it had got so many
  std::shared_ptr<bool> is_alive_ = std::make_shared<bool>(true);
};

}  // namespace spindled::sim
