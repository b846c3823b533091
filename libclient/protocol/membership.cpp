#include "libclient/include/spindle/membership.h"

#include "libclient/protocol/member_list.h"

namespace spindle {

using protocol::MemberList;

namespace {

/// A client that gets a list because it is new, or back, has joined itself.
std::vector<std::string> not_along(const GroupView& view) {
  std::vector<std::string> others = view.joined;
  others.insert(others.end(), view.apart.begin(), view.apart.end());
  if (view.my_index) std::erase(others, view.members[*view.my_index]);
  return others;
}

}  // namespace

Membership::Membership() noexcept = default;
Membership::Membership(Membership&&) noexcept = default;
Membership& Membership::operator=(Membership&&) noexcept = default;
Membership::~Membership() = default;

void Membership::reset() { *this = Membership(); }

Membership::Outcome Membership::apply(const GroupView& view) {
  if (view.form == ViewForm::farewell) {
    reset();
    return Outcome::left;
  }
  return view.has_members() ? take_list(view) : take_change(view);
}

Membership::Outcome Membership::take_list(const GroupView& view) {
  auto list = std::make_unique<MemberList>(view.members);
  asked_ = false;
  if (list->digest() != view.digest || list->size() != view.member_count) {
    list_.reset();
    return Outcome::unknown;  // to ask at once, and again, would not make it better
  }
  // An answer repeats the members of a view, and not who came along into it.
  const bool repeated = view.form == ViewForm::answer && is_current() && id_ == view.id;
  list_ = std::move(list);
  if (repeated) return Outcome::current;
  id_ = view.id;
  network_ = view.form == ViewForm::full && view.cause == ViewCause::network;
  others_ = not_along(view);
  return Outcome::current;
}

Membership::Outcome Membership::take_change(const GroupView& view) {
  const bool network = view.cause == ViewCause::network;
  const auto still_current = [&] {
    const std::vector<std::string_view> joined(view.joined.begin(), view.joined.end());
    const std::vector<std::string_view> left(view.left.begin(), view.left.end());
    return list_->apply(joined, left) && list_->size() == view.member_count && list_->digest() == view.digest;
  };
  if (is_current() && still_current()) {
    id_ = view.id;
    network_ = network;
    others_ = not_along(view);
    return Outcome::current;
  }
  list_.reset();
  if (asked_) return Outcome::unknown;
  asked_ = true;
  return Outcome::ask;
}

const std::vector<std::string>& Membership::members() const { return is_current() ? list_->names() : none_; }

std::optional<std::size_t> Membership::index_of(std::string_view name) const {
  return is_current() ? list_->index_of(name) : std::nullopt;
}

std::vector<std::string> Membership::vs_set() const {
  return network_ ? protocol::without(members(), others_) : std::vector<std::string>();
}

}  // namespace spindle
