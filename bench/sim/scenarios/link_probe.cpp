#include "bench/sim/scenarios/link_probe.h"

#include <algorithm>

#include "daemon/base/check.h"
#include "daemon/link/links.h"

namespace spindled::scenarios {

namespace {

FrameKind kind_of(LinkFrame type) {
  switch (type) {
    case LinkFrame::price:
      return FrameKind::price;
    case LinkFrame::acknowledgement:
      return FrameKind::report;
    case LinkFrame::stable:
      return FrameKind::stable;
    case LinkFrame::data:
    case LinkFrame::ready:
      return FrameKind::order;
    case LinkFrame::ping:
    case LinkFrame::pong:
      return FrameKind::ping;
    case LinkFrame::control:
    case LinkFrame::control_part:
    case LinkFrame::view:
    case LinkFrame::push:
    case LinkFrame::close:
    case LinkFrame::bulk_token:
    case LinkFrame::bulk_plan:
    case LinkFrame::bulk_invitation:
    case LinkFrame::datagram:
      break;
  }
  return FrameKind::view;
}

MemberIndex index_of(const View& view, const std::string& daemon) {
  const auto found = std::find_if(view.members.begin(), view.members.end(),
                                  [&](const DaemonId& member) { return member.name == daemon; });
  SPINDLE_CHECK(found != view.members.end());
  return static_cast<MemberIndex>(found - view.members.begin());
}

}  // namespace

std::string_view to_string(FrameKind kind) {
  constexpr std::string_view kNames[] = {"message", "order", "price", "report", "stable", "view", "ping"};
  return kNames[static_cast<std::size_t>(kind)];
}

void Bin::add(const Bin& other) {
  if (classes.size() < other.classes.size()) classes.resize(other.classes.size());
  for (std::size_t i = 0; i < other.classes.size(); ++i) {
    classes[i].bytes += other.classes[i].bytes;
    classes[i].frames += other.classes[i].frames;
    classes[i].messages += other.classes[i].messages;
  }
  for (std::size_t i = 0; i < kFrameKinds; ++i) {
    bytes[i] += other.bytes[i];
    frames[i] += other.frames[i];
  }
  queue_max = std::max(queue_max, other.queue_max);
  queue_sum += other.queue_sum;
  queue_bytes_max = std::max(queue_bytes_max, other.queue_bytes_max);
  queue_bytes_sum += other.queue_bytes_sum;
  samples += other.samples;
}

Bin LinkSeries::sum(Duration from, Duration to) const {
  Bin total;
  if (!bins.empty()) total.classes.resize(bins.front().classes.size());
  const auto last = std::min(bins.size(), static_cast<std::size_t>(to / bin));
  for (auto i = static_cast<std::size_t>((from + bin - 1ns) / bin); i < last; ++i) total.add(bins[i]);
  return total;
}

// Classifier.

Classifier::Classifier(const Scenario& scenario, const View& view) {
  std::map<std::string, MemberSet> destinations_of;
  for (const Receiver& receiver : scenario.receivers) {
    for (const std::string& group : receiver.groups) {
      destinations_of[group].insert(index_of(view, receiver.daemon));
    }
  }
  std::map<std::string, MemberIndex> known;
  for (const Sender& sender : scenario.senders) {
    const auto [origin, is_new] = known.try_emplace(sender.daemon);
    if (is_new) origin->second = index_of(view, sender.daemon);
    std::vector<Entry>& entries = entries_[origin->second];
    const MemberSet& destinations = destinations_of.at(sender.group);
    const bool is_known = std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) {
      return entry.destinations == destinations && entry.traffic_class == sender.traffic_class;
    });
    if (!is_known) entries.push_back({destinations, sender.traffic_class});
  }
}

std::optional<std::size_t> Classifier::class_of(const Body& body) const {
  if (body.head.message_class != MessageClass::client) return std::nullopt;
  const auto found = entries_.find(body.head.origin);
  if (found == entries_.end()) return std::nullopt;
  if (found->second.size() == 1) return found->second.front().traffic_class;
  const MemberSet destinations = read_destinations(body);
  for (const Entry& entry : found->second) {
    if (entry.destinations == destinations) return entry.traffic_class;
  }
  return std::nullopt;
}

// LinkProbe.

LinkProbe::LinkProbe(sim::Simulator& simulator, const sim::SimHost& from, const sim::SimHost& to, Direction direction,
                     std::size_t classes, Duration bin)
    : simulator_(simulator), from_(from), classes_(classes), series_{std::move(direction), {}, bin} {
  simulator_.network().set_tap(from.index(), to.index(), [this](sim::StreamRef stream, ByteView bytes) {
    parsers_[stream].add(bytes, [this](const PassedFrame& frame) { count(frame); });
  });
}

void LinkProbe::begin(const Classifier& classifier) {
  classifier_ = &classifier;
  start_ = simulator_.now();
  series_.bins.clear();
}

Bin& LinkProbe::bin() {
  const auto index = static_cast<std::size_t>((simulator_.now() - start_) / series_.bin);
  while (series_.bins.size() <= index) series_.bins.emplace_back().classes.resize(classes_);
  return series_.bins[index];
}

void LinkProbe::count(const PassedFrame& frame) {
  if (classifier_ == nullptr) return;
  Bin& now = bin();
  FrameKind kind = kind_of(frame.type);
  const std::optional<Body> body = body_of(frame);
  if (const auto traffic_class = body ? classifier_->class_of(*body) : std::nullopt) {
    kind = FrameKind::message;
    Passed& passed = now.classes[*traffic_class];
    passed.bytes += frame.bytes;
    ++passed.frames;
    passed.messages += body->head.first ? 1 : 0;
  }
  now.bytes[static_cast<std::size_t>(kind)] += frame.bytes;
  ++now.frames[static_cast<std::size_t>(kind)];
}

void LinkProbe::sample() {
  const std::optional<LinkInfo> link = from_.node().link_to(series_.direction.to);
  Bin& now = bin();
  const std::size_t packets = link ? link->queued_packets : 0;
  now.queue_max = std::max(now.queue_max, static_cast<std::uint32_t>(packets));
  now.queue_sum += packets;
  const std::uint64_t bytes = link ? link->queued_bytes : 0;
  now.queue_bytes_max = std::max(now.queue_bytes_max, bytes);
  now.queue_bytes_sum += bytes;
  ++now.samples;
}

}  // namespace spindled::scenarios
