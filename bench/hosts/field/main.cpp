// field_client: one client of the field, a sender that always has more or a receiver that counts. It says "ready" once
// it is connected, as a receiver once it is in its group. From then on it does what it reads from standard input: "go"
// starts a sender, "count" asks for one line of JSON, and the end of input ends it. `tools/bench field` starts them
// all.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <future>
#include <iostream>
#include <map>
#include <mutex>
#include <thread>

#include "bench/hosts/client_lines.h"
#include "libclient/include/spindle/connection.h"

namespace spindle::bench {
namespace {

struct Arguments {
  std::string address;
  std::string name;
  std::string group;
  std::size_t size = 0;  // bytes of a message; 0: a receiver
};

Connection connect(const Arguments& arguments) {
  ConnectOptions options;
  options.address = arguments.address;
  options.name = arguments.name;
  options.send_buffer_bytes = 64 << 10;  // what waits here would only be sent after the measurement
  options.disconnect_timeout = std::chrono::milliseconds(0);
  options.reconnect_timeout = std::chrono::milliseconds(0);  // a measurement with a lost connection is none
  spindle::Result<Connection> connection = Connection::connect(options);
  if (!connection) fail("cannot connect to {}: {}", arguments.address, connection.text());
  return *std::move(connection);
}

/// Multicasts as fast as the daemon takes it, from `start` on.
class Sender {
 public:
  explicit Sender(const Arguments& arguments)
      : arguments_(arguments), connection_(connect(arguments)), payload_(arguments.size) {}
  Sender(const Sender&) = delete;
  Sender& operator=(const Sender&) = delete;
  ~Sender() {
    connection_.disconnect();
    if (thread_.joinable()) thread_.join();
  }

  void start() {
    thread_ = std::thread([this] { run(); });
  }
  std::string count() const { return fmt::format(R"({{"messages": {}}})", sent_.load()); }

 private:
  void run() {
    for (;;) {
      const std::error_code error = connection_.multicast(Service::reliable, arguments_.group, payload_);
      if (error == Errc::not_connected) return;
      if (error) fail("cannot send: {}", error.message());
      ++sent_;
    }
  }

  const Arguments& arguments_;
  Connection connection_;
  std::vector<std::byte> payload_;
  std::atomic<std::uint64_t> sent_{0};
  std::thread thread_;
};

/// Counts what it gets, by sender.
class Receiver {
 public:
  explicit Receiver(const Arguments& arguments) : connection_(connect(arguments)) {
    connection_.set_handler([this](Event&& event) { handle(event); });
    if (const std::error_code error = connection_.join(arguments.group)) fail("cannot join: {}", error.message());
    joined_.get_future().wait();
  }

  std::string count() {
    const std::lock_guard lock(mutex_);
    std::string senders;
    for (const auto& [name, messages] : messages_) {
      senders += fmt::format(R"({}"{}": {})", senders.empty() ? "" : ", ", name, messages);
    }
    return fmt::format(R"({{"senders": {{{}}}}})", senders);
  }

 private:
  void handle(Event& event) {
    if (const auto* message = event.get_if<Message>()) {
      const std::lock_guard lock(mutex_);
      ++messages_[std::string(message->sender())];
    } else if (event.get_if<GroupView>() != nullptr) {
      if (!std::exchange(is_member_, true)) joined_.set_value();
    } else if (const auto* refused = event.get_if<RequestFailed>()) {
      fail("cannot join: {}", refused->error.message());
    } else if (const auto* end = event.get_if<Disconnected>()) {
      if (end->error != Errc::closed_by_client) fail("disconnected: {}", end->text);
    }
  }

  std::mutex mutex_;
  std::map<std::string, std::uint64_t> messages_;
  std::promise<void> joined_;
  bool is_member_ = false;
  Connection connection_;  // the last member: its thread uses the others
};

template <typename Start, typename Count>
void serve(Start start, Count count) {
  say("ready");
  for (std::string word; std::cin >> word;) {
    if (word == "go") {
      start();
    } else if (word == "count") {
      say(count());
    } else {
      fail("does not know {}", word);
    }
  }
}

}  // namespace
}  // namespace spindle::bench

int main(int argc, char** argv) {
  using namespace spindle::bench;
  Arguments arguments;
  CLI::App app("One client of the field; tools/bench field starts it.", "field_client");
  app.add_option("--address", arguments.address, "Where its daemon listens")->required();
  app.add_option("--name", arguments.name, "Its name")->required();
  app.add_option("--group", arguments.group, "What it sends to, or receives")->required();
  app.add_option("--send", arguments.size, "Send messages of so many bytes, instead of receiving")
      ->check(CLI::Range(1, 16 << 20));
  CLI11_PARSE(app, argc, argv);
  if (arguments.size != 0) {
    Sender sender(arguments);
    serve([&] { sender.start(); }, [&] { return sender.count(); });
  } else {
    Receiver receiver(arguments);
    serve([] { fail("a receiver has nothing to send"); }, [&] { return receiver.count(); });
  }
}
