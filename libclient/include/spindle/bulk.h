// Bulk channels: large content from one client to the members of a group.
//
//   spindle::Connection connection = spindle::Connection::connect({.name = "sender", .bulk = true}).value();
//   spindle::Bulk bulk = spindle::Bulk::open(connection).value();
//   bulk.offer("images", spindle::BulkSource::file("disk.img")).value();
//   while (auto event = connection.receive()) {
//     if (event->is<spindle::BulkComplete>()) break;
//   }
//
// and who receives it:
//
//   if (const auto* offered = event->get_if<spindle::BulkOffered>()) {
//     const auto error = bulk.accept(offered->channel, spindle::BulkSink::directory("/srv/images"));
//   }
//
// docs/bulk.md is the guide.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "spindle/connection.h"
#include "spindle/error.h"
#include "spindle/event.h"
#include "spindle/export.h"
#include "spindle/result.h"
#include "spindle/types.h"

namespace spindle {

/// What is offered.
class BulkSource {
 public:
  /// A regular file, offered by the last part of its path as its name. It is read while it is sent, and must not change
  /// before the channel has ended: one that has changed ends it.
  static BulkSource file(std::string path) {
    BulkSource source;
    source.path_ = std::move(path);
    return source;
  }
  /// A directory with all that is in it, offered by its name: files, whether their owner may execute them, and
  /// directories, also empty ones. Names have to be UTF-8 without control characters. What is neither file nor
  /// directory, symbolic links above all, is not sent: offer() puts its path, from the directory on, into `left_out`,
  /// and says file_failed where that is null. Files must not change, as with file().
  static BulkSource directory(std::string path, std::vector<std::string>* left_out = nullptr) {
    BulkSource source;
    source.path_ = std::move(path);
    source.is_directory_ = true;
    source.left_out_ = left_out;
    return source;
  }
  static BulkSource bytes(std::vector<std::uint8_t> content, std::string name = {}) {
    BulkSource source;
    source.content_ = std::make_shared<const std::vector<std::uint8_t>>(std::move(content));
    source.name_ = std::move(name);
    return source;
  }
  /// Puts the next bytes to the front of `to`, and says how many; 0: that was all; nothing: there are none at present,
  /// ask again. An exception ends the channel.
  using Read = std::function<std::optional<std::size_t>(std::span<std::uint8_t> to)>;
  /// A content whose size is not known: `read` is called by a thread of its own until it has come to the end. Blocks
  /// of 8 MiB are sent as soon as they are whole, the last one at the end. Where `spool` is the path of a file, which
  /// must not be there, everything is kept in it, without a name, until the channel has ended. Otherwise the last 8
  /// blocks are; for who is further behind the source waits 10 s, then drops the block, which he can get of others
  /// only: who gets nothing for a minute says file_failed. Without a spool `read` is called no more than 96 MiB before
  /// what has been sent, and so not before somebody accepts. It must come back soon: the end of the channel waits for
  /// it.
  static BulkSource stream(Read read, std::string name, std::string spool = {}) {
    BulkSource source;
    source.read_ = std::move(read);
    source.path_ = std::move(spool);
    source.name_ = std::move(name);
    return source;
  }
  /// Offers it by another name: UTF-8, of up to 255 bytes.
  BulkSource& named(std::string name) {
    name_ = std::move(name);
    return *this;
  }

 private:
  friend class Bulk;
  BulkSource() = default;

  std::string path_;  // of a file or directory, or of the spool of a stream
  Read read_;         // of a stream
  bool is_directory_ = false;
  std::vector<std::string>* left_out_ = nullptr;
  std::shared_ptr<const std::vector<std::uint8_t>> content_;  // null: there is a path
  std::string name_;
};

struct OfferOptions {
  /// The most that this client sends of it, in bytes per second; 0: as much as goes. Bulk::set_rate() changes it.
  std::uint64_t bytes_per_second = 0;
  /// 1 to 100: its share of what connections carry, beside the weights of other channels.
  unsigned weight = 10;
  /// How long the channel stays once it is complete, for members that come later. Who has accepted by then is served to
  /// the end.
  std::chrono::seconds linger{60};
  /// Bounds how long offer() waits for the daemon's answer.
  std::chrono::nanoseconds timeout = std::chrono::seconds(30);
};

/// Where a content goes that is received.
///
/// In a directory it is first "NAME.spindle-part", which has its full size from the beginning, with
/// "NAME.spindle-state" beside it; once it is whole and written to the disk it gets its name, and the state goes. Who
/// accepts the same content there once more, after a crash or an end of the connection, goes on with what is there.
///
/// A content that is a directory (ContentKind::directory) goes into one by file() and directory() alike: its part is a
/// directory, too, with the list of its files beside it in "NAME.spindle-list" as long as it is not whole.
/// BulkReceived says bad_content_name where that list leads anywhere else, or has a name twice.
class BulkSink {
 public:
  /// The file of that path.
  static BulkSink file(std::string path) { return {Kind::file, std::move(path), 0}; }
  /// A file in that directory, by the name that the source has offered. accept() says bad_content_name where that is no
  /// name for a file: empty, no UTF-8, "." or "..", with '/' or control characters, or ".spindle-part",
  /// ".spindle-list", ".spindle-state" or ".spindle-former" at its end.
  static BulkSink directory(std::string path) { return {Kind::directory, std::move(path), 0}; }
  /// BulkReceived::bytes. accept() says limit_exceeded where the content is larger than `bytes_max`, or of unknown
  /// size, and bad_argument where it is a directory.
  static BulkSink memory(std::size_t bytes_max = std::size_t{64} << 20) { return {Kind::memory, {}, bytes_max}; }
  /// Called with each block, in order, by a worker: content that takes its time holds up a worker, and others where
  /// there is but one. False, or an exception: the content cannot be received. Each block is right by its hash as
  /// daemons tell it; whether all is what the source has offered says BulkReceived. accept() says bad_argument where
  /// the content is a directory. What comes before its turn waits in a file without a name in `directory`; empty: that
  /// of the system for temporary files. It cannot be gone on with after a crash, and nobody is served.
  using Write = std::function<bool(std::span<const std::uint8_t> block)>;
  static BulkSink stream(Write write, std::string directory = {}) {
    BulkSink sink{Kind::stream, std::move(directory), 0};
    sink.write_ = std::move(write);
    return sink;
  }

