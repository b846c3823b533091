// One bulk channel at a client: its engines, and what is done for them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "libclient/bulk/attachment.h"
#include "libclient/bulk/bulk_holder.h"
#include "libclient/bulk/bulk_receiver.h"
#include "libclient/codes/erasure_code.h"
#include "libclient/protocol/bulk_requests.h"
#include "libclient/src/bulk_store.h"
#include "libclient/src/kept_hashes.h"
#include "libclient/src/stream_source.h"
#include "spindle/event.h"

namespace spindle {

/// What a transfer needs of the thread that drives it.
class BulkTransferHost {
 public:
  virtual ~BulkTransferHost() = default;

  /// Has a worker call `job`, and the thread what that gives.
  virtual void submit(std::function<std::function<void()>()> job) = 0;
  virtual void ask(protocol::BulkRequest request) = 0;
  virtual void give(Event event) = 0;
  /// As BulkHost::ask_and_add().
  virtual void ask_and_give(protocol::BulkRequest request, Event event) = 0;
  /// The channel's end, which this client asks for, has that reason.
  virtual void note_failure(const bulk::BulkChannelId& channel, const StoreFailure& failure) = 0;
  /// What the engines are has changed.
  virtual void engines_changed(const bulk::BulkChannelId& channel) = 0;
  /// By any thread: there is something to pump.
  virtual void wake() = 0;
  virtual const codes::ErasureCode& code() const = 0;
  virtual const bulk::Hasher& hasher() const = 0;
  virtual std::shared_ptr<bulk::BlockMemory> memory() const = 0;
  /// A random number for each channel.
  virtual std::uint32_t draw() = 0;
};

ChannelId to_public(const bulk::BulkChannelId& id);
bulk::BulkChannelId to_internal(const ChannelId& id);

/// For the bulk thread alone. `pump` is called whenever something may have happened, and at `due`.
class BulkTransfer : public std::enable_shared_from_this<BulkTransfer> {
 public:
  struct Offer {
    bulk::BulkChannelId id;
    bulk::ContentLayout layout;
    std::shared_ptr<BulkStore> store;
    std::uint64_t bytes_per_second = 0;
    std::shared_ptr<StreamSource> stream;        // null: the size is known; otherwise `store` is the same
    std::shared_ptr<const KeptHashes> hashes{};  // null: none are kept
    std::optional<bulk::BlockIndex> known{};     // those that were
  };
  struct Acceptance {
    bulk::BulkChannelId id;
    bulk::ContentLayout layout;
    std::optional<bulk::BlockHash> root;
    std::shared_ptr<BulkStore> store;
    bool serves = true;
  };

  BulkTransfer(BulkTransferHost& host, Offer offer);
  BulkTransfer(BulkTransferHost& host, Acceptance acceptance);
  /// Once, after construction. `former`: what is received goes to the place of that one, which has to let go of it
  /// first.
  void start(BulkTransfer* former = nullptr);

  bool is_own() const { return is_own_; }
  const bulk::ContentLayout& layout() const { return layout_; }
  /// None where it has nothing to do with the content, not yet or not any more.
  bulk::Attachment::Engines engines() const {
    if (is_over_ || full_ || outcome_ == protocol::BulkOutcome::failed) return {};
    return {holder_.get(), receiver_.get()};
  }
  std::uint64_t bytes_per_second() const { return bytes_per_second_; }
  void set_rate(std::uint64_t bytes_per_second) { bytes_per_second_ = bytes_per_second; }

