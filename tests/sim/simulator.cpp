#include "tests/sim/simulator.h"

#include <algorithm>
#include <set>

#include "daemon/overlay/view.h"

namespace spindled::sim {

Simulator::Simulator(SimOptions options)
    : options_(options),
      seeds_(options.seed),
      random_(seeds_.next()),
      log_(events_, options.log_level, options.log_echo),
      network_(events_, seeds_.next()) {}

Simulator::~Simulator() = default;

SimHost& Simulator::add_host(NodeConfig config) {
  std::string address = address_of(config.name);
  return add_host(std::move(config), std::move(address));
}

SimHost& Simulator::add_host(NodeConfig config, std::string address) {
  hosts_.push_back(std::make_unique<SimHost>(world(), std::move(config), std::move(address), seeds_.next()));
  return *hosts_.back();
}

SimClient& Simulator::add_client(SimHost& host, std::string name, ClientOptions options) {
  const auto number = static_cast<std::uint32_t>(clients_.size());
  clients_.push_back(std::make_unique<SimClient>(world(), host, std::move(name), number, options));
  return *clients_.back();
}

std::vector<SimHost*> Simulator::hosts() {
  std::vector<SimHost*> all;
  for (const auto& each : hosts_) all.push_back(each.get());
  return all;
}

std::vector<SimHost*> Simulator::running_hosts() {
  std::vector<SimHost*> running = hosts();
  std::erase_if(running, [](const SimHost* each) { return !each->is_running(); });
  return running;
}

void Simulator::run_for(Duration duration) {
  const Time end = events_.now() + duration;
  while (events_.step(end)) {
  }
  events_.advance(end);
}

bool Simulator::run_until(const Predicate& predicate, Duration bound) {
  const Time end = events_.now() + bound;
  while (!predicate()) {
    if (events_.now() >= end) return false;
    run_for(std::min<Duration>(kPredicateInterval, end - events_.now()));
  }
  return true;
}

History Simulator::history() const {
  History history;
  for (const auto& client : clients_) {
    for (const ClientHistory& former : client->former_histories()) history.clients.push_back(former);
    (client->is_welcome() ? history.clients : history.turned_away).push_back(client->history_of_now());
  }
  history.end = now();
  for (const auto& host : hosts_) {
    history.daemons.insert(history.daemons.end(), host->histories().begin(), host->histories().end());
    history.rules.insert(history.rules.end(), host->rules().begin(), host->rules().end());
    for (checkers::PeerHistory& each : host->peers()) history.peers.push_back(std::move(each));
  }
  return history;
}

std::string Simulator::explain() const {
  std::string text = fmt::format("seed {}, {:.6f} s of virtual time, {} events\n", seed(),
                                 to_seconds(events_.now().time_since_epoch()), events_.happened());
  constexpr std::size_t kHostsMax = 12;
  for (std::size_t i = 0; i < std::min(hosts_.size(), kHostsMax); ++i) {
    const SimHost& each = *hosts_[i];
    text += fmt::format("== {}{}\n", each.name(),
                        !each.is_running() ? " (down)"
                        : each.is_paused() ? " (stalled)"
                                           : "");
    if (each.is_running()) text += each.node().dump() + "\n";
  }
  if (hosts_.size() > kHostsMax) text += fmt::format("== and {} hosts more\n", hosts_.size() - kHostsMax);
  return text + "== last log lines\n" + log_.tail();
}

bool have_one_view(const std::vector<SimHost*>& hosts) {
  if (hosts.empty()) return false;
  std::vector<DaemonId> expected;
  for (const SimHost* host : hosts) {
    if (!host->is_running() || !host->node().is_settled()) return false;
    expected.push_back({host->name(), host->incarnation()});
  }
  std::sort(expected.begin(), expected.end());
  const View& first = hosts.front()->node().view();
  if (first.members != expected) return false;
  return std::all_of(hosts.begin(), hosts.end(), [&](const SimHost* host) {
    const View& view = host->node().view();
    return view.id == first.id && view.members == first.members && view.edges == first.edges &&
           view.sequencer == first.sequencer;
  });
}

bool have_one_group_view(const std::vector<SimClient*>& clients, const std::string& group) {
  std::set<std::string> names;
  for (const SimClient* client : clients) names.insert(client->private_name());
  const GroupView* first = clients.empty() ? nullptr : clients.front()->view(group);
  if (first == nullptr || std::set(first->members.begin(), first->members.end()) != names) return false;
  return std::all_of(clients.begin(), clients.end(), [&](const SimClient* client) {
    const GroupView* view = client->view(group);
    return !client->is_closed() && view != nullptr && view->id == first->id && view->members == first->members;
  });
}

}  // namespace spindled::sim
