// Neighbours of a layer that take everything and do nothing, for tests and benchmarks that do not care.
#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "daemon/base/log.h"
#include "daemon/group/local_clients.h"
#include "daemon/overlay/stream_transport.h"

namespace spindled::test {

class Silence final : public LogSink {
 public:
  bool wants(LogLevel) const override { return false; }
  void write(LogLevel, std::string_view, std::string_view) override {}
};

class NoTransport final : public StreamTransport {
 public:
  void multicast(const MemberSet&, const Slice&, const Slice&) override {}
  void multicast_unreliable(const MemberSet&, const Slice&, const Slice&) override {}
  void handle(LinkFrame, FrameHandler) override {}
  void send(LinkFrame, const MemberSet&, ByteView) override {}
};

class NoClients final : public LocalClients {
 public:
  void deliver_message(std::span<const SessionId>, const ClientMessage&) override {}
  void deliver_bundle(std::span<const SessionId>, const ClientBundle&) override {}
  void deliver_view(std::span<const SessionId>, const spindle::protocol::GroupViewFrame&) override {}
  void deliver_transitional(std::span<const SessionId>, std::string_view) override {}
  void deliver_flush_request(std::span<const SessionId>, const spindle::protocol::Flush&) override {}
  void refuse_join(SessionId, std::string_view, Errc) override {}
  void requests_done(Time, SessionId) override {}
  std::optional<SessionId> find_client(std::string_view) const override { return std::nullopt; }
};

}  // namespace spindled::test
