#include "tests/sim/underlay/flows.h"

#include <algorithm>
#include <queue>

#include "daemon/base/check.h"

namespace spindled::sim::underlay {

namespace {

// What a connection may send before it has heard anything: ten segments in a round trip of 0.5 s at most.
constexpr double kFirstRate = 30'000;
constexpr double kIdleRate = 2'000;

}  // namespace

std::vector<double> max_min(std::span<const double> pipe_rates, std::span<const std::vector<Pipe>* const> ways,
                            std::span<const double> demands) {
  const std::size_t flows = ways.size();
  std::vector<double> rates(flows, 0);
  std::vector<std::uint32_t> begins(pipe_rates.size() + 1);
  for (const auto* way : ways) {
    for (const Pipe pipe : *way) ++begins[pipe + 1];
  }
  std::vector<std::uint32_t> active(begins.begin() + 1, begins.end());
  for (std::size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
  std::vector<std::uint32_t> members(begins.back());
  std::vector<std::uint32_t> place(begins.begin(), begins.end() - 1);
  for (std::uint32_t flow = 0; flow < flows; ++flow) {
    for (const Pipe pipe : *ways[flow]) members[place[pipe]++] = flow;
  }
  std::vector<double> left(pipe_rates.begin(), pipe_rates.end());
  std::vector<bool> is_fixed(flows);
  using Entry = std::pair<double, Pipe>;
  std::vector<Entry> entries;
  for (Pipe pipe = 0; pipe < pipe_rates.size(); ++pipe) {
    if (active[pipe] != 0) entries.emplace_back(left[pipe] / active[pipe], pipe);
  }
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> shares(std::greater<>(), std::move(entries));
  std::vector<std::uint32_t> by_demand(flows);
  for (std::uint32_t i = 0; i < flows; ++i) by_demand[i] = i;
  std::sort(by_demand.begin(), by_demand.end(), [&](auto a, auto b) { return demands[a] < demands[b]; });

  const auto fix = [&](std::uint32_t flow, double rate) {
    is_fixed[flow] = true;
    rates[flow] = rate;
    for (const Pipe pipe : *ways[flow]) {
      left[pipe] = std::max(0.0, left[pipe] - rate);
      --active[pipe];
    }
  };
  std::size_t next = 0;
  while (true) {
    while (next < flows && is_fixed[by_demand[next]]) ++next;
    if (next == flows) break;
    // Shares only grow while flows are fixed: an entry that is too small is put in anew.
    while (!shares.empty()) {
      const auto [share, pipe] = shares.top();
      if (active[pipe] != 0 && left[pipe] / active[pipe] <= share * (1 + 1e-9)) break;
      shares.pop();
      if (active[pipe] != 0) shares.emplace(left[pipe] / active[pipe], pipe);
    }
    const double demand = demands[by_demand[next]];
    if (shares.empty() || demand <= shares.top().first) {
      fix(by_demand[next], demand);
      continue;
    }
    const auto [share, pipe] = shares.top();
    shares.pop();
    for (std::uint32_t i = begins[pipe]; i < begins[pipe + 1]; ++i) {
      if (!is_fixed[members[i]]) fix(members[i], share);
    }
  }
  return rates;
}

Flows::Flows(const Topology& topology, Transport transport)
    : topology_(topology),
      transport_(transport),
      beside_out_(topology.participants()),
      beside_in_(topology.participants()) {}

FlowId Flows::open(Participant from, Participant to) {
  FlowId id = 0;
  if (free_.empty()) {
    id = static_cast<FlowId>(flows_.size());
    flows_.emplace_back();
  } else {
    id = free_.back();
    free_.pop_back();
  }
  Flow& flow = flows_[id];
  flow = {};
  flow.way = topology_.path(from, to);
  flow.way_loss = topology_.loss(from, to);
  flow.round_trip_s = 2 * topology_.delay_s(from, to);
  flow.equation = tcp_rate(flow.way_loss, flow.round_trip_s);
  if (transport_ == Transport::tcp) flow.equation *= 1 - flow.way_loss;
  flow.demand = kFirstRate;
  flow.is_open = true;
  ++open_;
  return id;
}

void Flows::close(FlowId flow) {
  SPINDLE_CHECK(flows_[flow].is_open);
  flows_[flow].is_open = false;
  --open_;
  free_.push_back(flow);
}

void Flows::advance(double seconds, double largest) {
  for (Flow& flow : flows_) {
    if (!flow.is_open) continue;
    flow.credit = std::min(flow.credit + flow.rate * seconds, std::max(largest, 2 * flow.rate * seconds) + largest);
  }
}

void Flows::share(double seconds) {
  std::vector<double> pipe_rates(topology_.pipes());
  for (std::size_t i = 0; i < topology_.links().size(); ++i) {
    pipe_rates[2 * i] = pipe_rates[2 * i + 1] = topology_.links()[i].bytes_per_s;
  }
  // The links of participants come last, and lead to them.
  const std::size_t first = topology_.links().size() - topology_.participants();
  for (std::size_t i = 0; i < topology_.participants(); ++i) {
    double& in = pipe_rates[2 * (first + i)];
    double& out = pipe_rates[2 * (first + i) + 1];
    in = std::max(in / 10, in - beside_in_[i] / seconds);
    out = std::max(out / 10, out - beside_out_[i] / seconds);
    beside_in_[i] = beside_out_[i] = 0;
  }
  std::vector<Flow*> open;
  std::vector<const std::vector<Pipe>*> ways;
  std::vector<double> demands;
  for (Flow& flow : flows_) {
    if (!flow.is_open) continue;
    flow.demand = flow.rate == 0 ? kFirstRate : std::max(kIdleRate, 2 * flow.used / seconds);
    flow.used = 0;
    open.push_back(&flow);
    ways.push_back(&flow.way);
    demands.push_back(std::min(flow.demand, flow.equation));
  }
  const std::vector<double> rates = max_min(pipe_rates, ways, demands);
  for (std::size_t i = 0; i < open.size(); ++i) {
    open[i]->rate = rates[i];
    if (transport_ == Transport::tcp) continue;
    const bool is_limited = rates[i] < 0.999 * demands[i];
    open[i]->loss =
        is_limited ? std::max(open[i]->way_loss, loss_at(rates[i], open[i]->round_trip_s)) : open[i]->way_loss;
  }
}

}  // namespace spindled::sim::underlay
