#include "daemon/session/slow_clients.h"

#include <algorithm>
#include <cmath>

#include "daemon/admission/price_curve.h"

namespace spindled {

namespace {
/// Far more than sockets hold: who takes so much shows how fast it reads, however short the time.
constexpr std::uint64_t kTellingBytes = 1 << 20;
/// However fast a client reads, it costs price_max with this share of what it is cut off at: the rest is for what
/// enters before the price is heard, as the largest messages of several senders.
constexpr double kPricedShare = 0.2;
/// However scarce memory is, so much of what may usually wait for the same price still may.
constexpr double kAllowanceLeast = 1.0 / 64;
}  // namespace

void SlowClients::note_behind(Time now, SessionId session, std::size_t queued, std::uint64_t taken) {
  const auto [at, is_new] = readers_.try_emplace(session);
  Reader& reader = at->second;
  if (is_new) {
    reader.limit = within_limits(static_cast<double>(config_.session.queue_hard_bytes) / 16);
    due_at_ = std::min(due_at_, now + config_.admission.update_min);
  } else if (!reader.caught_up) {
    reader.busy += now - reader.seen_at;
    reader.busy_taken += taken - reader.taken;
  }
  reader.queued = queued;
  reader.taken = taken;
  reader.seen_at = now;
  reader.caught_up = false;
  const bool urgent = static_cast<double>(queued) > reader.limit / 2 && queued > 2 * reader.priced_for;
  if (!urgent || reader.names.empty()) return;
  look(now, session, reader);
  tell();
}

void SlowClients::note_caught_up(Time now, SessionId session, std::size_t queued, std::uint64_t taken) {
  if (readers_.empty()) return;
  const auto at = readers_.find(session);
  if (at == readers_.end()) return;
  Reader& reader = at->second;
  reader.queued = queued;
  reader.taken = taken;
  if (reader.price == 0) {
    readers_.erase(at);  // nothing lingers
  } else if (!reader.caught_up) {
    if (reader.price > linger_dollars()) {
      look(now, session, reader);
      tell();
    }
    reader.caught_up = true;
  }
}

void SlowClients::forget(SessionId session) {
  if (readers_.erase(session) != 0) tell();
}

void SlowClients::note_name(SessionId session, Reader& reader, std::string_view name) {
  if (reader.names.size() == kNamesMax) return;
  if (std::find(reader.names.begin(), reader.names.end(), name) != reader.names.end()) return;
  // A message to several groups names those, too, that this client is in no way concerned with.
  if (names_.is_reached_by(session, name)) reader.names.emplace_back(name);
}

void SlowClients::handle_time(Time now) {
  if (now < due_at_) return;
  for (auto& [session, reader] : readers_) look(now, session, reader);
  std::erase_if(readers_, [](const auto& item) { return item.second.caught_up && item.second.price == 0; });
  tell();
  due_at_ = readers_.empty() ? kNever : now + config_.admission.update_min;
}

void SlowClients::look(Time now, SessionId session, Reader& reader) {
  std::erase_if(reader.names, [&](const std::string& name) { return !names_.is_reached_by(session, name); });
  if (!reader.caught_up) reader.busy += now - std::exchange(reader.seen_at, now);
  measure(reader);
  const double price = price_of(reader);
  if (price >= kOnsetFees * config_.admission.fee) reader.cost_at = now;
  reader.price = reader.cost_at && now < *reader.cost_at + kLinger ? std::max(price, linger_dollars()) : 0;
  reader.priced_for = reader.queued;
}

double SlowClients::price_of(const Reader& reader) const {
  const double limit = reader.limit * std::max(memory_.allowance(), kAllowanceLeast);
  return queue_price(static_cast<double>(reader.queued), limit, config_.admission.price_max);
}

double SlowClients::linger_dollars() const { return kLingerFees * config_.admission.fee; }

/// The limit is like that of a link: it grows with what the client reads. What it could read before is forgotten over
/// some looks only, and at first it is thought to be fast: so one that merely pauses is not priced like one that cannot
/// read faster.
void SlowClients::measure(Reader& reader) {
  if (reader.busy < config_.admission.update_min / 2 && reader.busy_taken < kTellingBytes) return;
  if (reader.busy <= Duration::zero()) return;
  const double busy_s = to_seconds(std::exchange(reader.busy, Duration::zero()));
  const double rate = static_cast<double>(std::exchange(reader.busy_taken, 0)) / busy_s;
  const double remembered = reader.limit * std::exp(-busy_s / to_seconds(kMemory));
  reader.limit = within_limits(std::max(rate * to_seconds(kLag), remembered));
}

double SlowClients::within_limits(double limit) const {
  const auto least = static_cast<double>(config_.session.queue_full_price_bytes);
  return std::clamp(limit, least,
                    std::max(least, kPricedShare * static_cast<double>(config_.session.queue_hard_bytes)));
}

void SlowClients::tell() {
  std::map<std::string, Told> prices;
  for (const auto& [session, reader] : readers_) {
    if (reader.price == 0) continue;
    for (const std::string& name : reader.names) {
      Told& told = prices[name];
      if (reader.price > told.price) told = {reader.price, session};
    }
  }
  for (const auto& [name, told] : told_) {
    if (!prices.contains(name)) prices_.set_client_price(name, 0, {});
  }
  for (const auto& [name, told] : prices) {
    const auto at = told_.find(name);
    if (at != told_.end() && at->second == told) continue;
    prices_.set_client_price(name, told.price, names_.client_name_of(told.slowest));
  }
  told_ = std::move(prices);
}

}  // namespace spindled
