#include "daemon/net/daemon_log.h"

#include <signal.h>
#include <spdlog/pattern_formatter.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>

#include "daemon/net/log_file.h"
#include "daemon/net/log_limiter.h"

namespace spindled {

namespace {

/// What a queued line takes beside its text.
constexpr std::size_t kEntryBytes = 64;
/// For what is queued when the daemon stops.
constexpr std::chrono::milliseconds kEndPatience{500};

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warning:
      return spdlog::level::warn;
    case LogLevel::error:
      break;
  }
  return spdlog::level::err;
}

bool is_control(char byte) { return static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f; }

/// Signals are for the thread that runs the daemon.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_{};
};

struct Entry {
  std::string text;             // with its line feed; empty: the file is to be opened again
  std::uint64_t told_lost = 0;  // lines of whose loss the text tells
};

}  // namespace

/// What the daemon and the thread share. Every call holds the mutex; the thread lets go of it while it writes.
struct DaemonLog::Shared {
  Shared(LogFile log, const LogConfig& config)
      : file(std::move(log)), bytes_max(config.queue_bytes), limiter(config.lines_per_minute) {}

  void write(LogLevel level, std::string_view room, std::string_view kind, std::string_view line);
  void add(LogLevel level, std::string_view room, std::string_view text);
  void add_summaries();
  void tell_losses();
  void push(Entry entry);
  std::string format(LogLevel level, std::string_view room, std::string_view text);

  /// The thread.
  void run();
  void wait(std::unique_lock<std::mutex>& lock);
  void handle_first(std::unique_lock<std::mutex>& lock);
  void reopen(std::unique_lock<std::mutex>& lock);

  std::mutex mutex;
  std::condition_variable news;     // for the thread
  std::condition_variable drained;  // for who waits for it
  LogFile file;                     // the thread's alone
  const std::size_t bytes_max;
  bool has_bounds = true;
  LogLimiter limiter;
  std::deque<Entry> queue;
  std::size_t bytes = 0;  // of the queue
  bool reopen_is_queued = false;
  bool is_writing = false;
  bool waits_for_summary = false;
  bool is_ending = false;
  LogLosses losses;
  std::uint64_t untold = 0;  // of `losses.lost`
  spdlog::pattern_formatter formatter{"%Y-%m-%dT%H:%M:%S.%e%z %l %v", spdlog::pattern_time_type::local, "\n"};
};

std::string DaemonLog::Shared::format(LogLevel level, std::string_view room, std::string_view text) {
  std::string line = fmt::format("{}: {}", room, text);
  // Text of a peer must not look like lines of this log.
  std::replace_if(line.begin(), line.end(), is_control, '?');
  spdlog::memory_buf_t out;
  formatter.format(spdlog::details::log_msg("", to_spdlog(level), line), out);
  return {out.data(), out.size()};
}

void DaemonLog::Shared::write(LogLevel level, std::string_view room, std::string_view kind, std::string_view line) {
  const bool is_limited = has_bounds && !kind.empty();
  if (!is_limited || limiter.admit({room, kind}, level, std::chrono::steady_clock::now())) {
    return add(level, room, line);
  }
  ++losses.left_out;
  // Summaries are due in the order in which lines began to be left out: the thread waits for the first already.
  if (!waits_for_summary) news.notify_one();
}

void DaemonLog::Shared::add(LogLevel level, std::string_view room, std::string_view text) {
  // An empty queue takes a line of any length.
  if (has_bounds && !queue.empty() && bytes + kEntryBytes + text.size() > bytes_max) {
    ++losses.lost;
    ++untold;
    return;
  }
  tell_losses();
  push({format(level, room, text)});
}

void DaemonLog::Shared::tell_losses() {
  if (untold == 0) return;
  const std::string text =
      fmt::format("{} lines were lost here: the log was not read, or could not be written", untold);
  push({format(LogLevel::warning, "log", text), std::exchange(untold, 0)});
}

void DaemonLog::Shared::add_summaries() {
  for (const LogLimiter::Summary& summary : limiter.take_summaries(std::chrono::steady_clock::now(), is_ending)) {
    add(summary.level, summary.kind.room,
        fmt::format("{} more lines of this kind within {} s: {}", summary.lines, summary.span.count(),
                    summary.kind.format));
  }
}

