#include "tests/integration/clients.h"

#include <algorithm>
#include <stdexcept>

namespace spindle::test {

namespace {

constexpr const char* kLastMessage = "the last one";

}  // namespace

Event next_event(Connection& client) {
  std::error_code error;
  std::optional<Event> event = client.receive(kPatience, error);
  if (!event) throw std::runtime_error("no event for " + std::string(client.private_name()) + ": " + error.message());
  return std::move(*event);
}

Message next_message(Connection& client) {
  for (;;) {
    Event event = next_event(client);
    if (auto* message = event.get_if<Message>()) return std::move(*message);
    if (const auto* end = event.get_if<Disconnected>()) throw std::system_error(end->error, end->text);
  }
}

GroupView wait_for_members(Connection& client, std::string_view group, std::vector<std::string> members) {
  std::sort(members.begin(), members.end());
  for (;;) {
    Event event = next_event(client);
    if (const auto* end = event.get_if<Disconnected>()) throw std::system_error(end->error, end->text);
    auto* view = event.get_if<GroupView>();
    if (view == nullptr || view->group != group) continue;
    std::vector<std::string> sorted = view->members;
    std::sort(sorted.begin(), sorted.end());
    if (sorted == members) return std::move(*view);
  }
}

void wait_for_one_view(const std::vector<Daemon*>& daemons) {
  std::vector<Connection> clients;
  std::vector<std::string> names;
  for (Daemon* daemon : daemons) {
    Connection& client = clients.emplace_back(daemon->connect({}));
    names.emplace_back(client.private_name());
    if (client.join("one view")) throw std::runtime_error("a client cannot join");
  }
  for (Connection& client : clients) wait_for_members(client, "one view", names);
}

Disconnected wait_for_end(Connection& client) {
  for (;;) {
    Event event = next_event(client);
    if (auto* end = event.get_if<Disconnected>()) return std::move(*end);
  }
}

MessageStream::MessageStream(Daemon& from, Daemon& to, std::string group)
    : group_(std::move(group)), sender_(from.connect("stream-sender")), receiver_(to.connect("stream-receiver")) {
  // The sender is a member to see when the daemons have met.
  for (Connection* each : {&sender_, &receiver_}) {
    if (const std::error_code error = each->join(group_)) throw std::system_error(error);
  }
  const std::vector<std::string> both{std::string(sender_.private_name()), std::string(receiver_.private_name())};
  wait_for_members(sender_, group_, both);
  wait_for_members(receiver_, group_, both);
  sending_ = std::thread(&MessageStream::send, this);
  receiving_ = std::thread(&MessageStream::receive, this);
}

MessageStream::~MessageStream() { finish(); }

void MessageStream::send() {
  std::unique_lock lock(mutex_);
  for (;;) {
    news_.wait(lock, [&] { return over_ || stopping_ || sent_ - received_ < kWindow; });
    if (over_) return;
    const std::string text = stopping_ ? kLastMessage : std::to_string(sent_);
    const bool last = stopping_;
    ++sent_;
    lock.unlock();
    const std::error_code error = sender_.multicast(Service::agreed, group_, text, {.self_discard = true});
    if (error) return fail("sending: " + error.message());
    if (last) return;
    lock.lock();
  }
}

void MessageStream::receive() try {
  for (std::uint64_t next = 0;; ++next) {
    const Clock::time_point before = Clock::now();
    const Event event = next_event(receiver_);
    if (next > 0) longest_pause_ = std::max(longest_pause_, Clock::now() - before);
    const auto* message = event.get_if<Message>();
    if (message == nullptr) {
      const auto* end = event.get_if<Disconnected>();
      return fail(end != nullptr ? "disconnected: " + end->error.message() : "something other than a message came");
    }
    const bool last = message->text() == kLastMessage;
    if (!last && message->text() != std::to_string(next)) {
      return fail("message " + std::string(message->text()) + " came instead of " + std::to_string(next));
    }
    const std::lock_guard lock(mutex_);
    ++received_;
    over_ = last;
    news_.notify_all();
    if (last) return;
  }
} catch (const std::exception& error) {
  fail(error.what());
}

void MessageStream::fail(const std::string& why) {
  const std::lock_guard lock(mutex_);
  over_ = true;
  if (error_.empty()) error_ = why;
  news_.notify_all();
}

void MessageStream::wait_for(std::uint64_t count) {
  std::unique_lock lock(mutex_);
  const std::uint64_t goal = received_ + count;
  const bool moved = news_.wait_for(lock, kPatience, [&] { return over_ || received_ >= goal; });
  if (!moved || over_) throw std::runtime_error("the stream of messages stands still: " + error_);
}

std::string MessageStream::finish() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    news_.notify_all();
  }
  if (sending_.joinable()) sending_.join();
  if (receiving_.joinable()) receiving_.join();
  if (error_.empty() && sent_ != received_) return "messages are missing";
  return error_;
}

}  // namespace spindle::test
