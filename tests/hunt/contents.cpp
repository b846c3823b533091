#include "tests/hunt/contents.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tests/support/known_content.h"

namespace spindled::hunt {

namespace {

constexpr Duration kTick = 10ms;

/// Whether the plan has anything that makes content come twice: all but offers, and clients that come and join.
bool disturbs(const Step& step) {
  switch (step.kind) {
    case StepKind::connect:
      return step.content && (step.content->memory > 0 || step.content->spoils > 0 || step.content->forges > 0 ||
                              step.content->fails > 0);
    case StepKind::start:
    case StepKind::resume:
    case StepKind::repair:
    case StepKind::unstall:
    case StepKind::heal:
    case StepKind::ask_view:
    case StepKind::ask_flow:
    case StepKind::join:
    case StepKind::send:
    case StepKind::offer:
    case StepKind::cancel_offers:
    case StepKind::listen:
    case StepKind::stop_listening:
    case StepKind::open_feed:
    case StepKind::feed:
    case StepKind::close_feed:
    case StepKind::unblock:
    case StepKind::reload:
    case StepKind::cap:
    case StepKind::received:
      return false;
    default:
      return true;
  }
}

}  // namespace

Contents::Contents(const Plan& plan, sim::Simulator& sim)
    : sim_(sim), is_disturbed_(std::any_of(plan.steps.begin(), plan.steps.end(), disturbs)) {}

void Contents::add(const Step& connect, sim::SimClient& client) {
  const ContentHabit& habit = *connect.content;
  sim::BulkClient::Options options;
  options.serves = habit.serves;
  options.tick = kTick;
  if (habit.disk) options.disk = take_disk(*habit.disk);
  if (!options.disk) {
    options.disk = std::make_shared<sim::ContentDisk>();
  } else if (habit.is_torn) {
    options.disk->tear_states();
  }
  options.disk->writes_to_fail = habit.fails;
  options.disk->reads_to_spoil = habit.spoils;
  options.disk->blocks_to_forge = habit.forges;
  if (habit.memory > 0) {
    options.limits.symbols.repair_bytes = options.limits.symbols.source_bytes = habit.memory;
  }
  clients_[connect.client] = std::make_unique<sim::BulkClient>(sim_.world(), client, options);
}

std::shared_ptr<sim::ContentDisk> Contents::take_disk(std::uint32_t number) {
  const auto former = clients_.find(number);
  if (former == clients_.end()) return nullptr;
  std::vector<sim::BulkClient*> users;
  for (const auto& [each, client] : clients_) {
    if (client->disk() != former->second->disk()) continue;
    if (!client->session().is_closed()) return nullptr;
    users.push_back(client.get());
  }
  for (sim::BulkClient* user : users) user->end();
  return former->second->disk();
}

void Contents::offer(const Step& step) {
  const auto client = clients_.find(step.client);
  if (client == clients_.end()) return;
  client->second->offer(step.groups.front(), spindle::test::content_of(step.client * 1000 + step.size, step.size),
                        step.block_symbols, step.linger_s);
}

void Contents::detach(std::uint32_t number) {
  if (const auto client = clients_.find(number); client != clients_.end()) client->second->break_attachment();
}

void Contents::set_reading(std::uint32_t number, bool on) {
  if (const auto client = clients_.find(number); client != clients_.end()) client->second->set_reading(on);
}

void Contents::set_cap(std::uint32_t number, std::uint64_t bytes_per_second) {
  if (const auto client = clients_.find(number); client != clients_.end()) client->second->set_cap(bytes_per_second);
}

std::vector<std::string> Contents::lacks() const {
  const auto runs = [](sim::BulkClient& client) {
    return client.session().host().is_running() && !client.session().host().is_paused();
  };
  std::set<sim::BulkChannelId> offered;
  for (const auto& [number, client] : clients_) {
    if (!runs(*client)) continue;
    for (const sim::BulkChannelId& id : client->session().channels().ids()) {
      if (client->offers(id)) offered.insert(id);
    }
  }
  std::vector<std::string> lacks;
  for (const auto& [number, client] : clients_) {
    if (!runs(*client)) continue;
    for (const sim::BulkChannelId& id : offered) {
      const std::uint32_t missing = client->missing_blocks(id);
      if (missing == 0) continue;
      lacks.push_back(fmt::format("{} has not got {} blocks of {}, though its daemon and that of the source run",
                                  client->session().private_name(), missing, spindle::bulk::to_string(id)));
    }
  }
  return lacks;
}

bool Contents::are_received() const {
  std::set<sim::BulkChannelId> given, awaited;
  for (const auto& [number, client] : clients_) {
    client->note_standing([&](const sim::BulkChannelId& id, bool gives) { (gives ? given : awaited).insert(id); });
  }
  return std::none_of(awaited.begin(), awaited.end(), [&](const auto& id) { return given.contains(id); });
}

std::vector<checkers::ContentHistory> Contents::histories() const {
  std::vector<checkers::ContentHistory> histories;
  for (const auto& [number, client] : clients_) {
    for (checkers::ContentHistory& each : client->histories()) {
      each.is_undisturbed = !is_disturbed_;
      histories.push_back(std::move(each));
    }
  }
  return histories;
}

void Contents::count(Tally& tally) const {
  if (empty()) return;
  tally.add("contents.runs");
  for (const checkers::ContentHistory& each : histories()) {
    if (each.is_source) tally.add("contents.offered");
    if (each.is_receiver && each.digest) tally.add("contents.received");
    if (each.is_receiver && !each.digest) tally.add("contents.broken off");
    if (each.resumed_blocks > 0) tally.add("contents.resumed");
    if (each.is_receiver) tally.add("contents.blocks", each.blocks.size());
    if (!each.is_receiver || !each.is_undisturbed) continue;
    tally.add("contents.undisturbed");
    if (each.symbols_wanted > 0) {
      tally.raise("symbols that came to a receiver, % of what it had to get",
                  each.symbols * 100 / std::max<std::uint64_t>(each.symbols_wanted, 64));
    }
  }
}

}  // namespace spindled::hunt
