#include "bench/sim/scenarios/bulk/overlay.h"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/base/check.h"
#include "libclient/common/framing.h"

namespace spindled::scenarios::bulk {

namespace {

constexpr Duration kPatience = 60s;
constexpr Duration kStep = 10ms;
const std::string kGroup = "g";
/// Better paths alone change no view: their round trips grow with the load.
constexpr Duration kNever = std::chrono::hours(10);

}  // namespace

double Course::rate(Duration from, Duration to) const {
  return static_cast<double>(bytes_at(to) - bytes_at(from)) * 8 / to_seconds(to - from);
}

std::uint64_t Course::bytes_at(Duration at) const {
  const auto samples = static_cast<std::size_t>(at / kSample);
  if (samples == 0 || bytes_.empty()) return 0;
  return bytes_[std::min(samples, bytes_.size()) - 1];
}

Overlay::Overlay(const std::vector<Hop>& hops, std::uint64_t seed, const std::set<std::string>& later)
    : hops_(hops), simulator_({.seed = seed, .keep_histories = false}), competitors_(simulator_.network()) {
  std::vector<std::string> names;
  std::map<std::string, NodeConfig> configs;
  for (const Hop& hop : hops_) {
    for (const std::string& name : {hop.a, hop.b}) {
      const auto [config, is_new] = configs.try_emplace(name);
      if (!is_new) continue;
      config->second.name = name;
      config->second.view.reroute_delay = kNever;
      names.push_back(name);
    }
    configs[hop.a].link.neighbours.push_back({.address = sim::Simulator::address_of(hop.b)});
  }
  for (const std::string& name : names) hosts_[name] = &simulator_.add_host(configs[name]);
  for (const Hop& hop : hops_) {
    watch(hop.a, hop.b);
    watch(hop.b, hop.a);
  }
  for (const std::string& name : names) host(name).start();
  for (const std::string& name : names) {
    if (!later.contains(name)) add_member(name);
  }
}

void Overlay::watch(const std::string& from, const std::string& to) {
  simulator_.network().set_tap(host(from).index(), host(to).index(),
                               [this](sim::StreamRef end, ByteView bytes) { passed(end, bytes); });
}

void Overlay::passed(sim::StreamRef from, ByteView bytes) {
  SeenStream& stream = streams_[from.stream];
  if (!stream.is_hop && from.side == 0) {
    stream.start.insert(stream.start.end(), bytes.begin(), bytes.end());
    if (const auto head = spindle::read_frame_head(stream.start)) {
      stream.is_hop = static_cast<spindle::bulk::BulkFrame>(head->type) == spindle::bulk::BulkFrame::hello;
      stream.start.clear();
    }
  }
  if (stream.is_hop.value_or(false)) hop_bytes_ += bytes.size();
}

bool Overlay::form() {
  if (!simulator_.run_until([&] { return have_one_view(simulator_.hosts()); }, kPatience)) return false;
  std::vector<sim::SimClient*> sessions;
  for (Member& member : clients_) sessions.push_back(member.session);
  if (!simulator_.run_until([&] { return have_one_group_view(sessions, kGroup); }, kPatience)) return false;
  for (const Hop& hop : hops_) {
    simulator_.network().set_path(host(hop.a).index(), host(hop.b).index(), properties_of(hop));
    competitors_.add(host(hop.a).index(), host(hop.b).index(), hop.competing);
  }
  simulator_.run_for(2s);
  return true;
}

Overlay::Member& Overlay::add_member(const std::string& daemon) {
  Member& member = clients_.emplace_back();
  member.daemon = daemon;
  const std::string name = fmt::format("c{}", clients_.size() - 1);
  member.session = &simulator_.add_client(host(daemon), name, {.wants_channels = true});
  member.session->join(kGroup);
  member.bulk = std::make_unique<sim::BulkClient>(
      simulator_.world(), *member.session,
      sim::BulkClient::Options{.disk = std::make_shared<sim::ContentDisk>(sim::ContentDisk::Kind::hollow)});
  return member;
}

std::size_t Overlay::add_client(const std::string& daemon) {
  add_member(daemon);
  return clients_.size() - 1;
}

std::size_t Overlay::client_at(const std::string& daemon) const {
  const auto found =
      std::find_if(clients_.begin(), clients_.end(), [&](const Member& each) { return each.daemon == daemon; });
  SPINDLE_CHECK(found != clients_.end());
  return static_cast<std::size_t>(found - clients_.begin());
}

std::optional<std::size_t> Overlay::offer(std::size_t client, std::uint64_t size, std::uint8_t weight) {
  if (start_ == spindled::kNever) {
    start_ = simulator_.now();
    for (const auto& [name, host] : hosts_) slabs_before_[name] = host->node().memory().slabs;
    sample();
  }
  const auto& channels = clients_.at(client).session->channels();
  const std::size_t before = channels.size();
  clients_[client].bulk->offer(kGroup, size, weight);
  if (!simulator_.run_until([&] { return channels.size() > before; }, kPatience)) return std::nullopt;
  contents_.push_back(channels.ids().back());
  return contents_.size() - 1;
}

void Overlay::sample() {
  simulator_.after(kSample, [this] {
    for (Member& member : clients_) {
      for (std::size_t i = 0; i < contents_.size(); ++i) {
        const auto counters = member.bulk->counters(contents_[i]);
        Course& course = member.courses[i];
        const auto* known = member.session->channels().find(contents_[i]);
        const std::uint64_t symbol = known == nullptr ? 0 : known->offered.terms.layout.symbol_bytes;
        const auto samples = static_cast<std::size_t>(now() / kSample);
        while (course.end() / kSample < static_cast<Duration::rep>(samples)) {
          course.add(counters ? counters->useful * symbol : 0);
        }
        if (!course.done() && member.bulk->is_done(contents_[i])) course.set_done(now());
      }
    }
    for (const auto& [name, host] : hosts_) {
      if (!host->is_running()) continue;
      const std::size_t slabs = host->node().memory().slabs, before = slabs_before_[name];
      memory_max_ = std::max(memory_max_, slabs > before ? slabs - before : 0);
    }
    sample();
  });
}

bool Overlay::run_until_done(const std::vector<std::size_t>& clients, std::size_t content, Duration limit) {
  while (now() < limit) {
    simulator_.run_for(kStep);
    const bool are_done = std::all_of(clients.begin(), clients.end(), [&](std::size_t each) {
      const auto& courses = clients_.at(each).courses;
      const auto course = courses.find(content);
      return course != courses.end() && course->second.done();
    });
    if (are_done) return true;
  }
  return false;
}

const Course& Overlay::course(std::size_t client, std::size_t content) const {
  return clients_.at(client).courses.at(content);
}

spindle::test::DecodingCounters Overlay::decoding(std::size_t content) const {
  spindle::test::DecodingCounters all;
  for (const Member& member : clients_) {
    const auto decoding = member.bulk->decoding(contents_[content]);
    if (!decoding) continue;
    all.blocks += decoding->blocks;
    all.symbols += decoding->symbols;
    all.beyond += decoding->beyond;
    all.beyond_max = std::max(all.beyond_max, decoding->beyond_max);
  }
  return all;
}

}  // namespace spindled::scenarios::bulk
