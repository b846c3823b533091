#include "libclient/include/spindle/message.h"

#include "libclient/common/bytes.h"
#include "libclient/protocol/header_block.h"

namespace spindle {

OrderPlace Message::place() const {
  if (change_ == nullptr) return {};
  Reader reader(ByteView(start_ - place_bytes_, place_bytes_));
  const std::uint64_t order = reader.varint();
  return {order, static_cast<std::uint32_t>(reader.varint())};
}

std::optional<MessagePosition> Message::position() const {
  if (change_ == nullptr) return std::nullopt;
  const OrderPlace at = place();
  return MessagePosition{*change_, at.order, at.index};
}

std::optional<std::string_view> Message::find_header(std::string_view key) const {
  if (!has_headers_) return std::nullopt;
  return protocol::find_header({content(), header_block_bytes()}, key);
}

std::optional<std::string_view> Message::header(std::string_view key) const {
  return protocol::is_own_key(key) ? std::nullopt : find_header(key);
}

bool Message::is_request() const {
  const std::optional<std::string_view> number = find_header(protocol::kRequestKey);
  return number && number->size() == protocol::kRequestNumberBytes;
}

}  // namespace spindle