  void handle_seal(bulk::Nanoseconds now, std::uint64_t size, const bulk::BlockHash& root);
  /// The channel was offered in a new session: what is to be said of it is said again.
  void say_again();
  void pump(bulk::Nanoseconds now);
  std::optional<bulk::Nanoseconds> due() const;
  /// The same file is to be that of a later offer, as where a source was started again: this one gives way, and what is
  /// there may serve the other.
  bool gives_way_to(const BulkStore& store);
  /// Whether it has what is at that place, until its last job is over.
  bool is_at_place_of(const BulkStore& store) const { return store_ != nullptr && store_->is_at_place_of(store); }
  /// Nothing more comes of it; what comes of jobs is left aside. `discards`: what was received of it goes, unless it is
  /// whole.
  void end(bool discards);
  /// So that it can be gone on with later. No worker is at work any more.
  void save_at_end();

 private:
  static constexpr bulk::Nanoseconds kProgressPeriod = std::chrono::milliseconds(500);
  /// What is there is noted as often as a twentieth of the time suffices for: little is fetched again after a crash
  /// where the disk is fast.
  static constexpr int kSaveShare = 20;
  static constexpr bulk::Nanoseconds kSavePeriodMin = std::chrono::milliseconds(50);
  static constexpr bulk::Nanoseconds kSavePeriodMax = std::chrono::seconds(2);
  /// A source whose content nobody asks for hashes it by itself, at once where all have it.
  /// A disk on which so many blocks have gone bad serves nobody: each of them is fetched again.
  static constexpr std::uint32_t kBadBlocksMax = 8;
  /// Nor is it waited for one of which so often nothing could be read of what was stored of a block: that is fetched
  /// again each time.
  static constexpr std::uint32_t kUnreadableMax = 8;
  /// How often the hashes of a source are kept that has not all of them.
  static constexpr bulk::Nanoseconds kKeepPeriod = std::chrono::seconds(30);
  static constexpr bulk::Nanoseconds kIdlePeriod = std::chrono::milliseconds(300);
  static constexpr bulk::Nanoseconds kRetryPeriod = std::chrono::seconds(5);
  static constexpr bulk::Nanoseconds kFullMax = std::chrono::minutes(10);
  /// A stream that keeps nothing goes so far beyond a block before that is dropped, and waits so long for who lacks it.
  static constexpr std::uint32_t kBlocksBehind = 8;
  static constexpr bulk::Nanoseconds kWaitForBlock = std::chrono::seconds(10);
  /// Who lacks something of one gets nothing for so long: nobody has it any more.
  static constexpr bulk::Nanoseconds kStreamSilence = std::chrono::seconds(60);
  /// Who lacks something of any content and gets nothing for so long tells the program.
  static constexpr bulk::Nanoseconds kStallPeriod = std::chrono::seconds(10);

  /// `work` runs on a worker, `done` takes what it gives here, unless the transfer is over.
  template <typename Work, typename Done>
  void run(Work work, Done done);
  void open();
  void opened(std::optional<bulk::ResumeState> state, const StoreFailure& failure);
  std::unique_ptr<bulk::BulkHolder> make_holder(bulk::BulkHolder::Kind kind);
  void load(bulk::LoadJob job);
  void pump_source(bulk::Nanoseconds now);
  void pump_stream(bulk::Nanoseconds now);
  void keep_hashes(bulk::Nanoseconds now);
  /// Whether there are hashes that are to be kept, and are not.
  bool has_hashes_to_keep() const;
  void release_blocks(bulk::Nanoseconds now);
  /// Asks for nothing until there is room for what could not be written.
  void wait_for_room(const StoreFailure& failure, std::uint64_t start, std::size_t bytes);
  void try_room(bulk::Nanoseconds now);
  void pump_receiver(bulk::Nanoseconds now);
  void pump_holder_of_received();
  /// What was handed to the program, which may have changed it, is given to others no more, nor what a bad disk holds.
  void stop_serving();
  void do_job(bulk::ReceiverJob job);
  void decoded(bulk::DecodedBlock block);
  /// Whether others have something that is missing here.
  bool waits_for_others() const;
  void look_for_silence(bulk::Nanoseconds now);
  void save_state(bulk::Nanoseconds now);
  /// Whether the state that is saved names a block that is missing again. Nothing is written until it does not: who is
  /// killed meanwhile would take what is at the place of that block for what the state says.
  bool has_taken_back() const { return receiver_->counters().taken_back != saved_taken_back_; }
  /// What was received is let go of when it has failed, or is over. Jobs that are under way may still write where it
  /// is.
  void let_go_when_idle();
  void finish();
  void finished(const StoreFailure& failure);
  void fail(const StoreFailure& failure);
  void say(protocol::BulkOutcome outcome, std::error_code error = {});
  void say_and_give(protocol::BulkOutcome outcome, std::error_code error, BulkReceived received);
  protocol::BulkOutcomeSaid note_outcome(protocol::BulkOutcome outcome, std::error_code error);
  void tell_progress(bulk::Nanoseconds now);
  std::uint64_t bytes() const;
  static bulk::Nanoseconds now();

