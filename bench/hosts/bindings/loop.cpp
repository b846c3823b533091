// loop_cpp ADDRESS BYTES MESSAGES: what loop.c does, with the C++ library.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "spindle/connection.h"

namespace {

constexpr std::size_t kUnderWay = 256;

/// The bytes of the messages that have come.
std::size_t receive(spindle::Connection& connection, std::size_t& messages) {
  std::size_t bytes = 0;
  std::optional<spindle::Event> event = connection.receive();
  for (; event; event = connection.receive(std::chrono::nanoseconds(0))) {
    if (const auto* message = event->get_if<spindle::Message>()) {
      bytes += message->payload().size();
      ++messages;
    }
  }
  return bytes;
}

int run(const char* address, std::size_t bytes, std::size_t messages) {
  spindle::Connection connection = spindle::Connection::connect({.address = address, .reconnect_timeout = {}}).value();
  const std::string_view to = connection.private_name();
  const std::string payload(bytes, '\0');
  std::size_t sent = 0, received = 0, received_bytes = 0;
  const auto begin = std::chrono::steady_clock::now();
  while (received < messages) {
    for (; sent < messages && sent - received < kUnderWay; ++sent) {
      if (const auto error = connection.multicast(spindle::Service::fifo, to, payload)) throw std::system_error(error);
    }
    received_bytes += receive(connection, received);
  }
  std::printf("%.6f\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  return received_bytes == messages * bytes ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) try {
  return argc == 4 ? run(argv[1], std::stoul(argv[2]), std::stoul(argv[3])) : 2;
} catch (const std::exception& error) {
  std::fprintf(stderr, "loop_cpp: %s\n", error.what());
  return 1;
}
