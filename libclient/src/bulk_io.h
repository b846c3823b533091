// The thread of bulk content: a second connection to the daemon, and all channels of a client on it.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "libclient/codes/raptorq_code.h"
#include "libclient/io/byte_stream.h"
#include "libclient/protocol/back_off.h"
#include "libclient/src/block_pool.h"
#include "libclient/src/bulk_host.h"
#include "libclient/src/bulk_transfer.h"
#include "libclient/src/bulk_workers.h"
#include "libclient/src/fork_guard.h"
#include "libclient/src/sha256.h"

namespace spindle {

/// The connection beside which content travels. Called by the bulk thread, which holds no lock.
class BulkSession {
 public:
  virtual ~BulkSession() = default;
  virtual std::error_code ask(protocol::BulkRequest request) = 0;
  virtual void give(Event event) = 0;
  /// As BulkHost::ask_and_add().
  virtual void ask_and_give(protocol::BulkRequest request, Event event) = 0;
  virtual void note_failure(const bulk::BulkChannelId& channel, const StoreFailure& failure) = 0;
  /// As BulkHost::is_told().
  virtual bool is_told() const = 0;
  /// What the daemon has not told of again in a new session is over.
  virtual void end_untold() = 0;
  virtual std::unique_ptr<SecondDialler> make_dialler() = 0;
};

/// Order of calls: `start`, then `run_soon` by any thread, and `stop` at last. What is run soon is given this object,
/// and may call the other functions.
class BulkIo : private BulkTransferHost {
 public:
  /// `retold_within`: of a new session, how long the daemon is heard until `end_untold`.
  BulkIo(BulkSession& session, bulk::Nanoseconds retold_within)
      : session_(session), retold_within_(retold_within), back_off_(seed()), random_(seed()) {}
  ~BulkIo() override { stop(); }

  /// False where no descriptor, or no thread, is left.
  bool start(unsigned workers);
  void stop();
  bool is_inherited() const { return guard_.is_inherited(); }

  using Task = std::function<void(BulkIo&)>;
  void run_soon(Task task);

  // On the thread.
  void offer(BulkTransfer::Offer offer);
  void accept(BulkTransfer::Acceptance acceptance);
  void seal(const bulk::BulkChannelId& id, std::uint64_t size, const bulk::BlockHash& root);
  /// The daemon tells of the channel once more.
  void offered_again(const bulk::BulkChannelId& id);
  void set_rate(const bulk::BulkChannelId& id, std::uint64_t bytes_per_second);
  void end(const bulk::BulkChannelId& id, bool discards);
  void take_token(const protocol::BulkToken& token);
  void token_refused();
  void session_began_anew();
  void session_ended();

 private:
  static constexpr std::size_t kReadBytes = 256u << 10;
  /// In one round, in each direction.
  static constexpr int kReadsMax = 16, kWritesMax = 32;

  /// In which the time for what is untold is counted: one at whose end nobody hears the daemon does not count.
  static constexpr unsigned kUntoldParts = 6;

  /// How far the second connection is.
  enum class Phase : std::uint8_t { none, asked, dialling, attached };

  // BulkTransferHost
  void submit(std::function<std::function<void()>()> job) override;
  void ask(protocol::BulkRequest request) override;
  void give(Event event) override { session_.give(std::move(event)); }
  void ask_and_give(protocol::BulkRequest request, Event event) override {
    session_.ask_and_give(std::move(request), std::move(event));
  }
  void note_failure(const bulk::BulkChannelId& channel, const StoreFailure& failure) override {
    session_.note_failure(channel, failure);
  }
  void engines_changed(const bulk::BulkChannelId& id) override;
  void wake() override {
    run_soon([](BulkIo&) {});
  }
  const codes::ErasureCode& code() const override { return code_; }
  const bulk::Hasher& hasher() const override { return hasher_; }
  std::shared_ptr<bulk::BlockMemory> memory() const override { return memory_; }
  std::uint32_t draw() override { return static_cast<std::uint32_t>(random_()); }

  static std::uint64_t seed();
  static bulk::Nanoseconds now();
  void run();
  void count_untold();
  bool run_tasks();
  void pump();
  void go_on_attaching();
  void attach(DialledServer server);
  void detach();
  void add(const bulk::BulkChannelId& id, const BulkTransfer& transfer);
  /// Who has what is at the place of the store, and lets go of it when its last job is over; null: nobody.
  std::shared_ptr<BulkTransfer> make_way_for(const BulkStore& store);
  void read();
  void flush();
  void wait();

  BulkSession& session_;
  const bulk::Nanoseconds retold_within_;
  const codes::RaptorQCode code_;
  const Sha256 hasher_;
  const std::shared_ptr<BlockPool> memory_ = std::make_shared<BlockPool>();
  std::shared_ptr<Descriptor> wake_ = std::make_shared<Descriptor>();
  Descriptor socket_;
  ForkGuard guard_{socket_};
  BulkWorkers workers_;
  std::thread thread_;

  std::mutex mutex_;  // guards what follows
  std::vector<Task> tasks_;
  bool stop_ = false;

  // The thread's own.
  std::map<bulk::BulkChannelId, std::shared_ptr<BulkTransfer>> transfers_;
  std::vector<std::weak_ptr<BulkTransfer>> ended_;  // their last jobs may be under way
  bool is_session_over_ = false;
  std::optional<bulk::Nanoseconds> untold_until_;  // in a new session: the end of the part that is under way
  unsigned untold_parts_ = 0;                      // of the time to wait, this one included
  Phase phase_ = Phase::none;
  protocol::BackOff back_off_;
  bulk::Nanoseconds retry_at_{};
  std::optional<protocol::BulkToken> token_;
  std::unique_ptr<SecondDialler> dialler_;  // where the phase is `dialling`
  std::unique_ptr<ByteStream> stream_;
  std::optional<bulk::Attachment> attachment_;
  std::vector<std::uint8_t> buffer_;
  bool is_blocked_ = false;      // the socket takes nothing more at present
  bool may_have_more_ = false;   // the stream, although its socket has nothing
  bool has_more_to_do_ = false;  // than one round does
  std::mt19937_64 random_;
};

}  // namespace spindle
