#include "tests/hunt/worker.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>

// In the tree for coverage the compiler brings this; elsewhere it is not there.
// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" __attribute__((weak)) int __llvm_profile_write_file();
// In the tree with sanitizers this one.
// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern "C" __attribute__((weak)) int __lsan_do_recoverable_leak_check();

namespace spindled::hunt {

namespace {

/// Instead of a length: the seed begins.
constexpr std::uint64_t kBegins = UINT64_MAX;

struct Head {
  std::uint64_t seed = 0;
  std::uint64_t length = 0;
};

void write_all(int fd, const void* data, std::size_t size) {
  const char* at = static_cast<const char*>(data);
  while (size > 0) {
    const ssize_t count = ::write(fd, at, size);
    if (count <= 0) ::_exit(3);  // nobody is there to be told
    at += count;
    size -= static_cast<std::size_t>(count);
  }
}

/// Ends this process by SIGVTALRM once it has used so much time of a processor; 0: never.
void die_after(int seconds) {
  const itimerval timer{{}, {seconds, 0}};
  ::setitimer(ITIMER_VIRTUAL, &timer, nullptr);
}

/// Whether this process has lost memory, which its standard error then says: it ends without exit(), which would look.
bool has_leaks() { return __lsan_do_recoverable_leak_check != nullptr && __lsan_do_recoverable_leak_check() != 0; }

/// One process that does every `step`th seed from `next` on.
class Worker {
 public:
  Worker(std::uint64_t next, std::uint64_t end, std::uint64_t step, int hang_seconds)
      : next_(next), end_(end), step_(step), hang_seconds_(hang_seconds) {}
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker() { close_all(); }

  bool is_done() const { return fd_ < 0 && next_ >= end_; }
  int fd() const { return fd_; }
  void start(const SeedWork& work);
  /// Takes what the process has written; at its end, what it left undone is up to the next one.
  void take(const SeedDone& done);

 private:
  [[noreturn]] void work_off(int out, const SeedWork& work) const;
  void take_frames(const SeedDone& done);
  void bury(const SeedDone& done);
  Finding finding_of_death(int signal, const std::string& output) const;
  std::string output() const;
  void close_all() {
    for (int* each : {&fd_, &errors_}) {
      if (*each >= 0) ::close(*each);
      *each = -1;
    }
  }

