// A map of which several programs have the same copy, as long as a majority of them is together.
//
// Updates are agreed messages, so all replicas apply the same ones in the same order. After a transitional signal they
// are tentative, until the view that follows says whether a majority has them. Where members meet that were not
// together, one of each side sends its state, and all go on with the newest. Replicas keep nothing on a disk: one that
// is started again begins with an empty map and gets the others'.
#include <spindle/connection.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <iostream>
#include <map>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>

#include "options.h"

namespace {

using namespace std::chrono_literals;

constexpr std::string_view kHelp = R"(replicated_map [--connect ADDRESS] [--name NAME] [--replicas N] GROUP

One of N replicas (3) of a map. Commands are the lines of standard input:

  set KEY VALUE   changes the map at all replicas; KEY is one word
  remove KEY
  list            shows this replica's map

Changes wait until a majority of the replicas is together.
)";

constexpr std::uint16_t kUpdate = 0;  // "set KEY VALUE" or "remove KEY"
constexpr std::uint16_t kState = 1;   // see Replica::send_state()

struct State {
  std::uint64_t version = 0;  // how many updates were applied
  std::map<std::string, std::string> values;

  void apply(const std::string& update) {
    std::istringstream words(update);
    std::string verb, key, value;
    words >> verb >> key;
    std::getline(words >> std::ws, value);
    if (verb == "set") values[key] = value;
    if (verb == "remove") values.erase(key);
    ++version;
  }
};

class Replica {
 public:
  Replica(const spindle::ConnectOptions& options, std::string group, std::size_t replicas)
      : group_(std::move(group)), replicas_(replicas), connection_(spindle::Connection::connect(options).value()) {
    connection_.set_handler([this](spindle::Event&& event) { handle(event); });
    connection_.join(group_, 5s).value();
  }

  /// Waits until the update is done.
  void update(const std::string& text) {
    std::unique_lock lock(mutex_);
    update_ = text;
    send_update();
    news_.wait(lock, [this] { return !update_ || has_ended_; });
    if (has_ended_) throw std::system_error(spindle::Errc::not_connected);
  }

  void list() {
    const std::lock_guard lock(mutex_);
    for (const auto& [key, value] : state_.values) std::cout << key << " = " << value << std::endl;
  }

 private:
  void handle(const spindle::Event& event) {
    const std::lock_guard lock(mutex_);
    if (const auto* message = event.get_if<spindle::Message>()) {
      message->type() == kState ? handle_state(std::string(message->text())) : handle_update(*message);
    } else if (const auto* view = event.get_if<spindle::GroupView>()) {
      if (view->form == spindle::ViewForm::full) handle_view(*view);
    } else if (event.is<spindle::Transitional>()) {
      if (!before_signal_) before_signal_ = state_;  // who is separated from here may not get what follows
    } else if (const auto* end = event.get_if<spindle::Disconnected>()) {
      std::cout << "the connection has ended: " << end->text << std::endl;
      has_ended_ = true;
    }
    news_.notify_all();
  }

  std::string me() const { return std::string(connection_.private_name()); }
  bool has_majority() const { return members_ > replicas_ / 2; }
  /// The same at all who get a message at its place in the order, so that all apply it or all pass over it.
  bool is_serving() const { return has_majority() && awaited_ == 0; }

  /// Fails only where the connection ends, which an event tells.
  void multicast(std::uint16_t type, const std::string& text) {
    (void)connection_.multicast(spindle::Service::agreed, group_, text, {.type = type});
  }

  void send_update() {
    if (!update_ || is_under_way_ || !is_serving()) return;
    multicast(kUpdate, *update_);
    is_under_way_ = true;
  }

  void handle_update(const spindle::Message& message) {
    const bool is_mine = message.sender() == connection_.private_name();
    if (is_mine) is_under_way_ = false;  // and it is sent again where it was passed over
    if (!is_serving()) return;
    state_.apply(std::string(message.text()));
    std::cout << message.text() << (before_signal_ ? " (tentative)" : "") << std::endl;
    if (is_mine) update_.reset();
  }

