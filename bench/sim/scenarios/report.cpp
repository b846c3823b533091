#include "bench/sim/scenarios/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>

namespace spindled::scenarios {

namespace {

std::string summary_of(const Result& result, const Phase& phase) {
  std::string text = fmt::format("  {:.0f} to {:.0f} s\n", to_seconds(phase.from), to_seconds(phase.to));
  const std::vector<TrafficClass>& classes = result.scenario.classes;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (classes[i].start > phase.from) continue;
    const Rate rate = rate_of(result, i, phase);
    const Spread spread = spread_of(result, i, phase);
    text += fmt::format(
        "    class {:5} on {}-{}  {:6.3f} Mb/s (payload {:6.3f})   a client {:7.2f} messages/s, variation {:.2f} %\n",
        classes[i].name, classes[i].bottleneck.from, classes[i].bottleneck.to, rate.framed / 1e6, rate.payload / 1e6,
        spread.mean, spread.variation * 100);
  }
  for (const LinkSeries& series : result.links) {
    const bool is_bottleneck = std::any_of(classes.begin(), classes.end(), [&](const TrafficClass& each) {
      return each.start <= phase.from && each.bottleneck == series.direction;
    });
    const LinkUse use = use_of(result.scenario, series, phase);
    if (!is_bottleneck && use.queue_max < 20) continue;
    text += fmt::format("    link  {}-{}  {:6.2f} % used   queue max {:4} mean {:6.1f}  ", series.direction.from,
                        series.direction.to, use.used * 100, use.queue_max, use.queue_mean);
    for (std::size_t kind = 0; kind < kFrameKinds; ++kind) {
      const double share = use.kinds[kind] / use.capacity;
      if (static_cast<FrameKind>(kind) == FrameKind::message || share < 0.00001) continue;
      text += fmt::format(" {} {:.3f} %", to_string(static_cast<FrameKind>(kind)), share * 100);
    }
    text += "\n";
  }
  return text;
}

void write_links(const std::filesystem::path& file, const Result& result) {
  std::ofstream out(file);
  out << "second,link,capacity_bps,queue_max,queue_mean";
  for (std::size_t kind = 0; kind < kFrameKinds; ++kind) {
    out << fmt::format(",{}_bytes", to_string(static_cast<FrameKind>(kind)));
  }
  out << "\n";
  for (const LinkSeries& series : result.links) {
    for (Duration at{}; at < result.scenario.end; at += 1s) {
      const Bin sum = series.sum(at, at + 1s);
      out << fmt::format("{},{}-{},{:.0f},{},{:.2f},{}\n", at / 1s, series.direction.from, series.direction.to,
                         capacity_of(result.scenario, series.direction, at), sum.queue_max,
                         sum.samples == 0 ? 0 : static_cast<double>(sum.queue_sum) / sum.samples,
                         fmt::join(sum.bytes, ","));
    }
  }
}

void write_rates(const std::filesystem::path& file, const Result& result) {
  std::ofstream out(file);
  out << "second,class,link,frames_bps,payload_bps,packets\n";
  for (std::size_t i = 0; i < result.scenario.classes.size(); ++i) {
    const TrafficClass& each = result.scenario.classes[i];
    const LinkSeries& series = result.link(each.bottleneck);
    for (Duration at{}; at < result.scenario.end; at += 1s) {
      const Rate rate = rate_of(result, i, {at, at, at + 1s});
      const Bin sum = series.sum(at, at + 1s);
      out << fmt::format("{},{},{}-{},{:.0f},{:.0f},{}\n", at / 1s, each.name, each.bottleneck.from, each.bottleneck.to,
                         rate.framed, rate.payload, sum.classes.empty() ? 0 : sum.classes[i].frames);
    }
  }
}

void write_clients(const std::filesystem::path& file, const Result& result) {
  std::ofstream out(file);
  out << "class,daemon,client,messages_per_second\n";
  const Phase steady = phases_of(result.scenario).back();
  for (std::size_t i = 0; i < result.clients.size(); ++i) {
    const ClientSeries& client = result.clients[i];
    out << fmt::format("{},{},{},{:.3f}\n", result.scenario.classes[client.traffic_class].name, client.daemon, i,
                       client.rate(steady.from, steady.to));
  }
}

std::string json_of(const Result& result) {
  std::vector<std::string> classes, links, phases;
  const Phase steady = phases_of(result.scenario).back();
  for (std::size_t i = 0; i < result.scenario.classes.size() && result.error.empty(); ++i) {
    const Rate rate = rate_of(result, i, steady);
    const Spread spread = spread_of(result, i, steady);
    classes.push_back(fmt::format(
        R"({{"class": "{}", "frames_bps": {:.0f}, "payload_bps": {:.0f}, "client_messages_per_second": {:.4f}, )"
        R"("client_variation": {:.5f}}})",
        result.scenario.classes[i].name, rate.framed, rate.payload, spread.mean, spread.variation));
  }
  for (const LinkSeries& series : result.links) {
    const LinkUse use = use_of(result.scenario, series, steady);
    links.push_back(fmt::format(
        R"({{"link": "{}-{}", "capacity_bps": {:.0f}, "used": {:.5f}, "queue_max": {}, "queue_mean": {:.2f}, )"
        R"("price_bps": {:.1f}, "control_bps": {:.1f}, "queue_max_ever": {}}})",
        series.direction.from, series.direction.to, use.capacity, use.used, use.queue_max, use.queue_mean,
        use.of(FrameKind::price), use.used * use.capacity - use.of(FrameKind::message),
        series.sum(0s, result.scenario.end).queue_max));
  }
  const std::vector<Phase> all = phases_of(result.scenario);
  const std::vector<std::size_t> senders = senders_of(result.scenario);
  for (std::size_t k = 0; k < all.size() && result.error.empty(); ++k) {
    double rate = 0;
    for (std::size_t i = 0; i < result.scenario.classes.size(); ++i) rate += rate_of(result, i, all[k]).framed;
    std::uint32_t queue = 0;
    for (const LinkSeries& series : result.links)
      queue = std::max(queue, series.sum(all[k].start, all[k].to).queue_max);
    phases.push_back(
        fmt::format(R"({{"start_s": {:.1f}, "from_s": {:.1f}, "to_s": {:.1f}, "senders": {}, "frames_bps": {:.0f}, )"
                    R"("queue_max": {}}})",
                    to_seconds(all[k].start), to_seconds(all[k].from), to_seconds(all[k].to), senders[k], rate, queue));
  }
  return fmt::format(
      R"({{"scenario": "{}", "title": "{}", "senders": {}, "error": "{}", "from_s": {:.1f}, "to_s": {:.1f}, )"
      "\"processor_s\": {:.1f},\n    \"phases\": [{}],\n    \"classes\": [{}],\n    \"links\": [{}]}}",
      result.scenario.id, result.scenario.title, result.scenario.senders.size(), result.error, to_seconds(steady.from),
      to_seconds(steady.to), result.cpu_seconds, fmt::join(phases, ", "), fmt::join(classes, ", "),
      fmt::join(links, ", "));
}

std::string json_of(const Figure& figure) {
  return fmt::format(R"({{"scenario": "{}", "what": "{}", "paper": "{}", "must": "{}", "ours": "{}", "ok": {}}})",
                     figure.scenario, figure.what, figure.paper, figure.must, figure.ours, figure.ok);
}

template <typename Items>
std::string json_lines(const Items& items) {
  std::vector<std::string> lines;
  for (const auto& item : items) lines.push_back(json_of(item));
  return fmt::format("[\n  {}\n]", fmt::join(lines, ",\n  "));
}

}  // namespace

