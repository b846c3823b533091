#include "tools/spmonitor/render_bulk.h"

#include <fmt/format.h>

#include "tools/spmonitor/table.h"

namespace spmonitor {

namespace proto = spindle::admin;

namespace {

constexpr Table::Align kRight = Table::Align::right;

std::string bytes(std::uint64_t count) { return show_bytes(static_cast<double>(count)); }

/// "-" for none.
std::string per_second(std::uint64_t rate) { return rate == 0 ? "-" : bytes(rate) + "/s"; }

std::string or_none(const std::string& text) { return text.empty() ? "-" : text; }

std::string show_channel(const proto::BulkChannel& channel) {
  std::string text =
      fmt::format("{}  {} of {} to {}, {}, {}{}\n", channel.id(), or_none(channel.name()), channel.source(),
                  channel.group(), channel.bytes() == 0 ? "size not known" : bytes(channel.bytes()), channel.state(),
                  channel.source_gone() ? ", source gone" : "");
  text += "    receivers ";
  for (const proto::BulkOutcomeCount& count : channel.outcomes()) {
    text += fmt::format("{}{} {}", text.back() == ' ' ? "" : ", ", count.receivers(), count.outcome());
  }
  if (channel.outcomes().empty()) text += "none";
  text += fmt::format("; weight {}, rate cap {}\n", channel.weight(), per_second(channel.rate_cap()));
  text += fmt::format("    tree {}: parent {}, backup {}; ring {}, index {}, needless {}\n", channel.generation(),
                      or_none(channel.parent()), or_none(channel.backup()), bytes(channel.ring_bytes()),
                      bytes(channel.index_bytes()), channel.needless_symbols());
  if (channel.has_mesh()) {
    const proto::BulkMesh& mesh = channel.mesh();
    text += fmt::format(
        "    mesh: senders {}, receivers {}; came {}, useless {}; told {}; left {} as useless, {} as wrong\n",
        mesh.senders(), mesh.receivers(), mesh.symbols(), mesh.useless(), bytes(mesh.told_bytes()), mesh.left_useless(),
        mesh.left_wrong());
  }
  return text;
}

std::string show_children(const proto::BulkReply& reply) {
  Table table({{"channel"},
               {"to"},
               {"blocks", kRight},
               {"rate", kRight},
               {"symbols", kRight},
               {"overwritten", kRight},
               {"behind"},
               {"limited by"}});
  for (const proto::BulkChannel& channel : reply.channels()) {
    for (const proto::BulkChild& child : channel.children()) {
      const std::string to = child.daemon().empty() ? "client " + child.client()
                             : child.peer()         ? "peer " + child.daemon()
                                                    : "daemon " + child.daemon();
      const std::string blocks = fmt::format("{}/{}", child.blocks(), channel.blocks());
      table.add({channel.id(), to, blocks, per_second(child.bytes_per_second()), fmt::format("{}", child.symbols()),
                 fmt::format("{}", child.overwritten()),
                 child.served()   ? "served"
                 : child.behind() ? "yes"
                                  : "no",
                 or_none(child.limited_by())});
    }
  }
  return table.empty() ? std::string() : '\n' + table.text();
}

std::string show_hops(const proto::BulkReply& reply) {
  Table table({{"hop to"}, {"state"}, {"rate", kRight}, {"limit", kRight}, {"path", kRight}, {"out", kRight}});
  for (const proto::BulkHop& hop : reply.hops()) {
    table.add({hop.peer(), hop.open() ? "open" : "opening", per_second(hop.bytes_per_second()), per_second(hop.rate()),
               per_second(hop.capacity()), bytes(hop.bytes_out())});
  }
  return table.empty() ? std::string() : '\n' + table.text();
}

}  // namespace

std::string render_bulk(const proto::BulkReply& reply) {
  if (reply.total() == 0 && reply.hops().empty()) return "no bulk channels\n";
  std::string text = fmt::format("channels {}, rings {}, control {}\n", reply.total(), bytes(reply.ring_bytes()),
                                 per_second(reply.control_bytes_per_second()));
  for (const proto::BulkChannel& channel : reply.channels()) text += show_channel(channel);
  if (reply.truncated()) text += "and more\n";
  return text + show_children(reply) + show_hops(reply);
}

}  // namespace spmonitor
