// Figures that are of use now or never: a feed.
//
// Who publishes does not wait for those who listen, and what is lost on its way is repaired only as long as that is of
// use. Who listens gets the figures in order, and is told which are missing. Where the network carries less than is
// measured the oldest figures go.
#include <spindle/connection.h>
#include <spindle/feed.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <string>
#include <thread>

#include "options.h"

namespace {

constexpr std::string_view kHelp = R"(telemetry [OPTION VALUE]... publish GROUP
telemetry [OPTION VALUE]... listen GROUP

The first publishes figures to the members of GROUP who listen. The second shows those that come, and, when their
publisher has ended, how many have come and how many packets were missing.

  --connect ADDRESS  of the daemon
  --name NAME        of this client
  --count N          figures (100)
  --pause-ms M       between two figures (1)
  --bytes B          of a figure (64)
  --show N           every Nth figure only (1)
  --deadline-ms M    how long a figure waits for those before it (50)
)";

void publish(spindle::Connection& connection, const std::string& group, const examples::Options& options) {
  spindle::FeedOptions how;
  how.when_full = spindle::WhenFull::drop_oldest;
  spindle::Feed feed = connection.open_feed(group, how).value();
  for (int i = 1; i <= options.number("count"); ++i) {
    std::string figure = std::to_string(i) + " " + std::to_string(20 + i % 7);
    figure.resize(std::max<std::size_t>(figure.size(), static_cast<std::size_t>(options.number("bytes"))), ' ');
    if (const auto error = feed.try_send(figure)) throw std::system_error(error);
    std::this_thread::sleep_for(std::chrono::milliseconds(options.number("pause-ms")));
  }
  std::cout << group << ": " << options["count"] << " published, " << feed.dropped() << " dropped\n";
}

/// Until a feed that it has heard has ended.
void listen(spindle::Connection& connection, const std::string& group, const examples::Options& options) {
  spindle::ListenOptions how;
  how.deadline = std::chrono::milliseconds(options.number("deadline-ms"));
  if (const auto error = connection.listen(group, how)) throw std::system_error(error);
  connection.join(group, std::chrono::seconds(5)).value();
  std::cout << group << ": listening\n" << std::flush;
  std::uint64_t heard = 0, missing = 0;
  while (auto event = connection.receive()) {
    if (const auto* packet = event->get_if<spindle::FeedPacket>()) {
      if (++heard % static_cast<std::uint64_t>(options.number("show")) == 0) std::cout << packet->text() << '\n';
    } else if (const auto* gap = event->get_if<spindle::FeedGap>()) {
      missing += gap->count;
    } else if (event->is<spindle::FeedClosed>()) {
      break;
    } else if (const auto* end = event->get_if<spindle::Disconnected>()) {
      throw std::system_error(end->error, end->text);
    }
  }
  std::cout << group << ": " << heard << " heard, " << missing << " packets missing\n";
}

}  // namespace

int main(int argc, char** argv) try {
  const examples::Options options(argc, argv, kHelp,
                                  {{"connect", ""},
                                   {"name", ""},
                                   {"count", "100"},
                                   {"pause-ms", "1"},
                                   {"bytes", "64"},
                                   {"show", "1"},
                                   {"deadline-ms", "50"}});
  const std::vector<std::string>& words = options.words();
  const bool publishes = words[0] == "publish";
  if (words.size() != 2 || (!publishes && words[0] != "listen")) {
    std::cerr << kHelp;
    return 2;
  }
  spindle::Connection connection =
      spindle::Connection::connect({.address = options["connect"], .name = options["name"]}).value();
  publishes ? publish(connection, words[1], options) : listen(connection, words[1], options);
} catch (const std::system_error& error) {
  std::cerr << "telemetry: " << error.what() << '\n';
  return 1;
}
