// What one client asks of bulk channels.
#pragma once

#include <functional>
#include <optional>

#include "daemon/access/access_rules.h"
#include "daemon/base/context.h"
#include "daemon/base/driver.h"
#include "daemon/channel/channels.h"
#include "daemon/channel/session_tokens.h"
#include "daemon/session/ingress.h"
#include "daemon/session/session_queue.h"

namespace spindled {

/// Requests take their place among the client's joins, leaves and messages: one waits until the joins and leaves are
/// done that were asked for before, and, where it becomes an operation of its own, until such may enter, which it pays
/// for as a join or a leave does.
///
/// To offer to a group takes the right to send to it. To receive takes to be a member.
class BulkRequests final {
 public:
  /// `answers` is where the client is told. All outlive this one.
  BulkRequests(Context& context, Channels& channels, ClientAccess& access, Ingress& ingress, SessionQueue& answers)
      : context_(context), channels_(channels), access_(access), ingress_(ingress), answers_(answers) {}

  /// The client wants to hear of channels.
  void open() { is_open_ = true; }
  bool is_open() const { return is_open_; }

  /// Whether the frame may be handled now.
  Verdict try_admit(Time now, spindle::protocol::ClientFrame type, ByteView body);
  /// One that may. An error ends the session.
  std::optional<Error> handle(Time now, spindle::protocol::ClientFrame type, ByteView body);
  using DrawSecret = std::function<std::optional<Driver::Secret>()>;
  std::optional<Error> handle_token_request(ByteView body, const DrawSecret& draw_secret);
  /// Takes as long whatever is wrong with it.
  bool has_token(const SessionToken& token) const;

  /// The answer to a request; nothing: it is on its way.
  void answer(std::uint32_t request, std::optional<Errc> refusal);

 private:
  Verdict try_admit(Time now, const spindle::protocol::BulkOffer& offer);
  /// Of a channel.
  template <typename Request>
  Verdict try_admit(Time now, const Request& request);
  std::optional<Error> refuse_unasked() const;

  Context& context_;
  Channels& channels_;
  ClientAccess& access_;
  Ingress& ingress_;
  SessionQueue& answers_;
  bool is_open_ = false;
  bool is_denied_ = false;  // the offer at the front of the input
  std::optional<SessionToken> token_;
};

}  // namespace spindled
