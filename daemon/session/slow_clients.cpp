#include "daemon/session/slow_clients.h"

#include <algorithm>
#include <cmath>
#include <utility>

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
/// Whether so many names reach a client is found out in the time that is one unit of a turn's work.
constexpr std::size_t kAskedPerUnit = 4;
/// Where a turn has no room to look at all clients, the next ones are looked at in the same part of update_min.
constexpr int kPartsOfALook = 4;
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
  if (urgent && !reader.names.empty()) look_soon(session, reader);
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
      reader.busy += now - std::exchange(reader.seen_at, now);
      look_soon(session, reader);
    }
    reader.caught_up = true;
  }
}

void SlowClients::forget(SessionId session) {
  const auto at = readers_.find(session);
  if (at == readers_.end()) return;
  Reader& reader = at->second;
  if (reader.price > 0) gone_.push_back({session, reader.price, std::move(reader.names)});
  readers_.erase(at);
}

void SlowClients::look_soon(SessionId session, Reader& reader) {
  if (!std::exchange(reader.is_due, true)) soon_.push_back(session);
}

/// A message to several groups names those, too, that this client is in no way concerned with; and these may be many,
/// and come with every message.
void SlowClients::note_names(SessionId session, Reader& reader, std::span<const std::string_view> names) {
  std::size_t next = names.size() > kNamesAsked ? reader.next_asked : 0;
  std::size_t asked = 0;
  for (std::size_t i = 0; i < names.size() && asked < kNamesAsked && reader.names.size() < kNamesMax; ++i, ++next) {
    const std::string_view name = names[next % names.size()];
    if (std::find(reader.names.begin(), reader.names.end(), name) != reader.names.end()) continue;
    ++asked;
    if (names_.is_reached_by(session, name)) reader.names.emplace_back(name);
  }
  reader.next_asked = next;
  turn_.count(asked / kAskedPerUnit);
}

void SlowClients::handle_time(Time now) {
  if (now < due_at_) return;
  auto at = readers_.lower_bound(next_);
  while (at != readers_.end() && has_turn()) {
    look(now, at->first, at->second);
    at = at->second.caught_up && at->second.price == 0 ? readers_.erase(at) : std::next(at);
  }
  next_ = at == readers_.end() ? 0 : at->first;
  if (readers_.empty()) {
    due_at_ = kNever;
  } else {
    due_at_ = now + config_.admission.update_min / (next_ == 0 ? 1 : kPartsOfALook);
  }
}

void SlowClients::flush(Time now) {
  while (!gone_.empty() && has_turn()) {
    const Gone gone = std::move(gone_.front());
    gone_.pop_front();
    names_seen_to_ += gone.names.size();
    for (const std::string& name : gone.names) priced_.change(name, gone.session, gone.price, 0);
  }
  while (!soon_.empty() && has_turn()) {
    const auto at = readers_.find(soon_.front());
    soon_.pop_front();
    if (at == readers_.end()) continue;
    at->second.is_due = false;
    look(now, at->first, at->second);
  }
  priced_.tell();
  flush_at_ = gone_.empty() && soon_.empty() ? kNever : now;
  names_seen_to_ = 0;
}

void SlowClients::look(Time now, SessionId session, Reader& reader) {
  names_seen_to_ += 1 + reader.names.size();
  const double before = reader.price;
  std::erase_if(reader.names, [&](const std::string& name) {
    if (names_.is_reached_by(session, name)) return false;
    priced_.change(name, session, before, 0);
    return true;
  });
  if (!reader.caught_up) reader.busy += now - std::exchange(reader.seen_at, now);
  measure(reader);
  const double price = price_of(reader);
  if (price >= kOnsetFees * config_.admission.fee) reader.cost_at = now;
  reader.price = reader.cost_at && now < *reader.cost_at + kLinger ? std::max(price, linger_dollars()) : 0;
  reader.priced_for = reader.queued;
  for (const std::string& name : reader.names) priced_.change(name, session, before, reader.price);
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

}  // namespace spindled
