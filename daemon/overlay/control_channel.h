// Control messages, on their way over links.
#pragma once

#include <optional>
#include <vector>

#include "daemon/base/context.h"
#include "daemon/link/links.h"
#include "daemon/wire/control.h"

namespace spindled {

/// Encodes a message once for all links, counts its bytes by what it is about, and puts together what comes in parts.
class ControlChannel {
 public:
  ControlChannel(Context& context, Links& links)
      : context_(context), links_(links), log_(context.log_sink, "overlay") {}

  void link_up(LinkId link);
  void link_down(LinkId link);

  /// Nothing happens where the link is down by now.
  void send(LinkId link, const ControlMessage& message);
  /// Sends to every neighbour, `except` one.
  void flood(const ControlMessage& message, std::optional<LinkId> except);
  /// The same of a message that is encoded, such as one that a neighbour has sent.
  void pass_on(const Slice& encoded, Counter kind, std::optional<LinkId> except);

  /// A part of a message has come: the message where it is the last part. An error closes the link.
  Result<std::optional<Slice>> add_part(LinkId link, const Slice& part);

 private:
  struct Neighbour {
    bool up = false;
    std::vector<std::uint8_t> parts;  // what has come of a message that comes in parts
  };

  Slice encode(const ControlMessage& message);
  void send_encoded(LinkId link, const Slice& encoded, Counter kind);

  Context& context_;
  Links& links_;
  const Log log_;
  std::vector<Neighbour> neighbours_;  // by LinkId
};

}  // namespace spindled
