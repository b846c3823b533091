// The frames of a client on their way to its daemon.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <vector>

#include "libclient/common/framing.h"
#include "libclient/protocol/client_frames.h"

namespace spindle::protocol {

/// Frames are appended to a tail; whoever writes takes what has gathered there in one piece. On each connection the
/// handshake goes first, and nothing else before `open`.
///
/// Of a client that may come back on another connection it keeps what was written until the daemon has it. After `cut`
/// it can go on behind what the daemon has got (`resume`), or tell what may have come from what cannot have
/// (`start_anew`).
///
/// Threads: one may write what `next` gave while others append.
class OutgoingFrames {
 public:
  /// A connection begins, with these frames, which do not count.
  void begin(std::vector<std::uint8_t> handshake);
  /// The daemon has answered.
  void open() { is_open_ = true; }

  /// Where frames are appended, a message with all of its frames at once. Each is noted then.
  std::vector<std::uint8_t>& bytes() { return tail_.bytes; }
  void note_frame(ClientFrame type) {
    ++tail_.frames;
    tail_.has_definitions = tail_.has_definitions || type == ClientFrame::define;
  }
  /// Frames that were written once, of whatever type.
  void append(ByteView frames);
  /// A frame that does not wait for `release`.
  void append_ahead(ByteView frame);
  /// What was appended goes out; what is appended from now on waits for `release`.
  void hold();
  bool is_holding() const { return is_holding_; }
  void release() { is_holding_ = false; }

  /// Bytes that are still to be written.
  std::size_t size() const;
  /// Of these, those for which nothing has to happen before.
  std::size_t writable_size() const;
  /// What is written next, as far as it is in one piece. It stays where it is, whatever is appended, until it is
  /// consumed.
  ByteView next();
  void consume(std::size_t bytes);
  /// Nothing more will be written.
  void drop();

  // A client that may come back.

  /// What it defines is remembered, for `start_anew`.
  void expect_anew() { remembers_ = true; }
  /// Whether what is written is kept, for `resume`. What was kept before is not any more.
  void set_keeping(bool on);
  /// No longer where more than kKeptBytesMax would have to be kept: a program that gets nothing does not see what its
  /// daemon has got.
  bool is_keeping() const { return keeps_; }
  static constexpr std::size_t kKeptBytesMax = 64u << 20;
  /// The daemon has got so many frames.
  void acknowledge(std::uint64_t frames);
  /// The connection is gone.
  void cut();
  /// It goes on behind the first `frames`, on a connection where `open` follows. False where so many were never
  /// written, or fewer than were acknowledged.
  [[nodiscard]] bool resume(std::uint64_t frames);

  /// A frame, or a message with all of its frames.
  struct Unit {
    ClientFrame type;
    ByteView body;   // of the first frame
    ByteView bytes;  // of all of it
  };
  using Visit = std::function<void(const Unit&)>;
  /// Another session begins, where frames count from zero: calls `written` for what may have come in the former one and
  /// for what it has defined, and `unsent` for what cannot have come, in the order of frames. Nothing is left of all
  /// that then.
  void start_anew(const Visit& written, const Visit& unsent);

 private:
  struct Buffer {
    std::vector<std::uint8_t> bytes;
    std::size_t frames = 0;
    bool has_definitions = false;
    // Of it so much, in whole frames, was written before.
    std::size_t done_bytes = 0;
    std::size_t done_frames = 0;
  };

  void finish(Buffer& buffer);
  void forget(const Buffer& buffer);
  void take(Buffer& buffer);
  std::vector<std::uint8_t> take_spare();
  void give_back(std::vector<std::uint8_t>&& bytes);

  std::vector<std::uint8_t> handshake_;
  std::size_t handshake_written_ = 0;
  bool is_open_ = false;
  bool is_holding_ = false;
  bool keeps_ = false;
  bool remembers_ = false;

  std::map<std::uint32_t, std::vector<std::uint8_t>> definitions_;  // frames, by handle, of what is kept no longer
  std::uint64_t first_ = 0;                        // how many frames were written before those in `kept_`
  std::uint64_t acknowledged_ = 0;                 // frames
  std::deque<Buffer> kept_;                        // written, and perhaps not there
  std::size_t kept_bytes_ = 0;                     // of `kept_`
  std::vector<std::vector<std::uint8_t>> spares_;  // memory of buffers that are kept no longer
  std::size_t spares_bytes_ = 0;
  Buffer in_flight_;
  std::size_t written_ = 0;   // bytes of it
  std::deque<Buffer> again_;  // to be written, before the tail
  std::size_t again_bytes_ = 0;
  Buffer tail_;
};

}  // namespace spindle::protocol
