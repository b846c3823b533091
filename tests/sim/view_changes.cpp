#include "tests/sim/view_changes.h"

#include <algorithm>
#include <numeric>

#include "daemon/base/check.h"

namespace spindled::sim {

namespace {

using Edges = std::vector<std::pair<std::size_t, std::size_t>>;
using Neighbours = std::vector<std::vector<std::size_t>>;

constexpr Duration kPatience = 60s;
constexpr Duration kCalm = 3s;     // between two causes
constexpr Duration kTail = 500ms;  // what belongs to a change and comes after it

HostIndex index_of(std::size_t vertex) { return static_cast<HostIndex>(vertex); }

Neighbours neighbours_of(std::size_t size, const Edges& edges, std::optional<std::size_t> without) {
  Neighbours neighbours(size);
  for (const auto& [a, b] : edges) {
    if (a == without || b == without) continue;
    neighbours[a].push_back(b);
    neighbours[b].push_back(a);
  }
  return neighbours;
}

struct Search {
  std::vector<std::size_t> order;  // as reached, the nearest first
  std::vector<std::size_t> hops;
  std::vector<std::size_t> parent;
};

Search search(const Neighbours& neighbours, std::size_t start) {
  constexpr auto kUnknown = static_cast<std::size_t>(-1);
  Search found{
      {start}, std::vector<std::size_t>(neighbours.size(), kUnknown), std::vector<std::size_t>(neighbours.size())};
  found.hops[start] = 0;
  for (std::size_t at = 0; at < found.order.size(); ++at) {
    const std::size_t from = found.order[at];
    for (const std::size_t to : neighbours[from]) {
      if (found.hops[to] != kUnknown) continue;
      found.hops[to] = found.hops[from] + 1;
      found.parent[to] = from;
      found.order.push_back(to);
    }
  }
  return found;
}

std::vector<std::size_t> removable_vertices(std::size_t size, const Edges& edges) {
  std::vector<std::size_t> removable;
  for (std::size_t vertex = 0; vertex < size; ++vertex) {
    const std::size_t start = vertex == 0 ? 1 : 0;
    if (search(neighbours_of(size, edges, vertex), start).order.size() == size - 1) removable.push_back(vertex);
  }
  return removable;
}

/// The vertices below the edge of a spanning tree that cuts it most evenly.
std::vector<HostIndex> connected_half(std::size_t size, const Edges& edges) {
  const Search tree = search(neighbours_of(size, edges, {}), 0);
  std::vector<std::size_t> below(size, 1);
  for (auto vertex = tree.order.rbegin(); *vertex != 0; ++vertex) below[tree.parent[*vertex]] += below[*vertex];
  const auto unevenness = [&](std::size_t vertex) {
    return vertex == 0 ? size : std::max(below[vertex], size - below[vertex]) - size / 2;
  };
  std::size_t top = 0;
  for (std::size_t vertex = 1; vertex < size; ++vertex) top = unevenness(vertex) < unevenness(top) ? vertex : top;
  std::vector<bool> inside(size, false);
  std::vector<HostIndex> half;
  for (const std::size_t vertex : tree.order) {
    inside[vertex] = vertex == top || (vertex != 0 && inside[tree.parent[vertex]]);
    if (inside[vertex]) half.push_back(index_of(vertex));
  }
  return half;
}

}  // namespace

std::string_view to_string(Cause cause) {
  constexpr std::string_view kNames[] = {"join", "link", "crash", "silence", "coordinator", "merge"};
  return kNames[static_cast<std::size_t>(cause)];
}

std::size_t diameter_of(std::size_t size, const Edges& edges, std::optional<std::size_t> without) {
  const Neighbours neighbours = neighbours_of(size, edges, without);
  std::size_t diameter = 0;
  for (std::size_t start = 0; start < size; ++start) {
    const Search from_start = search(neighbours, start);
    diameter = std::max(diameter, from_start.hops[from_start.order.back()]);
  }
  return diameter;
}

std::uint64_t ViewChangeCost::bytes_of(Counter kind) const {
  const auto at = std::find(std::begin(kByteKinds), std::end(kByteKinds), kind);
  return bytes.at(static_cast<std::size_t>(at - std::begin(kByteKinds)));
}

std::uint64_t ViewChangeCost::all_bytes() const {
  return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0});
}

std::uint64_t ViewChangeCost::message_bytes() const {
  return bytes_of(Counter::bytes_push) + bytes_of(Counter::bytes_data) + bytes_of(Counter::bytes_stability);
}

