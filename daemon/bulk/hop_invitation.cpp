#include "daemon/bulk/hop_invitation.h"

#include <algorithm>

#include "libclient/common/bytes.h"

namespace spindled {

std::vector<std::uint8_t> write_hop_invitation(const HopInvitation& invitation) {
  const std::size_t token_bytes = invitation.token ? invitation.token->size() : 0;
  std::vector<std::uint8_t> bytes(spindle::varint_size(invitation.from) + token_bytes);
  spindle::Writer writer(bytes.data());
  writer.varint(invitation.from);
  if (invitation.token) writer.bytes(*invitation.token);
  return bytes;
}

std::optional<HopInvitation> read_hop_invitation(ByteView content, std::size_t members) {
  if (members == 0) return std::nullopt;
  spindle::Reader reader(content);
  HopInvitation invitation;
  invitation.from = static_cast<MemberIndex>(reader.varint_up_to(members - 1));
  if (!reader.ok()) return std::nullopt;
  if (reader.done()) return invitation;
  auto& token = invitation.token.emplace();
  const ByteView bytes = reader.bytes(token.size());
  if (!reader.done()) return std::nullopt;
  std::copy(bytes.begin(), bytes.end(), token.begin());
  return invitation;
}

}  // namespace spindled