  BulkTransferHost& host_;
  const bulk::BulkChannelId id_;
  const bool is_own_;
  const bool is_stream_;  // was offered without a size
  bulk::ContentLayout layout_;
  std::optional<bulk::BlockHash> root_;         // of what is received, once it is known
  std::shared_ptr<BulkStore> store_;            // null: it has let go of what was received
  const std::shared_ptr<StreamSource> stream_;  // of what is offered; null: the size is known
  std::shared_ptr<const KeptHashes> hashes_;    // of what is offered; null: none are kept
  std::optional<bulk::BlockIndex> known_;       // until `start`
  std::uint32_t kept_blocks_ = 0;               // whose hashes are
  bool is_keeping_ = false;
  bulk::Nanoseconds kept_at_{};
  std::uint32_t stream_first_ = 0, stream_end_ = 0;
  std::optional<bulk::Nanoseconds> waiting_since_;  // for who lacks the first block of the stream
  bool serves_ = false;
  std::uint64_t bytes_per_second_ = 0;
  std::unique_ptr<bulk::BulkHolder> holder_;
  std::unique_ptr<bulk::BulkReceiver> receiver_;

  protocol::BulkOutcome outcome_ = protocol::BulkOutcome::accepted;  // said of it
  std::error_code error_;
  struct Full {
    StoreFailure failure;
    std::uint64_t start = 0;
    std::size_t bytes = 0;
    bulk::Nanoseconds retry_at{};
    bool is_trying = false;
  };
  std::optional<Full> full_;                     // there is no room at present
  std::optional<bulk::Nanoseconds> full_since_;  // nothing could be written
  std::uint64_t heard_symbols_ = 0;
  bulk::Nanoseconds heard_at_{};
  std::uint32_t jobs_ = 0;     // under way
  bool has_worked_ = false;    // jobs have ended since silence was looked for
  bool is_stalled_ = false;    // the program was told so
  bool has_to_go_on_ = false;  // the program is to be told that it is no more
  bool is_over_ = false;
  std::vector<std::function<void()>> let_go_;  // to be called when it has let go
  bool discards_ = false;                      // what there is of it, when it is idle
  bool is_sealed_ = false;                     // the source has said so
  bool is_finishing_ = false;                  // what was received
  bool is_saving_ = false;
  std::uint32_t loads_ = 0;  // jobs
  std::uint32_t saved_blocks_ = 0;
  std::uint64_t saved_taken_back_ = 0;  // blocks that the saved state does not name any more
  std::uint32_t available_blocks_ = 0;
  std::uint32_t bad_blocks_ = 0;         // that were read for others
  std::uint32_t unreadable_blocks_ = 0;  // whose stored symbols could not be read
  bulk::Nanoseconds save_period_ = kSavePeriodMin;
  bulk::Nanoseconds saved_at_{}, told_at_{}, active_at_{};
  std::uint64_t told_bytes_ = 0;
  std::uint64_t sent_symbols_ = 0;
  bulk::RateMeter rate_;  // of what is sent live
  std::uint64_t rated_bytes_ = 0;
};

}  // namespace spindle
