#include "tests/checkers/daemon_index.h"

#include <algorithm>

namespace spindled::checkers {

namespace {
constexpr DaemonIndex::MessageId kNoMessage = UINT32_MAX;
}

/// Rest is what clients see: the daemons may go on to a better view at any time, without a client hearing of it.
bool DaemonIndex::is_view_new(const History& history) {
  constexpr Duration kSettled = std::chrono::seconds(1);
  for (const DaemonHistory& daemon : history.daemons) {
    for (auto event = daemon.events.rbegin(); event != daemon.events.rend(); ++event) {
      if (event->at < history.end - kSettled) break;
      if (std::holds_alternative<ViewInstalled>(event->what)) return true;
    }
  }
  return false;
}

DaemonIndex::DaemonIndex(const History& history, bool at_rest) : at_rest_(at_rest && !is_view_new(history)) {
  // What daemons hand up refers to what others originated: first all of the latter.
  std::vector<std::size_t> first_stays;
  for (const DaemonHistory& daemon : history.daemons) {
    first_stays.push_back(stays_.size());
    read_views(daemon);
  }
  for (std::size_t i = 0; i < history.daemons.size(); ++i) read_deeds(history.daemons[i], first_stays[i]);
  for (Stay& stay : stays_) stay.states.resize(views_[stay.view].messages.size());
  lookups_.clear();
}

std::size_t DaemonIndex::find_view(const ViewInstalled& installed) {
  for (const std::size_t known : views_by_id_[installed.id]) {
    if (views_[known].members == installed.members.get() || *views_[known].members == *installed.members) return known;
  }
  View view;
  view.id = installed.id;
  view.members = installed.members.get();
  view.stays.resize(view.members->size(), kNone);
  views_.push_back(std::move(view));
  lookups_.emplace_back();
  views_by_id_[installed.id].push_back(views_.size() - 1);
  return views_.size() - 1;
}

void DaemonIndex::read_views(const DaemonHistory& daemon) {
  std::size_t current = kNone;
  for (const DaemonEvent& event : daemon.events) {
    if (const auto* installed = std::get_if<ViewInstalled>(&event.what)) {
      Stay stay;
      stay.daemon = &daemon;
      stay.installed = installed;
      stay.view = find_view(*installed);
      View& view = views_[stay.view];
      stay.self = view.index_of(daemon.id);
      stay.previous = current;
      if (current != kNone) stays_[current].next = stays_.size();
      current = stays_.size();
      if (stay.self) view.stays[*stay.self] = current;
      stays_.push_back(std::move(stay));
    } else if (const auto* originated = std::get_if<Originated>(&event.what)) {
      if (current != kNone && stays_[current].self) add(current, *originated);
    }
  }
}

DaemonIndex::MessageId& DaemonIndex::entry(std::size_t view, MemberIndex origin, std::uint64_t number,
                                           std::uint64_t digest) {
  // Stream numbers are far below 2^48; of a digest the upper bits may go.
  auto& map = number != 0 ? lookups_[view].numbered : lookups_[view].unreliable;
  return map.try_emplace((number != 0 ? number : digest) << 16 | origin, kNoMessage).first->second;
}

void DaemonIndex::add(std::size_t stay, const Originated& originated) {
  const std::size_t index = stays_[stay].view;
  View& view = views_[index];
  Message message;
  message.origin = *stays_[stay].self;
  message.number = originated.number;
  message.originated = &originated;
  auto& senders = lookups_[index].senders;
  message.sender = senders.try_emplace({message.origin, originated.sender}, senders.size()).first->second;
  view.of_sender.resize(senders.size());
  const auto id = static_cast<MessageId>(view.messages.size());
  if (originated.service >= Service::fifo) {
    view.of_sender[message.sender].push_back(id);
    message.place = view.of_sender[message.sender].size();
  }
  entry(index, message.origin, originated.number, originated.digest) = id;
  view.messages.push_back(message);
}

DaemonIndex::MessageId DaemonIndex::find(std::size_t view, const HandedUp& handed_up) {
  MessageId& id = entry(view, handed_up.origin, handed_up.number, handed_up.digest);
  std::vector<Message>& messages = views_[view].messages;
  if (id == kNoMessage) {
    id = static_cast<MessageId>(messages.size());
    messages.push_back({handed_up.origin, handed_up.number, nullptr, nullptr, 0, 0});
  }
  messages[id].handed_up = &handed_up;
  return id;
}

void DaemonIndex::read_deeds(const DaemonHistory& daemon, std::size_t first_stay) {
  Stay* stay = nullptr;
  for (const DaemonEvent& event : daemon.events) {
    if (std::holds_alternative<ViewInstalled>(event.what)) {
      stay = stay == nullptr ? &stays_[first_stay] : stay + 1;
    } else if (stay == nullptr) {
      continue;
    } else if (const auto* signal = std::get_if<Signal>(&event.what)) {
      stay->signal = signal;
      ++stay->signals;
    } else if (const auto* originated = std::get_if<Originated>(&event.what)) {
      if (!stay->self) continue;
      const MessageId id = entry(stay->view, *stay->self, originated->number, originated->digest);
      stay->deeds.push_back({id, nullptr, stay->signal != nullptr});
    } else if (const auto* handed_up = std::get_if<HandedUp>(&event.what)) {
      const MessageId id = find(stay->view, *handed_up);
      const bool transitional = stay->signal != nullptr;
      stay->deeds.push_back({id, handed_up, transitional});
      if (stay->states.size() <= id) stay->states.resize(views_[stay->view].messages.size());
      if (stay->has(id)) stay->duplicates.push_back(id);
      stay->states[id] = transitional ? State::transitional : State::regular;
    }
  }
}

DaemonId DaemonIndex::View::coordinator() const {
  const auto found = std::find_if(members->begin(), members->end(),
                                  [&](const DaemonId& member) { return member.name == id.coordinator; });
  return found == members->end() ? DaemonId{id.coordinator, 0} : *found;
}

std::optional<MemberIndex> DaemonIndex::View::index_of(const DaemonId& daemon) const {
  const auto found = std::find(members->begin(), members->end(), daemon);
  if (found == members->end()) return std::nullopt;
  return static_cast<MemberIndex>(found - members->begin());
}

std::vector<const DaemonIndex::Stay*> DaemonIndex::stays_in(const View& view) const {
  std::vector<const Stay*> present;
  for (const std::size_t stay : view.stays) {
    if (stay != kNone) present.push_back(&stays_[stay]);
  }
  return present;
}

std::vector<const DaemonIndex::Stay*> DaemonIndex::last_stays() const {
  std::vector<const Stay*> last;
  for (const Stay& stay : stays_) {
    if (stay.next == kNone) last.push_back(&stay);
  }
  return last;
}

std::vector<std::vector<const DaemonIndex::Stay*>> DaemonIndex::moved_together(std::size_t view) const {
  std::vector<std::vector<const Stay*>> sets;
  for (const std::size_t member : views_[view].stays) {
    if (member == kNone || stays_[member].next == kNone) continue;
    const Stay& next = stays_[stays_[member].next];
    if (!next.self) continue;
    const auto is_with = [&](const std::vector<const Stay*>& set) {
      return set.front()->view == next.view && set.front()->installed->came_along.contains(*next.self) &&
             next.installed->came_along.contains(*set.front()->self);
    };
    const auto found = std::find_if(sets.begin(), sets.end(), is_with);
    if (found != sets.end()) {
      found->push_back(&next);
    } else {
      sets.push_back({&next});
    }
  }
  return sets;
}

std::string DaemonIndex::to_text(const View& view, MessageId message) const {
  constexpr const char* kClasses[] = {"client", "group", "order", "part"};
  const Message& each = view.messages[message];
  const std::string origin =
      each.origin < view.members->size() ? (*view.members)[each.origin].name : fmt::format("member {}", each.origin);
  return fmt::format("{} {} message {} of {} in view {}", to_string(each.service()),
                     kClasses[static_cast<std::size_t>(each.message_class())],
                     each.number != 0 ? fmt::format("{}", each.number) : "without number", origin, to_string(view.id));
}

}  // namespace spindled::checkers
