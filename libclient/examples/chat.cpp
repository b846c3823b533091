// A room to talk in: everybody sees the same lines in the same order, and who comes and goes.
#include <spindle/connection.h>

#include <chrono>
#include <future>
#include <iostream>
#include <string>

#include "options.h"

namespace {

using namespace std::chrono_literals;

constexpr std::string_view kHelp = R"(chat [--connect ADDRESS] [--name NAME] ROOM

Sends the lines of standard input to all who are in ROOM, and shows what they say.

  /to NAME TEXT   says TEXT to one of them alone; NAME is as others are shown, such as #ann#alpha
  /who            shows who is in the room

The end of the input leaves the room, when everything that was said is on its way.
)";

/// In one piece, as two threads print.
void print(const std::string& line) { std::cout << line + '\n' << std::flush; }

class Chat {
 public:
  Chat(const spindle::ConnectOptions& options, std::string room)
      : room_(std::move(room)), connection_(spindle::Connection::connect(options).value()) {
    // Events come on the connection's thread, while the main thread waits for lines.
    connection_.set_handler([this](spindle::Event&& event) { show(event); });
    connection_.join(room_, 5s).value();
  }

  std::error_code say(const std::string& line) {
    if (line == "/who") return connection_.request_view(room_);
    if (line.rfind("/to ", 0) != 0) return connection_.multicast(spindle::Service::agreed, room_, line);
    const std::size_t space = line.find(' ', 4);
    if (space == std::string::npos) return spindle::Errc::bad_argument;
    return connection_.multicast(spindle::Service::agreed, line.substr(4, space - 4), line.substr(space + 1));
  }

  /// Leaves the room, when what was said is on its way and all that came was shown. How many of the last messages
  /// nobody gets.
  std::uint64_t leave() {
    const std::uint64_t lost = connection_.drain(10s).messages;
    ended_.get_future().wait();
    return lost;
  }

 private:
  void show(const spindle::Event& event) {
    if (const auto* message = event.get_if<spindle::Message>()) show_message(*message);
    if (const auto* view = event.get_if<spindle::GroupView>()) show_view(*view);
    if (const auto* failed = event.get_if<spindle::RequestFailed>()) {
      print("* refused: " + failed->error.message());
    }
    if (const auto* again = event.get_if<spindle::Reconnected>()) show_return(*again);
    if (const auto* end = event.get_if<spindle::Disconnected>()) {
      print("* the connection has ended: " + end->text);
      ended_.set_value();
    }
  }

  void show_message(const spindle::Message& message) const {
    const bool to_room = message.groups().front() == room_;
    print(std::string(message.sender()) + (to_room ? ": " : " to you alone: ") + std::string(message.text()));
  }

  /// After a moment without the daemon nothing is missing. Otherwise what was said meanwhile is, and perhaps some of
  /// what this one has said at last.
  static void show_return(const spindle::Reconnected& again) {
    if (again.resumed) return;
    print("* connected again, as " + again.private_name);
    if (!again.unknown.empty()) {
      print("* perhaps nobody has got your last " + std::to_string(again.unknown.size()) + " lines");
    }
  }

  static void show_names(const std::vector<std::string>& names, const std::string& what) {
    for (const std::string& name : names) print("* " + name + what);
  }

  void show_view(const spindle::GroupView& view) const {
    if (view.form == spindle::ViewForm::answer) return show_names(view.members, " is here");
    show_names(view.joined, " has come");
    show_names(view.left, view.cause == spindle::ViewCause::network ? " is out of reach" : " has gone");
  }

  const std::string room_;
  std::promise<void> ended_;
  spindle::Connection connection_;  // the last member: its thread ends before the others do
};

int run(const examples::Options& options) {
  Chat chat({.address = options["connect"], .name = options["name"]}, options.words().front());
  for (std::string line; std::getline(std::cin, line);) {
    if (const std::error_code error = chat.say(line)) print("* not sent: " + error.message());
  }
  const std::uint64_t lost = chat.leave();
  if (lost != 0) std::cerr << "chat: the last " << lost << " messages were not taken\n";
  return lost == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  return run(examples::Options(argc, argv, kHelp, {{"connect", ""}, {"name", ""}}));
} catch (const std::system_error& error) {
  std::cerr << "chat: " << error.what() << '\n';
  return 1;
}
