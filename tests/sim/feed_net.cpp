#include "tests/sim/feed_net.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "daemon/base/check.h"

namespace spindled::sim {

namespace {

/// Of a frame whose view its daemon does not know.
constexpr int kArrivalsMax = 200;

std::string name_of(MemberIndex member) { return fmt::format("d{:04}", member); }

std::string text_of(const MemberSet& set) {
  std::string text;
  set.for_each([&](MemberIndex member) { text += fmt::format("{}{}", text.empty() ? "" : " ", member); });
  return "{" + text + "}";
}

template <typename Write>
std::vector<std::uint8_t> body_of(std::size_t bytes_max, Write&& write) {
  std::vector<std::uint8_t> body(bytes_max);
  Writer writer(body.data());
  write(writer);
  body.resize(writer.size());
  return body;
}

}  // namespace

/// One daemon, and its way out.
class FeedNet::Daemon final : public RepairOutput {
 public:
  Daemon(FeedNet& net, MemberIndex self) : repair(net.config_of(self), *this), net_(net), self_(self) {}

  void send(LinkId link, const FeedPacket& packet) override {
    net_.cross(
        {self_, to(link), DatagramFrame::packet, net_.sequence_of(packet.sequence), packet.is_repair(), 0, false},
        body_of(packet_size(packet), [&](Writer& writer) { write_packet(writer, packet); }));
  }
  void send(LinkId link, const FeedNak& nak) override {
    net_.cross({self_, to(link), DatagramFrame::nak, net_.sequence_of(nak.first), false, nak.attempt, nak.is_served()},
               body_of(kNakBytesMax, [&](Writer& writer) { write_nak(writer, nak); }));
  }
  void send(LinkId link, const FeedGone& gone) override {
    net_.cross({self_, to(link), DatagramFrame::gone, net_.sequence_of(gone.first), false, 0, false},
               body_of(kShortDatagramFrameBytesMax, [&](Writer& writer) { write_gone(writer, gone); }));
  }
  void send(LinkId link, const FeedBeat& beat) override {
    net_.cross({self_, to(link), DatagramFrame::beat, net_.sequence_of(beat.highest), false, 0, false},
               body_of(kShortDatagramFrameBytesMax, [&](Writer& writer) { write_beat(writer, beat); }));
  }
  void deliver(const FeedKey&, std::uint64_t sequence, const FeedPacket& packet) override {
    net_.deliveries.push_back({self_, own(sequence), net_.now(), packet.is_repair()});
  }
  void lost(const FeedKey&, std::uint64_t first, std::uint64_t count) override {
    net_.losses.push_back({self_, own(first), count});
  }
  bool has_listeners(const FeedKey&) const override { return false; }  // beyond those that are addressed
  void loss_reported(std::uint32_t, std::uint64_t first, const FeedNak& nak) override {
    net_.reports.push_back({own(first), nak.reporter, nak.attempt, nak.is_served(), nak.held_us, nak.way_us});
  }

  FeedRepair repair;
  Time wakes_at = kNever;

 private:
  static MemberIndex to(LinkId link) { return static_cast<MemberIndex>(link); }
  std::uint64_t own(std::uint64_t sequence) const { return net_.sequence_of(static_cast<std::uint32_t>(sequence)); }

