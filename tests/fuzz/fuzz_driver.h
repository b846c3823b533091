// A driver without a world: connections exist because the fuzzer says so, and what the node writes is kept only where
// the fuzzer's peers need it for an answer that makes sense.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "daemon/base/driver.h"
#include "daemon/base/log.h"
#include "daemon/wire/control.h"
#include "daemon/wire/datagram_envelope.h"
#include "tests/support/sha256.h"

namespace spindle_fuzz {

class FuzzDriver : public spindled::Driver {
 public:
  struct Connection {
    spindled::Port port = spindled::Port::link;
    bool open = false;  // false: dialled, not yet connected
    bool reading = true;
    bool is_bulk = false;     // it is a hop or an attachment
    bool identified = false;  // by a token
    bool full = false;        // the node was given a short write and waits for room
    std::size_t room = SIZE_MAX;
    std::vector<std::uint8_t> partial;  // what the node wrote, up to the first incomplete frame
  };

  spindled::ConnectionId dial(std::string_view address) override;
  std::size_t write(spindled::ConnectionId id, std::span<const spindled::ByteView> buffers) override;
  void close(spindled::ConnectionId id) override;
  void set_reading(spindled::ConnectionId id, bool on) override;
  /// A token of one byte is known, until it is revoked.
  spindled::Result<std::string> identify(spindled::ConnectionId id, std::string_view token) override;
  std::optional<Digest> sha256(spindled::ByteView bytes) const override { return spindle::test::Sha256().hash(bytes); }
  /// All zero: a client may know it. With datagrams nobody does.
  std::optional<Secret> draw_secret() override;
  std::uint16_t datagram_port(spindled::ConnectionId) override { return has_datagrams_ ? kPort : std::uint16_t{0}; }
  std::optional<spindled::DatagramAddress> datagram_address(spindled::ConnectionId id, std::uint16_t port) override;
  std::size_t send_datagrams(std::span<const spindled::OutgoingDatagram> datagrams) override;
  void wake_at(spindled::Time deadline) override { deadline_ = deadline; }

  /// From now on there are datagrams.
  void turn_datagrams_on() { has_datagrams_ = true; }
  static spindled::DatagramAddress host(std::uint8_t number) { return {.host = {number}, .port = kPort}; }
  /// So many bytes come from there.
  void note_datagram(const spindled::DatagramAddress& from, std::size_t bytes) { came_[from] += bytes; }
  /// The node's last question, and that it is answered from where it went: that address is its peer's then.
  std::optional<spindled::Probe> answer_question(const spindled::DatagramAddress& from);

  spindled::ConnectionId accept(spindled::Port port);
  /// Connections whose tokens are revoked from now on.
  std::vector<spindled::ConnectionId> revoke();
  /// The connection breaks; the caller tells the node.
  void drop(spindled::ConnectionId id) { connections_.erase(id); }
  Connection* find(spindled::ConnectionId id);
  /// The `choice`th connection modulo their number, or nothing where there is none.
  std::optional<spindled::ConnectionId> choose(std::uint8_t choice) const;
  std::size_t count() const { return connections_.size(); }
  spindled::Time deadline() const { return deadline_; }

  // What the node said last on any link.
  const std::optional<spindled::ControlMessage>& last_control() const { return last_control_; }
  const std::optional<spindled::LinkHello>& hello() const { return hello_; }
  const std::optional<spindled::Propose>& proposal() const { return proposal_; }
  const std::optional<spindled::MemberState>& state() const { return state_; }
  void set_proposal(const spindled::Propose& proposal) { proposal_ = proposal; }
  /// Whether some client or administrator was sent a frame of `type` on `id`.
  bool has_sent(spindled::ConnectionId id, std::uint8_t type) const { return sent_.contains({id, type}); }

 private:
  static constexpr std::uint16_t kPort = 4804;

  void take_frames(spindled::ConnectionId id, Connection& connection);
  void note_control(spindled::ByteView body);

  std::map<spindled::ConnectionId, Connection> connections_;
  std::uint64_t next_id_ = 1;
  spindled::Time deadline_ = spindled::kNever;
  std::map<std::pair<spindled::ConnectionId, std::uint8_t>, bool> sent_;
  std::optional<spindled::ControlMessage> last_control_;
  std::optional<spindled::LinkHello> hello_;
  std::optional<spindled::Propose> proposal_;
  std::optional<spindled::MemberState> state_;
  bool has_datagrams_ = false;
  std::uint64_t secrets_ = 0;
  // Bytes of datagrams by the address that is not known to be anybody's.
  std::map<spindled::DatagramAddress, std::size_t> came_, went_;
  std::map<spindled::DatagramAddress, bool> peers_;
  std::optional<std::pair<spindled::DatagramAddress, spindled::Probe>> question_;
};

/// Formats every line and forgets it.
class NullSink : public spindled::LogSink {
 public:
  bool wants(spindled::LogLevel) const override { return true; }
  void write(spindled::LogLevel, std::string_view, std::string_view) override {}
};

}  // namespace spindle_fuzz
