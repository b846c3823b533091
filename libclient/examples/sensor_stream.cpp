// Readings of sensors, of which the newest counts.
//
// Each sensor is a group, and with independent flows each has a line of its own: where the receivers of one are slow,
// the others are not held up. A reading that may not enter is replaced by the next one of its sensor. Who watches has
// asked to lose messages rather than slow down who measures, and is told how many it has lost.
#include <spindle/connection.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <map>
#include <string>
#include <thread>

#include "options.h"

namespace {

constexpr std::string_view kHelp = R"(sensor_stream [OPTION VALUE]... publish SENSOR...
sensor_stream [OPTION VALUE]... watch SENSOR...

The first publishes readings of each SENSOR. The second shows those that come, and when their publisher has ended how many
have come and how many were lost.

  --connect ADDRESS  of the daemon
  --name NAME        of this client
  --count N          readings of each sensor (100)
  --pause-ms M       between two readings (0); with watch, the time that it takes over each (0)
  --bytes B          of a reading (64)
  --show N           every Nth reading only (1)
)";

constexpr std::uint16_t kReading = 0;  // "NUMBER VALUE", filled up with spaces
constexpr std::uint16_t kEnd = 1;      // "SENT", how many readings there were

class Publisher {
 public:
  Publisher(spindle::Connection& connection, const std::vector<std::string>& sensors, std::size_t bytes)
      : connection_(connection), bytes_(bytes) {
    for (const std::string& name : sensors) sensors_[name];
  }

  /// A reading of each sensor.
  void publish(int number) {
    for (auto& [name, sensor] : sensors_) {
      if (!sensor.waiting.empty()) ++sensor.replaced;
      sensor.waiting = std::to_string(number) + " " + std::to_string(20 + number % 7);
      sensor.waiting.resize(std::max(bytes_, sensor.waiting.size()), ' ');
      offer(name, sensor);
    }
  }

  /// Handles events until `end`.
  void receive(std::chrono::steady_clock::time_point end) {
    while (auto event = connection_.receive(std::max(end - std::chrono::steady_clock::now(), kNoTime))) handle(*event);
  }

  void finish() {
    for (auto& [name, sensor] : sensors_) {
      while (!sensor.waiting.empty()) handle(connection_.receive().value());
    }
    // The oldest messages are lost where some are, so these are not.
    for (auto& [name, sensor] : sensors_) {
      const auto error =
          connection_.multicast(spindle::Service::fifo, name, std::to_string(sensor.sent), {.type = kEnd});
      if (error) throw std::system_error(error);
      std::cout << name << ": " << sensor.sent << " sent, " << sensor.replaced << " replaced by newer ones\n";
    }
  }

 private:
  static constexpr std::chrono::steady_clock::duration kNoTime{0};

  struct Sensor {
    std::string waiting;  // the newest reading, where it could not enter; empty: none
    std::uint64_t sent = 0;
    std::uint64_t replaced = 0;
  };

  void offer(const std::string& name, Sensor& sensor) {
    const auto error = connection_.try_multicast(spindle::Service::fifo, name, sensor.waiting, {.type = kReading});
    if (error == spindle::Errc::would_block) return;  // and FlowReady comes
    if (error) throw std::system_error(error);
    sensor.waiting.clear();
    ++sensor.sent;
  }

  void handle(const spindle::Event& event) {
    if (const auto* ready = event.get_if<spindle::FlowReady>()) {
      const std::string& name = ready->groups.front();
      if (Sensor& sensor = sensors_.at(name); !sensor.waiting.empty()) offer(name, sensor);
    } else if (const auto* end = event.get_if<spindle::Disconnected>()) {
      throw std::system_error(end->error, end->text);
    }
  }

  spindle::Connection& connection_;
  const std::size_t bytes_;
  std::map<std::string, Sensor> sensors_;
};

class Watcher {
 public:
  Watcher(spindle::Connection& connection, std::chrono::milliseconds pause, std::uint64_t show)
      : connection_(connection), pause_(pause), show_(show) {}

  /// Until all sensors have ended.
  void run(const std::vector<std::string>& sensors) {
    for (const std::string& name : sensors) {
      connection_.join(name, std::chrono::seconds(5)).value();
      sensors_[name];
    }
    while (!sensors_.empty()) handle(connection_.receive().value());
  }

 private:
  struct Sensor {
    std::uint64_t received = 0;
    std::uint64_t lost = 0;
  };

  void handle(const spindle::Event& event) {
    if (const auto* message = event.get_if<spindle::Message>()) {
      message->type() == kEnd ? finish(*message) : show(*message);
    } else if (const auto* gap = event.get_if<spindle::Gap>()) {
      for (const auto& [name, messages] : gap->names) {
        if (const auto sensor = sensors_.find(name); sensor != sensors_.end()) sensor->second.lost += messages;
      }
      std::cout << gap->messages << " readings are lost" << std::endl;
    } else if (const auto* again = event.get_if<spindle::Reconnected>()) {
      if (!again->resumed) std::cout << "connected again: readings of meanwhile are lost" << std::endl;
    } else if (const auto* end = event.get_if<spindle::Disconnected>()) {
      throw std::system_error(end->error, end->text);
    }
  }

  void show(const spindle::Message& message) {
    const auto sensor = sensors_.find(std::string(message.groups().front()));
    if (sensor == sensors_.end()) return;
    if (sensor->second.received++ % show_ == 0) {
      const std::string_view text = message.text();
      std::cout << sensor->first << ": " << text.substr(0, text.find_last_not_of(' ') + 1) << std::endl;
    }
    std::this_thread::sleep_for(pause_);
  }

  void finish(const spindle::Message& message) {
    const auto ended = sensors_.extract(std::string(message.groups().front()));
    if (ended.empty()) return;
    const Sensor& sensor = ended.mapped();
    std::cout << ended.key() << " has ended: " << message.text() << " sent, " << sensor.received << " received, "
              << sensor.lost << " lost" << std::endl;
  }

  spindle::Connection& connection_;
  const std::chrono::milliseconds pause_;
  const std::uint64_t show_;
  std::map<std::string, Sensor> sensors_;  // that have not ended
};

int run(const examples::Options& options) {
  const std::vector<std::string> sensors{options.words().begin() + 1, options.words().end()};
  const std::chrono::milliseconds pause(options.number("pause-ms"));
  spindle::ConnectOptions how{.address = options["connect"], .name = options["name"]};
  if (options.words().front() == "watch") {
    how.slow_policy = spindle::SlowPolicy::drop;
    how.receive_buffer_bytes = 64 << 10;  // what is shown is not much older than what is sent
    spindle::Connection connection = spindle::Connection::connect(how).value();
    Watcher(connection, pause, static_cast<std::uint64_t>(options.number("show"))).run(sensors);
    return 0;
  }
  how.independent_flows = true;
  spindle::Connection connection = spindle::Connection::connect(how).value();
  Publisher publisher(connection, sensors, static_cast<std::size_t>(options.number("bytes")));
  auto next = std::chrono::steady_clock::now();
  for (int number = 1; number <= options.number("count"); ++number) {
    publisher.publish(number);
    publisher.receive(next += pause);
  }
  publisher.finish();
  return connection.drain(std::chrono::seconds(10)).messages == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  return run(examples::Options(
      argc, argv, kHelp,
      {{"connect", ""}, {"name", ""}, {"count", "100"}, {"pause-ms", "0"}, {"bytes", "64"}, {"show", "1"}}));
} catch (const std::exception& error) {
  std::cerr << "sensor_stream: " << error.what() << '\n';
  return 1;
}