  FeedNet& net_;
  const MemberIndex self_;
};

FeedNet::FeedNet(const Graph& graph, const FeedNetOptions& options) : options_(options), graph_(graph) {
  for (const MemberIndex each : graph.receivers) receivers_.insert(each);
  for (std::size_t i = 0; i < graph.nodes; ++i) {
    daemons_.push_back(std::make_unique<Daemon>(*this, static_cast<MemberIndex>(i)));
  }
  change(graph, nullptr);
}

FeedNet::~FeedNet() = default;

void FeedNet::kill(MemberIndex daemon) { daemons_[daemon].reset(); }

FeedRepair& FeedNet::at(MemberIndex daemon) { return daemons_[daemon]->repair; }

RepairConfig FeedNet::config_of(MemberIndex daemon) const {
  RepairConfig config = options_.config;
  const auto& without = options_.without_cache;
  if (std::find(without.begin(), without.end(), daemon) != without.end()) config.cache = FeedCache::members;
  return config;
}

View FeedNet::view_of(const Graph& graph, MemberIndex self) const {
  View view;
  view.id = {view_number_, name_of(0), 1};
  for (std::size_t i = 0; i < graph.nodes; ++i) view.members.push_back({name_of(static_cast<MemberIndex>(i)), 1});
  view.edges = graph.edges;
  view.self = self;
  return view;
}

void FeedNet::install(MemberIndex daemon) {
  std::map<DaemonId, LinkId> neighbours;
  for (std::size_t i = 0; i < delays_[daemon].size(); ++i) {
    const auto other = static_cast<MemberIndex>(i);
    if (delays_[daemon][i] != Duration::zero()) neighbours[{name_of(other), 1}] = LinkId{other};
  }
  daemons_[daemon]->repair.install(now(), FeedRoutes(view_of(graph_, daemon), neighbours));
  wake(daemon);
}

void FeedNet::change(const Graph& graph, const std::function<Duration(MemberIndex)>& at) {
  ++view_number_;
  graph_ = graph;
  delays_.assign(graph.nodes, std::vector<Duration>(graph.nodes));
  for (const Edge& edge : graph.edges) {
    delays_[edge.a][edge.b] = delays_[edge.b][edge.a] = std::chrono::microseconds(edge.round_trip_us) / 2;
  }
  for (std::size_t i = 0; i < graph.nodes; ++i) {
    const auto daemon = static_cast<MemberIndex>(i);
    if (!daemons_[daemon]) continue;
    if (at) {
      events_.after(at(daemon), [this, daemon] { install(daemon); });
    } else {
      install(daemon);
    }
  }
}

FeedRef FeedNet::ref() const { return {static_cast<std::uint16_t>(view_number_), graph_.source, kFeed}; }

void FeedNet::open(const MemberSet& late) {
  at(graph_.source).open(kFeed, options_.repair_for, options_.first);
  for (std::size_t i = 0; i < daemons_.size(); ++i) {
    const auto daemon = static_cast<MemberIndex>(i);
    if (daemon == graph_.source) continue;
    const bool is_for_it = receivers().contains(daemon) && !late.contains(daemon);
    daemons_[i]->repair.describe(now(), key(), options_.repair_for,
                                 is_for_it ? std::optional(options_.first) : std::nullopt);
    wake(daemon);
  }
}

void FeedNet::close() {
  at(graph_.source).close(now(), kFeed);
  wake(graph_.source);
  for (std::size_t i = 0; i < daemons_.size(); ++i) {
    if (i != graph_.source) daemons_[i]->repair.forget(key());
  }
}

void FeedNet::cut(MemberIndex a, MemberIndex b) {
  delays_[a][b] = delays_[b][a] = Duration::zero();
  at(a).link_down(LinkId{b});
  at(b).link_down(LinkId{a});
}

FeedKey FeedNet::key() const { return {{name_of(graph_.source), 1}, kFeed}; }

std::uint64_t FeedNet::send(const MemberSet& to) {
  const std::vector<std::uint8_t> payload(options_.payload_bytes);
  const std::uint64_t sequence =
      at(graph_.source).send(now(), kFeed, to, FeedPacket::kFirst | FeedPacket::kLast, payload);
  wake(graph_.source);
  return sequence_of(static_cast<std::uint32_t>(sequence));
}

void FeedNet::run_for(Duration duration) {
  const Time until = now() + duration;
  while (events_.step(until)) {
  }
  events_.advance(until);
}

Duration FeedNet::one_way(MemberIndex from, MemberIndex to) const {
  const ShortestPaths paths(Adjacency(graph_.nodes, graph_.edges), from);
  return std::chrono::microseconds(paths.round_trip_us(to)) / 2;
}

std::uint64_t FeedNet::total(std::uint64_t RepairTally::*what) const {
  std::uint64_t sum = 0;
  for (const auto& daemon : daemons_) sum += daemon ? daemon->repair.tally().*what : 0;
  return sum;
}

std::string FeedNet::transcript() { return std::exchange(transcript_, {}); }

void FeedNet::inject(MemberIndex from, MemberIndex to, const FeedNak& nak) {
  at(to).handle(now(), LinkId{from}, FeedNak(nak));
  wake(to);
}

// --- Links ---

void FeedNet::cross(const FeedCrossing& crossing, std::vector<std::uint8_t> body) {
  const Duration way = delays_[crossing.from][crossing.to];
  const bool is_lost = way == Duration::zero() || (loses_ && loses_(crossing));
  if (watch_) watch_(crossing, is_lost);
  if (options_.keeps_transcript) note(crossing, body, is_lost);
  if (is_lost) return;
  const Duration more = delay_ ? delay_(crossing) : Duration::zero();
  events_.after(way + more, [this, crossing, bytes = std::move(body)] { arrive(crossing, bytes, kArrivalsMax); });
}

FeedRepair::Result FeedNet::handle(const FeedCrossing& crossing, ByteView body) {
  FeedRepair& repair = at(crossing.to);
  const LinkId from{crossing.from};
  switch (crossing.type) {
    case DatagramFrame::packet:
      return repair.handle(now(), from, read_packet(body).value());
    case DatagramFrame::nak:
      return repair.handle(now(), from, read_nak(body).value());
    case DatagramFrame::gone:
      return repair.handle(now(), from, read_gone(body).value());
    case DatagramFrame::beat:
      return repair.handle(now(), from, read_beat(body).value());
  }
  return FeedRepair::Result::malformed;
}

void FeedNet::arrive(const FeedCrossing& crossing, const std::vector<std::uint8_t>& body, int attempts) {
  if (!daemons_[crossing.to]) return;
  const FeedRepair::Result result = handle(crossing, body);
  SPINDLE_CHECK(result != FeedRepair::Result::malformed);
  // What overtakes its view waits for it for a while.
  if (result == FeedRepair::Result::unknown_view && attempts > 1) {
    events_.after(1ms, [this, crossing, body, attempts] { arrive(crossing, body, attempts - 1); });
  }
  wake(crossing.to);
}

void FeedNet::wake(MemberIndex daemon) {
  Daemon& woken = *daemons_[daemon];
  const Time at = woken.repair.next_at();
  if (at >= woken.wakes_at) return;
  woken.wakes_at = at;
  events_.at(at, [this, daemon, at] {
    if (!daemons_[daemon] || daemons_[daemon]->wakes_at != at) return;
    daemons_[daemon]->wakes_at = kNever;
    daemons_[daemon]->repair.handle_time(now());
    wake(daemon);
  });
}

void FeedNet::note(const FeedCrossing& crossing, ByteView body, bool is_lost) {
  std::string what;
  switch (crossing.type) {
    case DatagramFrame::packet: {
      const FeedPacket packet = read_packet(body).value();
      what = fmt::format("{} {} to {}", packet.is_repair() ? "repair" : "packet", crossing.sequence,
                         text_of(read_to(packet)));
      if (packet.missing != 0) what += fmt::format(" missing {}", packet.missing);
      break;
    }
    case DatagramFrame::nak: {
      const FeedNak nak = read_nak(body).value();
      what = "nak";
      nak.bits.for_each([&](std::size_t i) { what += fmt::format(" {}", crossing.sequence + i); });
      what += fmt::format(" by {} try {}", nak.reporter, nak.attempt);
      if (!nak.affected.empty()) what += " affected " + text_of(nak.affected);
      if (nak.is_down()) what += " down";
      if (nak.is_served()) what += " served";
      break;
    }
    case DatagramFrame::gone: {
      const FeedGone gone = read_gone(body).value();
      what = fmt::format("gone {}-{} to {}", crossing.sequence, sequence_of(gone.last), text_of(gone.to));
      break;
    }
    case DatagramFrame::beat: {
      const FeedBeat beat = read_beat(body).value();
      what = fmt::format("beat {} to {}", crossing.sequence, text_of(beat.to));
      what += fmt::format(" since {}", sequence_of(beat.oldest));
      if (beat.missing != 0) what += fmt::format(" missing {}", beat.missing);
      break;
    }
  }
  const double at_ms = to_seconds(now() - Time(std::chrono::hours(1))) * 1e3;
  transcript_ += fmt::format("{:6.1f} {}>{} {}{}\n", at_ms, crossing.from, crossing.to, what, is_lost ? " LOST" : "");
}

}  // namespace spindled::sim
