#include "tests/faults/trouble.h"

#include <fmt/format.h>

#include <algorithm>
#include <exception>

namespace spindle::test {

using namespace std::chrono_literals;

std::string_view to_string(FaultKind kind) {
  switch (kind) {
#define SPINDLE_FAULT(name, text) \
  case FaultKind::name:           \
    return text;
    SPINDLE_FAULTS(SPINDLE_FAULT)
#undef SPINDLE_FAULT
  }
  return "unknown";
}

IdleClients::IdleClients(const std::string& socket, std::size_t count) {
  try {
    while (sockets_.size() < count) sockets_.push_back(std::make_unique<RawSocket>("unix:" + socket));
  } catch (const std::exception&) {
    // The daemon has just died, or its backlog is full.
  }
}

void Trouble::make(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    begin();
    pass(between(100, 1500));
  }
  while (!active_.empty()) pass(20ms);
}

void Trouble::begin() {
  Active fault;
  do {
    fault = {};
    fault.kind = static_cast<FaultKind>(below(kFaultKinds));
    fault.daemon = below(field_.size());
  } while (!try_begin(fault.kind, fault));
  ++injected_[fault.kind];
  write_diary("begin", fault);
  if (fault.kind != FaultKind::restart_all) active_.push_back(std::move(fault));
}

bool Trouble::try_begin(FaultKind kind, Active& fault) {
  const std::size_t victim = fault.daemon;
  const bool well = field_.is_running(victim) && !field_.is_paused(victim);
  fault.until = Clock::now() + between(300, 3000);
  switch (kind) {
    case FaultKind::kill:
      if (!field_.is_running(victim)) return false;
      field_.kill(victim);
      return true;
    case FaultKind::short_stop:
      fault.until = Clock::now() + between(20, 450);
      [[fallthrough]];
    case FaultKind::long_stop:
      if (!well) return false;
      if (kind == FaultKind::long_stop) fault.until = Clock::now() + between(1000, 3000);
      field_.pause(victim);
      return true;
    case FaultKind::interface_down:
      field_.lan().set_interface(field_.name(victim), false);
      return true;
    case FaultKind::one_way:
      fault.hosts = {field_.name(victim), field_.name((victim + 1 + below(field_.size() - 1)) % field_.size())};
      field_.lan().drop(fault.hosts[0], fault.hosts[1], true);
      return true;
    case FaultKind::loss:
      field_.lan().set_loss(static_cast<unsigned>(1 + below(20)));
      return true;
    case FaultKind::partition:
      for (std::size_t i = 0; i < field_.size(); ++i) {
        if (i == victim || below(2) == 0) fault.hosts.push_back(field_.name(i));
      }
      field_.lan().part(fault.hosts);
      return true;
    case FaultKind::full_disk:
      field_.disk().fill();
      return true;
    case FaultKind::no_descriptors:
      if (!well || idle_.contains(victim)) return false;
      idle_.emplace(victim, IdleClients(field_.daemon(victim).socket(), 150));
      return true;
    case FaultKind::restart_all:
      if (below(2) == 0) return false;  // it ends what the others do
      restart_all();
      return true;
  }
  return false;
}

void Trouble::restart_all() {
  for (std::size_t i = 0; i < field_.size(); ++i) {
    if (field_.is_running(i)) field_.kill(i);
  }
  std::this_thread::sleep_for(between(0, 300));
  for (std::size_t i = 0; i < field_.size(); ++i) field_.start(i);
}

bool Trouble::is_active(FaultKind kind) const {
  return std::any_of(active_.begin(), active_.end(), [&](const Active& each) { return each.kind == kind; });
}

void Trouble::end_due() {
  for (std::size_t i = 0; i < active_.size();) {
    if (active_[i].until > Clock::now()) {
      ++i;
      continue;
    }
    const Active fault = active_[i];
    active_.erase(active_.begin() + static_cast<std::ptrdiff_t>(i));
    end(fault);
    write_diary("end  ", fault);
  }
}

/// A fault of the same kind that still holds may end earlier by that: nobody counts on its length.
void Trouble::end(const Active& fault) {
  switch (fault.kind) {
    case FaultKind::kill:
      if (!field_.is_running(fault.daemon)) field_.start(fault.daemon);
      break;
    case FaultKind::short_stop:
    case FaultKind::long_stop:
      if (field_.is_paused(fault.daemon)) field_.resume(fault.daemon);
      break;
    case FaultKind::interface_down:
      field_.lan().set_interface(field_.name(fault.daemon), true);
      break;
    case FaultKind::one_way:
      field_.lan().drop(fault.hosts[0], fault.hosts[1], false);
      break;
    case FaultKind::loss:
      if (!is_active(FaultKind::loss)) field_.lan().set_loss(0);
      break;
    case FaultKind::partition:
      field_.lan().join(fault.hosts);
      break;
    case FaultKind::full_disk:
      field_.disk().clear();
      break;
    case FaultKind::no_descriptors:
      idle_.erase(fault.daemon);
      break;
    case FaultKind::restart_all:
      break;
  }
}

void Trouble::pass(std::chrono::milliseconds time) {
  const Clock::time_point end = Clock::now() + time;
  do {
    end_due();
    std::this_thread::sleep_for(10ms);
  } while (Clock::now() < end);
}

void Trouble::write_diary(std::string_view what, const Active& fault) {
  diary_ += fmt::format("{:.3f} (after {:.3f} s) {} {}: {} {}\n",
                        std::chrono::duration<double>(Clock::now().time_since_epoch()).count(),
                        std::chrono::duration<double>(Clock::now() - started_).count(), what, to_string(fault.kind),
                        field_.name(fault.daemon), fmt::join(fault.hosts, ","));
}

std::chrono::milliseconds Trouble::between(int low, int high) {
  return std::chrono::milliseconds(low + static_cast<int>(below(static_cast<std::size_t>(high - low))));
}

}  // namespace spindle::test
