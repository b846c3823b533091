#include "tests/integration/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <functional>
#include <stdexcept>
#include <system_error>

namespace spindle::test {

namespace {

[[noreturn]] void throw_errno(const std::string& what) {
  throw std::system_error(errno, std::generic_category(), what);
}

struct Pipe {
  Descriptor read_end;
  Descriptor write_end;
};

Pipe make_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw_errno("pipe");
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

Descriptor open_file(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) throw_errno(path);
  return file;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

/// All that the child needs, made ready before the fork: behind it only calls that are safe in a signal handler are
/// allowed, since this process has threads.
struct Start {
  int program = -1;
  int network = -1;
  int input = -1;
  int out = -1;
  int error = -1;
  bool private_tmp = false;
  rlim_t descriptors_max = 0;
  char** arguments = nullptr;
  char** environment = nullptr;
};

bool enter_private_tmp() {
  return ::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         ::mount("none", "/tmp", "tmpfs", 0, "mode=1777") == 0;
}

[[noreturn]] void become(const Start& start) {
  // A test that is killed leaves no daemon behind.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::signal(SIGPIPE, SIG_DFL);
  const rlimit descriptors{start.descriptors_max, start.descriptors_max};
  const bool ready = (start.network < 0 || ::setns(start.network, CLONE_NEWNET) == 0) &&
                     (!start.private_tmp || enter_private_tmp()) && ::dup2(start.input, 0) == 0 &&
                     ::dup2(start.out, 1) == 1 && ::dup2(start.error, 2) == 2 &&
                     (start.descriptors_max == 0 || ::setrlimit(RLIMIT_NOFILE, &descriptors) == 0);
  if (ready) ::fexecve(start.program, start.arguments, start.environment);
  constexpr std::string_view kText = "the test could not start this program\n";
  static_cast<void>(!::write(2, kText.data(), kText.size()));
  ::_exit(127);
}

/// Takes what a pipe holds and hands over the lines that are complete. False at its end.
bool read_lines(int pipe, std::string& rest, const std::function<void(std::string)>& take) {
  std::array<char, 4096> bytes;
  const ssize_t count = ::read(pipe, bytes.data(), bytes.size());
  if (count < 0 && errno == EINTR) return true;
  if (count > 0) rest.append(bytes.data(), static_cast<std::size_t>(count));
  for (std::size_t end; (end = rest.find('\n')) != std::string::npos;) {
    take(rest.substr(0, end));
    rest.erase(0, end + 1);
  }
  if (count <= 0 && !rest.empty()) take(std::move(rest));
  return count > 0;
}

}  // namespace

Process::Process(const std::string& program, const ProcessOptions& options) {
  const Descriptor executable = open_file(program);
  const Descriptor null(::open("/dev/null", O_RDWR | O_CLOEXEC));
  Descriptor network;
  if (!options.network_namespace.empty()) network = open_file("/run/netns/" + options.network_namespace);
  Pipe out = make_pipe();
  Pipe error = make_pipe();
  if (options.unread_error) ::fcntl(error.write_end.get(), F_SETPIPE_SZ, 1);

  std::vector<std::string> arguments{program};
  arguments.insert(arguments.end(), options.arguments.begin(), options.arguments.end());
  std::vector<std::string> environment = options.environment;
  std::vector<char*> argument_pointers = pointers(arguments);
  std::vector<char*> environment_pointers = pointers(environment);
  Start start;
  start.program = executable.get();
  start.network = network.get();
  start.input = options.input < 0 ? null.get() : options.input;
  start.out = options.output < 0 ? out.write_end.get() : options.output;
  start.error = error.write_end.get();
  start.private_tmp = options.private_tmp;
  start.descriptors_max = options.descriptors_max;
  start.arguments = argument_pointers.data();
  start.environment = environment_pointers.data();

  id_ = ::fork();
  if (id_ < 0) throw_errno("fork");
  if (id_ == 0) become(start);
  handle_ = Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, id_, 0)));
  start_reading(std::move(out.read_end), Stream::out);
  if (options.unread_error) {
    unread_error_ = std::move(error.read_end);
  } else {
    start_reading(std::move(error.read_end), Stream::error);
  }
}

Process::~Process() {
  if (!ended_) {
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
  }
  for (std::thread& reader : readers_) reader.join();
}

void Process::read_error() { start_reading(std::move(unread_error_), Stream::error); }

void Process::start_reading(Descriptor pipe, Stream stream) {
  {
    const std::lock_guard lock(mutex_);
    ++open_;
  }
  readers_.emplace_back(&Process::read_output, this, std::move(pipe), stream);
}

void Process::signal(int number) {
  if (!ended_) ::kill(id_, number);
}

int Process::wait(std::chrono::milliseconds patience) {
  if (ended_) return exit_code_;
  pollfd end{handle_.get(), POLLIN, 0};
  if (::poll(&end, 1, static_cast<int>(patience.count())) <= 0) throw std::runtime_error("the process does not end");
  int status = 0;
  ::waitpid(id_, &status, 0);
  ended_ = true;
  exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  std::unique_lock lock(mutex_);
  news_.wait(lock, [&] { return open_ == 0; });
  return exit_code_;
}

void Process::read_output(Descriptor pipe, Stream stream) {
  const auto take = [&](std::string text) {
    const std::lock_guard lock(mutex_);
    lines_.push_back({Clock::now(), stream, std::move(text)});
    news_.notify_all();
  };
  std::string rest;
  while (read_lines(pipe.get(), rest, take)) continue;
  const std::lock_guard lock(mutex_);
  --open_;
  news_.notify_all();
}

Process::Line Process::wait_for_line(std::string_view text, std::size_t from) {
  std::unique_lock lock(mutex_);
  std::size_t next = from;
  const Line* found = nullptr;
  const auto look = [&] {
    for (; next < lines_.size() && found == nullptr; ++next) {
      if (lines_[next].text.find(text) != std::string::npos) found = &lines_[next];
    }
    return found != nullptr || open_ == 0;
  };
  news_.wait_for(lock, kPatience, look);
  if (found == nullptr) throw std::runtime_error("the process did not write \"" + std::string(text) + "\"");
  return *found;
}

std::size_t Process::line_count() {
  const std::lock_guard lock(mutex_);
  return lines_.size();
}

std::string Process::output(Stream stream) {
  const std::lock_guard lock(mutex_);
  std::string result;
  for (const Line& line : lines_) {
    if (line.stream == stream) result += line.text + '\n';
  }
  return result;
}

std::string Process::transcript() {
  const std::lock_guard lock(mutex_);
  std::string result;
  for (const Line& line : lines_) result += line.text + '\n';
  return result;
}

Finished run(const std::string& program, const ProcessOptions& options, std::chrono::milliseconds patience) {
  Process process(program, options);
  const int code = process.wait(patience);
  return {code, process.output(Process::Stream::out), process.output(Process::Stream::error)};
}

}  // namespace spindle::test
