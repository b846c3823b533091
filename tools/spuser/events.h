// Events as lines of text or JSON, and what options and events have for names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "spindle/membership.h"

namespace spuser {

std::optional<spindle::Service> parse_service(std::string_view name);

// One line each, ended. `members` are those of the view.
std::string text_line(const spindle::GroupView& view, const spindle::Membership& members);
std::string text_line(const spindle::Transitional& signal);
std::string text_line(const spindle::FlowState& flow);
std::string text_line(const spindle::Gap& gap);
std::string text_line(const spindle::QueueWarning& warning);
/// Without an end of line: "the daemon refused to join prices: ...".
std::string refusal_text(const spindle::RequestFailed& failed);
std::string json_line(const spindle::Message& message);
std::string json_line(const spindle::GroupView& view, const spindle::Membership& members);
std::string json_line(const spindle::Transitional& signal);
std::string json_line(const spindle::Gap& gap);
std::string json_line(const spindle::QueueWarning& warning);

/// `text` as a JSON string, quotes included; bytes that are no UTF-8 become U+FFFD.
std::string json_string(std::string_view text);
std::string base64(std::string_view bytes);

}  // namespace spuser
