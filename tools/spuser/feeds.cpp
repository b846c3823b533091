#include "tools/spuser/feeds.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <map>
#include <string>

#include "libclient/common/utf8.h"
#include "spindle/feed.h"
#include "tools/spuser/conversation.h"
#include "tools/spuser/events.h"
#include "tools/spuser/exit.h"
#include "tools/spuser/input.h"
#include "tools/spuser/membership.h"
#include "tools/spuser/progress.h"

namespace spuser {

namespace {

using namespace std::chrono_literals;

std::string flow_line(const spindle::FeedFlow& flow) {
  std::string text = fmt::format("* {}/s may be sent", human_bytes(flow.bytes_per_second));
  if (flow.round_trip.count() != 0) {
    text += fmt::format(", round trip {:.1f} ms", static_cast<double>(flow.round_trip.count()) / 1000);
  }
  return text + fmt::format(", {:.2f} % lost, limited by {}\n", 100 * flow.loss, to_string(flow.limited_by));
}

/// Sends what is read, or what it makes up.
class Source {
 public:
  Source(Conversation& conversation, const FeedCommandOptions& options)
      : conversation_(conversation), options_(options), is_terminal_(::isatty(STDERR_FILENO) != 0) {
    conversation_.set_handler(
        [this](spindle::Event&& event) { event.visit([this](const auto& value) { handle(value); }); });
  }

  void run() {
    wait_for_members();
    open();
    if (options_.size) {
      send_generated();
    } else {
      Input input({}, [this](int descriptor) { conversation_.wait_readable(descriptor); });
      std::string_view line;
      while (has_more() && input.next_line(line)) send(line);
    }
    if (feed_.dropped() != 0) {
      std::fputs(fmt::format("spuser: {} messages were dropped for want of room\n", feed_.dropped()).c_str(), stderr);
    }
    feed_.close();
    conversation_.finish();
  }

 private:
  void handle(const spindle::GroupView& view) { members_.note(view); }
  void handle(const spindle::FeedWritable&) { is_writable_ = true; }
  void handle(const spindle::FeedClosed& closed) {
    if (closed.feed != feed_.id()) return;
    const bool is_denied = closed.why == spindle::FeedClosed::Why::denied;
    throw Exit{is_denied ? kExitRefused : kExitConnection,
               fmt::format("the feed is over: {}{}", to_string(closed.why),
                           closed.error ? ", " + closed.error.message() : std::string())};
  }
  void handle(const spindle::FeedFlow& flow) {
    const auto now = Clock::now();
    if (!is_terminal_ || now - shown_at_ < 1s) return;
    shown_at_ = now;
    std::fputs(flow_line(flow).c_str(), stderr);
  }
  void handle(const auto&) {}  // of no interest here

  void wait_for_members() {
    if (options_.wait_members == 0) return;
    spindle::Connection& connection = conversation_.connection();
    conversation_.check(connection.join(options_.group));
    conversation_.wait_until([this] { return members_.is_complete(options_.wait_members + 1); });
    conversation_.check(connection.leave(options_.group));
    conversation_.wait_until([this] { return members_.has_left(); });
  }

  void open() {
    spindle::FeedOptions how;
    how.repair_for = options_.repair_for;
    how.bytes_per_second = options_.bytes_per_second;
    if (options_.drops_oldest) how.when_full = spindle::WhenFull::drop_oldest;
    spindle::Result<spindle::Feed> opened = conversation_.connection().open_feed(options_.group, how);
    if (!opened) {
      const bool is_lost = opened.error() == spindle::Errc::not_connected;
      throw Exit{is_lost ? kExitConnection : exit_code_of(opened.error(), kExitRefused),
                 fmt::format("cannot open a feed to {}: {}", options_.group, opened.text())};
    }
    feed_ = *std::move(opened);
    make_ready_file(options_.ready_file);
    started_ = Clock::now();
  }

  bool has_more() const { return !options_.count || sent_ < *options_.count; }

  void send_generated() {
    std::string message(*options_.size, 'x');
    while (has_more()) {
      // The number of each, as far as there is room for it.
      const std::string number = fmt::format("{} ", sent_);
      message.replace(0, std::min(number.size(), message.size()), number, 0, message.size());
      send(message);
    }
  }

  void send(std::string_view message) {
    if (message.empty()) return;  // a feed has no empty messages
    if (options_.rate > 0) {
      const std::chrono::duration<double> due(static_cast<double>(sent_) / options_.rate);
      conversation_.wait_until(started_ + std::chrono::duration_cast<Clock::duration>(due));
    }
    for (;;) {
      is_writable_ = false;
      const std::error_code error = feed_.try_send(message);
      if (error != spindle::Errc::would_block) {
        conversation_.check(error);
        break;
      }
      conversation_.wait_until([this] { return is_writable_; });
    }
    ++sent_;
    conversation_.handle_events();
  }

