#include "tools/spmonitor/render_feeds.h"

#include <fmt/format.h>

#include <vector>

#include "tools/spmonitor/table.h"

namespace spmonitor {

namespace proto = spindle::admin;

namespace {

constexpr Table::Align kRight = Table::Align::right;

std::string number(std::uint64_t value) { return fmt::format("{}", value); }
std::string bytes(std::uint64_t count) { return show_bytes(static_cast<double>(count)); }

/// Of all feeds: how they come here, and who hears them.
std::string show_feeds(const proto::FeedsReply& reply) {
  Table table({{"feed", kRight},
               {"source"},
               {"group"},
               {"state"},
               {"repair for", kRight},
               {"from"},
               {"packets", kRight},
               {"missing", kRight},
               {"links out", kRight},
               {"listeners", kRight}});
  for (const proto::Feed& feed : reply.feeds()) {
    const std::string from = feed.has_own() ? "client" : feed.upstream().empty() ? "-" : feed.upstream();
    const auto if_active = [&](std::uint64_t value) { return feed.active() ? number(value) : "-"; };
    table.add({number(feed.number()), feed.source(), feed.group(), feed.state(),
               show_seconds(feed.repair_for_seconds()), from, if_active(feed.packets()), if_active(feed.missing()),
               if_active(feed.branches()), number(feed.listeners())});
  }
  return table.text();
}

/// Of those of this daemon's clients: how fast they may send, and why.
std::string show_own(const proto::FeedsReply& reply) {
  Table table({{"own", kRight},
               {"rate", kRight},
               {"limited by"},
               {"round trip", kRight},
               {"loss", kRight},
               {"epochs", kRight},
               {"waiting", kRight},
               {"daemons", kRight},
               {"links", kRight}});
  for (const proto::Feed& feed : reply.feeds()) {
    if (!feed.has_own()) continue;
    const proto::FeedSource& own = feed.own();
    table.add({number(feed.number()), own.bytes_per_second() == 0 ? "-" : bytes(own.bytes_per_second()) + "/s",
               own.limited_by(), show_round_trip(own.round_trip_us()), fmt::format("{:.2f} %", 100 * own.loss()),
               number(own.epochs()), bytes(own.waiting_bytes()), number(own.daemons()), number(own.links())});
  }
  return table.empty() ? std::string() : '\n' + table.text();
}

std::string show_repair(const proto::FeedsReply& reply) {
  std::vector<std::string> tries;
  for (const std::uint64_t asked : reply.asked()) tries.push_back(number(asked));
  std::string text = fmt::format("requests   {} by try; {} came, {} passed on, {} refused, {} crossed by a repair\n",
                                 tries.empty() ? "0" : fmt::format("{}", fmt::join(tries, " ")), reply.requests_in(),
                                 reply.requests_passed_on(), reply.requests_refused(), reply.requests_crossed());
  text += fmt::format(
      "repairs    {} of own feeds, {} of others, {} refused; {} came from upstream, {} from elsewhere, {} needless\n",
      reply.repairs_of_own(), reply.repairs_for_others(), reply.repairs_refused(), reply.repairs_from_upstream(),
      reply.repairs_from_elsewhere(), reply.needless_repairs());
  std::vector<std::string> gaps;
  for (const proto::FeedCount& count : reply.gaps()) gaps.push_back(fmt::format("{} {}", count.value(), count.name()));
  text += fmt::format("given up   {}\n", gaps.empty() ? "0" : fmt::format("{}", fmt::join(gaps, ", ")));
  return text + fmt::format("kept       {}{}\n", bytes(reply.kept_bytes()),
                            reply.kept_seconds() > 0
                                ? fmt::format(", the oldest packet for {}", show_seconds(reply.kept_seconds()))
                                : std::string());
}

}  // namespace

std::string render_feeds(const proto::FeedsReply& reply) {
  std::string text = reply.total() == 0 ? "no feeds\n" : show_feeds(reply);
  if (reply.truncated()) text += fmt::format("the first {} of {}\n", reply.feeds_size(), reply.total());
  return text + show_own(reply) + '\n' + show_repair(reply);
}

}  // namespace spmonitor