 private:
  friend class Bulk;
  enum class Kind : std::uint8_t { file, directory, memory, stream };
  BulkSink(Kind kind, std::string path, std::size_t bytes_max)
      : kind_(kind), path_(std::move(path)), bytes_max_(bytes_max) {}

  Kind kind_;
  std::string path_;
  std::size_t bytes_max_;
  Write write_;
};

struct AcceptOptions {
  /// Whether a file of that name may be replaced, or by a directory a directory with all that is in it. Otherwise
  /// BulkReceived says file_exists.
  bool replace = false;
  /// Whether this client sends what it has to other receivers, which get it sooner so, or at all where the source is
  /// gone.
  bool serve = true;
};

struct BulkOptions {
  /// Threads that read, write, hash, encode and decode. 1 to 64.
  unsigned workers = 2;
  /// Whether the hashes of files and directories that are offered are kept, so that one that is offered again, and is
  /// what it was, need not be read and hashed again before it is complete. It is known by device, inode, size and times
  /// of its files; one that was changed less than 2 s before it was offered is not kept, nor one of less than 24 MiB.
  bool keep_hashes = true;
  /// The directory for these, which is made; up to 256 files of together 64 MiB. Empty: spindle/hashes in
  /// XDG_CACHE_HOME, or else in ~/.cache.
  std::string hash_directory{};
};

/// Offers and receives contents beside a connection made with ConnectOptions::bulk. What becomes of them are events of
/// that connection: BulkOffered, BulkProgress, BulkStalled, BulkReceived, BulkComplete, BulkReturned, BulkEnded.
///
/// It has a second connection to the daemon, of the same kind, for the content, which is made when it is needed first,
/// and again where it is lost; a thread that reads and writes it; and workers. In memory is a bounded part of each
/// content: some blocks of 8 MiB of one that is sent, and at most some 110 MiB of one that is received.
///
/// All functions may be called by several threads at once, and by a handler of the connection, but for offer(), which
/// says would_block there; moving, assigning and destroying must not coincide with anything else. Functions that return
/// std::error_code return an Errc, or nothing wrong; they throw nothing but std::bad_alloc.
///
/// In a child of fork() its copy is a closed one, as that of a Connection is.
class SPINDLE_EXPORT Bulk {
 public:
  /// A closed one: functions return not_connected.
  Bulk() noexcept;
  Bulk(Bulk&&) noexcept;
  /// Closes what it was first.
  Bulk& operator=(Bulk&&) noexcept;
  /// Ends what is under way: contents that it offers are no longer sent by this client, those that it receives can be
  /// gone on with later. Waits until jobs that have begun are over.
  ~Bulk();

  /// Beside `connection`, which may be moved and goes on without it. Made before the first join, it misses no offer.
  /// Errors: not_connected; bad_argument where the connection was made without ConnectOptions::bulk, or has one
  /// already; connect_failed where the system has no thread or file descriptor left.
  static Result<Bulk> open(Connection& connection, const BulkOptions& options = {});

  /// Offers a content to the members of a group, and waits until the daemon has taken the offer. The client itself need
  /// not be a member, and gets no BulkOffered of its own. What follows are BulkProgress, BulkComplete and BulkEnded.
  /// Errors: file_failed, bad_group_name, bad_argument for a name or weight that cannot be, too_many_channels,
  /// not_connected, timed_out, would_block in a handler.
  Result<ChannelId> offer(std::string_view group, const BulkSource& source, const OfferOptions& options = {});

  /// Receives what was offered; BulkReceived tells of its end, and of files that cannot be written. Where there is no
  /// room from the beginning it says no_space at once. Where there is none later this client asks for nothing, tries
  /// every 5 s for 10 minutes, and says so then; the part stays. Errors:
  /// unknown_channel; bad_argument for what this client offers itself, or has accepted or refused already;
  /// bad_content_name and limit_exceeded, see BulkSink; not_connected. After the last two the channel may be accepted
  /// otherwise, or refused.
  [[nodiscard]] std::error_code accept(const ChannelId& channel, const BulkSink& sink,
                                       const AcceptOptions& options = {});
  /// Tells all that this client will not receive it. Who neither accepts nor refuses is waited for. Errors:
  /// unknown_channel, bad_argument as for accept(), not_connected.
  [[nodiscard]] std::error_code refuse(const ChannelId& channel);
  /// Ends a channel that this client has offered, at all. Errors: unknown_channel, bad_argument for somebody else's,
  /// not_connected.
  [[nodiscard]] std::error_code cancel(const ChannelId& channel);
  /// Changes OfferOptions::bytes_per_second. Errors as of cancel().
  [[nodiscard]] std::error_code set_rate(const ChannelId& channel, std::uint64_t bytes_per_second);

 private:
  friend struct BulkOpener;
  class SPINDLE_HIDDEN Impl;
  explicit Bulk(std::shared_ptr<Impl> impl) noexcept;
  Impl* usable() const noexcept;
  void let_go();

  std::shared_ptr<Impl> impl_;
};

}  // namespace spindle
