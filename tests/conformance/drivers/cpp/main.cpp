// The driver of the C++ client library: makes the calls that the runner asks for and tells how they end.
#include <chrono>
#include <future>
#include <iostream>
#include <list>
#include <map>
#include <mutex>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <thread>

#include "spindle/bulk.h"
#include "spindle/connection.h"
#include "spindle/feed.h"
#include "tests/conformance/drivers/cpp/contents.h"
#include "tests/conformance/drivers/cpp/events.h"

namespace spindle::conformance {
namespace {

constexpr const char* kFeatures[] = {"flows",      "timeouts",  "confirm", "drain",        "headers", "writable",
                                     "resumption", "synchrony", "request", "cancellation", "bulk",    "feeds"};

/// What a call that gives an error code has come to.
Answer outcome(const std::error_code& error) {
  return error ? Answer("failed").add("code", code_of(error)) : Answer("ok");
}

Answer outcome(const NotTaken& lost) {
  return Answer("ok").add("not_taken", lost.messages).add("exact", lost.exact ? "yes" : "no");
}

std::chrono::milliseconds milliseconds(const Call& call, std::string_view key) {
  return std::chrono::milliseconds(call.integer(key));
}

std::chrono::milliseconds timeout_of(const Call& call) { return milliseconds(call, "timeout_ms"); }

template <typename Enum, std::size_t kCount>
Enum number_of(const std::string_view (&names)[kCount], std::string_view name) {
  for (std::size_t i = 0; i < kCount; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  throw std::invalid_argument("unknown name: " + std::string(name));
}

SlowPolicy policy_of(std::string_view name) {
  return static_cast<SlowPolicy>(number_of<int>(kSlowPolicyNames, name) + 1);
}

ConnectOptions options_of(const Call& call) {
  ConnectOptions options;
  options.more_addresses = call.all("address");
  options.address = options.more_addresses.front();
  options.more_addresses.erase(options.more_addresses.begin());
  options.reconnect_timeout = call.has("reconnect") ? std::chrono::minutes(1) : std::chrono::minutes(0);
  options.resume = call.has("resume");
  if (call.has("keepalive_ms")) options.keepalive = milliseconds(call, "keepalive_ms");
  options.name = call.text("name");
  options.independent_flows = call.text("flows") == "independent";
  if (call.has("policy")) options.slow_policy = policy_of(call.text("policy"));
  options.receive_buffer_bytes = call.integer("receive_buffer", options.receive_buffer_bytes);
  options.send_buffer_bytes = call.integer("send_buffer", options.send_buffer_bytes);
  if (call.has("connect_timeout_ms")) options.connect_timeout = milliseconds(call, "connect_timeout_ms");
  if (call.has("disconnect_timeout_ms")) options.disconnect_timeout = milliseconds(call, "disconnect_timeout_ms");
  options.bulk = call.has("bulk");
  return options;
}

OfferOptions offer_options_of(const Call& call) {
  OfferOptions options;
  options.bytes_per_second = call.integer("rate");
  options.weight = static_cast<unsigned>(call.integer("weight", options.weight));
  if (call.has("linger_ms")) options.linger = std::chrono::ceil<std::chrono::seconds>(milliseconds(call, "linger_ms"));
  if (call.has("timeout_ms")) options.timeout = timeout_of(call);
  return options;
}

std::vector<Header> headers_of(const std::vector<std::string>& keys, const std::vector<std::string>& values) {
  std::vector<Header> headers;
  for (std::size_t i = 0; i < keys.size(); ++i) headers.push_back({keys[i], values.at(i)});
  return headers;
}

class Driver {
 public:
  Answer perform(const Call& call) {
    const auto verb = kVerbs.find(call.verb);
    if (verb == kVerbs.end()) throw std::invalid_argument("unknown verb: " + call.verb);
    return (this->*verb->second)(call);
  }

 private:
  using Verb = Answer (Driver::*)(const Call&);

  Answer connect(const Call& call) {
    Result<Connection> result = Connection::connect(options_of(call));
    if (!result) return outcome(result.error()).add("text", result.text());
    bulk_ = Bulk();
    feeds_.clear();
    connection_ = *std::move(result);
    if (call.has("bulk")) bulk_ = Bulk::open(connection_).value();
    return Answer("ok").add("name", connection_.private_name());
  }

  /// With a timeout the form that waits.
  Answer join(const Call& call) {
    const JoinOptions options{call.has("synchronous"), call.has("auto_flush")};
    if (!call.has("timeout_ms")) return outcome(connection_.join(call.text("group"), options));
    return outcome(connection_.join(call.text("group"), timeout_of(call), options, stop_of(call)).error());
  }

  Answer flush_ok(const Call&) { return outcome(connection_.flush_ok(flush_request_)); }

  Answer leave(const Call& call) { return outcome(connection_.leave(call.text("group"))); }
  Answer ask(const Call& call) { return outcome(connection_.request_view(call.text("group"))); }

  Answer flow(const Call& call) {
    const std::vector<std::string> groups = call.all("group");
    return outcome(connection_.request_flow(std::vector<std::string_view>(groups.begin(), groups.end())));
  }

  Answer writable(const Call& call) {
    const std::vector<std::string> groups = call.all("group");
    std::promise<std::error_code> done;
    connection_.when_writable(
        std::vector<std::string_view>(groups.begin(), groups.end()), timeout_of(call),
        [&](std::error_code error) { done.set_value(error); }, stop_of(call));
    return outcome(done.get_future().get());
  }

  Answer confirm(const Call& call) { return outcome(connection_.confirm(timeout_of(call), stop_of(call))); }
  Answer drain(const Call& call) { return outcome(connection_.drain(timeout_of(call), stop_of(call))); }
  Answer close(const Call&) { return outcome(connection_.disconnect()); }

  Answer send(const Call& call) {
    const std::vector<std::string> names = call.all("group");
    const std::vector<std::string_view> groups(names.begin(), names.end());
    const auto service = number_of<Service>(kServiceNames, call.text("service"));
    SendOptions options{.type = static_cast<std::uint16_t>(call.integer("type")),
                        .self_discard = call.has("self_discard")};
    const std::vector<std::string> keys = call.all("header"), values = call.all("header_value");
    const std::vector<Header> headers = headers_of(keys, values);
    options.headers = headers;
    if (call.has("timeout_ms")) options.timeout = timeout_of(call);
    std::uint64_t sent = 0;
    std::error_code error;
    for (; sent < call.integer("count") && !error; sent += error ? 0 : 1) {
      options.ticket = call.integer("ticket") + sent;
      const std::string bytes = payload(call.integer("seed") + sent, call.integer("size"));
      error = call.has("try") ? connection_.try_multicast(service, groups, bytes, options)
                              : connection_.multicast(service, groups, bytes, options, stop_of(call));
    }
    return outcome(error).add("sent", sent);
  }

  Answer request(const Call& call) {
    const std::vector<std::string> names = call.all("group");
    const std::vector<std::string> keys = call.all("header"), values = call.all("header_value");
    const std::vector<Header> headers = headers_of(keys, values);
    RequestOptions options;
    options.answers = call.integer("answers");
    options.service = number_of<Service>(kServiceNames, call.text("service"));
    options.type = static_cast<std::uint16_t>(call.integer("type"));
    options.self_discard = call.has("self_discard");
    options.headers = headers;
    const auto timeout = call.has("timeout_ms") ? timeout_of(call) : std::chrono::nanoseconds::max();
    const Answers answers =
        connection_.request(std::vector<std::string_view>(names.begin(), names.end()),
                            payload(call.integer("seed"), call.integer("size")), timeout, options, stop_of(call));
    Answer told = outcome(answers.error);
    for (const Message& message : answers.messages) {
      told.add("sender", message.sender()).add("size", message.text().size()).add("digest", digest(message.text()));
    }
    return told;
  }

  Answer answer(const Call& call) {
    return outcome(connection_.reply(request_, payload(call.integer("seed"), call.integer("size"))));
  }

  Answer offer(const Call& call) {
    const Result<ChannelId> channel =
        bulk_.offer(call.text("group"), Contents::source_of(call), offer_options_of(call));
    if (!channel) return outcome(channel.error()).add("text", channel.text());
    contents_.note(*channel);
    return Answer("ok").add("channel", to_string(*channel));
  }

  Answer accept(const Call& call) {
    const AcceptOptions options{call.has("replace"), !call.has("not_serving")};
    return outcome(bulk_.accept(contents_.channel_of(call), contents_.sink_of(call), options));
  }

  Answer refuse(const Call& call) { return outcome(bulk_.refuse(contents_.channel_of(call))); }
  Answer withdraw(const Call& call) { return outcome(bulk_.cancel(contents_.channel_of(call))); }
  Answer rate(const Call& call) { return outcome(bulk_.set_rate(contents_.channel_of(call), call.integer("rate"))); }

  Answer listen(const Call& call) {
    ListenOptions options;
    if (call.text("delivery") == "immediate") options.delivery = ListenOptions::Delivery::immediate;
    if (call.has("deadline_ms")) options.deadline = milliseconds(call, "deadline_ms");
    return outcome(connection_.listen(call.text("group"), options));
  }

  Answer unlisten(const Call& call) { return outcome(connection_.stop_listening(call.text("group"))); }

  Answer feed(const Call& call) {
    FeedOptions options;
    if (call.has("repair_ms")) options.repair_for = milliseconds(call, "repair_ms");
    options.bytes_per_second = call.integer("rate");
    if (call.has("drop_oldest")) options.when_full = WhenFull::drop_oldest;
    if (call.has("timeout_ms")) options.timeout = timeout_of(call);
    Result<Feed> opened = connection_.open_feed(call.text("group"), options);
    if (!opened) return outcome(opened.error());
    const FeedId id = opened->id();
    feeds_.emplace(id, *std::move(opened));
    return Answer("ok").add("feed", id);
  }

  Answer emit(const Call& call) {
    Feed& feed = feeds_.at(call.integer("feed"));
    std::uint64_t sent = 0;
    std::error_code error;
    for (; sent < call.integer("count") && !error; sent += error ? 0 : 1) {
      error = feed.try_send(payload(call.integer("seed") + sent, call.integer("size")));
    }
    return outcome(error).add("sent", sent);
  }

  Answer shut(const Call& call) {
    feeds_.erase(call.integer("feed"));
    return Answer("ok");
  }

  Answer receive(const Call& call) {
    std::error_code error;
    std::optional<Event> event = connection_.receive(timeout_of(call), error, stop_of(call));
    const Message* message = event ? event->get_if<Message>() : nullptr;
    if (message != nullptr && message->is_request()) request_ = *message;
    if (const auto* flush = event ? event->get_if<FlushRequest>() : nullptr) flush_request_ = *flush;
    if (const auto* offered = event ? event->get_if<BulkOffered>() : nullptr) contents_.note(offered->channel);
    if (auto* received = event ? event->get_if<BulkReceived>() : nullptr) contents_.add_stream(*received);
    return event ? describe(*event) : outcome(error);
  }

  /// The call aside may not have begun: then it finds that it is cancelled.
  Answer cancel(const Call& call) {
    stop_source_of(call.text("call")).request_stop();
    return Answer("ok");
  }
  std::stop_token stop_of(const Call& call) {
    return call.has("aside") ? stop_source_of(call.number).get_token() : std::stop_token();
  }
  std::stop_source stop_source_of(const std::string& number) {
    const std::lock_guard lock(stops_mutex_);
    return stops_[number];
  }

  static const std::map<std::string, Verb> kVerbs;

  Connection connection_;
  Bulk bulk_;
  std::map<FeedId, Feed> feeds_;
  Contents contents_;
  Message request_;             // the last one that came
  FlushRequest flush_request_;  // likewise
  std::mutex stops_mutex_;
  std::map<std::string, std::stop_source> stops_;  // by the number of the call
};

const std::map<std::string, Driver::Verb> Driver::kVerbs = {
    {"connect", &Driver::connect},   {"join", &Driver::join},       {"leave", &Driver::leave},
    {"ask", &Driver::ask},           {"flow", &Driver::flow},       {"writable", &Driver::writable},
    {"send", &Driver::send},         {"receive", &Driver::receive}, {"confirm", &Driver::confirm},
    {"drain", &Driver::drain},       {"close", &Driver::close},     {"flush_ok", &Driver::flush_ok},
    {"request", &Driver::request},   {"answer", &Driver::answer},   {"cancel", &Driver::cancel},
    {"offer", &Driver::offer},       {"accept", &Driver::accept},   {"refuse", &Driver::refuse},
    {"withdraw", &Driver::withdraw}, {"rate", &Driver::rate},       {"listen", &Driver::listen},
    {"unlisten", &Driver::unlisten}, {"feed", &Driver::feed},       {"emit", &Driver::emit},
    {"shut", &Driver::shut}};

std::mutex output_mutex;

void tell(const std::string& line) {
  const std::lock_guard lock(output_mutex);
  std::cout << line << std::endl;
}

void answer(Driver& driver, const Call& call) try {
  tell(call.number + " " + driver.perform(call).line);
} catch (const std::invalid_argument& error) {
  tell(call.number + " " + Answer("unusable").add("text", error.what()).line);
}

void greet() {
  Answer greeting("driver");
  greeting.add("protocol", 1).add("language", "C++");
  for (const char* feature : kFeatures) greeting.add("feature", feature);
  tell(greeting.line);
}

int run() {
  greet();
  Driver driver;
  std::list<std::jthread> aside;
  for (std::string line; std::getline(std::cin, line);) {
    const Call call(line);
    if (call.has("aside")) {
      aside.emplace_back([&driver, call] { answer(driver, call); });
    } else {
      answer(driver, call);
    }
  }
  return 0;
}

}  // namespace
}  // namespace spindle::conformance

int main() { return spindle::conformance::run(); }
