#include "bindings/c/src/handles.h"

using namespace spindle::c;

spindle_membership* spindle_membership_new(void) { return new (std::nothrow) spindle_membership; }

void spindle_membership_free(spindle_membership* membership) { delete membership; }

unsigned spindle_membership_apply(spindle_membership* membership, const spindle_event* view) {
  const auto* content = view == nullptr ? nullptr : view->event.get_if<spindle::GroupView>();
  if (membership == nullptr || content == nullptr) return SPINDLE_MEMBERSHIP_UNKNOWN;
  unsigned outcome = SPINDLE_MEMBERSHIP_UNKNOWN;
  const spindle_code code = guarded([&] { outcome = static_cast<unsigned>(membership->membership.apply(*content)); });
  if (code != SPINDLE_OK) membership->membership.reset();
  return outcome;
}

void spindle_membership_reset(spindle_membership* membership) {
  if (membership != nullptr) membership->membership.reset();
}

int spindle_membership_is_current(const spindle_membership* membership) {
  return membership != nullptr && membership->membership.is_current() ? 1 : 0;
}

size_t spindle_membership_members(const spindle_membership* membership, spindle_bytes* names, size_t room) {
  return membership == nullptr ? 0 : give_names(membership->membership.members(), names, room);
}

size_t spindle_membership_vs_set(spindle_membership* membership, spindle_bytes* names, size_t room) {
  if (membership == nullptr) return 0;
  const spindle_code code = guarded([&] { membership->vs_set = membership->membership.vs_set(); });
  return code == SPINDLE_OK ? give_names(membership->vs_set, names, room) : 0;
}

size_t spindle_membership_index_of(const spindle_membership* membership, spindle_bytes name) {
  if (membership == nullptr || !is_valid(name)) return SIZE_MAX;
  return membership->membership.index_of(to_view(name)).value_or(SIZE_MAX);
}
