#include "libclient/include/spindle/message.h"

#include "libclient/common/bytes.h"

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

}  // namespace spindle
