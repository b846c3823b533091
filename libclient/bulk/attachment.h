// The second connection of a client to its daemon, for the content of all its channels.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "libclient/bulk/bulk_frames.h"
#include "libclient/bulk/bulk_holder.h"
#include "libclient/bulk/bulk_receiver.h"
#include "libclient/bulk/rate_limit.h"
#include "libclient/include/spindle/error.h"

namespace spindle::bulk {

/// Speaks bulk frames with the daemon: hands what comes to the engines of channels, and writes what these have to say.
/// It owns no socket; one thread at a time uses it.
///
/// Order of calls: `handle_read` as bytes come; then, and whenever `due` has come or an engine may have something,
/// `fill`; and `output` is written.
class Attachment {
 public:
  /// As the daemon has told over the session (`bulk_token`).
  Attachment(std::uint64_t session, const BulkToken& token);

  /// What a client does with a channel: holds its content, receives it, or both. Null: it does not. They outlive their
  /// channel here.
  struct Engines {
    BulkHolder* holder = nullptr;
    BulkReceiver* receiver = nullptr;
  };
  /// A channel that is there already goes on with these.
  void add(const BulkChannelId& channel, const ContentLayout& layout, const Engines& engines);
  void remove(const BulkChannelId& channel);
  /// The most that its holder sends, in bytes per second, heads of frames left out; 0: as much as goes.
  void set_rate(const BulkChannelId& channel, std::uint64_t bytes_per_second);

  /// Why the connection is to be closed, by the daemon's word or because what came makes no sense.
  struct End {
    Errc code{};
    std::string text;
  };
  std::optional<End> handle_read(Nanoseconds now, ByteView bytes);
  bool is_welcome() const { return is_welcome_; }

  /// Writes what engines have to say, until as much waits as may.
  void fill(Nanoseconds now);
  ByteView output() const { return ByteView(output_).subspan(written_); }
  /// The first `bytes` of it were written.
  void consume(std::size_t bytes);
  /// When `fill` may have something without anything coming; nothing: not before.
  std::optional<Nanoseconds> due() const;

  /// What a receiver lets its daemon send ahead, in bytes.
  static constexpr std::size_t kWindowBytes = 1u << 20;
  /// What waits to be written at most when symbols are added.
  static constexpr std::size_t kOutputBytesMax = 256u << 10;

 private:
  struct Channel {
    std::uint32_t number = 0;  // of this side
    ContentLayout layout;
    Engines engines;
    std::uint64_t granted = 0;  // symbols that the daemon may still send
    RateLimit rate;

    std::uint64_t window() const { return std::max<std::uint64_t>(kWindowBytes / layout.symbol_bytes, 4); }
  };

  /// Whole frames, until one says that this is the end: the bytes that they had.
  std::size_t handle_frames(Nanoseconds now, ByteView bytes, std::optional<End>& end);
  std::optional<End> handle_frame(Nanoseconds now, std::uint8_t type, ByteView body);
  template <typename Frame, typename Handle>
  std::optional<End> with_channel(const std::optional<Frame>& frame, Handle&& handle);
  void take_symbol(Nanoseconds now, Channel& channel, const Symbol& symbol);
  void fill(Nanoseconds now, Channel& channel);
  /// Symbols of its holder; whether there was one.
  bool write_symbol(Nanoseconds now, Channel& channel);

  std::map<BulkChannelId, Channel> channels_;
  std::map<std::uint32_t, BulkChannelId> theirs_;  // by the numbers of the daemon
  bool is_welcome_ = false;
  BulkBytes input_;  // of a frame that has not come to its end
  BulkBytes output_;
  std::size_t written_ = 0;  // of `output_`
};

}  // namespace spindle::bulk
