#include "tools/spuser/files.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <set>

#include "libclient/common/printable.h"
#include "spindle/bulk.h"
#include "tools/spuser/conversation.h"
#include "tools/spuser/events.h"
#include "tools/spuser/exit.h"
#include "tools/spuser/membership.h"
#include "tools/spuser/progress.h"

namespace spuser {

namespace {

spindle::ConnectOptions with_bulk(const ConnectionOptions& connection) {
  spindle::ConnectOptions options = connection.to_connect_options();
  options.bulk = true;
  return options;
}

spindle::Bulk open_bulk(Conversation& conversation, bool keep_hashes = true) {
  spindle::BulkOptions options;
  options.keep_hashes = keep_hashes;
  spindle::Result<spindle::Bulk> bulk = spindle::Bulk::open(conversation.connection(), options);
  if (!bulk) throw Exit{kExitConnection, "cannot begin to exchange files: " + bulk.text()};
  return *std::move(bulk);
}

/// What others have given to a content is shown so that it cannot do anything to a terminal.
std::string shown(const std::string& name) { return name.empty() ? "(no name)" : '"' + spindle::printable(name) + '"'; }

std::string summary(std::uint64_t bytes, std::chrono::duration<double> took) {
  const double seconds = std::max(took.count(), 1e-3);
  return fmt::format("{} in {:.1f} s, {}/s", human_bytes(bytes), seconds,
                     human_bytes(static_cast<std::uint64_t>(static_cast<double>(bytes) / seconds)));
}

std::string text_of(const std::error_code& error, const std::string& text) {
  return text.empty() || text == error.message() ? error.message() : error.message() + ": " + spindle::printable(text);
}

constexpr const char* kStandard = "-";

std::optional<std::size_t> read_input(std::span<std::uint8_t> to) {
  constexpr int kPatienceMs = 100;
  pollfd input{STDIN_FILENO, POLLIN, 0};
  if (::poll(&input, 1, kPatienceMs) <= 0) return std::nullopt;
  const ssize_t bytes = ::read(STDIN_FILENO, to.data(), to.size());
  if (bytes >= 0) return static_cast<std::size_t>(bytes);
  if (errno == EINTR || errno == EAGAIN) return std::nullopt;
  throw std::system_error(errno, std::generic_category(), "standard input");
}

bool write_output(std::span<const std::uint8_t> block) {
  while (!block.empty()) {
    const ssize_t bytes = ::write(STDOUT_FILENO, block.data(), block.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes < 0) throw std::system_error(errno, std::generic_category(), "standard output");
    block = block.subspan(static_cast<std::size_t>(bytes));
  }
  return true;
}

class Sender {
 public:
  Sender(Conversation& conversation, Output& output, const SendFileOptions& options)
      : conversation_(conversation),
        output_(output),
        options_(options),
        membership_({options.group}),
        bulk_(open_bulk(conversation, !options.no_cache)) {
    conversation_.set_handler(
        [this](spindle::Event&& event) { event.visit([this](const auto& value) { handle(value); }); });
  }

  void run() {
    wait_for_members();
    spindle::OfferOptions offer;
    offer.bytes_per_second = options_.rate;
    offer.linger = kLinger;
    std::vector<std::string> left_out;
    const spindle::Result<spindle::ChannelId> channel = bulk_.offer(options_.group, source(left_out), offer);
    for (const std::string& path : left_out) progress_.say(shown(path) + " is no file or directory, and is left out");
    if (!channel) throw refusal(channel.error(), channel.text());
    channel_ = *channel;
    progress_.begin(channel_, options_.path);
    conversation_.wait_until([this] { return is_complete_ || is_ended_; });
    if (is_complete_ && !is_ended_) stay();
    bulk_ = spindle::Bulk();
    conversation_.finish();
    const std::uint64_t lacking = failed_ + since_.failed + missing_;
    if (lacking > 0) throw Exit{kExitInputOutput, fmt::format("{} of the members did not receive it", lacking)};
  }

