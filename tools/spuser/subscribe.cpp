#include "tools/spuser/subscribe.h"

#include <fmt/format.h>

#include <cstdio>

#include "tools/spuser/conversation.h"
#include "tools/spuser/events.h"
#include "tools/spuser/exit.h"
#include "tools/spuser/membership.h"

namespace spuser {

namespace {

class Subscriber {
 public:
  Subscriber(Conversation& conversation, Output& output, const SubscribeOptions& options)
      : conversation_(conversation), output_(output), options_(options), membership_(options.groups) {
    conversation_.set_handler([this](spindle::Event&& event) {
      if (!done_) event.visit([this](const auto& value) { handle(value); });
    });
  }

  void run() {
    done_ = options_.count == 0u;
    for (const std::string& group : options_.groups) conversation_.check(conversation_.connection().join(group));
    conversation_.wait_until([this] { return done_; });
    output_.flush();
  }

 private:
  void handle(const spindle::Message& message) {
    if (!started_) return;
    print(message);
    ++printed_;
    done_ = options_.count && printed_ >= *options_.count;
  }

  void handle(const spindle::GroupView& view) {
    membership_.note(view);
    if (!joined_ && membership_.is_complete(0)) {
      joined_ = true;
      make_ready_file(options_.ready_file);
    }
    if (!started_) started_ = membership_.is_complete(options_.wait_members);
    if (options_.views) print(view);
    if (!options_.until_members) return;
    const bool within = membership_.is_within(*options_.until_members);
    if (!within) exceeded_ = true;
    done_ = exceeded_ && within;
  }

  void handle(const spindle::FlushRequest&) {}  // of groups that it does not join
  void handle(const spindle::Transitional& signal) {
    if (!options_.views) return;
    output_.add(options_.format == SubscribeOptions::Format::json ? json_line(signal) : text_line(signal));
  }

  void handle(const spindle::Gap& gap) { tell(gap); }
  void handle(const spindle::QueueWarning& warning) { tell(warning); }
  void handle(const auto&) {}  // of no interest here

  /// What is missing, or will be, belongs to the events in JSON; lines of messages are kept free of it.
  template <typename Event>
  void tell(const Event& event) {
    if (options_.format == SubscribeOptions::Format::json) {
      output_.add(json_line(event));
    } else {
      std::fputs(text_line(event).c_str(), stderr);
    }
  }

  void print(const spindle::GroupView& view) {
    const spindle::Membership& members = members_.apply(view, conversation_.connection());
    if (view.form == spindle::ViewForm::answer) return;
    const bool json = options_.format == SubscribeOptions::Format::json;
    output_.add(json ? json_line(view, members) : text_line(view, members));
  }

  void print(const spindle::Message& message) {
    switch (options_.format) {
      case SubscribeOptions::Format::senders:
        output_.add(message.sender());
        output_.add("\t");
        [[fallthrough]];
      case SubscribeOptions::Format::lines:
        output_.add(message.text());
        output_.add("\n");
        break;
      case SubscribeOptions::Format::json:
        output_.add(json_line(message));
        break;
      case SubscribeOptions::Format::raw:
        output_.add(message.text());
        break;
    }
  }

  Conversation& conversation_;
  Output& output_;
  const SubscribeOptions& options_;
  MembershipCounts membership_;
  Members members_;
  bool joined_ = false;
  bool started_ = false;   // messages are printed
  bool exceeded_ = false;  // there have been more than `until_members`
  bool done_ = false;
  std::uint64_t printed_ = 0;
};

}  // namespace

void subscribe(Signals& signals, Output& output, const ConnectionOptions& connection, const SubscribeOptions& options) {
  Conversation conversation(signals, output, connection.to_connect_options());
  conversation.end_without_readers();
  try {
    Subscriber(conversation, output, options).run();
  } catch (const Exit& exit) {
    // A signal is the usual end; what has arrived is printed first.
    output.flush();
    throw exit.code > kExitSignal ? Exit{kExitDone} : exit;
  }
}

}  // namespace spuser