ViewChanges::ViewChanges(std::uint64_t seed, std::size_t size, bool traffic)
    : size_(size), traffic_(traffic), simulator_({.seed = seed}), random_(simulator_.random().split()) {
  SPINDLE_CHECK(size >= 4);
  draw_graph();
  add_hosts();
}

/// The coordinator has the smallest name, that of vertex 0: it trades places with one that can be taken away.
void ViewChanges::draw_graph() {
  edges_ = edges_of(Shape::random, size_, random_);
  const std::vector<std::size_t> removable = removable_vertices(size_, edges_);
  const std::size_t coordinator = removable[random_.below(removable.size())];
  const auto trade = [&](std::size_t& vertex) {
    vertex = vertex == 0 ? coordinator : vertex == coordinator ? 0 : vertex;
  };
  for (auto& [a, b] : edges_) {
    trade(a);
    trade(b);
  }
  removable_ = removable_vertices(size_, edges_);
  std::erase(removable_, std::size_t{0});
  SPINDLE_CHECK(!removable_.empty());
  for (std::size_t i = 0; i < edges_.size(); ++i) {
    Edges rest = edges_;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    if (search(neighbours_of(size_, rest, {}), 0).order.size() == size_) spare_ = edges_[i];
  }
  SPINDLE_CHECK(spare_.first != spare_.second);
  half_ = connected_half(size_, edges_);
}

void ViewChanges::add_hosts() {
  PathProperties path;
  path.delay = kDelay;
  simulator_.network().set_default_path(path);
  std::vector<NodeConfig> configs(size_);
  for (std::size_t i = 0; i < size_; ++i) {
    configs[i].name = fmt::format("d{:03}", i);
    configs[i].link.redial_max = 200ms;        // what is measured is not how long nobody dials
    configs[i].view.refresh_interval = 3600s;  // no advertisement but those of the change
  }
  for (const auto& [a, b] : edges_) {
    configs[a].link.neighbours.push_back({.address = Simulator::address_of(configs[b].name)});
  }
  for (NodeConfig& config : configs) simulator_.add_host(std::move(config));
  client_of_.resize(size_);
}

void ViewChanges::add_client(std::size_t host) {
  SimClient& client = simulator_.add_client(simulator_.host(host), fmt::format("c{}", simulator_.client_count()));
  client.join("all");
  client_of_[host] = &client;
}

bool ViewChanges::form() {
  for (std::size_t i = 0; i < size_; ++i) {
    if (i != removable_.front()) simulator_.host(i).start();
  }
  if (!simulator_.run_until([&] { return have_one_view(simulator_.running_hosts()); }, kPatience)) return false;
  for (std::size_t i = 0; i < size_; ++i) {
    if (i != removable_.front()) add_client(i);
  }
  if (!await_groups()) return false;
  send_forever();
  return true;
}

/// After this no two daemons have received the same of all streams, although everybody has all that is for it.
void ViewChanges::scatter() {
  constexpr std::size_t kTargets = 16;
  const std::vector<SimClient*> present = clients();
  for (SimClient* client : present) {
    for (std::size_t i = 0; i < kTargets; ++i) {
      client->multicast({present[random_.below(present.size())]->private_name()}, {.size = 100});
    }
  }
  simulator_.run_for(kCalm);
}

void ViewChanges::send_forever() {
  if (sending_) {
    const std::size_t host = random_.below(size_);
    SimClient* client = client_of_[host];
    if (client != nullptr && !client->is_closed()) {
      client->multicast({"all"}, {.size = 100});
    }
  }
  simulator_.after(kSendInterval, [this] { send_forever(); });
}

std::vector<SimClient*> ViewChanges::clients() {
  std::vector<SimClient*> present = client_of_;
  std::erase_if(present, [](const SimClient* client) { return client == nullptr || client->is_closed(); });
  return present;
}

std::uint64_t ViewChanges::sum(Counter counter) {
  std::uint64_t total = 0;
  for (const SimHost* host : simulator_.running_hosts()) total += host->node().counters().value(counter);
  return total;
}

bool ViewChanges::is_installed(const ViewId& before) {
  const std::vector<SimHost*> hosts = simulator_.running_hosts();
  const ViewId& id = hosts.front()->node().view().id;
  return id != before && hosts.front()->node().view().size() == hosts.size() &&
         std::all_of(hosts.begin(), hosts.end(), [&](const SimHost* host) { return host->node().view().id == id; });
}