  std::uint64_t next_;
  std::uint64_t end_;
  std::uint64_t step_;
  int hang_seconds_;
  pid_t process_ = -1;
  int fd_ = -1;
  int errors_ = -1;  // the standard error of the process, of the seed that it is at
  std::string buffer_;
  std::optional<std::uint64_t> begun_;
};

void Worker::start(const SeedWork& work) {
  int ends[2];
  errors_ = ::memfd_create("hunt", 0);
  if (errors_ < 0 || ::pipe(ends) != 0) throw std::runtime_error("no file descriptors are left");
  std::fflush(nullptr);
  process_ = ::fork();
  if (process_ < 0) throw std::runtime_error("no process can be started");
  if (process_ == 0) {
    ::close(ends[0]);
    ::dup2(errors_, STDERR_FILENO);
    work_off(ends[1], work);
  }
  ::close(ends[1]);
  fd_ = ends[0];
}

void Worker::work_off(int out, const SeedWork& work) const {
  for (std::uint64_t seed = next_; seed < end_; seed += step_) {
    if (::ftruncate(STDERR_FILENO, 0) != 0 || ::lseek(STDERR_FILENO, 0, SEEK_SET) != 0) ::_exit(3);
    const Head begins{seed, kBegins};
    write_all(out, &begins, sizeof begins);
    die_after(hang_seconds_);
    const std::string text = to_text(work(seed));
    die_after(0);
    if (has_leaks()) ::_exit(3);
    const Head head{seed, text.size()};
    write_all(out, &head, sizeof head);
    write_all(out, text.data(), text.size());
  }
  if (__llvm_profile_write_file != nullptr) __llvm_profile_write_file();  // which exit() would do
  ::_exit(0);
}

void Worker::take(const SeedDone& done) {
  std::array<char, 1u << 16> bytes;
  const ssize_t count = ::read(fd_, bytes.data(), bytes.size());
  if (count < 0 && errno == EINTR) return;
  if (count > 0) {
    buffer_.append(bytes.data(), static_cast<std::size_t>(count));
    take_frames(done);
  } else {
    bury(done);
  }
}

void Worker::take_frames(const SeedDone& done) {
  std::size_t at = 0;
  while (buffer_.size() - at >= sizeof(Head)) {
    Head head;
    std::memcpy(&head, buffer_.data() + at, sizeof head);
    if (head.length == kBegins) {
      begun_ = head.seed;
      next_ = head.seed + step_;
      at += sizeof head;
      continue;
    }
    if (buffer_.size() - at - sizeof head < head.length) break;
    begun_.reset();
    done(head.seed, outcome_from_text(std::string_view(buffer_).substr(at + sizeof head, head.length)));
    at += sizeof head + head.length;
  }
  buffer_.erase(0, at);
}

std::string Worker::output() const {
  std::string text(1u << 16, '\0');
  const ssize_t count = ::pread(errors_, text.data(), text.size(), 0);
  text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
  return text;
}

void Worker::bury(const SeedDone& done) {
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  buffer_.clear();
  if (begun_) {
    Outcome outcome;
    const std::string text = output();
    outcome.findings.push_back(finding_of_death(WIFSIGNALED(status) ? WTERMSIG(status) : 0, text));
    outcome.explanation = text;
    const std::uint64_t seed = *begun_;
    begun_.reset();
    done(seed, outcome);
  } else if (status != 0) {
    throw std::runtime_error(fmt::format("a process of the hunt ended with status {}: {}", status, output()));
  }
  close_all();
}

/// What a process that died of `signal` leaves: `output` is its standard error.
Finding Worker::finding_of_death(int signal, const std::string& output) const {
  if (signal == SIGVTALRM) {
    return {"hang", fmt::format("hang: the run did not end within {} s of a processor", hang_seconds_)};
  }
  for (const char* mark : {": check failed: ", "ERROR: AddressSanitizer", "ERROR: LeakSanitizer", "runtime error: "}) {
    const std::size_t found = output.find(mark);
    if (found == std::string::npos) continue;
    const std::size_t begin = output.rfind('\n', found) + 1;
    const std::string line = output.substr(begin, output.find('\n', found) - begin);
    // Without what differs from run to run, such as process ids and addresses.
    return {mark[0] == ':' ? "crash: " + line : fmt::format("crash: {}", mark), "crash: " + line};
  }
  return {"crash", fmt::format("crash: the run ended with signal {} ({})", signal, ::strsignal(signal))};
}

}  // namespace

void run_seeds(Seeds seeds, const Workers& workers, const SeedWork& work, const SeedDone& done,
               const std::function<void()>& idle) {
  const std::uint64_t end = seeds.first + seeds.count;
  std::vector<std::unique_ptr<Worker>> all;
  for (std::size_t i = 0; i < workers.count; ++i) {
    all.push_back(std::make_unique<Worker>(seeds.first + i, end, workers.count, workers.hang_seconds));
  }
  for (;;) {
    std::vector<pollfd> waiting;
    std::vector<Worker*> owners;
    for (const auto& each : all) {
      if (each->is_done()) continue;
      if (each->fd() < 0) each->start(work);
      waiting.push_back({each->fd(), POLLIN, 0});
      owners.push_back(each.get());
    }
    if (waiting.empty()) return;
    ::poll(waiting.data(), waiting.size(), 1000);
    for (std::size_t i = 0; i < waiting.size(); ++i) {
      if (waiting[i].revents != 0) owners[i]->take(done);
    }
    idle();
  }
}

Outcome run_apart(const Plan& plan, const RunOptions& options, int hang_seconds) {
  Outcome result;
  run_seeds(
      {plan.seed, 1}, {1, hang_seconds}, [&](std::uint64_t) { return run(plan, options); },
      [&](std::uint64_t, const Outcome& outcome) { result = outcome; });
  return result;
}

}  // namespace spindled::hunt
