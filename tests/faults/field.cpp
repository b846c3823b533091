#include "tests/faults/field.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "tests/checkers/channel_text.h"

namespace spindle::test {

using namespace spindled::checkers;

namespace {

using namespace std::chrono_literals;

constexpr const char* kDiskOptions = "size=1m,mode=0755";

}  // namespace

spindled::Time time_now() { return spindled::Time(Clock::now().time_since_epoch()); }

SmallDisk::SmallDisk(std::string path) : path_(std::move(path)) {
  if (::mkdir(path_.c_str(), 0755) != 0 || ::mount("none", path_.c_str(), "tmpfs", 0, kDiskOptions) != 0) {
    throw std::system_error(errno, std::generic_category(), "mounting " + path_);
  }
}

SmallDisk::~SmallDisk() { ::umount2(path_.c_str(), MNT_DETACH); }

/// A file has room in its last page even when the disk has no page left.
void SmallDisk::fill() {
  write_file(path("filler"), "");
  const std::string lines(4096, '\n');
  const auto fill_up = [&](const std::filesystem::path& name) {
    const Descriptor file(::open(name.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    for (std::size_t size = lines.size(); size > 0; size /= 2) {
      while (::write(file.get(), lines.data(), size) > 0) continue;
    }
  };
  fill_up(path("filler"));
  for (const auto& entry : std::filesystem::directory_iterator(path_)) fill_up(entry.path());
}

void SmallDisk::clear() { ::unlink(path("filler").c_str()); }

Field::Field(const FieldOptions& options) : clients_each_(options.clients_each) {
  for (std::size_t i = 0; i < options.daemons; ++i) names_.emplace_back(1, static_cast<char>('a' + i));
  if (options.log_to_disk) disk_ = std::make_unique<SmallDisk>(directory_.path("disk"));
  lan_ = std::make_unique<Lan>(names_);
  dead_.resize(options.daemons);
  paused_.resize(options.daemons);
  for (std::size_t i = 0; i < options.daemons; ++i) {
    daemons_.push_back(std::make_unique<Daemon>(daemon_options(i, options)));
  }
  wait_for_one_view();
  const spindled::Time since = time_now();
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < options.daemons; ++i) {
    all.push_back(i);
    for (std::size_t k = 0; k < clients_each_; ++k) {
      const std::uint64_t seed = options.seed * 1000 + i * 10 + k;
      clients_.push_back(std::make_unique<RecordingClient>(daemons_[i]->socket(), options.traffic, seed));
    }
  }
  if (!options.traffic.groups.empty()) wait_for_clients(all, since);
  for (std::size_t i = 0; i < options.daemons * options.black_boxes_each; ++i) {
    const std::size_t daemon = i % options.daemons;
    black_boxes_.push_back(std::make_unique<BlackBoxClient>(daemons_[daemon]->socket(), fmt::format("b{}", i),
                                                            options.seed * 1000 + 500 + i));
  }
}

DaemonOptions Field::daemon_options(std::size_t index, const FieldOptions& options) const {
  DaemonOptions result;
  result.name = names_[index];
  result.link_address = "0.0.0.0:4804";
  result.insecure = true;
  result.process.network_namespace = lan_->network_namespace(names_[index]);
  result.process.descriptors_max = options.descriptors_max;
  result.configuration = options.configuration;
  result.liveness_timeout_ms = 0;  // the stops and cuts of `Trouble` are as long as the default has them matter
  if (disk_) result.configuration += "\n[log]\nfile = \"" + log_file(index) + "\"\n";
  const auto dial = [&](std::size_t other) { result.neighbours.push_back(lan_->address(names_[other]) + ":4804"); };
  if (options.links.empty()) {
    for (std::size_t other = 0; other < index; ++other) dial(other);
  }
  for (const auto& [from, to] : options.links) {
    if (from == index) dial(to);
  }
  return result;
}

void Field::kill(std::size_t index) {
  daemons_[index]->kill();
  dead_[index] = true;
  paused_[index] = false;
}

void Field::start(std::size_t index) {
  daemons_[index]->start();
  dead_[index] = false;
}

void Field::pause(std::size_t index) {
  daemons_[index]->process().signal(SIGSTOP);
  paused_[index] = true;
}

void Field::resume(std::size_t index) {
  daemons_[index]->process().signal(SIGCONT);
  paused_[index] = false;
}

std::string Field::unrest() {
  spindle::admin::Request request;
  request.mutable_status();
  std::optional<spindle::admin::StatusReply> first;
  for (std::size_t i = 0; i < size(); ++i) {
    const spindle::admin::StatusReply status = daemons_[i]->ask(request).status();
    const std::string text = fmt::format("{} has {} of {} members, {}, {}/{} ordered, {} unstable bytes", names_[i],
                                         status.view().number(), status.view().members_size(), status.phase(),
                                         status.order_position(), status.order_end(), status.unstable_bytes());
    if (static_cast<std::size_t>(status.view().members_size()) != size() || !status.settled()) return text;
    if (!first) first = status;
    if (status.view().number() != first->view().number()) return text + ", which is another view";
  }
  return {};
}

void Field::wait_for_one_view() {
  std::string why;
  const Clock::time_point end = Clock::now() + kPatience;
  while (!(why = unrest()).empty()) {
    if (Clock::now() > end) throw std::runtime_error("the daemons do not come to one view: " + why);
    std::this_thread::sleep_for(10ms);
  }
}

spindled::Time Field::wait_for_clients(const std::vector<std::size_t>& daemons, spindled::Time since) {
  const std::string group = "news";
  const std::size_t members = daemons.size() * clients_each_;
  spindled::Time last = since;
  for (const std::size_t daemon : daemons) {
    for (std::size_t k = 0; k < clients_each_; ++k) {
      std::optional<spindled::Time> time;
      wait_until(fmt::format("a view of {} clients at {}", members, names_[daemon]),
                 [&] { return (time = client(daemon, k).view_time(group, members, since)).has_value(); });
      last = std::max(last, *time);
    }
  }
  return last;
}

namespace {
template <typename Client>
void wait_for_rest(Client& client) {
  const Clock::time_point end = Clock::now() + kPatience;
  while (!client.is_at_rest()) {
    if (Clock::now() > end) throw std::runtime_error("a client does not come to rest: " + client.state());
    std::this_thread::sleep_for(10ms);
  }
}
}  // namespace

Violations Field::finish() {
  lan_->heal();
  if (disk_) disk_->clear();
  for (std::size_t i = 0; i < size(); ++i) {
    if (paused_[i]) resume(i);
    if (dead_[i]) start(i);
  }
  wait_for_one_view();
  for (const auto& client : clients_) client->quiet();
  for (const auto& client : black_boxes_) client->quiet();
  for (const auto& client : clients_) wait_for_rest(*client);
  for (const auto& client : black_boxes_) wait_for_rest(*client);
  wait_for_one_view();
  give_up();
  return check_all(history_, true);
}

void Field::save(const std::string& folder, const std::string& failure, const std::string& diary) {
  std::filesystem::create_directories(folder);
  write_file(folder + "/failure", failure + "\n");
  write_file(folder + "/histories", to_text(history_));
  write_file(folder + "/diary", diary);
  for (std::size_t i = 0; i < size(); ++i) {
    std::string log = daemons_[i]->process().transcript();
    if (disk_) log += read_file(log_file(i));
    write_file(folder + "/" + names_[i] + ".log", log);
  }
}

void Field::give_up() {
  for (const auto& client : clients_) {
    for (ClientHistory& history : client->finish()) history_.clients.push_back(std::move(history));
  }
  clients_.clear();
  for (const auto& client : std::exchange(black_boxes_, {})) {
    for (ClientHistory& history : client->finish()) history_.clients.push_back(std::move(history));
  }
}

namespace {

struct EventText {
  static std::string of(const MessageRecord& message) {
    return fmt::format("{} {:016x} of {} to {}, service {}, {} bytes", message.type, message.digest, message.sender,
                       fmt::join(message.groups, ","), static_cast<int>(message.service), message.size);
  }
  std::string operator()(const Sent& sent) const {
    return "sent " + of(sent.message) + (sent.self_discard ? ", not to itself" : "");
  }
  std::string operator()(const Delivered& delivered) const { return "got " + of(delivered.message); }
  std::string operator()(const JoinRequested& join) const { return "join " + join.group; }
  std::string operator()(const LeaveRequested& leave) const { return "leave " + leave.group; }
  std::string operator()(const spindled::checkers::GroupView& view) const {
    return fmt::format("view {}@{}/{} of {}, cause {}: {}; together {}; changed {}", view.id.view_number,
                       view.id.coordinator, view.id.position, view.group, static_cast<int>(view.cause),
                       fmt::join(view.members, " "), fmt::join(view.vs_set, " "), fmt::join(view.changed, " "));
  }
  std::string operator()(const spindled::checkers::Transitional& signal) const {
    return "transitional " + signal.group;
  }
  std::string operator()(const spindled::checkers::FlushRequested& request) const {
    return "flush request " + request.group;
  }
  std::string operator()(const spindled::checkers::FlushAnswered& answer) const { return "flushed " + answer.group; }
  std::string operator()(const spindled::checkers::Gapped& gap) const {
    return fmt::format("gap of {} messages", gap.messages);
  }
  std::string operator()(const Refused& refused) const {
    return fmt::format("refused {} {}", refused.group, refused.code);
  }
  std::string operator()(const spindled::checkers::MessagesRefused& refused) const {
    return fmt::format("refused {} messages to {}", refused.messages, refused.name);
  }
  std::string operator()(const spindled::checkers::ChannelSaid& said) const { return to_text(said); }
  std::string operator()(const spindled::checkers::ChannelTold& told) const { return to_text(told); }
  std::string operator()(const Closed& closed) const { return fmt::format("closed {} {}", closed.code, closed.text); }
};

}  // namespace

std::string to_text(const History& history) {
  std::string text;
  for (const ClientHistory& client : history.clients) {
    text += "client " + client.name + "\n";
    for (const spindled::checkers::Event& event : client.events) {
      text += fmt::format("{:.6f} {}\n", std::chrono::duration<double>(event.at.time_since_epoch()).count(),
                          std::visit(EventText(), event.what));
    }
  }
  return text;
}

}  // namespace spindle::test
