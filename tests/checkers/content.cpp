#include <fmt/format.h>

#include <map>

#include "tests/checkers/checkers.h"
#include "tests/checkers/report.h"

namespace spindled::checkers {

namespace {

using spindle::bulk::BulkChannelId;

/// So many symbols may come to a receiver that nothing has disturbed for each that it has to get, and so many beside.
constexpr std::uint64_t kTimesWanted = 2;
constexpr std::uint64_t kBeside = 64;

std::string name_of(const BulkChannelId& id) { return fmt::format("{}@{}/{:x}", id.number, id.daemon, id.incarnation); }

/// What is offered in one channel.
struct Offered {
  std::map<std::uint32_t, std::uint64_t> blocks;
  std::uint64_t digest = 0;
};

void check_received(const ContentHistory& receiver, const Offered& offered, Violations& violations) {
  for (const ContentHistory::Block& block : receiver.blocks) {
    const auto source = offered.blocks.find(block.number);
    if (source != offered.blocks.end() && source->second == block.digest) continue;
    report(violations, fmt::format("content: {} is given block {} of {}, and not as it was offered", receiver.client,
                                   block.number, name_of(receiver.channel)));
  }
  if (receiver.digest && *receiver.digest != offered.digest) {
    report(violations, fmt::format("content: {} is done with {}, and has not what was offered", receiver.client,
                                   name_of(receiver.channel)));
  }
}

void check_kept(const ContentHistory& each, Violations& violations) {
  if (each.bad_given > 0) {
    report(violations, fmt::format("content: {} gives others {} blocks of {} that went bad on its disk", each.client,
                                   each.bad_given, name_of(each.channel)));
  }
  if (each.bad_kept > 0) {
    report(violations, fmt::format("content: {} is done with {}, and has not got {} blocks again that went bad",
                                   each.client, name_of(each.channel), each.bad_kept));
  }
  if (each.beyond_cap > 0) {
    report(violations, fmt::format("content: {} sends {} bytes of {} beyond its cap", each.client, each.beyond_cap,
                                   name_of(each.channel)));
  }
}

void check_waste(const ContentHistory& receiver, Violations& violations) {
  const std::uint64_t most = kTimesWanted * receiver.symbols_wanted + kBeside;
  if (!receiver.is_undisturbed || receiver.symbols <= most) return;
  report(violations, fmt::format("content: {} is sent {} symbols of {}, and had to get {}", receiver.client,
                                 receiver.symbols, name_of(receiver.channel), receiver.symbols_wanted));
}

}  // namespace

Violations check_content(const History& history, bool at_rest) {
  Violations violations;
  std::map<BulkChannelId, Offered> offered;
  std::map<BulkChannelId, const ContentHistory*> giving;
  for (const ContentHistory& each : history.contents) {
    if (each.gives) giving[each.channel] = &each;
    if (!each.is_source) continue;
    Offered& source = offered[each.channel];
    source.digest = each.digest.value_or(0);
    for (const ContentHistory::Block& block : each.blocks) source.blocks[block.number] = block.digest;
  }
  for (const ContentHistory& each : history.contents) {
    check_kept(each, violations);
    if (!each.is_receiver) continue;
    if (const auto source = offered.find(each.channel); source != offered.end()) {
      check_received(each, source->second, violations);
    }
    check_waste(each, violations);
    const auto giver = giving.find(each.channel);
    if (!at_rest || !each.is_there || each.digest || giver == giving.end()) continue;
    report(violations, fmt::format("content: {} has not got {}, which {} has", each.client, name_of(each.channel),
                                   giver->second->client));
  }
  return violations;
}

}  // namespace spindled::checkers
