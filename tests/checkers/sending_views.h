// In which views of synchronous groups messages were sent.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>

#include "tests/checkers/message_index.h"

namespace spindled::checkers {

/// The view of each of its synchronous groups in which a message was sent, as its sender saw it: from its answer to a
/// request to flush on, that is the next one. What was sent to a group by who was no member is of none.
using SendingViews = std::map<MessageKey, std::map<std::string, std::string>>;

/// By name and group: members that rules of access had leave at some time.
using TakenOut = std::set<std::pair<std::string, std::string>>;

TakenOut taken_out_by_rules(const History& history);

/// `violations`, where not null: who got a new view without having answered.
SendingViews sending_views_of(const History& history, Violations* violations = nullptr);

}  // namespace spindled::checkers
