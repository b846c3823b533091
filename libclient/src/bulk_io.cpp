#include "libclient/src/bulk_io.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <system_error>
#include <utility>

#include "libclient/src/blocked_signals.h"

namespace spindle {

std::uint64_t BulkIo::seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 | device();
}

bulk::Nanoseconds BulkIo::now() { return std::chrono::steady_clock::now().time_since_epoch(); }

bool BulkIo::start(unsigned workers) {
  *wake_ = make_event_descriptor();
  if (!*wake_) return false;
  try {
    workers_.start(workers);
    const BlockedSignals blocked;
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error&) {
    workers_.stop();  // those that there are
    return false;
  }
  return true;
}

void BulkIo::stop() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  raise_event(*wake_);
  thread_.join();
  // What workers are doing counts, too. What is let go of then is a job of its own.
  for (int round = 0; round < 2; ++round) {
    run_tasks();
    workers_.drain();
  }
  workers_.stop();
  run_tasks();
  for (const auto& [id, transfer] : transfers_) transfer->save_at_end();
  transfers_.clear();
}

void BulkIo::run_soon(Task task) {
  {
    const std::lock_guard lock(mutex_);
    tasks_.push_back(std::move(task));
  }
  raise_event(*wake_);
}

void BulkIo::submit(std::function<std::function<void()>()> job) {
  workers_.add([this, job = std::move(job)]() mutable {
    std::function<void()> done = job();
    job = nullptr;
    if (done) run_soon([done = std::move(done)](BulkIo&) { done(); });
  });
}

void BulkIo::ask(protocol::BulkRequest request) {
  if (!is_session_over_) static_cast<void>(session_.ask(std::move(request)));
}

// --- What happens in the session ---

void BulkIo::offer(BulkTransfer::Offer offer) {
  const auto transfer = std::make_shared<BulkTransfer>(static_cast<BulkTransferHost&>(*this), offer);
  transfers_[offer.id] = transfer;
  transfer->start();
}

void BulkIo::accept(BulkTransfer::Acceptance acceptance) {
  const std::shared_ptr<BulkTransfer> former = make_way_for(*acceptance.store);
  const auto transfer = std::make_shared<BulkTransfer>(static_cast<BulkTransferHost&>(*this), acceptance);
  transfers_[acceptance.id] = transfer;
  transfer->start(former.get());
}

std::shared_ptr<BulkTransfer> BulkIo::make_way_for(const BulkStore& store) {
  for (const auto& each : transfers_) {
    if (!each.second->gives_way_to(store)) continue;
    const bulk::BulkChannelId id = each.first;
    end(id, false);
    break;
  }
  for (const std::weak_ptr<BulkTransfer>& each : ended_) {
    if (auto ended = each.lock(); ended != nullptr && ended->is_at_place_of(store)) return ended;
  }
  return nullptr;
}

void BulkIo::seal(const bulk::BulkChannelId& id, std::uint64_t size, const bulk::BlockHash& root) {
  if (const auto found = transfers_.find(id); found != transfers_.end()) found->second->handle_seal(now(), size, root);
}

void BulkIo::offered_again(const bulk::BulkChannelId& id) {
  const auto found = transfers_.find(id);
  if (found == transfers_.end()) return;
  found->second->say_again();
  if (!attachment_) return;
  // What this client has asked for before the daemon knew it as a member is lost.
  attachment_->remove(id);
  add(id, *found->second);
}

void BulkIo::set_rate(const bulk::BulkChannelId& id, std::uint64_t bytes_per_second) {
  const auto found = transfers_.find(id);
  if (found == transfers_.end()) return;
  found->second->set_rate(bytes_per_second);
  if (attachment_) attachment_->set_rate(id, bytes_per_second);
}

void BulkIo::end(const bulk::BulkChannelId& id, bool discards) {
  const auto found = transfers_.find(id);
  if (found == transfers_.end()) return;
  found->second->end(discards);
  if (attachment_) attachment_->remove(id);
  std::erase_if(ended_, [](const auto& each) { return each.expired(); });
  ended_.push_back(found->second);
  transfers_.erase(found);
  if (transfers_.empty()) memory_->clear();
}

void BulkIo::session_began_anew() {
  detach();
  retry_at_ = {};
  untold_parts_ = kUntoldParts;
  untold_until_ = now() + retold_within_ / kUntoldParts;
  // Others know of no source of these any more; what is received goes on when it is offered again.
  std::vector<bulk::BulkChannelId> own;
  for (const auto& [id, transfer] : transfers_) {
    if (transfer->is_own()) own.push_back(id);
  }
  for (const bulk::BulkChannelId& id : own) {
    end(id, false);
    session_.give(BulkEnded{to_public(id), BulkEnded::Cause::disconnected, {}, {}});
  }
}

void BulkIo::session_ended() {
  is_session_over_ = true;
  untold_until_.reset();
  detach();
}

// --- The second connection ---

void BulkIo::engines_changed(const bulk::BulkChannelId& id) {
  const auto found = transfers_.find(id);
  if (!attachment_ || found == transfers_.end()) return;
  add(id, *found->second);
}

void BulkIo::add(const bulk::BulkChannelId& id, const BulkTransfer& transfer) {
  const bulk::Attachment::Engines engines = transfer.engines();
  if (engines.holder == nullptr && engines.receiver == nullptr) return attachment_->remove(id);
  attachment_->add(id, transfer.layout(), engines);
  attachment_->set_rate(id, transfer.bytes_per_second());
}