void DaemonLog::Shared::push(Entry entry) {
  bytes += kEntryBytes + entry.text.size();
  queue.push_back(std::move(entry));
  news.notify_one();
}

void DaemonLog::Shared::run() {
  std::unique_lock lock(mutex);
  while (true) {
    add_summaries();
    if (!queue.empty()) {
      handle_first(lock);
    } else {
      drained.notify_all();
      if (is_ending) return;
      wait(lock);
    }
  }
}

void DaemonLog::Shared::wait(std::unique_lock<std::mutex>& lock) {
  const std::optional<LogLimiter::Time> due = limiter.next_summary();
  waits_for_summary = due.has_value();
  if (due) {
    news.wait_until(lock, *due, [this] { return !queue.empty() || is_ending; });
  } else {
    news.wait(lock, [this] { return !queue.empty() || is_ending || limiter.next_summary(); });
  }
  waits_for_summary = false;
}

void DaemonLog::Shared::handle_first(std::unique_lock<std::mutex>& lock) {
  const Entry entry = std::move(queue.front());
  queue.pop_front();
  bytes -= kEntryBytes + entry.text.size();
  is_writing = true;
  if (entry.text.empty()) {
    reopen(lock);
  } else {
    lock.unlock();
    const bool written = file.write(entry.text);
    lock.lock();
    if (!written) {
      const bool is_line_of_its_own = entry.told_lost == 0;
      losses.lost += is_line_of_its_own ? 1 : 0;
      untold += is_line_of_its_own ? 1 : entry.told_lost;
    } else if (queue.empty()) {
      tell_losses();
    }
  }
  is_writing = false;
}

void DaemonLog::Shared::reopen(std::unique_lock<std::mutex>& lock) {
  reopen_is_queued = false;
  lock.unlock();
  const Result<void> opened = file.reopen();
  lock.lock();
  if (opened) {
    add(LogLevel::info, "log", "opened again");
  } else {
    add(LogLevel::error, "log", fmt::format("cannot be opened again: {}", opened.error().message()));
  }
}

Result<std::unique_ptr<DaemonLog>> DaemonLog::open(const LogConfig& config) {
  Result<LogFile> file = LogFile::open(config.file);
  if (!file) return tl::unexpected(file.error());
  return std::unique_ptr<DaemonLog>(new DaemonLog(config.level, std::make_shared<Shared>(std::move(*file), config)));
}

DaemonLog::DaemonLog(LogLevel level, std::shared_ptr<Shared> shared) : level_(level), shared_(std::move(shared)) {
  const SignalsBlocked blocked;
  thread_ = std::thread([kept = shared_] { kept->run(); });
}

DaemonLog::~DaemonLog() {
  {
    const std::lock_guard lock(shared_->mutex);
    shared_->is_ending = true;
    shared_->news.notify_one();
  }
  if (drain(kEndPatience)) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

void DaemonLog::reopen() {
  const std::lock_guard lock(shared_->mutex);
  if (!std::exchange(shared_->reopen_is_queued, true)) shared_->push({});
}

void DaemonLog::lift_bounds() {
  const std::lock_guard lock(shared_->mutex);
  shared_->has_bounds = false;
}

bool DaemonLog::drain(std::chrono::milliseconds patience) {
  std::unique_lock lock(shared_->mutex);
  return shared_->drained.wait_for(lock, patience, [this] { return shared_->queue.empty() && !shared_->is_writing; });
}

void DaemonLog::write(LogLevel level, std::string_view room, std::string_view line) {
  write_of_kind(level, room, {}, line);
}

void DaemonLog::write_of_kind(LogLevel level, std::string_view room, std::string_view kind, std::string_view line) {
  if (!wants(level)) return;
  const std::lock_guard lock(shared_->mutex);
  shared_->write(level, room, kind, line);
}

LogLosses DaemonLog::losses() const {
  const std::lock_guard lock(shared_->mutex);
  return shared_->losses;
}

}  // namespace spindled
