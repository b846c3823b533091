#include "tests/adversary/scene.h"

#include <fstream>

#include "daemon/admin/admin.pb.h"

namespace spindle::test {

namespace {

constexpr std::chrono::milliseconds kMemoryLook{20};

DaemonOptions options_of(const std::string& name, std::vector<std::string> neighbours, const SceneOptions& options) {
  DaemonOptions result;
  result.name = name;
  result.neighbours = std::move(neighbours);
  result.configuration = options.configuration;
  result.liveness_timeout_ms = options.liveness_timeout_ms;
  result.process.unread_error = options.unread_log;
  return result;
}

/// Resident memory of a process; 0 where it is gone.
std::size_t resident_bytes(pid_t process) {
  std::ifstream file("/proc/" + std::to_string(process) + "/status");
  for (std::string word; file >> word;) {
    if (word != "VmRSS:") continue;
    std::size_t kib = 0;
    file >> kib;
    return kib << 10;
  }
  return 0;
}

admin::StatusReply status_of(Daemon& daemon) {
  admin::Request request;
  request.mutable_status();
  return daemon.ask(request).status();
}

}  // namespace

std::uint64_t counter(Daemon& daemon, const std::string& name) {
  admin::Request request;
  request.mutable_counters();
  const admin::Reply reply = daemon.ask(request);
  for (const admin::Counter& each : reply.counters().counters()) {
    if (each.name() == name) return each.value();
  }
  throw std::runtime_error("there is no counter " + name);
}

Scene::Scene(const SceneOptions& options) : liveness_timeout_ms_(options.liveness_timeout_ms) {
  if (options.line_rate == 0) {
    daemons_.push_back(std::make_unique<Daemon>(options_of("beta", {}, options)));
    daemons_.push_back(std::make_unique<Daemon>(options_of("alpha", {beta().link_address()}, options)));
    daemons_.push_back(std::make_unique<Daemon>(options_of("gamma", {beta().link_address()}, options)));
  } else {
    auto gamma = std::make_unique<Daemon>(options_of("gamma", {}, options));
    line_ = std::make_unique<SlowLine>(gamma->link_address(), options.line_rate);
    daemons_.push_back(std::make_unique<Daemon>(options_of("beta", {line_->address()}, options)));
    daemons_.push_back(std::make_unique<Daemon>(options_of("alpha", {beta().link_address()}, options)));
    daemons_.push_back(std::move(gamma));
  }
  wait_for_view(daemons_.size());
  pair_ = std::make_unique<Pair>(alpha(), options.pair_at_gamma ? gamma() : beta());
  if (options.stream) stream_ = std::make_unique<Stream>(alpha(), gamma(), Stream::Load());
}

Scene::~Scene() {
  stream_.reset();
  pair_.reset();
  crowds_.clear();
}

void Scene::add_crowd(Daemon& daemon, std::size_t count, const std::string& group) {
  crowds_.push_back(std::make_unique<Crowd>(daemon, count, group));
}

std::unique_ptr<Daemon> Scene::make_daemon(const std::string& name, const ProcessOptions& process) {
  DaemonOptions options;
  options.name = name;
  options.neighbours = {beta().link_address()};
  options.liveness_timeout_ms = liveness_timeout_ms_;
  options.process = process;
  return std::make_unique<Daemon>(options);
}

HostileClient& Scene::keep(HostileClient client) { return hostile_.emplace_back(std::move(client)); }

void Scene::wait_for_view(std::size_t daemons) {
  for (const auto& daemon : daemons_) {
    wait_until("a view of all daemons", [&] {
      const admin::StatusReply status = status_of(*daemon);
      return status.settled() && static_cast<std::size_t>(status.view().members_size()) == daemons;
    });
  }
}

std::uint64_t Scene::views_installed(Daemon& daemon) { return counter(daemon, "views_installed"); }

void Scene::start_watching() {
  views_before_.clear();
  memory_before_.clear();
  for (const auto& daemon : daemons_) {
    views_before_.push_back(views_installed(*daemon));
    memory_before_.push_back(resident_bytes(daemon->process().id()));
  }
  memory_most_ = memory_before_;
  if (stream_) stream_->take_share();
  watching_ = std::jthread([this](const std::stop_token& stop) { watch_memory(stop); });
}

void Scene::watch_memory(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    for (std::size_t i = 0; i < daemons_.size(); ++i) {
      memory_most_[i] = std::max(memory_most_[i], resident_bytes(daemons_[i]->process().id()));
    }
    std::this_thread::sleep_for(kMemoryLook);
  }
}

Scene::Damage Scene::stop_watching() {
  watching_.request_stop();
  watching_.join();
  Damage damage;
  damage.trouble = pair_->trouble();
  if (stream_) {
    damage.stream_share = stream_->take_share();
    damage.trouble += stream_->trouble();
  }
  for (std::size_t i = 0; i < daemons_.size(); ++i) {
    if (resident_bytes(daemons_[i]->process().id()) == 0) {
      damage.trouble += daemons_[i]->name() + " has ended; ";
      continue;
    }
    damage.views = std::max(damage.views, views_installed(*daemons_[i]) - views_before_[i]);
    damage.memory_growth_bytes = std::max(damage.memory_growth_bytes, memory_most_[i] - memory_before_[i]);
    damage.memory_most_bytes = std::max(damage.memory_most_bytes, memory_most_[i]);
  }
  for (const auto& crowd : crowds_) damage.cut_off += crowd->cut_off();
  return damage;
}

}  // namespace spindle::test
