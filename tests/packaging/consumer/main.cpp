// A program that knows Spindle from its installed headers only: it sends itself a message.
#include <spindle/connection.h>
#include <spindle/membership.h>

#include <iostream>

int main() {
  try {
    spindle::Connection connection = spindle::Connection::connect().value();
    spindle::Membership members;
    connection.join("news", std::chrono::seconds(5)).value();
    if (auto error = connection.multicast(spindle::Service::agreed, connection.private_name(), "hello")) {
      throw std::system_error(error);
    }
    while (auto event = connection.receive()) {
      if (const auto* view = event->get_if<spindle::GroupView>()) {
        if (members.apply(*view) != spindle::Membership::Outcome::current) return 1;
      }
      if (const auto* message = event->get_if<spindle::Message>()) {
        std::cout << message->text() << std::endl;
        return 0;
      }
    }
    std::cerr << spindle::describe(spindle::Errc::connection_lost) << "\n";
  } catch (const std::system_error& error) {
    std::cerr << "consumer: " << error.what() << "\n";
  }
  return 1;
}
