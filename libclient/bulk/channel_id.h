// What names a bulk channel: one content that a client offers to a group.
#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "libclient/common/bytes.h"
#include "libclient/common/names.h"

namespace spindle::bulk {

/// Names a channel for good: a daemon that has started anew counts from 1 again, but in another incarnation.
struct BulkChannelId {
  std::string daemon;             // the origin: the daemon of the client that offers
  std::uint64_t incarnation = 0;  // of that daemon: which of its lives
  std::uint64_t number = 0;       // of the offers of that daemon in that life, from 1

  auto operator<=>(const BulkChannelId&) const = default;
};

/// "number@daemon", as people read and type it.
inline std::string to_string(const BulkChannelId& id) { return std::to_string(id.number) + "@" + id.daemon; }

/// As all frames and operations have it: the daemon as a short string, u64 incarnation, the number as a varint.
inline std::size_t channel_id_size(const BulkChannelId& id) {
  return 1 + id.daemon.size() + 8 + varint_size(id.number);
}
inline void write_channel_id(Writer& writer, const BulkChannelId& id) {
  writer.short_string(id.daemon);
  writer.u64(id.incarnation);
  writer.varint(id.number);
}
/// The reader fails where the daemon's name is none, or the number is 0.
inline BulkChannelId read_channel_id(Reader& reader) {
  BulkChannelId id;
  id.daemon = reader.short_string();
  id.incarnation = reader.u64();
  id.number = reader.varint();
  if (reader.ok() && (!is_daemon_name(id.daemon) || id.number == 0)) reader.fail();
  return id;
}

}  // namespace spindle::bulk
