#include "libclient/src/bulk_transfer.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <type_traits>
#include <utility>

namespace spindle {

namespace {

bulk::ReadContent reading(std::shared_ptr<BulkStore> store) {
  return [store = std::move(store)](std::uint64_t start, std::span<std::uint8_t> to) { return store->read(start, to); };
}

/// What a receiver has in memory is some blocks. Sources that are this library make them no larger than `of` says; of
/// others so many times that is taken.
bool has_usual_blocks(const bulk::ContentLayout& layout) {
  constexpr std::uint32_t kTimes = 8;
  const bulk::ContentLayout usual = bulk::ContentLayout::of(layout.size).value_or(bulk::ContentLayout{});
  return layout.block_bytes / kTimes <= std::max(usual.block_bytes, bulk::kUsualBlockBytes);
}

/// Neighbours go in one piece.
StoreFailure write_symbols(BulkStore& store, const bulk::StoreJob& job) {
  for (const bulk::BlockSet::Run& run : job.placed) {
    StoreFailure failure = store.write(job.place.start_of(run.first), job.bytes_of(run));
    if (failure.error) return failure;
  }
  std::vector<std::uint8_t> piece;
  std::uint64_t start = 0;
  for (const bulk::HeldSymbol& symbol : job.symbols) {
    const std::uint64_t at = job.place.start_of(symbol.esi);
    const std::size_t bytes = job.place.bytes_of(symbol.esi, 1);
    constexpr std::size_t kPieceBytes = 1u << 20;
    if (!piece.empty() && (at != start + piece.size() || piece.size() >= kPieceBytes)) {
      if (StoreFailure failure = store.write(start, piece); failure.error) return failure;
      piece.clear();
    }
    if (piece.empty()) start = at;
    piece.insert(piece.end(), symbol.bytes.get(), symbol.bytes.get() + bytes);
  }
  return piece.empty() ? StoreFailure{} : store.write(start, piece);
}

}  // namespace

ChannelId to_public(const bulk::BulkChannelId& id) { return {id.daemon, id.incarnation, id.number}; }
bulk::BulkChannelId to_internal(const ChannelId& id) { return {id.daemon, id.incarnation, id.number}; }

bulk::Nanoseconds BulkTransfer::now() { return std::chrono::steady_clock::now().time_since_epoch(); }

BulkTransfer::BulkTransfer(BulkTransferHost& host, Offer offer)
    : host_(host),
      id_(std::move(offer.id)),
      is_own_(true),
      is_stream_(offer.stream != nullptr),
      layout_(offer.layout),
      store_(std::move(offer.store)),
      stream_(std::move(offer.stream)),
      hashes_(std::move(offer.hashes)),
      known_(std::move(offer.known)),
      bytes_per_second_(offer.bytes_per_second) {}

BulkTransfer::BulkTransfer(BulkTransferHost& host, Acceptance acceptance)
    : host_(host),
      id_(std::move(acceptance.id)),
      is_own_(false),
      is_stream_(!acceptance.layout.has_size()),
      layout_(acceptance.layout),
      root_(acceptance.root),
      store_(std::move(acceptance.store)),
      serves_(acceptance.serves) {}

template <typename Work, typename Done>
void BulkTransfer::run(Work work, Done done) {
  // What a job has may not be copied, and functions are.
  auto shared = std::make_shared<Work>(std::move(work));
  ++jobs_;
  host_.submit([self = shared_from_this(), shared, done = std::move(done)]() -> std::function<void()> {
    auto result = std::make_shared<decltype((*shared)())>((*shared)());
    return [self, result, done] {
      --self->jobs_;
      self->has_worked_ = true;
      if (!self->is_over_) done(std::move(*result));
      self->let_go_when_idle();
    };
  });
}

std::unique_ptr<bulk::BulkHolder> BulkTransfer::make_holder(bulk::BulkHolder::Kind kind) {
  return std::make_unique<bulk::BulkHolder>(kind, layout_, bulk::RepairIds(host_.draw(), host_.draw()),
                                            bulk::HolderLimits{}, host_.memory());
}

void BulkTransfer::start(BulkTransfer* former) {
  active_at_ = told_at_ = now();
  if (is_own_) {
    holder_ = make_holder(bulk::BulkHolder::Kind::source);
    kept_at_ = active_at_;
    if (known_) {
      kept_blocks_ = known_->known().count();
      holder_->handle_known(*std::exchange(known_, std::nullopt));
    }
    if (stream_ != nullptr) {
      stream_->start(layout_.block_bytes, [&host = host_] { host.wake(); });
    } else {
      holder_->handle_available(bulk::BlockSet::of_first(layout_.blocks()));
    }
    return host_.engines_changed(id_);
  }
  say(outcome_);
  if (former == nullptr) return open();
  former->let_go_.push_back([self = shared_from_this()] { self->open(); });
  former->let_go_when_idle();
}

void BulkTransfer::open() {
  if (is_over_ || outcome_ == protocol::BulkOutcome::failed) return;
  if (!has_usual_blocks(layout_)) {
    return fail({Errc::out_of_memory, "the content was offered in blocks of " + std::to_string(layout_.block_bytes) +
                                          " bytes, which is more than is taken of that size"});
  }
  struct Opened {
    std::optional<bulk::ResumeState> state;
    StoreFailure failure;
  };
  run(
      [store = store_, layout = layout_, root = root_] {
        Opened opened;
        opened.state = store->open(layout, root, opened.failure);
        return opened;
      },
      [this](Opened result) { opened(std::move(result.state), result.failure); });
}

void BulkTransfer::opened(std::optional<bulk::ResumeState> state, const StoreFailure& failure) {
  if (failure.error) return fail(failure);
  receiver_ = std::make_unique<bulk::BulkReceiver>(layout_, host_.hasher(), bulk::ReceiverLimits{},
                                                   state ? &*state : nullptr, host_.memory());
  saved_blocks_ = receiver_->written().count();
  saved_at_ = now();
  if (serves_) {
    receiver_->set_serves(true);
    holder_ = make_holder(bulk::BulkHolder::Kind::receiver);
    holder_->set_hashes(receiver_->hashes());
  }
  if (root_) handle_seal(now(), layout_.size, *root_);
  if (!is_over_) host_.engines_changed(id_);
}

void BulkTransfer::handle_seal(bulk::Nanoseconds now, std::uint64_t size, const bulk::BlockHash& root) {
  if (is_own_ || is_over_ || outcome_ == protocol::BulkOutcome::failed) return;
  const std::optional<bulk::ContentLayout> sealed = layout_.sealed(size);
  const bool fits = sealed && (receiver_ == nullptr || receiver_->handle_seal(now, size, root)) &&
                    (receiver_ == nullptr || holder_ == nullptr || holder_->handle_seal(size));
  if (!fits) return fail({Errc::unexpected_frame, "the content was sealed with a size that it cannot have"});
  layout_ = *sealed;
  root_ = root;
}

void BulkTransfer::say_again() {
  if (!is_own_) say(outcome_, error_);
}

void BulkTransfer::pump(bulk::Nanoseconds now) {
  if (is_over_) return;
  if (is_own_) {
    pump_source(now);
  } else if (receiver_ != nullptr) {
    pump_receiver(now);
  }
  if (!is_over_) tell_progress(now);
}

void BulkTransfer::load(bulk::LoadJob job) {
  ++loads_;
  run([job = std::move(job), store = store_,
       &host = host_]() mutable { return bulk::run(std::move(job), reading(store), host.code(), host.hasher()); },
      [this](bulk::LoadedBlock block) {
        --loads_;
        const bool is_lost = is_own_ && !block.good;
        // It may be that they are wrong, and not the content.
        if (is_lost && hashes_ != nullptr) std::exchange(hashes_, nullptr)->forget();
        if (holder_ != nullptr) holder_->handle_loaded(std::move(block));
        if (is_lost) fail({Errc::file_failed, "the content cannot be read any more, or has changed"});
      });
}

void BulkTransfer::pump_stream(bulk::Nanoseconds now) {
  release_blocks(now);
  const StreamSource::Progress progress = stream_->progress();
  if (progress.failure.error) return fail(progress.failure);
  if (progress.size && !layout_.has_size()) {
    layout_ = *layout_.sealed(*progress.size);
    if (!holder_->handle_seal(*progress.size)) return fail({Errc::internal_error, {}});
  }
  if (progress.first == stream_first_ && progress.end == stream_end_) return;
  stream_first_ = progress.first;
  stream_end_ = progress.end;
  bulk::BlockSet available;
  if (stream_first_ < stream_end_) available.add_run(stream_first_, stream_end_);
  holder_->handle_available(available);
}

/// Nobody is to wait for ever for the slowest, nor lose what he is about to get.
void BulkTransfer::release_blocks(bulk::Nanoseconds now) {
  if (stream_->spools()) return;
  const auto live = static_cast<std::uint32_t>(holder_->live_bytes() / layout_.block_bytes);
  while (stream_first_ + kBlocksBehind < live) {
    if (holder_->is_lacking(stream_first_)) {
      if (!waiting_since_) waiting_since_ = now;
      if (now - *waiting_since_ < kWaitForBlock) return;
    }
    waiting_since_.reset();
    stream_->release(++stream_first_);
    stream_end_ = 0;  // what is available is to be told
  }
}

void BulkTransfer::pump_source(bulk::Nanoseconds now) {
  if (stream_ != nullptr) pump_stream(now);
  if (is_over_) return;
  while (auto job = holder_->take_job()) load(std::move(*job));
  const std::uint64_t sent = holder_->counters().source + holder_->counters().repair;
  if (sent != sent_symbols_ || loads_ != holder_->hash_jobs()) active_at_ = now;
  sent_symbols_ = sent;
  keep_hashes(now);
  if (is_sealed_) return;
  const bulk::BlockSet& known = holder_->index().known();
  if (known.count() == layout_.blocks()) {
    if (const auto root = holder_->index().root(layout_.blocks(), host_.hasher())) {
      is_sealed_ = true;
      host_.ask(protocol::BulkSeal{0, id_, layout_.size, *root});
    }
  } else {
    // What somebody waits for goes first.
    while (loads_ == holder_->hash_jobs()) {
      auto job = holder_->take_hash_job(now - active_at_ >= kIdlePeriod);
      if (!job) break;
      load(std::move(*job));
    }
  }
}

bool BulkTransfer::has_hashes_to_keep() const {
  return is_own_ && hashes_ != nullptr && holder_ != nullptr && holder_->index().known().count() != kept_blocks_;
}

void BulkTransfer::keep_hashes(bulk::Nanoseconds now) {
  if (is_keeping_ || !has_hashes_to_keep()) return;
  const std::uint32_t known = holder_->index().known().count();
  if (known != layout_.blocks() && now - kept_at_ < kKeepPeriod) return;
  is_keeping_ = true;
  kept_at_ = now;
  kept_blocks_ = known;
  run([hashes = hashes_, store = store_, index = holder_->index()] { return hashes->save(*store, index); },
      [this](bool) { is_keeping_ = false; });
}

void BulkTransfer::pump_receiver(bulk::Nanoseconds now) {
  if (outcome_ == protocol::BulkOutcome::failed) return;
  if (full_) return try_room(now);
  while (!has_taken_back()) {
    auto job = receiver_->take_job();
    if (!job) break;
    do_job(std::move(*job));
  }
  if (holder_ != nullptr) pump_holder_of_received();
  if (receiver_->is_done()) return finish();
  look_for_silence(now);
  if (outcome_ != protocol::BulkOutcome::failed) save_state(now);
}

void BulkTransfer::pump_holder_of_received() {
  while (const std::optional<std::uint32_t> block = holder_->take_bad()) {
    if (!is_finishing_) receiver_->handle_bad(*block);
    if (is_finishing_ || ++bad_blocks_ == kBadBlocksMax) return stop_serving();
    available_blocks_ = UINT32_MAX;  // what is available is to be told
  }
  if (const std::uint32_t blocks = receiver_->written().count(); blocks != available_blocks_) {
    available_blocks_ = blocks;
    holder_->handle_available(receiver_->written());
  }
  while (auto job = holder_->take_job()) load(std::move(*job));
}

void BulkTransfer::stop_serving() {
  serves_ = false;
  receiver_->set_serves(false);
  holder_.reset();
  host_.engines_changed(id_);
  if (outcome_ == protocol::BulkOutcome::done) say(protocol::BulkOutcome::kept);
}

bool BulkTransfer::waits_for_others() const {
  return receiver_->lacks_something() && receiver_->complete().count() < layout_.blocks();
}

/// Who is busy itself does not wait for others.
void BulkTransfer::look_for_silence(bulk::Nanoseconds now) {
  const std::uint64_t symbols = receiver_->counters().useful;
  const bool is_busy = jobs_ != 0 || std::exchange(has_worked_, false);
  if (symbols != heard_symbols_ || heard_at_ == bulk::Nanoseconds{} || is_busy || !waits_for_others()) {
    heard_at_ = now;
    if (std::exchange(is_stalled_, false)) has_to_go_on_ = true;
  }
  heard_symbols_ = symbols;
  if (now - heard_at_ >= kStallPeriod && !is_stalled_) {
    is_stalled_ = true;
    host_.give(BulkStalled{to_public(id_)});
  }
  if (!is_stream_ || now - heard_at_ < kStreamSilence) return;
  fail({Errc::file_failed, "block " + std::to_string(receiver_->complete().first_missing()) +
                               " of the stream is gone: its source keeps no more than the last ones"});
}

void BulkTransfer::do_job(bulk::ReceiverJob job) {
  if (auto* decode = std::get_if<bulk::DecodeJob>(&job)) {
    run([decode = std::move(*decode), store = store_,
         &host = host_]() mutable { return bulk::run(std::move(decode), reading(store), host.code(), host.hasher()); },
        [this](bulk::DecodedBlock block) { decoded(std::move(block)); });
  } else if (auto* symbols = std::get_if<bulk::StoreJob>(&job)) {
    struct Stored {
      bulk::StoreJob job;
      StoreFailure failure;
    };
    run(
        [symbols = std::move(*symbols), store = store_]() mutable {
          StoreFailure failure = write_symbols(*store, symbols);
          return Stored{std::move(symbols), std::move(failure)};
        },
        [this](Stored stored) {
          const bool is_good = !stored.failure.error;
          const std::uint32_t first =
              stored.job.placed.empty() ? stored.job.symbols.front().esi : stored.job.placed.front().first;
          const std::uint64_t start = stored.job.place.start_of(first);
          const std::size_t bytes = stored.job.place.bytes_of(first, 1);
          receiver_->handle_stored(now(), std::move(stored.job), is_good);
          if (!is_good) wait_for_room(stored.failure, start, bytes);
        });
  } else if (auto* block = std::get_if<bulk::WriteJob>(&job)) {
    const std::uint64_t number = block->number;
    const bulk::BlockPlace place = block->place;
    run(
        [block = std::move(*block), store = store_] {
          return store->write_block(block.place.start, {block.content.get(), block.place.bytes});
        },
        [this, number, place](const StoreFailure& failure) {
          receiver_->handle_written(now(), number, place.block, !failure.error);
          if (failure.begins_anew) return receiver_->handle_all_lost();
          if (failure.error) return wait_for_room(failure, place.start, place.bytes);
          full_since_.reset();
        });
  }
}

void BulkTransfer::decoded(bulk::DecodedBlock block) {
  const std::uint32_t number = block.job.place.block;
  const bool is_unreadable = block.outcome == bulk::DecodedBlock::Outcome::unreadable;
  receiver_->handle_decoded(now(), std::move(block));
  if (!is_unreadable || ++unreadable_blocks_ != kUnreadableMax) return;
  fail({Errc::file_failed, "what was written of block " + std::to_string(number) + " cannot be read"});
}

void BulkTransfer::save_state(bulk::Nanoseconds now) {
  const std::uint32_t written = receiver_->written().count();
  const bool takes_back = has_taken_back();
  if (is_saving_ || (!takes_back && (written == saved_blocks_ || now - saved_at_ < save_period_))) return;
  is_saving_ = true;
  saved_at_ = now;
  saved_blocks_ = written;
  run([store = store_, state = receiver_->resume_state(),
       takes_back] { return takes_back ? store->take_back(state) : store->save(state); },
      [this, taken_back = receiver_->counters().taken_back](const StoreFailure& failure) {
        is_saving_ = false;
        saved_taken_back_ = taken_back;
        save_period_ = std::clamp(kSaveShare * (BulkTransfer::now() - saved_at_), kSavePeriodMin, kSavePeriodMax);
        // Without room for it the former one holds, where there still is one.
        if (failure.may_pass) saved_blocks_ = UINT32_MAX;
        if (failure.error && !failure.may_pass) fail(failure);
      });
}

void BulkTransfer::wait_for_room(const StoreFailure& failure, std::uint64_t start, std::size_t bytes) {
  if (!failure.may_pass) return fail(failure);
  if (full_ || outcome_ == protocol::BulkOutcome::failed) return;
  if (!full_since_) full_since_ = now();
  full_ = Full{failure, start, bytes, now() + kRetryPeriod, false};
  host_.engines_changed(id_);
}

void BulkTransfer::try_room(bulk::Nanoseconds now) {
  if (full_->is_trying || now < full_->retry_at) return;
  if (now - *full_since_ >= kFullMax) {
    const StoreFailure failure = full_->failure;
    return fail(failure);
  }
  full_->is_trying = true;
  // Nothing of it is held: it is fetched again.
  run([store = store_, start = full_->start,
       bytes = full_->bytes] { return store->write(start, std::vector<std::uint8_t>(bytes)); },
      [this](const StoreFailure& failure) {
        if (!full_) return;
        if (failure.error && !failure.may_pass) return fail(failure);
        if (failure.error) {
          full_->is_trying = false;
          full_->retry_at = BulkTransfer::now() + kRetryPeriod;
          return;
        }
        full_.reset();
        heard_at_ = BulkTransfer::now();
        host_.engines_changed(id_);
      });
}

void BulkTransfer::finish() {
  if (is_finishing_ || is_saving_) return;
  is_finishing_ = true;
  run([store = store_, size = layout_.size] { return store->finish(size); },
      [this](const StoreFailure& failure) { finished(failure); });
}

void BulkTransfer::finished(const StoreFailure& failure) {
  if (failure.error) return fail(failure);
  say_and_give(serves_ ? protocol::BulkOutcome::done : protocol::BulkOutcome::kept, {},
               BulkReceived{to_public(id_), {}, {}, store_->path(), store_->take_bytes()});
}

void BulkTransfer::fail(const StoreFailure& failure) {
  if (is_over_ || outcome_ == protocol::BulkOutcome::failed) return;
  if (is_own_) {
    end(false);
    host_.note_failure(id_, failure);
    return host_.ask(protocol::BulkCancel{0, id_});
  }
  say_and_give(protocol::BulkOutcome::failed, failure.error,
               BulkReceived{to_public(id_), failure.error, failure.text, {}, {}});
  // Nobody can do anything with one whose list of files is no good.
  if (failure.error == Errc::bad_content_name) store_->discard();
  full_.reset();
  // Jobs that are under way still refer to the receiver, which gets nothing more.
  holder_.reset();
  host_.engines_changed(id_);
  let_go_when_idle();
}

protocol::BulkOutcomeSaid BulkTransfer::note_outcome(protocol::BulkOutcome outcome, std::error_code error) {
  outcome_ = outcome;
  error_ = error;
  return {0, id_, outcome, static_cast<std::uint16_t>(error.value())};
}

void BulkTransfer::say(protocol::BulkOutcome outcome, std::error_code error) {
  host_.ask(note_outcome(outcome, error));
}

void BulkTransfer::say_and_give(protocol::BulkOutcome outcome, std::error_code error, BulkReceived received) {
  host_.ask_and_give(note_outcome(outcome, error), std::move(received));
}

std::uint64_t BulkTransfer::bytes() const {
  if (is_own_) return std::min(holder_->live_bytes(), layout_.size);
  return receiver_ != nullptr ? receiver_->progress(now()).bytes_verified : 0;
}

void BulkTransfer::tell_progress(bulk::Nanoseconds now) {
  const std::uint64_t there = bytes();
  const std::uint64_t sent = is_own_ ? there - std::min(there, holder_->passed_over_bytes()) : 0;
  if (sent > rated_bytes_) {
    rate_.add(now, sent - rated_bytes_);
    rated_bytes_ = sent;
  }
  if ((there == told_bytes_ && !has_to_go_on_) || now - told_at_ < kProgressPeriod) return;
  has_to_go_on_ = false;
  told_at_ = now;
  told_bytes_ = there;
  BulkProgress progress{to_public(id_), there, std::nullopt, 0};
  if (layout_.has_size()) progress.size = layout_.size;
  progress.bytes_per_second = is_own_ ? rate_.rate(now) : receiver_->progress(now).bytes_per_second;
  host_.give(progress);
}

std::optional<bulk::Nanoseconds> BulkTransfer::due() const {
  if (is_over_) return std::nullopt;
  std::optional<bulk::Nanoseconds> due;
  const auto consider = [&](bulk::Nanoseconds at) { due = due ? std::min(*due, at) : at; };
  const bool has_next = stream_ == nullptr || (holder_ && holder_->index().known().first_missing() < stream_end_);
  if (is_own_ && !is_sealed_ && holder_->hash_jobs() == 0 && has_next) consider(active_at_ + kIdlePeriod);
  if (receiver_ != nullptr && !full_ && outcome_ == protocol::BulkOutcome::accepted && waits_for_others()) {
    if (!is_stalled_) consider(heard_at_ + kStallPeriod);
    if (is_stream_) consider(heard_at_ + kStreamSilence);
  }
  if (waiting_since_) consider(*waiting_since_ + kWaitForBlock);
  if (full_ && !full_->is_trying) consider(full_->retry_at);
  if ((is_own_ || receiver_ != nullptr) && (bytes() != told_bytes_ || has_to_go_on_)) {
    consider(told_at_ + kProgressPeriod);
  }
  if (receiver_ != nullptr && !full_ && outcome_ == protocol::BulkOutcome::accepted && !is_saving_ && !is_finishing_ &&
      (has_taken_back() || receiver_->written().count() != saved_blocks_)) {
    consider(saved_at_ + save_period_);
  }
  return due;
}

bool BulkTransfer::gives_way_to(const BulkStore& store) {
  const bool is_whole = outcome_ == protocol::BulkOutcome::done || outcome_ == protocol::BulkOutcome::kept;
  if (is_own_ || is_over_ || is_whole || !is_at_place_of(store)) return false;
  if (outcome_ == protocol::BulkOutcome::failed) return true;
  if (receiver_ != nullptr && receiver_->written().count() != 0) {
    run([store = store_, state = receiver_->resume_state()] { return store->save(state); }, [](const StoreFailure&) {});
  }
  fail({Errc::file_exists, "another content of that name has taken its place"});
  return true;
}

void BulkTransfer::end(bool discards) {
  if (is_over_) return;
  is_over_ = true;
  if (stream_ != nullptr) stream_->stop();
  if (has_hashes_to_keep()) {
    host_.submit([hashes = hashes_, store = store_, index = holder_->index()]() -> std::function<void()> {
      hashes->save(*store, index);
      return nullptr;
    });
  }
  discards_ = !is_own_ && discards && outcome_ == protocol::BulkOutcome::accepted;
  let_go_when_idle();
}

void BulkTransfer::let_go_when_idle() {
  const bool has_ended = is_over_ || outcome_ == protocol::BulkOutcome::failed;
  if (is_own_ || !has_ended || jobs_ != 0) return;
  if (std::exchange(discards_, false)) {
    return run(
        [store = store_] {
          store->discard();
          return true;
        },
        [](bool) {});
  }
  store_.reset();
  for (const auto& then : std::exchange(let_go_, {})) then();
}

void BulkTransfer::save_at_end() {
  if (!is_over_ && has_hashes_to_keep()) hashes_->save(*store_, holder_->index());
  if (is_over_ || is_own_ || receiver_ == nullptr || outcome_ != protocol::BulkOutcome::accepted) return;
  if (has_taken_back()) {
    static_cast<void>(store_->take_back(receiver_->resume_state()));
  } else if (receiver_->written().count() != saved_blocks_) {
    static_cast<void>(store_->save(receiver_->resume_state()));
  }
}

}  // namespace spindle
