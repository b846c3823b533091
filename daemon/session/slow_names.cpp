#include "daemon/session/slow_names.h"

namespace spindled {

namespace {
/// A name has to be so many times as dear as another one to take its place, so that they do not go on doing so.
constexpr double kMuchDearer = 2;
}  // namespace

void SlowNames::change(const std::string& name, SessionId session, double before, double dollars) {
  if (before == 0 && dollars == 0) return;
  const auto at = clients_.try_emplace(name).first;
  Name& known = at->second;
  if (before > 0) known.clients.erase({before, session});
  if (dollars > 0) known.clients.insert({dollars, session});
  if (!std::exchange(known.has_changed, true)) changed_.push_back(at);
}

void SlowNames::tell() {
  for (const Names::iterator at : std::exchange(changed_, {})) {
    Name& name = at->second;
    name.has_changed = false;
    tell(at->first, name, name.clients.empty() ? Cost() : *name.clients.begin());
    if (name.clients.empty()) clients_.erase(at);
  }
}

void SlowNames::tell(const std::string& text, Name& name, const Cost& cost) {
  if (cost == name.told) return;
  if (name.told.dollars > 0) {
    told_.erase({name.told.dollars, text});
  } else if (!make_room(cost.dollars)) {
    return;
  }
  name.told = cost.dollars > 0 ? cost : Cost();
  if (cost.dollars > 0) told_.insert({cost.dollars, text});
  prices_.set_client_price(text, cost.dollars, cost.dollars > 0 ? names_.client_name_of(cost.session) : "");
}

bool SlowNames::make_room(double dollars) {
  if (told_.size() < kClientPricesMax) return true;
  const auto [least, text] = *told_.begin();
  if (dollars <= kMuchDearer * least) return false;
  const auto cheapest = clients_.find(text);
  tell(cheapest->first, cheapest->second, Cost());
  return true;
}

}  // namespace spindled
