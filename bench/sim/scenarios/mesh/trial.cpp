#include "bench/sim/scenarios/mesh/trial.h"

#include <algorithm>
#include <cmath>

namespace spindled::scenarios::mesh {

std::int64_t (*heap_bytes_of_thread)() = nullptr;

namespace {

constexpr double kKilobitsOfSymbol = kSymbolBytes * 8 / 1'000;

std::pair<std::size_t, std::size_t> bounds(const Course& course, double from_s, double to_s) {
  const auto end = std::min(course.seconds.size(), static_cast<std::size_t>(to_s));
  return {std::min(end, static_cast<std::size_t>(from_s)), end};
}

template <typename Value>
double mean(const Course& course, double from_s, double to_s, Value&& value) {
  const auto [begin, end] = bounds(course, from_s, to_s);
  double sum = 0;
  for (std::size_t i = begin; i < end; ++i) sum += value(i);
  return begin == end ? 0 : sum / static_cast<double>(end - begin);
}

}  // namespace

double Course::useful(double from_s, double to_s) const {
  return mean(*this, from_s, to_s, [&](std::size_t i) { return seconds[i].useful; });
}

double Course::raw(double from_s, double to_s) const {
  return mean(*this, from_s, to_s, [&](std::size_t i) { return seconds[i].raw; });
}

double Course::useful_of(const std::vector<underlay::Participant>& some, double from_s, double to_s) const {
  return mean(*this, from_s, to_s, [&](std::size_t i) {
    double sum = 0;
    for (const underlay::Participant each : some) sum += receivers[i][each];
    return sum / static_cast<double>(some.size());
  });
}

Trial::Trial(const underlay::Topology& topology, underlay::Transport transport, double rate_kbps, std::uint64_t seed)
    : topology_(topology), transport_(transport), symbols_per_s_(rate_kbps / kKilobitsOfSymbol), seed_(seed) {}

Course Trial::measured(underlay::OverlayNet& net, double seconds) const {
  Course course;
  const auto members = topology_.participants();
  const auto receivers = static_cast<double>(members - 1);
  for (std::size_t second = 0; second < std::min(net.meter().seconds(), static_cast<std::size_t>(seconds)); ++second) {
    std::vector<double> own(members);
    double sum = 0, squares = 0;
    for (std::size_t i = 1; i < members; ++i) {
      own[i] = net.meter().useful(second, static_cast<underlay::Participant>(i)) * kKilobitsOfSymbol;
      sum += own[i];
      squares += own[i] * own[i];
    }
    const double useful = sum / receivers;
    const auto per_receiver = [&](std::uint64_t symbols) {
      return static_cast<double>(symbols) * kKilobitsOfSymbol / receivers;
    };
    course.seconds.push_back({.useful = useful,
                              .deviation = std::sqrt(std::max(0.0, squares / receivers - useful * useful)),
                              .raw = per_receiver(net.meter().raw(second)),
                              .from_parents = per_receiver(net.meter().from_parents(second))});
    course.receivers.push_back(std::move(own));
  }
  for (std::size_t i = 0; i < members; ++i) {
    const double control = net.control_bytes(static_cast<underlay::Participant>(i)) * 8 / 1'000 / seconds;
    course.control_mean_kbps += control / static_cast<double>(members);
    course.control_most_kbps = std::max(course.control_most_kbps, control);
  }
  course.stress_mean = net.stress().mean();
  course.stress_most = net.stress().most();
  course.stress_of_blocks = net.stress().mean_of_blocks(underlay::MeshSettings{}.source_symbols);
  return course;
}

Course Trial::tree(const underlay::Tree& tree, double seconds) {
  underlay::OverlayNet net(topology_, kSymbolBytes, transport_, seed_);
  underlay::TreeStream stream(net, tree, symbols_per_s_);
  net.run_until(Time(from_seconds(seconds)), stream);
  return measured(net, seconds);
}

Course Trial::gossip(double seconds) {
  underlay::OverlayNet net(topology_, kSymbolBytes, transport_, seed_);
  underlay::Gossip gossip(net, 0, topology_.participants(), {.seed = seed_, .symbols_per_s = symbols_per_s_});
  net.run_until(Time(from_seconds(seconds)), gossip);
  return measured(net, seconds);
}

Course Trial::anti_entropy(const underlay::Tree& tree, double seconds) {
  underlay::OverlayNet net(topology_, kSymbolBytes, transport_, seed_);
  underlay::AntiEntropy system(net, tree, {.seed = seed_, .symbols_per_s = symbols_per_s_});
  net.run_until(Time(from_seconds(seconds)), system);
  return measured(net, seconds);
}

underlay::MeshSettings Trial::settings_of(const spindled::mesh::MeshOptions& options) const {
  underlay::MeshSettings settings;
  settings.member = options;
  settings.member.symbol_bytes = kSymbolBytes;
  settings.seed = seed_;
  settings.symbols_per_s = symbols_per_s_;
  return settings;
}

Course Trial::measured_mesh(const underlay::Tree& tree, double seconds) {
  underlay::OverlayNet net(topology_, kSymbolBytes, transport_, seed_);
  underlay::MeshSettings settings = settings_of({});
  settings.measures_members = true;
  underlay::MeshDissemination mesh(net, tree, settings);
  net.run_until(Time(from_seconds(seconds)), mesh);
  Course course = measured(net, seconds);
  const auto members = static_cast<double>(topology_.participants());
  const auto spent = std::chrono::duration<double, std::micro>(mesh.processor_time()).count() / members;
  course.processor_us_per_s = spent / seconds;
  course.processor_ns_per_symbol = spent * 1'000 / (course.raw(0, seconds) / kKilobitsOfSymbol * seconds);
  if (heap_bytes_of_thread != nullptr) {
    const std::int64_t before = heap_bytes_of_thread();
    mesh.end_members();
    course.heap_bytes = static_cast<double>(before - heap_bytes_of_thread()) / members;
  }
  return course;
}

Course Trial::mesh(const underlay::Tree& tree, double seconds, spindled::mesh::MeshOptions options,
                   std::optional<Failure> failure) {
  underlay::OverlayNet net(topology_, kSymbolBytes, transport_, seed_);
  const underlay::MeshSettings settings = settings_of(options);
  underlay::MeshDissemination mesh(net, tree, settings);
  if (failure) {
    net.run_until(Time(from_seconds(failure->at_s)), mesh);
    mesh.kill(net.now(), failure->participant);
  }
  net.run_until(Time(from_seconds(seconds)), mesh);
  return measured(net, seconds);
}

}  // namespace spindled::scenarios::mesh