  void handle_view(const spindle::GroupView& view) {
    members_ = view.member_count;
    if (before_signal_ && view.cause == spindle::ViewCause::network) {
      if (!has_majority()) state_ = *before_signal_;
      before_signal_.reset();
    }
    exchange_states(view);
    if (awaited_ == 0) go_on();
  }

  void go_on() {
    std::cout << (has_majority() ? "serving" : "waiting") << " with " << members_ << " of " << replicas_ << ", version "
              << state_.version << std::endl;
    send_update();
  }

  /// Where members meet that were not together, or while states are on their way already: then each sends its own.
  void exchange_states(const spindle::GroupView& view) {
    std::vector<std::string> side = side_of(view);
    if (side.size() == view.member_count && awaited_ == 0) return;
    if (awaited_ != 0) side = {me()};
    awaited_ = view.member_count;
    exchange_ = std::to_string(view.id.view_number) + "." + std::to_string(view.id.position);
    newest_ = state_;
    if (side.front() == me()) send_state(side.size());
  }

  /// Who has the same state as this replica.
  std::vector<std::string> side_of(const spindle::GroupView& view) const {
    if (view.cause == spindle::ViewCause::network) return view.vs_set;
    std::vector<std::string> side;
    for (const std::string& name : view.members) {
      const bool is_new = std::find(view.joined.begin(), view.joined.end(), name) != view.joined.end();
      if (name == me() && is_new) return {me()};
      if (!is_new) side.push_back(name);
    }
    return side;
  }

  /// "EXCHANGE MEMBERS VERSION", where MEMBERS is how many have this state; then a line "KEY VALUE" for each key.
  void send_state(std::size_t members) {
    std::ostringstream text;
    text << exchange_ << ' ' << members << ' ' << state_.version << '\n';
    for (const auto& [key, value] : state_.values) text << key << ' ' << value << '\n';
    multicast(kState, text.str());
  }

  void handle_state(const std::string& text) {
    std::istringstream lines(text);
    std::string exchange, key, value;
    std::size_t members = 0;
    State state;
    lines >> exchange >> members >> state.version;
    while (lines >> key && std::getline(lines >> std::ws, value)) state.values[key] = value;
    if (awaited_ == 0 || exchange != exchange_) return;
    if (state.version > newest_.version) newest_ = state;
    awaited_ -= std::min(awaited_, members);
    if (awaited_ != 0) return;
    state_ = newest_;
    go_on();
  }

  const std::string group_;
  const std::size_t replicas_;
  std::mutex mutex_;  // for what follows
  std::condition_variable news_;
  State state_;
  std::optional<State> before_signal_;  // what holds if the view that follows has no majority
  std::size_t members_ = 0;
  std::size_t awaited_ = 0;            // members whose state has not come yet
  std::string exchange_;               // the view that states are exchanged for
  State newest_;                       // of those that have come
  std::optional<std::string> update_;  // that is not done yet
  bool is_under_way_ = false;
  bool has_ended_ = false;
  spindle::Connection connection_;  // the last member: its thread ends before the others do
};

int run(const examples::Options& options) {
  // What it sent last may have been applied or not when the connection is lost. So it ends, and begins with the state
  // of the others when it is started again.
  spindle::ConnectOptions connect{.address = options["connect"], .name = options["name"], .reconnect_timeout = {}};
  Replica replica(connect, options.words().front(), static_cast<std::size_t>(options.number("replicas")));
  for (std::string line; std::getline(std::cin, line);) {
    if (line == "list") {
      replica.list();
    } else if (line.rfind("set ", 0) == 0 || line.rfind("remove ", 0) == 0) {
      replica.update(line);
    } else {
      std::cout << "commands are set KEY VALUE, remove KEY, list" << std::endl;
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  return run(examples::Options(argc, argv, kHelp, {{"connect", ""}, {"name", ""}, {"replicas", "3"}}));
} catch (const std::system_error& error) {
  std::cerr << "replicated_map: " << error.what() << '\n';
  return 1;
}
