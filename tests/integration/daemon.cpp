#include "tests/integration/daemon.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <exception>
#include <iostream>
#include <stdexcept>

#include "daemon/admin/admin_frames.h"
#include "tests/integration/clients.h"
#include "tests/integration/raw_socket.h"

namespace spindle::test {

namespace {

/// What stands between `before` and the next ';' or the end: how the line "ready" names an address.
std::string part_behind(const std::string& line, std::string_view before) {
  const std::size_t start = line.find(before);
  if (start == std::string::npos) throw std::runtime_error("no \"" + std::string(before) + "\" in: " + line);
  const std::size_t begin = start + before.size();
  return line.substr(begin, line.find(';', begin) - begin);
}

/// `configuration` with a line more in its section [link], which it may have or not.
std::string with_link_setting(std::string configuration, const std::string& line) {
  constexpr std::string_view kSection = "[link]\n";
  const std::size_t section = configuration.find(kSection);
  if (section == std::string::npos) return configuration + "\n[link]\n" + line;
  return configuration.insert(section + kSection.size(), line);
}

/// The last of several, which is the TCP address where there is a unix socket, too.
std::string last_word(const std::string& words) { return words.substr(words.rfind(' ') + 1); }

}  // namespace

Daemon::Daemon(const DaemonOptions& options) : options_(options) {
  write_file(directory_.path("spindle.toml"), configuration());
  start();
}

Daemon::~Daemon() {
  process_->signal(SIGKILL);
  if (::testing::Test::HasFailure() || std::uncaught_exceptions() != 0) show_log();
}

void Daemon::reload(const std::string& text) {
  options_.configuration = text;
  write_file(directory_.path("spindle.toml"), configuration());
  process_->signal(SIGHUP);
}

std::string Daemon::configuration() const {
  std::string text = "[daemon]\nname = \"" + options_.name + "\"\n\n[listen]\nclients = [\"" + options_.client_address +
                     "\"]\nclient_socket = \"" + socket() + "\"\nadmin_socket = \"" + admin_socket() +
                     "\"\nlinks = [\"" + options_.link_address + "\"]\n";
  if (!options_.admin_address.empty()) text += "admin = [\"" + options_.admin_address + "\"]\n";
  text += '\n';
  if (options_.insecure) text += "[tls]\ninsecure = true\n\n";
  for (const std::string& address : options_.neighbours) text += "[[neighbour]]\naddress = \"" + address + "\"\n\n";
  text += options_.configuration;
  if (options_.liveness_timeout_ms == 0 || text.find("liveness_timeout_ms") != std::string::npos) return text;
  return with_link_setting(text, "liveness_timeout_ms = " + std::to_string(options_.liveness_timeout_ms) + "\n");
}

void Daemon::start() {
  ProcessOptions process = options_.process;
  const std::vector<std::string> arguments{"--config", directory_.path("spindle.toml")};
  process.arguments.insert(process.arguments.begin(), arguments.begin(), arguments.end());
  process_ = std::make_unique<Process>(SPINDLED_PATH, process);
  try {
    const std::string ready = process_->wait_for_line("ready: ").text;
    client_address_ = last_word(part_behind(ready, "clients at "));
    link_address_ = last_word(part_behind(ready, "links at "));
    admin_address_ = last_word(part_behind(ready, "administration at "));
  } catch (...) {
    show_log();
    throw;
  }
}

void Daemon::show_log() {
  static_cast<void>(process_->wait());
  std::cerr << "--- " << name() << " wrote:\n" << process_->transcript() << "---\n";
}

void Daemon::kill() {
  process_->signal(SIGKILL);
  static_cast<void>(process_->wait());
}

int Daemon::stop() {
  process_->signal(SIGTERM);
  return process_->wait();
}

Connection Daemon::connect(const std::string& client) {
  ConnectOptions options;
  options.address = "unix:" + socket();
  options.name = client;
  options.connect_timeout = kPatience;
  options.reconnect_timeout = {};  // tests look at the end of a connection
  return Connection::connect(options).value();
}

spindle::admin::Reply Daemon::ask(const spindle::admin::Request& request) {
  RawSocket connection("unix:" + admin_socket());
  const std::string body = request.SerializeAsString();
  connection.write(make_frame(static_cast<std::uint8_t>(spindled::AdminFrame::request), spindle::as_bytes(body)));
  const std::optional<RawFrame> frame = connection.read_frame();
  spindle::admin::Reply reply;
  if (!frame || frame->type != static_cast<std::uint8_t>(spindled::AdminFrame::reply) ||
      !reply.ParseFromArray(frame->body.data(), static_cast<int>(frame->body.size()))) {
    throw std::runtime_error("the administration socket of " + name() + " does not answer");
  }
  return reply;
}

std::uint64_t Daemon::count(const std::string& counter) {
  spindle::admin::Request request;
  request.mutable_counters();
  const spindle::admin::Reply reply = ask(request);
  for (const spindle::admin::Counter& each : reply.counters().counters()) {
    if (each.name() == counter) return each.value();
  }
  throw std::runtime_error("there is no counter " + counter);
}

void Daemon::expect_serving() {
  Connection client = connect("probe" + std::to_string(++probes_));
  EXPECT_FALSE(client.multicast(Service::reliable, client.private_name(), "are you there"));
  EXPECT_EQ(next_message(client).text(), "are you there");
  spindle::admin::Request request;
  request.mutable_status();
  EXPECT_EQ(ask(request).status().name(), name());
}

Finished run_spmonitor(const Daemon& daemon, const std::vector<std::string>& arguments) {
  ProcessOptions options;
  options.arguments = {"--socket", daemon.admin_socket()};
  options.arguments.insert(options.arguments.end(), arguments.begin(), arguments.end());
  return run(SPMONITOR_PATH, options);
}

namespace {

DaemonOptions options_of(const char* name, std::vector<std::string> neighbours, const std::string& configuration) {
  DaemonOptions options;
  options.name = name;
  options.neighbours = std::move(neighbours);
  options.configuration = configuration;
  return options;
}

}  // namespace

LineOfThree::LineOfThree(const std::string& configuration)
    : beta(options_of("beta", {}, configuration)),
      alpha(options_of("alpha", {beta.link_address()}, configuration)),
      gamma(options_of("gamma", {beta.link_address()}, configuration)) {}

}  // namespace spindle::test
