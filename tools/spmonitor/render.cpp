#include "tools/spmonitor/render.h"

#include <fmt/format.h>
#include <google/protobuf/util/json_util.h>

#include "tools/spmonitor/render_bulk.h"
#include "tools/spmonitor/render_feeds.h"
#include "tools/spmonitor/render_flow.h"
#include "tools/spmonitor/table.h"

namespace spmonitor {

namespace proto = spindle::admin;

namespace {

constexpr Table::Align kRight = Table::Align::right;

std::string number(std::uint64_t value) { return fmt::format("{}", value); }
std::string yes(bool value) { return value ? "yes" : "no"; }
std::string show_view(const proto::View& view) { return fmt::format("{}@{}", view.number(), view.coordinator()); }
std::string bytes(std::uint64_t value) { return show_bytes(static_cast<double>(value)); }

template <typename Names>
std::string list(const Names& names) {
  return fmt::format("{}", fmt::join(names, " "));
}

std::string show_partition(const proto::Partition& partition) {
  std::vector<std::string> sides;
  for (const proto::Side& side : partition.sides()) sides.push_back(fmt::format("{}", fmt::join(side.daemons(), ",")));
  if (partition.others_size() != 0) sides.push_back(fmt::format("{}", fmt::join(partition.others(), ",")));
  return fmt::format("{}: {}", partition.id(), fmt::join(sides, " / "));
}

std::string show_imposed(const proto::Partition& partition) {
  return fmt::format("{}; imposed for a field test, ends in {}", show_partition(partition),
                     show_seconds(partition.seconds_left()));
}

std::string render(const proto::StatusReply& status) {
  std::string text;
  const auto line = [&](std::string_view name, const std::string& value) {
    text += fmt::format("{:<12}{}\n", name, value);
  };
  line("daemon", fmt::format("{} of cluster {}, version {}", status.name(), status.cluster(), status.version()));
  line("up", fmt::format("{}, incarnation {}", show_seconds(status.uptime_seconds()), status.incarnation()));
  line("view", fmt::format("{}, {} {}: {}", show_view(status.view()), status.view().members_size(),
                           status.view().members_size() == 1 ? "member" : "members", list(status.view().members())));
  line("sequencer", status.view().sequencer());
  std::string phase = status.settled() ? "settled" : "changing: " + status.phase();
  if (status.coordinator_phase() != "idle") phase += fmt::format(", leads the change: {}", status.coordinator_phase());
  line("phase", phase);
  line("links",
       fmt::format("{} up, {} configured neighbours without one", status.links(), status.unconnected_neighbours()));
  line("daemons", fmt::format("{} reachable of {} known", status.reachable_daemons(), status.known_daemons()));
  line("groups", number(status.groups()));
  line("sessions", number(status.sessions()));
  line("order", fmt::format("{} of {}", status.order_position(), status.order_end()));
  line("unstable", fmt::format("{} of its own, {} retained of all", bytes(status.unstable_bytes()),
                               bytes(status.retained_bytes())));
  line("memory", fmt::format("{} of {}, {:.0f} %", bytes(status.memory_bytes()), bytes(status.memory_max_bytes()),
                             100 * static_cast<double>(status.memory_bytes()) /
                                 static_cast<double>(std::max<std::uint64_t>(status.memory_max_bytes(), 1))));
  if (status.stays_out() && status.links() != 0) {
    line("stays out", "another daemon of this name is part of the cluster, or is not known to be gone: see the log");
  }
  if (status.other_rules_size() != 0) {
    line("alarm", fmt::format("other rules of access than here ([[access]], [[names]]) at {}",
                              fmt::join(status.other_rules(), " ")));
  }
  for (const proto::HeldDown& held : status.held_down()) {
    line("held down", fmt::format("{}{} for {} more", held.other_end().empty() ? "" : "link ",
                                  held.other_end().empty() ? held.name() : held.name() + "-" + held.other_end(),
                                  show_seconds(held.seconds())));
  }
  if (status.has_partition()) line("partition", show_imposed(status.partition()));
  return text;
}

std::string show_loss(double share) { return fmt::format("{:.1f} %", 100 * share); }

std::string show_dropped(const proto::Datagrams& datagrams) {
  std::vector<std::string> parts;
  const auto add = [&](std::uint64_t count, std::string_view why) {
    if (count != 0) parts.push_back(fmt::format("{} {}", count, why));
  };
  add(datagrams.dropped_repeated(), "repeated");
  add(datagrams.dropped_forged(), "forged");
  add(datagrams.dropped_no_room(), "without room");
  add(datagrams.dropped_behind(), "behind others");
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// How feeds travel on the links; nothing where the daemon does not say.
std::string show_datagrams(const proto::LinksReply& links) {
  Table table({{"peer"},
               {"feeds go by"},
               {"round trip", kRight},
               {"loss in", kRight},
               {"loss out", kRight},
               {"in", kRight},
               {"out", kRight},
               {"dropped"}});
  std::string reasons;
  for (const proto::Link& link : links.links()) {
    if (!link.has_datagrams()) continue;
    const proto::Datagrams& datagrams = link.datagrams();
    const bool is_measured = datagrams.round_trip_us() != 0;
    table.add({link.peer(), datagrams.by_udp() ? (datagrams.encrypted() ? "udp, encrypted" : "udp") : "tcp",
               is_measured ? show_round_trip(datagrams.round_trip_us()) : "",
               is_measured ? show_loss(datagrams.loss_in()) : "", is_measured ? show_loss(datagrams.loss_out()) : "",
               number(datagrams.in()), number(datagrams.out()), show_dropped(datagrams)});
    if (!datagrams.by_udp()) reasons += fmt::format("no udp to {}: {}\n", link.peer(), datagrams.why_not());
  }
  if (table.empty()) return {};
  const proto::DatagramSockets& sockets = links.datagram_sockets();
  return fmt::format("\n{}{}datagrams: {}, {} of no link, {} too long, {} failed\n", table.text(), reasons,
                     sockets.segmenting() ? "many a system call (GSO)" : "one a message (no GSO)", sockets.unknown(),
                     sockets.too_long(), sockets.failed());
}

std::string render(const proto::LinksReply& links) {
  bool rates = false;
  for (const proto::Link& link : links.links()) {
    rates = rates || link.bytes_in_per_second() + link.bytes_out_per_second() > 0;
  }
  const std::string per = rates ? "/s" : "";
  Table table({{"peer"},
               {"address"},
               {"dialled by"},
               {"weight", kRight},
               {"round trip", kRight},
               {"up", kRight},
               {"queued", kRight},
               {"packets", kRight},
               {"held down", kRight},
               {"in" + per, kRight},
               {"out" + per, kRight},
               {"frames in" + per, kRight},
               {"frames out" + per, kRight}});
  for (const proto::Link& link : links.links()) {
    std::vector<std::string> row{link.peer(),
                                 link.address(),
                                 link.dialled() ? "us" : "them",
                                 number(link.weight()),
                                 show_round_trip(link.round_trip_us()),
                                 show_seconds(link.up_seconds()),
                                 bytes(link.queued_bytes()),
                                 number(link.queued_packets()),
                                 link.held_down_seconds() > 0 ? show_seconds(link.held_down_seconds()) : ""};
    if (rates) {
      for (const double rate : {link.bytes_in_per_second(), link.bytes_out_per_second()})
        row.push_back(show_bytes(rate));
      for (const double rate : {link.frames_in_per_second(), link.frames_out_per_second()}) {
        row.push_back(fmt::format("{:.0f}", rate));
      }
    } else {
      for (const std::uint64_t sum : {link.bytes_in(), link.bytes_out()}) row.push_back(bytes(sum));
      for (const std::uint64_t sum : {link.frames_in(), link.frames_out()}) row.push_back(number(sum));
    }
    table.add(std::move(row));
  }
  std::string text = table.empty() ? "no link is up\n" : table.text();
  for (const proto::Neighbour& neighbour : links.unconnected()) {
    text += fmt::format("no link to {}: {}; ", neighbour.address(),
                        neighbour.last_error().empty() ? "no attempt has failed yet" : neighbour.last_error());
    text += neighbour.retry_seconds() > 0 ? fmt::format("next attempt in {}\n", show_seconds(neighbour.retry_seconds()))
                                          : "an attempt is going on\n";
  }
  text += show_datagrams(links);
  if (links.has_partition()) text += fmt::format("partition {}\n", show_imposed(links.partition()));
  return text;
}

std::string render(const proto::AdmissionReply& reply) {
  const std::string_view state = reply.enabled() ? "on" : "off";
  if (!reply.changed()) return fmt::format("admission was {} at this daemon already\n", state);
  return fmt::format("admission is {} at this daemon, while it runs; its configuration is as it was\n", state);
}

std::string render(const proto::PartitionReply& reply) {
  return fmt::format("partition {}\n", show_imposed(reply.partition()));
}

std::string render(const proto::HealReply& reply) {
  if (!reply.has_ended()) return "this daemon knew of no partition; the others are told that there is none\n";
  return fmt::format("healed partition {}\n", show_partition(reply.ended()));
}

std::string render(const proto::RoutesReply& routes) {
  Table table({{"member"}, {"next hop"}, {"hops", kRight}, {"distance", kRight}, {"round trip", kRight}, {""}});
  for (const proto::Route& route : routes.routes()) {
    std::string remark = route.sequencer() ? "sequencer" : "";
    if (!route.usable()) remark += remark.empty() ? "link gone" : ", link gone";
    if (route.next_hop().empty()) {
      table.add({route.member(), "(this daemon)", "0", "0", "-", remark});
    } else {
      table.add({route.member(), route.next_hop(), number(route.hops()), number(route.distance()),
                 show_round_trip(route.round_trip_us()), remark});
    }
  }
  return fmt::format("view {}\n{}", show_view(routes.view()), table.text());
}

std::string mode_of(const proto::Group& group) {
  if (!group.synchronous()) return "ordinary";
  if (!group.pending()) return "synchronous";
  return fmt::format("synchronous, waits for members at {}", list(group.flushing()));
}

std::string render(const proto::GroupsReply& groups) {
  Table table({{"group"}, {"members", kRight}, {"here", kRight}, {"daemons"}, {"mode"}});
  for (const proto::Group& group : groups.groups()) {
    table.add({group.name(), number(group.member_count()), number(group.local_count()), list(group.daemons()),
               mode_of(group)});
  }
  std::string text = table.empty() ? "no groups\n" : table.text();
  for (const proto::Group& group : groups.groups()) {
    if (group.members_size() == 0) continue;
    text += fmt::format("members of {}:\n", group.name());
    for (const std::string& member : group.members()) text += fmt::format("  {}\n", member);
    if (group.members_truncated()) text += "  and more\n";
  }
  if (groups.truncated()) text += fmt::format("the first {} of {}\n", groups.groups_size(), groups.total());
  return text;
}

std::string render(const proto::SessionsReply& sessions) {
  Table table({{"client"},
               {"peer"},
               {"identity"},
               {"state"},
               {"open", kRight},
               {"groups", kRight},
               {"messages in", kRight},
               {"out", kRight},
               {"bytes in", kRight},
               {"out", kRight},
               {"queued", kRight},
               {"waiting"},
               {"slow"}});
  for (const proto::Session& session : sessions.sessions()) {
    table.add({session.name().empty() ? "-" : session.name(), session.peer(),
               session.identity().empty() ? "-" : session.identity(), session.state(),
               show_seconds(session.open_seconds()), number(session.groups()), number(session.messages_in()),
               number(session.messages_out()), bytes(session.bytes_in()), bytes(session.bytes_out()),
               bytes(session.queued_bytes()), yes(session.waiting()), yes(session.slow())});
  }
  std::string text = table.empty() ? "no clients\n" : table.text();
  if (sessions.truncated()) text += fmt::format("the first {} of {}\n", sessions.sessions_size(), sessions.total());
  return text;
}

std::string render(const proto::CountersReply& counters, bool all) {
  Table table({{"counter"}, {"value", kRight}, {"what is counted"}});
  for (const proto::Counter& counter : counters.counters()) {
    if (all || counter.value() != 0) table.add({counter.name(), number(counter.value()), counter.text()});
  }
  for (const proto::CloseCount& close : counters.closes()) {
    table.add({"closed: " + close.name(), number(close.value()), close.text()});
  }
  return table.empty() ? "every counter is zero\n" : table.text();
}

}  // namespace

std::string render(const proto::Reply& reply, bool all) {
  switch (reply.kind_case()) {
    case proto::Reply::kStatus:
      return render(reply.status());
    case proto::Reply::kLinks:
      return render(reply.links());
    case proto::Reply::kRoutes:
      return render(reply.routes());
    case proto::Reply::kGroups:
      return render(reply.groups());
    case proto::Reply::kSessions:
      return render(reply.sessions());
    case proto::Reply::kCounters:
      return render(reply.counters(), all);
    case proto::Reply::kPartition:
      return render(reply.partition());
    case proto::Reply::kHeal:
      return render(reply.heal());
    case proto::Reply::kFlow:
      return render_flow(reply.flow());
    case proto::Reply::kAdmission:
      return render(reply.admission());
    case proto::Reply::kBulk:
      return render_bulk(reply.bulk());
    case proto::Reply::kFeeds:
      return render_feeds(reply.feeds());
    case proto::Reply::kBulkCancel:
      return fmt::format("channel {} is cancelled\n", reply.bulk_cancel().id());
    case proto::Reply::kBulkRate:
      return reply.bulk_rate().bytes_per_second() == 0
                 ? fmt::format("channel {} has no rate cap\n", reply.bulk_rate().id())
                 : fmt::format("channel {} has a rate cap of {}/s\n", reply.bulk_rate().id(),
                               show_bytes(static_cast<double>(reply.bulk_rate().bytes_per_second())));
    case proto::Reply::KIND_NOT_SET:
      break;
  }
  return {};
}

std::string render_json(const proto::Reply& reply, bool one_line) {
  google::protobuf::util::JsonPrintOptions options;
  options.add_whitespace = !one_line;
  options.always_print_primitive_fields = true;
  options.preserve_proto_field_names = true;
  const google::protobuf::Reflection* reflection = reply.GetReflection();
  const google::protobuf::FieldDescriptor* kind =
      reflection->GetOneofFieldDescriptor(reply, reply.GetDescriptor()->oneof_decl(0));
  std::string text;
  const auto status = google::protobuf::util::MessageToJsonString(reflection->GetMessage(reply, kind), &text, options);
  if (!status.ok()) return {};
  if (text.empty() || text.back() != '\n') text += '\n';
  return text;
}

}  // namespace spmonitor