void BulkIo::take_token(const protocol::BulkToken& token) {
  if (phase_ != Phase::asked) return;
  token_ = token;
  phase_ = Phase::dialling;
  dialler_ = session_.make_dialler();
  dialler_->start([wake = wake_] { raise_event(*wake); });
}

void BulkIo::token_refused() {
  if (phase_ == Phase::asked) detach();
}

void BulkIo::go_on_attaching() {
  if (phase_ == Phase::dialling) {
    if (std::optional<DialledServer> server = dialler_->take()) {
      server->stream != nullptr ? attach(*std::move(server)) : detach();
    }
  }
  if (phase_ != Phase::none || is_session_over_ || transfers_.empty() || now() < retry_at_) return;
  phase_ = Phase::asked;
  if (session_.ask(protocol::BulkTokenRequest{})) detach();
}

void BulkIo::attach(DialledServer server) {
  guard_.set_socket(std::move(server.socket));
  stream_ = std::move(server.stream);
  is_blocked_ = false;
  may_have_more_ = true;
  phase_ = Phase::attached;
  dialler_.reset();
  attachment_.emplace(token_->session, token_->token);
  for (const auto& [id, transfer] : transfers_) add(id, *transfer);
}

// There is another try in a while.
void BulkIo::detach() {
  if (attachment_ && attachment_->is_welcome()) back_off_.reset();
  if (dialler_ != nullptr) dialler_->abandon();
  dialler_.reset();
  attachment_.reset();
  stream_.reset();
  guard_.set_socket(Descriptor());
  is_blocked_ = may_have_more_ = false;
  if (phase_ != Phase::none) retry_at_ = now() + back_off_.next();
  phase_ = Phase::none;
}

void BulkIo::read() {
  if (!attachment_) return;
  buffer_.resize(kReadBytes);
  for (int i = 0; i < kReadsMax; ++i) {
    const IoResult result = stream_->read(buffer_);
    if (result.bytes > 0 && attachment_->handle_read(now(), ByteView(buffer_).first(result.bytes))) return detach();
    if (result.is_failure()) return detach();
    may_have_more_ = result.bytes == buffer_.size();
    if (!may_have_more_) return;
  }
}

void BulkIo::flush() {
  if (!attachment_) return;
  is_blocked_ = false;
  for (int i = 0; i < kWritesMax; ++i) {
    attachment_->fill(now());
    const ByteView output = attachment_->output();
    if (output.empty()) return;
    const IoResult result = stream_->write(std::span(&output, 1), output.size());
    attachment_->consume(result.bytes);
    if (result.is_failure()) return detach();
    is_blocked_ = result.bytes < output.size();
    if (is_blocked_) return;
  }
  has_more_to_do_ = true;
}

// --- The thread ---

bool BulkIo::run_tasks() {
  std::vector<Task> tasks;
  bool stops = false;
  {
    const std::lock_guard lock(mutex_);
    tasks.swap(tasks_);
    stops = stop_;
  }
  for (const Task& task : tasks) task(*this);
  return !stops;
}

void BulkIo::pump() {
  // A transfer that fails may be gone then.
  const auto transfers = transfers_;
  for (const auto& [id, transfer] : transfers) transfer->pump(now());
}

// What is told may wait unread for as long as the program takes no events, and is told again once a connection is back.
void BulkIo::count_untold() {
  if (!untold_until_ || now() < *untold_until_) return;
  if (session_.is_told()) --untold_parts_;
  untold_until_ = now() + retold_within_ / kUntoldParts;
  if (untold_parts_ != 0) return;
  untold_until_.reset();
  session_.end_untold();
}

void BulkIo::run() {
  give_way();
  while (run_tasks()) {
    has_more_to_do_ = false;
    count_untold();
    go_on_attaching();
    pump();
    flush();
    pump();  // what is sent next is to be loaded
    wait();
  }
  detach();
}

void BulkIo::wait() {
  std::optional<bulk::Nanoseconds> due;
  const auto consider = [&](std::optional<bulk::Nanoseconds> at) {
    if (at) due = due ? std::min(*due, *at) : *at;
  };
  for (const auto& [id, transfer] : transfers_) consider(transfer->due());
  if (attachment_) consider(attachment_->due());
  if (phase_ == Phase::none && !is_session_over_ && !transfers_.empty()) consider(retry_at_);
  consider(untold_until_);
  int timeout_ms = -1;
  if (due) {
    // "At once" is the first of all times.
    const bulk::Nanoseconds left = *due <= now() ? bulk::Nanoseconds(0) : *due - now();
    timeout_ms = static_cast<int>(
        std::clamp<std::int64_t>(std::chrono::ceil<std::chrono::milliseconds>(left).count(), 0, 60'000));
  }
  if (has_more_to_do_ || may_have_more_) timeout_ms = 0;
  pollfd waiting[2] = {{wake_->get(), POLLIN, 0}, {-1, 0, 0}};
  if (stream_ != nullptr) {
    waiting[1] = {socket_.get(), POLLIN, 0};
    if (is_blocked_ || stream_->unsent() > 0) waiting[1].events |= POLLOUT;
  }
  const int ready = ::poll(waiting, 2, timeout_ms);
  if (ready > 0 && waiting[0].revents != 0) clear_event(*wake_);
  if (stream_ == nullptr) return;
  const short events = ready > 0 ? waiting[1].revents : short{0};
  if ((events & POLLOUT) != 0) stream_->flush();  // a failure is found by who reads or writes next
  if ((events & (POLLIN | POLLHUP | POLLERR)) != 0 || may_have_more_) read();
}

}  // namespace spindle
