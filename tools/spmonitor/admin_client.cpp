#include "tools/spmonitor/admin_client.h"

#include <fmt/format.h>
#include <poll.h>

#include <cerrno>
#include <cstring>

#include "daemon/admin/admin_frames.h"
#include "libclient/include/spindle/error.h"

namespace spmonitor {

using spindled::AdminFrame;
using Clock = std::chrono::steady_clock;

namespace {

/// A daemon that answers with more than this is none.
constexpr std::size_t kReplyBytesMax = 16u << 20;

}  // namespace

Result<AdminClient> AdminClient::connect(const Target& target, std::chrono::milliseconds timeout) {
  const Deadline deadline = Clock::now() + timeout;
  Result<AdminStream> stream = open_admin_stream(target, deadline);
  if (!stream) return tl::unexpected(stream.error());
  AdminClient client(std::move(*stream), timeout);
  if (const Result<void> established = client.establish(deadline); !established) {
    return tl::unexpected(established.error());
  }
  return client;
}

Result<spindle::admin::Reply> AdminClient::ask(const spindle::admin::Request& request) {
  const Deadline deadline = Clock::now() + timeout_;
  const std::string body = request.SerializeAsString();
  std::string frame(spindle::kFrameHeadBytes, '\0');
  spindle::Writer writer(reinterpret_cast<std::uint8_t*>(frame.data()));
  spindle::write_frame_head(writer, static_cast<std::uint8_t>(AdminFrame::request), body.size());
  // Where the daemon refuses the connection, sending fails and its reason can still be read.
  const Result<void> sent = send(frame + body, deadline);

  const Result<std::string> head_bytes = read(spindle::kFrameHeadBytes, deadline);
  if (!head_bytes) return fail(sent ? head_bytes.error() : sent.error());
  const spindle::FrameHead head = *spindle::read_frame_head(spindle::as_bytes(*head_bytes));
  if (head.length > kReplyBytesMax) return fail(fmt::format("what answers at {} is no spindled", to_.where));
  Result<std::string> answer = read(head.length, deadline);
  if (!answer) return fail(answer.error());

  if (head.type == static_cast<std::uint8_t>(AdminFrame::error) && answer->size() >= 2) {
    spindle::Reader reader(spindle::as_bytes(*answer));
    const auto code = static_cast<spindle::Errc>(reader.u16());
    return fail(fmt::format("the daemon says: {} ({})", spindle::as_text(reader.rest()), spindle::to_string(code)));
  }
  spindle::admin::Reply reply;
  if (head.type != static_cast<std::uint8_t>(AdminFrame::reply) || !reply.ParseFromString(*answer) ||
      static_cast<int>(reply.kind_case()) != static_cast<int>(request.kind_case())) {
    return fail(fmt::format("what answers at {} is no spindled, or of another version than this spmonitor", to_.where));
  }
  return reply;
}

Result<void> AdminClient::establish(Deadline deadline) const {
  while (!to_.stream->is_established()) {
    const spindle::IoResult result = to_.stream->read({});
    if (result.is_failure()) return lost(result);
    if (to_.stream->is_established()) break;
    if (const Result<void> ready = wait(POLLIN, deadline); !ready) return ready;
  }
  return {};
}

/// For `events`, or until what waits for the socket can be sent.
Result<void> AdminClient::wait(short events, Deadline deadline) const {
  for (;;) {
    if (to_.stream->unsent() != 0) events = static_cast<short>(events | POLLOUT);
    const int left = spindle::poll_timeout(deadline);
    pollfd waiting{to_.socket.get(), events, 0};
    const int ready = left <= 0 ? 0 : ::poll(&waiting, 1, left);
    if (ready > 0) {
      to_.stream->flush();  // a failure is found by who reads next
      return {};
    }
    if (ready == 0) {
      return fail(fmt::format("the daemon at {} has not answered for {} ms: it hangs, or is overloaded", to_.where,
                              timeout_.count()));
    }
    if (errno != EINTR) return fail(fmt::format("cannot wait for {}: {}", to_.where, std::strerror(errno)));
  }
}

Result<void> AdminClient::send(const std::string& bytes, Deadline deadline) const {
  spindle::ByteView rest = spindle::as_bytes(bytes);
  for (;;) {
    const spindle::IoResult result = to_.stream->write(std::span(&rest, 1), rest.size());
    rest = rest.subspan(result.bytes);
    if (result.is_failure()) return lost(result);
    if (rest.empty()) return {};  // what is unsent goes while the reply is waited for
    if (const Result<void> ready = wait(POLLOUT, deadline); !ready) return ready;
  }
}

Result<std::string> AdminClient::read(std::size_t bytes, Deadline deadline) const {
  std::string text(bytes, '\0');
  for (std::size_t got = 0; got < bytes;) {
    const spindle::IoResult result =
        to_.stream->read({reinterpret_cast<std::uint8_t*>(text.data()) + got, bytes - got});
    got += result.bytes;
    if (got == bytes) break;
    if (result.is_failure()) return lost(result);
    if (const Result<void> ready = wait(POLLIN, deadline); !ready) return fail(ready.error());
  }
  return text;
}

tl::unexpected<Failure> AdminClient::lost(const spindle::IoResult& result) const {
  switch (result.error) {
    case spindle::IoResult::kEndOfStream:
      return fail(fmt::format("the daemon at {} closed the connection: it is stopping, or is no spindled", to_.where));
    case spindle::IoResult::kProtectionFailed:
      return fail(
          fmt::format("the connection to {} could not be protected: {}", to_.where, to_.stream->protection_failure()));
    default:
      return fail(fmt::format("the connection to {} was lost: {}", to_.where, std::strerror(result.error)));
  }
}

}  // namespace spmonitor
