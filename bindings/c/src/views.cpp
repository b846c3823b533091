// The fields of views, and memberships.
#include <new>

#include "bindings/c/src/events.h"

namespace spindle::c {
namespace {

/// Empty where there is no such list.
const std::vector<std::string>& list_of(const GroupView& view, unsigned list) {
  static const std::vector<std::string> none;
  switch (list) {
    case SPINDLE_VIEW_MEMBERS:
      return view.members;
    case SPINDLE_VIEW_JOINED:
      return view.joined;
    case SPINDLE_VIEW_LEFT:
      return view.left;
    case SPINDLE_VIEW_APART:
      return view.apart;
    case SPINDLE_VIEW_VS_SET:
      return view.vs_set;
    default:
      return none;
  }
}

std::int64_t place_of(const std::optional<std::size_t>& index) {
  return index ? static_cast<std::int64_t>(*index) : -1;
}

template <typename Value>
Value id_number_in(const spindle_event* event, Value GroupViewId::*field) {
  const auto* view = content<GroupView>(event);
  return view == nullptr ? Value() : view->id.*field;
}

Membership::Outcome apply(spindle_membership& membership, const GroupView& view) {
  membership.vs_set.clear();
  const Membership::Outcome outcome = membership.value.apply(view);
  membership.vs_set = membership.value.vs_set();
  return outcome;
}

}  // namespace
}  // namespace spindle::c

using namespace spindle::c;
using spindle::Errc;
using spindle::GroupView;
using spindle::GroupViewId;

unsigned spindle_view_cause(const spindle_event* event) { return enumerator_in(event, &GroupView::cause); }

unsigned spindle_view_form(const spindle_event* event) { return enumerator_in(event, &GroupView::form); }

size_t spindle_view_member_count(const spindle_event* event) { return number_in(event, &GroupView::member_count); }

int spindle_view_is_synchronous(const spindle_event* event) {
  const auto* view = content<GroupView>(event);
  return view != nullptr && view->synchronous ? 1 : 0;
}

uint64_t spindle_view_digest(const spindle_event* event) { return number_in(event, &GroupView::digest); }

size_t spindle_view_name_count(const spindle_event* event, unsigned list) {
  const auto* view = content<GroupView>(event);
  return view == nullptr ? 0 : list_of(*view, list).size();
}

spindle_bytes spindle_view_name_at(const spindle_event* event, unsigned list, size_t index) {
  const auto* view = content<GroupView>(event);
  return view == nullptr ? spindle_bytes{nullptr, 0} : name_at(list_of(*view, list), index);
}

int64_t spindle_view_my_index(const spindle_event* event) {
  const auto* view = content<GroupView>(event);
  return view == nullptr ? -1 : place_of(view->my_index);
}

uint64_t spindle_view_id_number(const spindle_event* event) { return id_number_in(event, &GroupViewId::view_number); }

spindle_bytes spindle_view_id_coordinator(const spindle_event* event) {
  const auto* view = content<GroupView>(event);
  return view == nullptr ? spindle_bytes{nullptr, 0} : bytes_of(view->id.coordinator);
}

uint64_t spindle_view_id_incarnation(const spindle_event* event) {
  return id_number_in(event, &GroupViewId::incarnation);
}

uint64_t spindle_view_id_position(const spindle_event* event) { return id_number_in(event, &GroupViewId::position); }

spindle_membership* spindle_membership_new(void) { return new (std::nothrow) spindle_membership(); }

void spindle_membership_free(spindle_membership* membership) { delete membership; }

spindle_code spindle_membership_apply(spindle_membership* membership, const spindle_event* view, unsigned* outcome) {
  const auto* applied = content<GroupView>(view);
  if (membership == nullptr || applied == nullptr) return SPINDLE_ERROR_BAD_ARGUMENT;
  auto result = spindle::Membership::Outcome::unknown;
  const spindle_code code = guarded([&] { result = apply(*membership, *applied); });
  if (code != 0) spindle_membership_reset(membership);
  if (outcome != nullptr) *outcome = static_cast<unsigned>(result);
  return code;
}

void spindle_membership_reset(spindle_membership* membership) {
  if (membership == nullptr) return;
  membership->vs_set.clear();
  membership->value.reset();
}

int spindle_membership_is_current(const spindle_membership* membership) {
  return membership != nullptr && membership->value.is_current() ? 1 : 0;
}

size_t spindle_membership_count(const spindle_membership* membership) {
  return membership == nullptr ? 0 : membership->value.members().size();
}

spindle_bytes spindle_membership_at(const spindle_membership* membership, size_t index) {
  return membership == nullptr ? spindle_bytes{nullptr, 0} : name_at(membership->value.members(), index);
}

int64_t spindle_membership_index_of(const spindle_membership* membership, spindle_bytes name) {
  return membership == nullptr ? -1 : place_of(membership->value.index_of(text_of(name)));
}

size_t spindle_membership_vs_count(const spindle_membership* membership) {
  return membership == nullptr ? 0 : membership->vs_set.size();
}

spindle_bytes spindle_membership_vs_at(const spindle_membership* membership, size_t index) {
  return membership == nullptr ? spindle_bytes{nullptr, 0} : name_at(membership->vs_set, index);
}
