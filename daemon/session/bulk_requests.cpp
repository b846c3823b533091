#include "daemon/session/bulk_requests.h"

#include <type_traits>

#include "daemon/session/client_errors.h"

namespace spindled {

namespace protocol = spindle::protocol;
using protocol::ClientFrame;

Verdict BulkRequests::try_admit(Time now, const protocol::BulkOffer& offer) {
  if (ingress_.waits_for_requests_of(offer.group)) return {0, AdmissionWait::requests, kNever};
  if (access_.has_rules() && !context_.turn.may_check()) return {0, AdmissionWait::room, now};
  is_denied_ = !access_.may(Right::send, offer.group);
  return is_denied_ ? Verdict() : ingress_.try_admit_change(now, Admission::Change::join, offer.group);
}

template <typename Request>
Verdict BulkRequests::try_admit(Time now, const Request& request) {
  const Channel* channel = channels_.table().find(request.channel);
  if (channel == nullptr) return {};  // it is refused
  if (ingress_.waits_for_requests_of(channel->group)) return {0, AdmissionWait::requests, kNever};
  // What receivers say goes together, and waits elsewhere.
  if constexpr (std::is_same_v<Request, protocol::BulkOutcomeSaid>) return {};
  return ingress_.try_admit_change(now, Admission::Change::leave, channel->group);
}

Verdict BulkRequests::try_admit(Time now, ClientFrame type, ByteView body) {
  const std::optional<protocol::BulkRequest> request = protocol::read_bulk_request(type, body);
  if (!is_open_ || !request) return {};  // the session ends
  return std::visit(
      [&](const auto& known) {
        if constexpr (std::is_same_v<std::decay_t<decltype(known)>, protocol::BulkTokenRequest>) {
          return Verdict();
        } else {
          return try_admit(now, known);
        }
      },
      *request);
}

std::optional<Error> BulkRequests::refuse_unasked() const {
  if (is_open_) return std::nullopt;
  return Error{Errc::unexpected_frame, "the client's hello does not say that it wants to hear of bulk channels"};
}

std::optional<Error> BulkRequests::handle(Time now, ClientFrame type, ByteView body) {
  if (std::optional<Error> error = refuse_unasked()) return error;
  const std::optional<protocol::BulkRequest> request = protocol::read_bulk_request(type, body);
  if (!request) return malformed("bulk request");
  const ChannelClient client{ingress_.session(), ingress_.client()};
  if (const auto* offer = std::get_if<protocol::BulkOffer>(&*request)) {
    if (std::exchange(is_denied_, false)) {
      context_.counters.add(Counter::access_denied);
      access_.log_denied("offer to", offer->group, ingress_.client());
      answer(offer->request, Errc::access_denied);
    } else if (const std::optional<Errc> refusal = channels_.ask(now, client, *offer)) {
      answer(offer->request, refusal);
    }
    return std::nullopt;
  }
  const std::optional<Errc> refusal = std::visit(
      [&](const auto& known) -> std::optional<Errc> {
        using Request = std::decay_t<decltype(known)>;
        if constexpr (std::is_same_v<Request, protocol::BulkTokenRequest>) {
          return Errc::unknown_request;
        } else {
          return channels_.ask(now, client, known);
        }
      },
      *request);
  answer(protocol::number_of(*request), refusal);
  return std::nullopt;
}

std::optional<Error> BulkRequests::handle_token_request(ByteView body, const DrawSecret& draw_secret) {
  if (std::optional<Error> error = refuse_unasked()) return error;
  const auto request = protocol::read_bulk_request(ClientFrame::bulk_token_request, body);
  if (!request) return malformed("bulk_token_request");
  if (!token_) token_ = draw_secret();
  if (!token_) {
    answer(protocol::number_of(*request), Errc::unknown_request);
    return std::nullopt;
  }
  std::vector<std::uint8_t> frame;
  protocol::write_bulk_news(frame, protocol::BulkToken{protocol::number_of(*request), ingress_.session(), *token_});
  answers_.append_frame(frame);
  return std::nullopt;
}

bool BulkRequests::has_token(const SessionToken& token) const {
  if (!token_) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < token.size(); ++i) difference |= static_cast<unsigned>(token[i] ^ (*token_)[i]);
  return difference == 0;
}

void BulkRequests::answer(std::uint32_t request, std::optional<Errc> refusal) {
  std::vector<std::uint8_t> frame;
  protocol::write_reply(frame, {request, static_cast<std::uint16_t>(refusal ? static_cast<int>(*refusal) : 0)});
  answers_.append_frame(frame);
}

}  // namespace spindled