  Conversation& conversation_;
  const FeedCommandOptions& options_;
  const bool is_terminal_;
  MembershipCounts members_{{options_.group}};
  spindle::Feed feed_;
  bool is_writable_ = false;
  Clock::time_point started_{}, shown_at_{};
  std::uint64_t sent_ = 0;
};

/// Prints what it hears.
class Listener {
 public:
  Listener(Conversation& conversation, Output& output, const ListenCommandOptions& options)
      : conversation_(conversation), output_(output), options_(options) {
    conversation_.set_handler([this](spindle::Event&& event) {
      if (!is_done_) event.visit([this](const auto& value) { handle(value); });
    });
  }

  void run() {
    spindle::ListenOptions how;
    if (options_.is_immediate) how.delivery = spindle::ListenOptions::Delivery::immediate;
    how.deadline = options_.deadline;
    is_done_ = options_.count == 0u;
    conversation_.check(conversation_.connection().listen(options_.group, how));
    conversation_.check(conversation_.connection().join(options_.group));
    if (options_.stats) {
      for (auto next = Clock::now() + 1s; !is_done_; next += 1s) {
        conversation_.wait_until(next);
        print_stats();
      }
    } else {
      conversation_.wait_until([this] { return is_done_; });
    }
    output_.flush();
  }

 private:
  void handle(const spindle::GroupView& view) {
    members_.note(view);
    if (is_ready_ || !members_.is_complete(1)) return;
    is_ready_ = true;
    make_ready_file(options_.ready_file);
  }
  void handle(const spindle::FeedOpened& opened) {
    names_[opened.feed] = opened.source;
    if (!options_.stats) say(fmt::format("* a feed of {}\n", opened.source));
  }
  void handle(const spindle::FeedPacket& packet) {
    ++messages_, packets_ += packet.packets, bytes_ += packet.bytes.size();
    if (!options_.stats) print(packet);
    ++heard_;
    is_done_ = options_.count && heard_ >= *options_.count;
  }
  void handle(const spindle::FeedGap& gap) {
    (gap.cause == spindle::FeedGap::Cause::slow ? slow_ : lost_) += gap.count;
    if (options_.stats) return;
    if (options_.json) {
      output_.add(fmt::format(R"({{"event":"gap","source":{},"first":{},"count":{},"cause":"{}"}})"
                              "\n",
                              json_string(names_[gap.feed]), gap.first, gap.count, to_string(gap.cause)));
    } else {
      say(fmt::format("* {}: {} packet{} from {} on are missing: {}\n", names_[gap.feed], gap.count,
                      gap.count == 1 ? "" : "s", gap.first, to_string(gap.cause)));
    }
  }
  void handle(const spindle::FeedClosed& closed) {
    if (!options_.stats) say(fmt::format("* the feed of {} is over: {}\n", names_[closed.feed], to_string(closed.why)));
    names_.erase(closed.feed);
    if (options_.until_end && names_.empty()) is_done_ = true;
  }
  void handle(const auto&) {}  // of no interest here

  void print(const spindle::FeedPacket& packet) {
    if (options_.json) {
      const bool is_text = spindle::is_utf8(packet.text());
      output_.add(fmt::format(R"({{"event":"packet","source":{},"sequence":{},"packets":{},"{}":{}}})"
                              "\n",
                              json_string(names_[packet.feed]), packet.sequence, packet.packets,
                              is_text ? "text" : "base64",
                              is_text ? json_string(packet.text()) : '"' + base64(packet.text()) + '"'));
      return;
    }
    output_.add(packet.text());
    output_.add("\n");
  }

  /// What is not a message is kept out of the lines of messages.
  static void say(const std::string& line) { std::fputs(line.c_str(), stderr); }

  void print_stats() {
    output_.add(fmt::format("{} feeds, {} messages, {} packets, {}/s, {} lost, {} slow\n", names_.size(), messages_,
                            packets_, human_bytes(bytes_), lost_, slow_));
    output_.flush();
    messages_ = packets_ = bytes_ = lost_ = slow_ = 0;
  }

  Conversation& conversation_;
  Output& output_;
  const ListenCommandOptions& options_;
  MembershipCounts members_{{options_.group}};
  std::map<spindle::FeedId, std::string> names_;  // of who sends those that are open
  bool is_ready_ = false;
  bool is_done_ = false;
  std::uint64_t heard_ = 0;
  // Since a line of figures was printed.
  std::uint64_t messages_ = 0, packets_ = 0, bytes_ = 0, lost_ = 0, slow_ = 0;
};

}  // namespace

void feed(Signals& signals, Output& output, const ConnectionOptions& connection, const FeedCommandOptions& options) {
  Conversation conversation(signals, output, connection.to_connect_options());
  Source(conversation, options).run();
}

void listen(Signals& signals, Output& output, const ConnectionOptions& connection,
            const ListenCommandOptions& options) {
  Conversation conversation(signals, output, connection.to_connect_options());
  conversation.end_without_readers();
  try {
    Listener(conversation, output, options).run();
  } catch (const Exit& exit) {
    // A signal is the usual end; what has arrived is printed first.
    output.flush();
    throw exit.code > kExitSignal ? Exit{kExitDone} : exit;
  }
}

}  // namespace spuser
