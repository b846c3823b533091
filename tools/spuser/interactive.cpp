#include "tools/spuser/interactive.h"

#include <fmt/format.h>
#include <unistd.h>

#include <optional>

#include "libclient/common/printable.h"
#include "tools/spuser/conversation.h"
#include "tools/spuser/events.h"
#include "tools/spuser/exit.h"
#include "tools/spuser/input.h"
#include "tools/spuser/line_editor.h"
#include "tools/spuser/membership.h"

namespace spuser {

namespace {

constexpr std::string_view kHelp =
    "join GROUP             become a member\n"
    "leave GROUP            be one no longer\n"
    "send GROUP TEXT        multicast a message; several groups with commas, a client as #client#daemon\n"
    "members GROUP          show who is in a group that this client is in\n"
    "flow GROUP             show the price of sending to these, and what has been saved\n"
    "service [NAME]         show or choose: unreliable, reliable, fifo, causal, agreed, safe\n"
    "views on|off           whether changes of membership are shown\n"
    "help, quit\n";

std::string_view trim(std::string_view text) {
  const std::size_t start = text.find_first_not_of(" \t\r");
  if (start == std::string_view::npos) return {};
  return text.substr(start, text.find_last_not_of(" \t\r") - start + 1);
}

/// The first word of `text`, which loses it.
std::string_view take_word(std::string_view& text) {
  text = trim(text);
  const std::string_view word = text.substr(0, text.find_first_of(" \t"));
  text = trim(text.substr(word.size()));
  return word;
}

std::vector<std::string_view> split(std::string_view list) {
  std::vector<std::string_view> names;
  for (;;) {
    const std::size_t comma = list.find(',');
    names.push_back(list.substr(0, comma));
    if (comma == std::string_view::npos) return names;
    list.remove_prefix(comma + 1);
  }
}

class Prompt {
 public:
  Prompt(Conversation& conversation, Output& output, bool independent_flows)
      : conversation_(conversation), output_(output), independent_flows_(independent_flows) {
    conversation_.go_on_after_refusals();
    conversation_.set_handler(
        [this](spindle::Event&& event) { event.visit([this](const auto& value) { show(value); }); });
    const auto wait = [this](int descriptor) { conversation_.wait_readable(descriptor); };
    if (::isatty(STDIN_FILENO) != 0 && output_.is_terminal()) {
      editor_.emplace("> ", wait);
    } else {
      input_.emplace(std::vector<std::string>{}, wait);
    }
  }

  void run() {
    say("connected as {}; \"help\" says what can be done here", conversation_.connection().private_name());
    std::string_view line;
    while (next_line(line) && obey(line)) conversation_.handle_events();
    conversation_.finish();
  }

 private:
  bool next_line(std::string_view& line) {
    output_.flush();  // before the prompt
    return editor_ ? editor_->next_line(line) : input_->next_line(line);
  }

  /// False to quit.
  bool obey(std::string_view line) {
    const std::string_view command = take_word(line);
    if (command.empty()) return true;
    if (command == "quit" || command == "exit") return false;
    if (command == "help") {
      output_.add(kHelp);
    } else if (command == "join" || command == "leave") {
      change_membership(command == "join", line);
    } else if (command == "send") {
      const std::string_view groups = take_word(line);
      send(split(groups), line);
    } else if (command == "members") {
      report(conversation_.connection().request_view(line));
    } else if (command == "flow") {
      report(conversation_.connection().request_flow(split(take_word(line))));
    } else if (command == "service") {
      choose_service(line);
    } else if (command == "views" && (line == "on" || line == "off")) {
      views_ = line == "on";
    } else {
      say("\"{}\" is not understood; see \"help\"", command);
    }
    return true;
  }

  void change_membership(bool join, std::string_view group) {
    report(join ? conversation_.connection().join(group) : conversation_.connection().leave(group));
  }

  /// Never waits, with independent flows: what cannot be sent now is said, and later that it can.
  void send(const std::vector<std::string_view>& groups, std::string_view text) {
    spindle::Connection& connection = conversation_.connection();
    report(independent_flows_ ? connection.try_multicast(service_, groups, text)
                              : connection.multicast(service_, groups, text));
  }

  void choose_service(std::string_view name) {
    const std::optional<spindle::Service> service = parse_service(name);
    if (service) service_ = *service;
    if (!service && !name.empty()) say("there is no service \"{}\"", name);
    say("messages are sent {}", to_string(service_));
  }

  void report(std::error_code error) {
    if (error == spindle::Errc::not_connected) conversation_.check(error);
    if (error) say("{}", error.message());
  }

  void show(const spindle::Message& message) {
    say("[{}] {}: {}", fmt::join(message.groups(), ","), message.sender(), message.text());
  }
  void show(const spindle::GroupView& view) {
    const spindle::Membership& members = members_.apply(view, conversation_.connection());
    if (view.form == spindle::ViewForm::answer) {
      say("{} has {} members: {}", view.group, view.member_count, fmt::join(members.members(), " "));
    } else if (views_) {
      show_line(text_line(view, members));
    }
  }
  void show(const spindle::Transitional& signal) {
    if (views_) show_line(text_line(signal));
  }
  void show(const spindle::FlushRequest&) {}  // of groups that it does not join
  void show(const spindle::RequestFailed& failed) { say("{}", refusal_text(failed)); }
  void show(const spindle::FlowReady& flow) { say("messages to {} can be sent again", fmt::join(flow.groups, ",")); }
  void show(const spindle::FlowState& flow) { show_line(text_line(flow)); }
  void show(const spindle::Gap& gap) { show_line(text_line(gap)); }
  void show(const spindle::QueueWarning& warning) { show_line(text_line(warning)); }
  void show(const auto&) {}  // of no interest here

  template <typename... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) {
    show_line(fmt::format(format, std::forward<Args>(args)...) + '\n');
  }

  /// Prints a line in front of the prompt, and the prompt again. What others have written does nothing to a terminal.
  void show_line(std::string line) {
    const bool is_typed_at = editor_ && editor_->is_reading();
    if (is_typed_at) output_.add("\r\x1b[K");
    if (output_.is_terminal())
      line = spindle::printable(line.substr(0, line.size() - 1), spindle::Backslash::kept) + '\n';
    output_.add(line);
    if (!is_typed_at) return;
    output_.flush();
    editor_->redraw();
  }

  Conversation& conversation_;
  Output& output_;
  Members members_;
  const bool independent_flows_;
  std::optional<LineEditor> editor_;  // at a terminal
  std::optional<Input> input_;        // otherwise
  bool views_ = true;
  spindle::Service service_ = spindle::Service::agreed;
};

}  // namespace

void interact(Signals& signals, Output& output, const ConnectionOptions& connection) {
  Conversation conversation(signals, output, connection.to_connect_options());
  conversation.end_without_readers();
  Prompt(conversation, output, connection.independent_flows).run();
}

}  // namespace spuser