std::string summary_of(const Result& result) {
  std::string text = fmt::format("{} ({:.1f} s of processor)\n", result.scenario.title, result.cpu_seconds);
  if (!result.error.empty()) return text + "  FAILED: " + result.error + "\n" + result.log;
  for (const Phase& phase : phases_of(result.scenario)) text += summary_of(result, phase);
  return text;
}

std::string table_of(const std::vector<Figure>& figures) {
  std::size_t name = 6, what = 40, paper = 12;
  for (const Figure& figure : figures) {
    name = std::max(name, figure.scenario.size());
    what = std::max(what, figure.what.size());
    paper = std::max(paper, figure.paper.size());
  }
  std::string text =
      fmt::format("{:{}} {:{}} {:>{}} {:>15} {:>20}\n", "", name, "", what, "paper", paper, "must reach", "ours");
  for (const Figure& figure : figures) {
    text += fmt::format("{:{}} {:{}} {:>{}} {:>15} {:>20}  {}\n", figure.scenario, name, figure.what, what,
                        figure.paper, paper, figure.must, figure.ours,
                        figure.must.empty() ? ""
                        : figure.ok         ? "ok"
                                            : "FAILED");
  }
  return text;
}

void write_files(const std::filesystem::path& folder, std::uint64_t seed, const std::vector<Result>& results,
                 const std::vector<Figure>& figures) {
  for (const Result& result : results) {
    if (!result.error.empty()) continue;
    write_links(folder / fmt::format("links-{}.csv", result.scenario.id), result);
    write_rates(folder / fmt::format("rates-{}.csv", result.scenario.id), result);
    write_clients(folder / fmt::format("clients-{}.csv", result.scenario.id), result);
  }
  std::ofstream(folder / "results.json") << fmt::format("{{\"seed\": {}, \"figures\": {}, \"scenarios\": {}}}\n", seed,
                                                        json_lines(figures), json_lines(results));
}

}  // namespace spindled::scenarios
