#include "tools/spuser/events.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "libclient/common/utf8.h"

namespace spuser {

namespace {

template <typename Names>
std::string json_list(const Names& names) {
  std::string list = "[";
  for (const std::string_view name : names) {
    if (list.size() > 1) list += ',';
    list += json_string(name);
  }
  return list + "]";
}

std::vector<std::string> changed(const spindle::GroupView& view) {
  std::vector<std::string> names = view.joined;
  names.insert(names.end(), view.left.begin(), view.left.end());
  return names;
}

std::string list_text(const spindle::GroupView& view, const spindle::Membership& members) {
  if (view.form == spindle::ViewForm::farewell) return "none";
  if (!members.is_current()) return fmt::format("{}", view.member_count);
  return fmt::format("{}", fmt::join(members.members(), " "));
}

}  // namespace

std::optional<spindle::Service> parse_service(std::string_view name) {
  const auto* const found = std::find(std::begin(spindle::kServiceNames), std::end(spindle::kServiceNames), name);
  if (found == std::end(spindle::kServiceNames)) return std::nullopt;
  return static_cast<spindle::Service>(found - std::begin(spindle::kServiceNames));
}

std::string text_line(const spindle::GroupView& view, const spindle::Membership& members) {
  return fmt::format("* {}: view {}@{}.{}, {} of {}; members now: {}\n", view.group, view.id.view_number,
                     view.id.coordinator, view.id.position, to_string(view.cause), fmt::join(changed(view), " "),
                     list_text(view, members));
}

std::string text_line(const spindle::Transitional& signal) {
  return fmt::format("* {}: members may be missing from here to the next view\n", signal.group);
}

std::string text_line(const spindle::FlowState& flow) {
  return fmt::format(
      "* {}: a packet costs {:.2f}, {:.2f} saved, a salary every {:.3f} s, {:.1f} packets/s, blocked {:.1f} % of the "
      "time{}{}\n",
      fmt::join(flow.groups, ","), flow.price, flow.budget, static_cast<double>(flow.salary_period.count()) / 1e6,
      flow.rate, 100 * flow.blocked_share, flow.limited_by.empty() ? "" : "; limited by ", flow.limited_by);
}

std::string text_line(const spindle::Gap& gap) {
  return fmt::format("* {} messages of {} bytes were dropped: they were not read in time\n", gap.messages, gap.bytes);
}

std::string text_line(const spindle::QueueWarning& warning) {
  return fmt::format("* {} bytes wait in the daemon, {} % of the limit: read faster\n", warning.bytes, warning.percent);
}

std::string refusal_text(const spindle::RequestFailed& failed) {
  using Request = spindle::RequestFailed::Request;
  const auto refused = [&](std::string_view what) {
    return fmt::format("the daemon refused to {} {}: {}", what, failed.group, failed.error.message());
  };
  switch (failed.request) {
    case Request::join:
      return refused("join");
    case Request::leave:
      return refused("leave");
    case Request::view:
      return refused("tell the members of");
    case Request::send:
      return fmt::format("the daemon refused {} message{} to {}: {}", failed.messages, failed.messages == 1 ? "" : "s",
                         failed.group, failed.error.message());
    case Request::membership:
      return fmt::format("the daemon has taken you out of {}: {}", failed.group, failed.error.message());
    case Request::listen:
      return refused("let you listen to");
  }
  return {};
}

std::string json_line(const spindle::Message& message) {
  const bool text = spindle::is_utf8(message.text());
  return fmt::format(R"({{"event":"message","sender":{},"groups":{},"service":"{}","type":{},"{}":{}}})"
                     "\n",
                     json_string(message.sender()), json_list(message.groups()), to_string(message.service()),
                     message.type(), text ? "text" : "base64",
                     text ? json_string(message.text()) : '"' + base64(message.text()) + '"');
}

std::string json_line(const spindle::GroupView& view, const spindle::Membership& members) {
  return fmt::format(
      R"({{"event":"view","group":{},"view_number":{},"coordinator":{},"incarnation":"{:016x}","position":{},"cause":"{}",)"
      R"("members":{},"changed":{},"vs_set":{}}})"
      "\n",
      json_string(view.group), view.id.view_number, json_string(view.id.coordinator), view.id.incarnation,
      view.id.position, to_string(view.cause), json_list(members.members()), json_list(changed(view)),
      json_list(members.vs_set()));
}

std::string json_line(const spindle::Transitional& signal) {
  return fmt::format("{{\"event\":\"transitional\",\"group\":{}}}\n", json_string(signal.group));
}

std::string json_line(const spindle::Gap& gap) {
  std::string names;
  for (const spindle::Gap::Name& each : gap.names) {
    names += fmt::format("{}{{\"name\":{},\"messages\":{}}}", names.empty() ? "" : ",", json_string(each.name),
                         each.messages);
  }
  return fmt::format(R"({{"event":"gap","messages":{},"bytes":{},"names":[{}],"unlisted":{}}})"
                     "\n",
                     gap.messages, gap.bytes, names, gap.unlisted);
}

std::string json_line(const spindle::QueueWarning& warning) {
  return fmt::format(R"({{"event":"warning","percent":{},"bytes":{},"limit_bytes":{}}})"
                     "\n",
                     warning.percent, warning.bytes, warning.limit_bytes);
}

std::string json_string(std::string_view text) {
  std::string result = "\"";
  while (!text.empty()) {
    const char byte = text[0];
    const std::size_t size = spindle::utf8_character_size(text);
    if (size == 0) {
      result += "\xef\xbf\xbd";
    } else if (byte == '"' || byte == '\\') {
      result += {'\\', byte};
    } else if (byte == '\n') {
      result += "\\n";
    } else if (byte == '\t') {
      result += "\\t";
    } else if (static_cast<unsigned char>(byte) < 0x20 || byte == 0x7f) {
      result += fmt::format("\\u{:04x}", static_cast<unsigned>(byte));
    } else {
      result += text.substr(0, size);
    }
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return result + '"';
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string result;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::string_view group = bytes.substr(at, 3);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      bits = bits << 8 | (i < group.size() ? static_cast<std::uint8_t>(group[i]) : 0u);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      result += i <= group.size() ? kDigits[bits >> (18 - 6 * i) & 0x3f] : '=';
    }
  }
  return result;
}

}  // namespace spuser