 private:
  /// For who comes later, or was a member and is to come back.
  void stay() {
    if (options_.wait) {
      progress_.say("it stays for members that come later; end this with Ctrl-C, or wait");
    } else if (missing_ > 0) {
      progress_.say(
          fmt::format("it stays {} s for who went, and longer for who is back by then; end this with Ctrl-C, "
                      "or wait",
                      kLinger.count()));
    }
    const std::uint64_t missed = missing_;
    conversation_.wait_until([this] { return is_ended_ || (missing_ == 0 && !options_.wait); });
    if (missed == missing_) return;
    done_ += since_.done;
    tell(fmt::format("received by {}{}, failed {}, refused {}{}", done_, left(), failed_ + since_.failed,
                     refused_ + since_.refused, missing()));
  }

  void wait_for_members() {
    if (options_.wait_members == 0) return;
    conversation_.check(conversation_.connection().join(options_.group));
    conversation_.wait_until([this] { return membership_.is_complete(options_.wait_members + 1); });
  }

  spindle::BulkSource source(std::vector<std::string>& left_out) const {
    if (options_.path == kStandard) {
      return spindle::BulkSource::stream(read_input, options_.as.empty() ? "stdin" : options_.as, options_.spool);
    }
    struct stat found {};
    const bool is_directory = ::stat(options_.path.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
    auto source = is_directory ? spindle::BulkSource::directory(options_.path, &left_out)
                               : spindle::BulkSource::file(options_.path);
    return options_.as.empty() ? source : source.named(options_.as);
  }

  Exit refusal(std::error_code error, const std::string& text) const {
    if (error == spindle::Errc::file_failed) return {kExitInputOutput, "cannot read " + text};
    if (error == spindle::Errc::not_connected) conversation_.check(error);
    if (error == spindle::Errc::bad_content_name || error == spindle::Errc::limit_exceeded) {
      return {kExitInputOutput, "cannot send " + text};
    }
    if (error == spindle::Errc::bad_group_name) return {kExitBadCommandLine, "cannot send: " + text};
    std::string advice;
    if (error == spindle::Errc::too_many_channels) advice = "; wait until one of your others has ended";
    if (error == spindle::Errc::timed_out) advice = "; the daemon may not know of bulk channels yet";
    return {kExitRefused, "the daemon did not take the offer: " + text + advice};
  }

  void handle(const spindle::GroupView& view) { membership_.note(view); }
  /// Others would wait for this client to say something.
  void handle(const spindle::BulkOffered& offered) { static_cast<void>(bulk_.refuse(offered.channel)); }
  void handle(const spindle::BulkProgress& progress) {
    if (progress.channel == channel_) progress_.note(progress);
  }
  void handle(const spindle::BulkComplete& complete) {
    if (complete.channel != channel_) return;
    is_complete_ = true;
    const spindle::BulkGone& gone = complete.gone;
    done_ = complete.done.size() + gone.done;
    left_ = gone.done;
    failed_ = complete.failed.size() + gone.failed;
    refused_ = complete.refused.size() + gone.refused;
    missing_ = gone.missing;
    const std::chrono::duration<double> took = progress_.end(channel_);
    for (const auto& each : complete.failed) {
      progress_.say(fmt::format("{} could not receive it: {}", each.name, each.error.message()));
    }
    for (const std::string& name : complete.refused) progress_.say(name + " did not want it");
    tell(fmt::format("received by {}{}, failed {}, refused {}{}, {:.1f} s", done_, left(), failed_, refused_, missing(),
                     took.count()));
    if (done_ + failed_ + refused_ + missing_ == 0) {
      progress_.say("nobody was a member of " + options_.group + ": --wait-members 1 waits for somebody");
    }
  }
  void handle(const spindle::BulkReturned& returned) {
    if (returned.channel != channel_) return;
    since_ = returned.gone;
    missing_ = returned.gone.missing;
    if (returned.present > present_) {
      progress_.say(fmt::format("back and receiving: {} of {} that went", returned.present, missing_));
    }
    present_ = returned.present;
  }
  void handle(const spindle::BulkEnded& ended) {
    if (ended.channel != channel_) return;
    is_ended_ = true;
    if (ended.error) throw Exit{kExitInputOutput, text_of(ended.error, ended.text)};
    if (!is_complete_) throw Exit{kExitRefused, fmt::format("the channel has ended: {}", to_string(ended.cause))};
  }
  void handle(const auto&) {}  // of no interest here

  void tell(const std::string& how) {
    output_.add(shown(options_.path) + ": " + how + "\n");
    output_.flush();
  }
  std::string left() const {
    return left_ == 0 ? "" : fmt::format(" ({} {} left since)", left_, left_ == 1 ? "has" : "have");
  }
  std::string missing() const {
    return missing_ == 0 ? "" : fmt::format(", {} went before {} had all", missing_, missing_ == 1 ? "it" : "they");
  }

  /// How long the channel stays once it is complete.
  static constexpr std::chrono::seconds kLinger{60};

  Conversation& conversation_;
  Output& output_;
  const SendFileOptions& options_;
  MembershipCounts membership_;
  Progress progress_;
  spindle::Bulk bulk_;
  spindle::ChannelId channel_;
  bool is_complete_ = false;
  bool is_ended_ = false;
  // Of the members that there were when it was offered. Those that were missing when it was complete and are no more
  // are in `since_` alone.
  std::uint64_t done_ = 0;
  std::uint64_t left_ = 0;  // of these
  std::uint64_t failed_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t missing_ = 0;
  std::uint64_t present_ = 0;  // of these, as was told last
  spindle::BulkGone since_;
};

class Receiver {
 public:
  Receiver(Conversation& conversation, Output& output, const ReceiveFileOptions& options)
      : conversation_(conversation), output_(output), options_(options), bulk_(open_bulk(conversation)) {
    conversation_.set_handler(
        [this](spindle::Event&& event) { event.visit([this](const auto& value) { handle(value); }); });
  }

