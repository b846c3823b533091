// Administration: answers requests about the state of this daemon, as data, on connections of Port::admin.
//
// A newcomer reads this class first. It keeps the connections; AdminReport fills in the answers, admin.proto says what
// they hold, admin_frames.h how they travel.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "daemon/base/context.h"
#include "daemon/base/driver.h"
#include "daemon/base/port_handler.h"
#include "daemon/base/result.h"

namespace spindled {

class Admission;
class BulkPlane;
class Channels;
class Feeds;
class Groups;
class Links;
class Order;
class Overlay;
class Sessions;
class ViewAgreement;

/// The layers that can be asked about.
struct AdminSubjects {
  const Links& links;
  Overlay& overlay;  // and told to impose partitions
  const ViewAgreement& view;
  const Order& order;
  const Groups& groups;
  const Sessions& sessions;
  Admission& admission;  // and told to go on and off
  Channels& channels;    // and asked to end channels, and to set their rates
  const BulkPlane& bulk;
  const Feeds& feeds;
};

class Admin final : public PortHandler {
 public:
  Admin(Context& context, Driver& driver, const AdminSubjects& subjects);
  ~Admin() override;
  void start(Time now);
  void stop();
  bool is_stopped() const;

  // PortHandler, for connections of Port::admin.
  void handle_accepted(Time now, ConnectionId connection, const Peer& peer) override;
  std::span<std::uint8_t> read_space(ConnectionId connection) override;
  void handle_read(Time now, ConnectionId connection, std::size_t bytes) override;
  void handle_writable(Time now, ConnectionId connection) override;
  void handle_closed(Time now, ConnectionId connection, std::string_view why) override;
  void handle_time(Time now);
  Time next_deadline() const;
  /// The end of a turn: writes what waits, and answers one request, whoever asked it: what a request takes grows with
  /// what it asks about. The others are for the next turns, each connection in its turn.
  void flush(Time now);

 private:
  struct Connection;

  Connection* find(ConnectionId connection) const;
  /// It has something to do at the end of the turn.
  void touch(Connection& connection);
  void wait_for_turn(Time now, Connection& connection);
  void expect_rest(Connection& connection);
  /// Which is there as far as Connection::has_request says. The connection may be closed by it.
  void take_request(Time now, Connection& connection);
  void answer(Time now, Connection& connection, ByteView request);
  /// Writes what can be written, and reads on once all is.
  void write(Time now, Connection& connection);
  void set_reading(Connection& connection, bool on);
  /// Says why, as far as the connection takes it at once, and lets go of it.
  void close(Connection& connection, const Error& reason);

  Context& context_;
  Log log_;
  Driver& driver_;
  const AdminSubjects subjects_;
  Time started_at_{};
  bool stopping_ = false;
  std::map<ConnectionId, std::unique_ptr<Connection>> connections_;
  std::vector<ConnectionId> touched_;  // with something to read or write in this turn, or left by the last one
  Time goes_on_at_ = kNever;           // where that has left some
};

}  // namespace spindled
