// Events as text that is the same in each language: bytes as hexadecimal digits, numbers as decimal ones.
#pragma once

#include <cmath>
#include <string>
#include <string_view>
#include <vector>

#include "libclient/common/hex.h"
#include "libclient/include/spindle/error.h"
#include "libclient/include/spindle/event.h"
#include "libclient/protocol/bulk_requests.h"

namespace spindle::conformance {

inline std::string hex(std::string_view bytes) { return bytes.empty() ? "-" : to_hex(as_bytes(bytes)); }

/// Of words for people: what is no ASCII some languages do not keep as it came.
inline std::string hex_words(std::string_view text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) >= 0x80) return "?";
  }
  return hex(text);
}

template <typename Names>
std::string hex_list(const Names& names) {
  std::string text;
  for (const std::string_view name : names) text += (text.empty() ? "" : ",") + hex(name);
  return text.empty() ? "none" : text;
}

template <typename... Parts>
std::string words(std::string_view first, const Parts&... parts) {
  std::string text(first);
  [[maybe_unused]] const auto add = [&text](const auto& part) {
    text += ' ';
    if constexpr (std::is_convertible_v<decltype(part), std::string_view>) {
      text += part;
    } else {
      text += std::to_string(part);
    }
  };
  (add(parts), ...);
  return text;
}

inline std::string text_of(const GroupViewId& id) {
  return words(std::to_string(id.view_number), id.coordinator, id.incarnation, id.position);
}

/// 0 for a code that is in no table: some languages keep no number of those.
inline int number_of(const std::error_code& error) {
  return to_string(static_cast<Errc>(error.value())) == "unknown_error" ? 0 : error.value();
}

inline std::string text_of(const Message& message) {
  std::string headers;
  for (const Header& header : message.headers()) headers += " " + hex(header.key) + "=" + hex(header.value);
  const auto position = message.position();
  const std::string place = position ? words(text_of(position->change), position->order, position->index) : "nowhere";
  return words("message", static_cast<int>(message.service()), message.type(), hex(message.sender()),
               hex_list(message.groups()), hex(message.text()), place, message.is_request() ? 1 : 0) +
         headers;
}
inline std::string text_of(const GroupView& view) {
  return words("view", hex(view.group), text_of(view.id), static_cast<int>(view.cause), static_cast<int>(view.form),
               view.member_count, view.synchronous ? 1 : 0, view.digest, hex_list(view.joined), hex_list(view.left),
               hex_list(view.apart), hex_list(view.members), hex_list(view.vs_set),
               view.my_index ? std::to_string(*view.my_index) : std::string("-"));
}
inline std::string text_of(const Transitional& signal) { return words("transitional", hex(signal.group)); }
inline std::string text_of(const RequestFailed& failed) {
  return words("failed", static_cast<int>(failed.request), hex(failed.group), number_of(failed.error), failed.messages);
}
inline std::string text_of(const FlushRequest& request) {
  return words("flush_request", hex(request.group), request.number);
}
inline std::string text_of(const FlowReady& ready) { return words("ready", hex_list(ready.groups)); }
inline std::string text_of(const FlowState& state) {
  return words("flow", hex_list(state.groups), std::llround(state.price * 1000), std::llround(state.budget * 1000),
               std::llround(state.rate * 1000), state.salary_period.count(), std::llround(state.blocked_share * 1000),
               hex_words(state.limited_by));
}
inline std::string text_of(const Gap& gap) {
  std::string names;
  for (const Gap::Name& each : gap.names) names += " " + hex(each.name) + "=" + std::to_string(each.messages);
  return words("gap", gap.messages, gap.bytes, gap.unlisted) + names;
}
inline std::string text_of(const QueueWarning& warning) {
  return words("warning", warning.percent, warning.bytes, warning.limit_bytes);
}
inline std::string text_of(const Reconnected& again) {
  std::string unknown;
  for (const std::uint64_t ticket : again.unknown) unknown += " " + std::to_string(ticket);
  return words("reconnected", again.resumed ? 1 : 0, hex(again.former_name), hex(again.private_name),
               again.fenced ? 1 : 0) +
         unknown;
}
inline std::string text_of(const Disconnected& end) {
  return words("disconnected", number_of(end.error), hex_words(end.text), end.not_taken.messages,
               end.not_taken.exact ? 1 : 0);
}
inline std::string text_of(const FeedOpened& opened) {
  return words("feed_opened", opened.feed, hex(opened.group), hex(opened.source), opened.repair_for.count());
}
inline std::string text_of(const FeedPacket& packet) {
  return words("feed_packet", packet.feed, packet.sequence, packet.packets, hex(packet.text()));
}
inline std::string text_of(const FeedGap& gap) {
  return words("feed_gap", gap.feed, gap.first, gap.count, static_cast<int>(gap.cause));
}
inline std::string text_of(const FeedClosed& closed) {
  return words("feed_closed", closed.feed, static_cast<int>(closed.why), number_of(closed.error));
}
inline std::string text_of(const FeedFlow& flow) {
  return words("feed_flow", flow.feed, flow.bytes_per_second, flow.round_trip.count(), std::llround(flow.loss * 65535),
               static_cast<int>(flow.limited_by));
}
inline std::string text_of(const FeedWritable& writable) { return words("feed_writable", writable.feed); }

inline std::string describe(const Event& event) {
  return event.visit([](const LaterEvent&) { return std::string("later"); },
                     [](const auto& each) -> std::string {
                       if constexpr (requires { text_of(each); }) {
                         return text_of(each);
                       } else {
                         return "other";
                       }
                     });
}

// News of bulk channels.

inline std::string text_of(const protocol::BulkChannelId& id) { return words(id.daemon, id.incarnation, id.number); }

inline std::string text_of(const protocol::BulkGone& gone) {
  return words(std::to_string(gone.done), gone.failed, gone.refused, gone.missing);
}

template <std::size_t kBytes>
std::string hex_bytes(const std::array<std::uint8_t, kBytes>& bytes) {
  return to_hex(ByteView(bytes));
}

struct DescribeNews {
  std::string operator()(const protocol::BulkOffered& offered) const {
    const protocol::ContentTerms& terms = offered.terms;
    return words("offered", text_of(offered.channel), offered.request, offered.is_late ? 1 : 0, hex(offered.group),
                 hex(offered.source), hex(terms.name), terms.layout.block_bytes, terms.layout.symbol_bytes,
                 terms.layout.size, static_cast<int>(terms.kind), terms.bytes_per_second,
                 static_cast<int>(terms.weight), terms.linger_s, offered.root ? hex_bytes(*offered.root) : "-");
  }
  std::string operator()(const protocol::BulkSealed& sealed) const {
    return words("sealed", text_of(sealed.channel), sealed.size, hex_bytes(sealed.root));
  }
  std::string operator()(const protocol::BulkComplete& complete) const {
    std::string failed;
    for (const auto& each : complete.failed) {
      failed += words("", hex(each.name), number_of({each.code, error_category()}));
    }
    return words("complete", text_of(complete.channel), hex_list(complete.done), hex_list(complete.refused),
                 text_of(complete.gone)) +
           failed;
  }
  std::string operator()(const protocol::BulkEnded& ended) const {
    return words("ended", text_of(ended.channel), static_cast<int>(ended.why));
  }
  std::string operator()(const protocol::BulkToken& token) const {
    return words("token", token.request, token.session, hex_bytes(token.token));
  }
  std::string operator()(const protocol::BulkReturned& returned) const {
    return words("returned", text_of(returned.channel), text_of(returned.gone), returned.present);
  }
};

}  // namespace spindle::conformance