  void run() {
    conversation_.check(conversation_.connection().join(options_.group));
    conversation_.wait_until([this] { return count() && received_ >= *count(); });
    // Who leaves before the others have it is in nobody's list, and serves nobody.
    const Clock::time_point end = Clock::now() + kLastWait;
    while (!incomplete_.empty() && Clock::now() < end) {
      conversation_.wait_until(std::min(end, Clock::now() + std::chrono::milliseconds(20)));
    }
    bulk_ = spindle::Bulk();
    conversation_.finish();
  }

 private:
  static constexpr std::chrono::seconds kLastWait{5};

  struct Content {
    std::string name;
    std::uint64_t size = 0;
    bool is_late = false;
    bool is_complete = false;
  };

  void handle(const spindle::GroupView&) {
    if (!std::exchange(is_joined_, true)) make_ready_file(options_.ready_file);
  }
  void handle(const spindle::BulkOffered& offered) {
    const bool is_busy = is_to_output() && (received_ > 0 || !contents_.empty());
    const std::error_code error = is_busy
                                      ? make_error_code(spindle::Errc::limit_exceeded)
                                      : bulk_.accept(offered.channel,
                                                     is_to_output() ? spindle::BulkSink::stream(write_output)
                                                                    : spindle::BulkSink::directory(options_.directory),
                                                     {.replace = options_.replace});
    if (error) {
      progress_.say(fmt::format("{} from {} is refused: {}", shown(offered.name), offered.source, error.message()));
      static_cast<void>(bulk_.refuse(offered.channel));
      return;
    }
    contents_[offered.channel] = {offered.name, offered.size.value_or(0), offered.late, false};
    progress_.begin(offered.channel, shown(offered.name));
    progress_.say(fmt::format("{} from {}, {}", shown(offered.name), offered.source,
                              offered.size ? human_bytes(*offered.size) : "of unknown size"));
  }
  void handle(const spindle::BulkProgress& progress) { progress_.note(progress); }
  void handle(const spindle::BulkStalled& stalled) {
    const auto content = contents_.find(stalled.channel);
    if (content != contents_.end()) progress_.say(shown(content->second.name) + ": nothing has come for 10 s");
  }
  void handle(const spindle::BulkReceived& received) {
    const Content content = contents_[received.channel];
    contents_.erase(received.channel);
    const std::chrono::duration<double> took = progress_.end(received.channel);
    if (received.error) {
      progress_.say(fmt::format("{} was not received: {}{}", shown(content.name),
                                text_of(received.error, received.text), advice(received.error)));
      if (count()) throw Exit{kExitInputOutput};
      return;
    }
    ++received_;
    if (!content.is_late && !content.is_complete) incomplete_.insert(received.channel);
    if (!is_to_output())
      output_.add((output_.is_terminal() ? spindle::printable(received.path) : received.path) + "\n");
    output_.flush();
    progress_.say(fmt::format("{}: {}", shown(content.name), summary(content.size, took)));
  }
  void handle(const spindle::BulkComplete& complete) {
    incomplete_.erase(complete.channel);
    if (const auto content = contents_.find(complete.channel); content != contents_.end()) {
      content->second.is_complete = true;
    }
  }
  void handle(const spindle::BulkEnded& ended) {
    incomplete_.erase(ended.channel);
    const auto content = contents_.find(ended.channel);
    if (content == contents_.end()) return;
    progress_.end(ended.channel);
    const bool stays = ended.cause == spindle::BulkEnded::Cause::abandoned && !is_to_output();
    progress_.say(fmt::format("{} was not received: the channel has ended ({}){}", shown(content->second.name),
                              to_string(ended.cause), stays ? "; what has come stays for when it is sent again" : ""));
    contents_.erase(content);
    // What has come of it is there, and nothing else may follow.
    if (is_to_output()) throw Exit{kExitInputOutput};
  }
  void handle(const auto&) {}  // of no interest here

