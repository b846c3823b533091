#include "daemon/access/quotas.h"

#include <fmt/format.h>

#include <algorithm>

#include "daemon/access/access_rules.h"

namespace spindled {

std::string ClientQuota::key() const {
  if (!peer_.identities.empty()) return peer_.identities.front();
  return peer_.address.substr(0, peer_.address.rfind(':'));
}

std::optional<Error> ClientQuota::open() {
  if (quotas_.size() >= kIdentitiesKept)
    std::erase_if(quotas_, [](const auto& use) { return use.second.connections == 0; });
  use_ = quotas_.try_emplace(key()).first;
  ++use_->second.connections;
  refresh();
  if (limits_.connections == 0 || use_->second.connections <= limits_.connections) return std::nullopt;
  const std::string who = use_->first;
  close();
  return Error{Errc::too_many_sessions, fmt::format("{} has {} connections to this daemon already, as many as its "
                                                    "[[quota]] allows",
                                                    who, limits_.connections)};
}

void ClientQuota::close() {
  if (!is_open()) return;
  note_memberships(0);
  note_memory(0);
  // Who comes anew is not to have a rate that it has spent before its time.
  if (--use_->second.connections == 0 && !is_spent()) quotas_.erase(use_);
  use_ = quotas_.end();
}

void ClientQuota::refresh() {
  if (version_ == context_.config_version()) return;
  version_ = context_.config_version();
  const std::vector<QuotaRule>& all = context_.config.access.quotas;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const QuotaRule& rule) { return is_named(peer_, rule.who); });
  limits_ = found == all.end() ? QuotaLimits() : found->limits;
}

bool ClientQuota::may_join() {
  refresh();
  return limits_.memberships == 0 || use_->second.memberships < limits_.memberships;
}

void ClientQuota::note_memberships(std::size_t groups) {
  use_->second.memberships += groups - memberships_;
  memberships_ = groups;
}

void ClientQuota::note_memory(std::size_t bytes) {
  if (!is_open()) return;
  use_->second.memory += bytes - memory_;
  memory_ = bytes;
}

bool ClientQuota::holds_too_much() {
  if (!is_open()) return false;
  refresh();
  return limits_.memory_bytes != 0 && use_->second.memory > limits_.memory_bytes;
}

std::optional<Error> ClientQuota::objection_to_memory() {
  if (!holds_too_much()) return std::nullopt;
  const auto& [who, use] = *use_;
  if (memory_ < use.memory / use.connections) return std::nullopt;
  return Error{
      Errc::limit_exceeded,
      fmt::format("the clients of {} hold {} bytes of the daemon's memory, {} of them this one; their [[quota]] "
                  "allows {}",
                  who, use.memory, memory_, limits_.memory_bytes)};
}

std::optional<Time> ClientQuota::wait_until(Time now) {
  refresh();
  if (!has_rate()) return std::nullopt;
  const auto rate = static_cast<double>(limits_.bytes_per_s);
  const double burst = rate * to_seconds(kBurst);
  TokenBucket& bytes = use_->second.bytes;
  bytes.fill(now, rate, burst);
  return bytes.is_open() ? std::nullopt : std::optional(bytes.opens_at(rate, burst));
}

}  // namespace spindled
