#include "tests/checkers/recorder.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "daemon/base/random.h"
#include "daemon/base/result.h"
#include "libclient/protocol/header_block.h"
#include "tests/checkers/digest.h"

namespace spindled::checkers {

std::vector<std::uint8_t> make_payload(std::uint32_t client, std::uint64_t count, std::size_t size) {
  Random random(static_cast<std::uint64_t>(client) << 40 ^ count);
  std::vector<std::uint8_t> payload(size);
  std::size_t at = 0;
  while (at < size) {
    const std::uint64_t word = random.next();
    std::array<std::uint8_t, sizeof word> bytes;
    spindle::Writer(bytes.data()).u64(word);
    const std::size_t part = std::min(bytes.size(), size - at);
    std::memcpy(payload.data() + at, bytes.data(), part);
    at += part;
  }
  return payload;
}

std::string make_header(std::uint64_t count) { return count % 4 == 1 ? std::to_string(count) : std::string(); }

constexpr std::string_view kHeaderKey = "count";

std::vector<spindle::Header> headers_of(std::string_view value) {
  if (value.empty()) return {};
  return {{kHeaderKey, value}};
}

/// Of what travels as payload.
static std::size_t content_size(std::string_view header, ByteView payload) {
  if (header.empty()) return payload.size();
  std::vector<std::uint8_t> block;
  spindle::protocol::write_header_block(block, {}, headers_of(header));
  return block.size() + payload.size();
}

std::uint64_t message_digest(std::uint16_t type, std::string_view header, ByteView payload) {
  Digest digest;
  digest.add(std::uint64_t{type});
  digest.add(spindle::as_bytes(header));
  digest.add(payload);
  return digest.value();
}

Sent record_sent(const std::string& sender, Service service, std::uint16_t type, const std::vector<std::string>& groups,
                 std::string_view header, ByteView payload, bool self_discard) {
  return {{sender, message_digest(type, header, payload), content_size(header, payload), service, type, groups},
          self_discard};
}

namespace {
/// What no message is sent with stands for headers that are not as they were sent.
std::string header_of(const spindle::Message& message) {
  const std::vector<spindle::Header> headers(message.headers().begin(), message.headers().end());
  if (headers.empty()) return {};
  return headers.size() == 1 && headers[0].key == kHeaderKey ? std::string(headers[0].value) : "other headers";
}
}  // namespace

std::optional<What> Recorder::record(const spindle::Event& event) {
  if (const auto* message = event.get_if<spindle::Message>()) {
    const std::span<const std::byte> payload = message->payload();
    const ByteView bytes{reinterpret_cast<const std::uint8_t*>(payload.data()), payload.size()};
    const std::string header = header_of(*message);
    return Delivered{{std::string(message->sender()), message_digest(message->type(), header, bytes),
                      content_size(header, bytes), message->service(), message->type(),
                      std::vector<std::string>(message->groups().begin(), message->groups().end())},
                     message->position()};
  }
  if (const auto* view = event.get_if<spindle::GroupView>()) return record_view(*view);
  if (const auto* signal = event.get_if<spindle::Transitional>()) return Transitional{signal->group};
  if (const auto* flush = event.get_if<spindle::FlushRequest>()) return FlushRequested{flush->group, flush->number};
  if (const auto* gap = event.get_if<spindle::Gap>()) {
    Gapped gapped{gap->messages, {}, gap->unlisted};
    for (const spindle::Gap::Name& name : gap->names) gapped.of_name[name.name] += name.messages;
    return gapped;
  }
  if (const auto* failed = event.get_if<spindle::RequestFailed>()) {
    using Request = spindle::RequestFailed::Request;
    if (failed->request == Request::view) return std::nullopt;
    if (failed->request == Request::send) {
      return MessagesRefused{failed->group, failed->messages, failed->error == Errc::access_denied};
    }
    if (failed->request == Request::membership) return LeaveRequested{failed->group, true};
    return Refused{failed->group, static_cast<std::uint16_t>(failed->error.value())};
  }
  if (const auto* end = event.get_if<spindle::Disconnected>()) {
    return Closed{static_cast<std::uint16_t>(end->error.value()), end->text};
  }
  return std::nullopt;  // what concerns the client alone
}

std::optional<What> Recorder::record_view(const spindle::GroupView& view) {
  using Outcome = spindle::Membership::Outcome;
  spindle::Membership& membership = memberships_[view.group];
  const Outcome outcome = membership.apply(view);
  const bool verified = outcome == Outcome::current || outcome == Outcome::left;
  const bool is_answer = view.form == spindle::ViewForm::answer;
  if (is_answer) {
    const GroupView* known = this->view(view.group);
    if (verified && known != nullptr && known->id == view.id && known->members == membership.members()) {
      return std::nullopt;
    }
  }
  GroupView record{view.group, view.id, view.cause, membership.members(), membership.vs_set(), view.joined};
  record.changed.insert(record.changed.end(), view.left.begin(), view.left.end());
  record.digest_matches = verified && !is_answer;
  record.synchronous = view.synchronous;
  if (outcome == Outcome::left) {
    views_.erase(view.group);
  } else {
    views_[view.group] = record;
  }
  return record;
}

const GroupView* Recorder::view(const std::string& group) const {
  const auto found = views_.find(group);
  return found == views_.end() ? nullptr : &found->second;
}

}  // namespace spindled::checkers
