// What stands behind a Bulk: the program's calls, and what the session tells of channels.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "libclient/src/answer.h"
#include "libclient/src/bulk_host.h"
#include "libclient/src/bulk_io.h"
#include "spindle/bulk.h"

namespace spindle {

/// Order of calls: `open`; if it succeeds anything; `close` at last.
///
/// Locks: the host calls ChannelListener with its lock, then `mutex_` is taken; nobody calls the host with `mutex_`.
class Bulk::Impl : private ChannelListener, private BulkSession {
 public:
  /// As BulkOpener::open().
  Impl(std::shared_ptr<BulkHost> host, bulk::Nanoseconds retold_within)
      : host_(std::move(host)), io_(*this, retold_within) {}

  std::error_code open(const BulkOptions& options);
  void close();
  bool is_inherited() const { return io_.is_inherited(); }

  Result<ChannelId> offer(std::string_view group, const BulkSource& source, const OfferOptions& options);
  std::error_code accept(const ChannelId& channel, const BulkSink& sink, const AcceptOptions& options);
  std::error_code refuse(const ChannelId& channel);
  std::error_code cancel(const ChannelId& channel);
  std::error_code set_rate(const ChannelId& channel, std::uint64_t bytes_per_second);

 private:
  using Lock = std::lock_guard<std::mutex>;
  using Offered = Answer<Result<ChannelId>>;

  /// An offer that the daemon has not answered yet.
  struct Pending {
    std::shared_ptr<BulkStore> store;
    std::shared_ptr<StreamSource> stream;
    std::shared_ptr<Offered> answer;
    std::shared_ptr<const KeptHashes> hashes{};
    std::optional<bulk::BlockIndex> known{};
  };
  struct Known {
    bool is_own = false;
    bool is_taken = false;  // accepted or refused
    std::string group;
    std::string name;
    protocol::ContentKind kind = protocol::ContentKind::bytes;
    bulk::ContentLayout layout;
    std::optional<bulk::BlockHash> root;
    StoreFailure failure;    // why this client has cancelled it by itself
    bool is_untold = false;  // the daemon has not told of it again in a new session
  };

  // ChannelListener
  std::optional<Event> channel_news(protocol::BulkNews news) override;
  std::vector<Event> channels_left(std::string_view group) override;
  void channel_answered(std::uint32_t request, std::error_code error) override;
  void session_began_anew() override;
  void session_ended(std::error_code error) override;

  std::optional<Event> take(protocol::BulkOffered& offered);
  std::optional<Event> take(protocol::BulkSealed& sealed);
  std::optional<Event> take(protocol::BulkComplete& complete);
  std::optional<Event> take(protocol::BulkEnded& ended);
  std::optional<Event> take(protocol::BulkToken& token);
  std::optional<Event> take(protocol::BulkReturned& returned);

  // BulkSession
  std::error_code ask(protocol::BulkRequest request) override;
  void give(Event event) override;
  void ask_and_give(protocol::BulkRequest request, Event event) override {
    host_->ask_and_add(std::move(request), std::move(event));
  }
  void note_failure(const bulk::BulkChannelId& channel, const StoreFailure& failure) override;
  bool is_told() const override { return host_->is_told(); }
  void end_untold() override;
  std::unique_ptr<SecondDialler> make_dialler() override { return host_->make_dialler(); }

  std::error_code check_own(const bulk::BulkChannelId& id);
  void fail_pending(std::error_code error);
  static std::shared_ptr<BulkStore> open_source(const BulkSource& source, protocol::ContentTerms& terms,
                                                std::shared_ptr<StreamSource>& stream, StoreFailure& failure);
  static std::shared_ptr<BulkStore> make_sink(const Known& known, const BulkSink& sink, const AcceptOptions& options,
                                              std::error_code& error);

  const std::shared_ptr<BulkHost> host_;
  std::string hash_directory_;  // empty: none are kept
  BulkIo io_;

  std::mutex mutex_;                          // guards what follows
  std::map<std::uint32_t, Pending> pending_;  // by the number of the request
  std::map<bulk::BulkChannelId, Known> known_;
  std::uint32_t token_request_ = 0;
};

}  // namespace spindle