bool ViewChanges::await_work(const ViewId& before) {
  const auto is_at_work = [&] {
    return is_installed(before) && have_one_view(simulator_.running_hosts()) && have_one_group_view(clients(), "all");
  };
  return simulator_.run_until(is_at_work, kPatience);
}

bool ViewChanges::await_groups() {
  return simulator_.run_until([&] { return have_one_group_view(clients(), "all"); }, kPatience);
}

void ViewChanges::bring_about(Cause cause) {
  switch (cause) {
    case Cause::join:
      return simulator_.host(removable_.front()).start();
    case Cause::link:
      lone_link(true);
      return simulator_.network().reset_between(index_of(spare_.first), index_of(spare_.second));
    case Cause::crash:
    case Cause::silence:
      return simulator_.host(removable_.back()).crash(cause == Cause::silence);
    case Cause::coordinator:
      return simulator_.host(0).crash();
    case Cause::merge:
      return simulator_.network().heal(true);
  }
}

void ViewChanges::lone_link(bool cut) {
  simulator_.network().set_cut(index_of(spare_.first), index_of(spare_.second), cut);
}

bool ViewChanges::restore(Cause cause) {
  sending_ = false;
  if (cause == Cause::link) lone_link(false);
  for (std::size_t i = 0; i < size_; ++i) {
    if (!simulator_.host(i).is_running()) simulator_.host(i).start();
    if (client_of_[i] == nullptr || client_of_[i]->is_closed()) add_client(i);
  }
  const auto is_whole = [&] {
    return have_one_view(simulator_.hosts()) && simulator_.host(0).node().view().edges.size() == edges_.size();
  };
  if (!simulator_.run_until(is_whole, kPatience) || !await_groups()) return false;
  simulator_.run_for(kCalm);
  return true;
}

std::optional<ViewChangeCost> ViewChanges::measure(Cause cause) {
  if (cause == Cause::merge) {
    simulator_.network().partition({half_});
    simulator_.run_for(kPatience / 10);
  }
  scatter();
  sending_ = traffic_;
  if (traffic_) simulator_.run_for(1s);

  const ViewId before = simulator_.host(0).node().view().id;
  const Time start = simulator_.now();
  bring_about(cause);
  const Totals totals = totals_now();
  ViewChangeCost cost;
  const bool gain = cause == Cause::join || cause == Cause::merge;
  const Counter notice = gain ? Counter::views_proposed : Counter::links_down;
  const std::uint64_t notices = sum(notice);
  if (!simulator_.run_until([&] { return sum(notice) != notices; }, kPatience)) return {};
  const Time noticed = simulator_.now();
  if (!simulator_.run_until([&] { return is_installed(before); }, kPatience)) return {};
  cost.installed = simulator_.now() - noticed;
  if (!await_work(before)) return {};
  cost.settled = simulator_.now() - noticed;
  cost.noticed = noticed - start;
  simulator_.run_for(kTail);

  account(totals, cost);
  const bool lost = cause == Cause::crash || cause == Cause::silence || cause == Cause::coordinator;
  const std::optional<std::size_t> without =
      lost ? std::optional(cause == Cause::coordinator ? 0 : removable_.back()) : std::nullopt;
  Edges edges = edges_;
  if (cause == Cause::link) std::erase(edges, spare_);
  cost.diameter = diameter_of(size_, edges, without);
  cost.round_trip = 2 * kDelay * static_cast<Duration::rep>(cost.diameter);
  if (!restore(cause)) return {};
  return cost;
}

ViewChanges::Totals ViewChanges::totals_now() {
  Totals totals;
  std::transform(std::begin(kByteKinds), std::end(kByteKinds), totals.bytes.begin(),
                 [&](Counter kind) { return sum(kind); });
  for (const SimHost* host : simulator_.running_hosts()) {
    totals.views[host] = host->node().counters().value(Counter::views_installed);
  }
  return totals;
}

void ViewChanges::account(const Totals& before, ViewChangeCost& cost) {
  const Totals after = totals_now();
  cost.daemons = after.views.size();
  for (std::size_t i = 0; i < cost.bytes.size(); ++i) cost.bytes[i] = after.bytes[i] - before.bytes[i];
  for (const auto& [host, views] : after.views) {
    cost.views = std::max<std::size_t>(cost.views, views - before.views.at(host));
  }
}

}  // namespace spindled::sim
