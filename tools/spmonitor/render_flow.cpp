#include "tools/spmonitor/render_flow.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/spmonitor/table.h"

namespace spmonitor {

namespace proto = spindle::admin;

namespace {

constexpr Table::Align kRight = Table::Align::right;
constexpr int kNamesShown = 3;

std::string dollars(double value) { return fmt::format("{:.2f}", value); }

/// "-" for nothing.
std::string per_second(double packets) { return packets <= 0 ? "-" : fmt::format("{:.0f}/s", packets); }

std::string show_period(double seconds) {
  if (seconds <= 0) return "-";
  if (seconds < 1e-3) return fmt::format("{:.3g} us", seconds * 1e6);
  return seconds < 1 ? fmt::format("{:.3g} ms", seconds * 1e3) : show_seconds(seconds);
}

std::string show_destinations(const proto::Flow& flow) {
  std::string text;
  for (int i = 0; i < std::min(flow.to_size(), kNamesShown); ++i) text += (i == 0 ? "" : " ") + flow.to(i);
  const auto more = static_cast<int>(flow.to_count()) - kNamesShown;
  return more > 0 ? fmt::format("{} and {} more", text, more) : text;
}

std::string show_links(const proto::FlowReply& reply) {
  Table table({{"link to"},
               {"packets", kRight},
               {"aim", kRight},
               {"price", kRight},
               {"rate", kRight},
               {"queued", kRight},
               {"out", kRight}});
  for (const proto::PricedLink& link : reply.links()) {
    table.add({link.peer(), fmt::format("{:.0f}", link.queued_packets()), fmt::format("{:.0f}", link.aim_packets()),
               dollars(link.price()), per_second(link.packets_per_second()),
               show_bytes(static_cast<double>(link.queued_bytes())),
               show_bytes(static_cast<double>(link.bytes_out()))});
  }
  return table.empty() ? "no links to other daemons of the view\n" : table.text();
}

std::string show_prices(const proto::FlowReply& reply) {
  Table table({{"price told"}, {"by"}, {"dollars", kRight}});
  for (const proto::ToldLinkPrice& price : reply.told_links()) {
    table.add({fmt::format("link {}-{}", price.from(), price.to()), price.from(), dollars(price.price())});
  }
  for (const proto::ClientPrice& price : reply.clients()) {
    const std::string whose =
        price.slowest().empty() ? "clients" : fmt::format("client #{}#{}", price.slowest(), price.daemon());
    table.add({fmt::format("{} of {}", whose, price.name()), price.daemon(), dollars(price.price())});
  }
  std::string text = table.empty() ? std::string() : '\n' + table.text();
  if (reply.prices_truncated()) text += "and more\n";
  return text;
}

std::string show_flows(const proto::FlowReply& reply) {
  Table table({{"client"},
               {"to"},
               {"price", kRight},
               {"budget", kRight},
               {"period", kRight},
               {"rate", kRight},
               {"blocked", kRight},
               {"now"},
               {"packets", kRight},
               {"paid", kRight},
               {"limited by"}});
  for (const proto::Flow& flow : reply.flows()) {
    table.add({flow.client().empty() ? "-" : flow.client(), show_destinations(flow), dollars(flow.price()),
               dollars(flow.budget()), show_period(flow.salary_period_seconds()), per_second(flow.packets_per_second()),
               fmt::format("{:.0f} %", 100 * flow.blocked_share()), flow.blocked() ? "yes" : "no",
               fmt::format("{}", flow.packets()), dollars(flow.dollars()),
               flow.limited_by().empty() ? "-" : flow.limited_by()});
  }
  std::string text = table.empty() ? "no client has sent anything\n" : table.text();
  if (reply.truncated()) text += fmt::format("the most blocked {} of {}\n", reply.flows_size(), reply.total());
  return text;
}

}  // namespace

std::string render_flow(const proto::FlowReply& reply) {
  std::string text = reply.enabled() ? fmt::format("admission seeks {}, salary {}\n", reply.benefit(), reply.salary())
                                     : "admission is off: messages wait for room only\n";
  return text + '\n' + show_links(reply) + show_prices(reply) + '\n' + show_flows(reply);
}

}  // namespace spmonitor