  bool is_to_output() const { return options_.directory == kStandard; }
  /// One alone goes to standard output.
  std::optional<std::uint64_t> count() const {
    return is_to_output() ? std::optional(std::uint64_t{1}) : options_.count;
  }

  static std::string advice(std::error_code error) {
    if (error == spindle::Errc::no_space) return "; make room there, and have it sent again";
    if (error == spindle::Errc::file_exists) return "; --replace has it replaced";
    return {};
  }

  Conversation& conversation_;
  Output& output_;
  const ReceiveFileOptions& options_;
  Progress progress_;
  spindle::Bulk bulk_;
  std::map<spindle::ChannelId, Content> contents_;
  std::set<spindle::ChannelId> incomplete_;  // that are here, and that others of the audience wait for
  bool is_joined_ = false;
  std::uint64_t received_ = 0;
};

}  // namespace

void send_file(Signals& signals, Output& output, const ConnectionOptions& connection, const SendFileOptions& options) {
  Conversation conversation(signals, output, with_bulk(connection));
  Sender(conversation, output, options).run();
}

void receive_file(Signals& signals, Output& output, const ConnectionOptions& connection,
                  const ReceiveFileOptions& options) {
  struct stat found {};
  const bool is_to_output = options.directory == kStandard;
  if (!is_to_output && ::stat(options.directory.c_str(), &found) != 0) {
    throw Exit{kExitInputOutput, options.directory + ": " + std::strerror(errno)};
  }
  if (!is_to_output && !S_ISDIR(found.st_mode)) throw Exit{kExitInputOutput, options.directory + " is not a directory"};
  Conversation conversation(signals, output, with_bulk(connection));
  conversation.end_without_readers();
  try {
    Receiver(conversation, output, options).run();
  } catch (const Exit& exit) {
    // A signal is the usual end, as of subscribe.
    output.flush();
    throw exit.code > kExitSignal && !options.count && !is_to_output ? Exit{kExitDone} : exit;
  }
}

}  // namespace spuser
