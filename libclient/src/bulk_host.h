// What a Bulk stands beside: whoever has the session with the daemon.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <system_error>
#include <vector>

#include "libclient/protocol/bulk_requests.h"
#include "libclient/src/channel_listener.h"
#include "libclient/src/server.h"
#include "spindle/bulk.h"
#include "spindle/event.h"

namespace spindle {

/// Connects once more to the daemon that the session is at.
class SecondDialler {
 public:
  virtual ~SecondDialler() = default;
  /// Calls `on_done` from whatever thread when there is something to take.
  virtual void start(std::function<void()> on_done) = 0;
  /// What has come of it, if something has.
  virtual std::optional<DialledServer> take() = 0;
  virtual void abandon() = 0;
};

/// Called by any thread. What it is given to call, and the listener, it calls with the lock of the session.
class BulkHost {
 public:
  virtual ~BulkHost() = default;

  /// Whether requests can be made.
  virtual bool is_open() const = 0;
  /// Tells `listener` of channels from here on; null: nobody any more, and the former one is not being told when this
  /// returns. False where there is one already, or the daemon does not tell.
  virtual bool set_channel_listener(ChannelListener* listener) = 0;
  /// What has become of asking: an error, or the number of the request.
  using Asked = std::function<void(std::error_code error, std::uint32_t number)>;
  /// Asks the daemon, and waits for nothing. `asked`, which may be null, is called once: now or later, but before
  /// anything comes of the request. An error that is known now is returned, too.
  virtual std::error_code ask_channel(protocol::BulkRequest request, Asked asked) = 0;
  /// Has the event come behind those that are there, and before what comes of later requests. Nothing comes behind
  /// Disconnected.
  virtual void add_event(Event event) = 0;
  /// As `add_event`, of what `make` gives. It is called with the lock, so that nothing comes in between: now or later,
  /// or not at all where nobody hears anything more.
  using MakeEvents = std::function<std::vector<Event>()>;
  virtual void add_events(MakeEvents make) = 0;
  /// Both, as one: what comes of the request comes behind the event, and what the program does upon the event behind
  /// the request. Where nobody can be asked there is the event alone.
  virtual void ask_and_add(protocol::BulkRequest request, Event event) = 0;
  virtual bool has_room_for_events() const = 0;
  /// Whether what the daemon says now is heard: there is a connection, and it is read.
  virtual bool is_told() const { return is_open() && has_room_for_events(); }
  /// Whether the caller is the one by whom everything else would come, so that it cannot wait for it.
  virtual bool is_own_thread() const = 0;
  virtual std::unique_ptr<SecondDialler> make_dialler() = 0;
};

/// Makes the Bulk of a host.
struct BulkOpener {
  /// As Bulk::open(). `retold_within`: in a new session a channel that the daemon has not told of again in so much time
  /// in which it could tell is over.
  static Result<Bulk> open(std::shared_ptr<BulkHost> host, const BulkOptions& options,
                           std::chrono::nanoseconds retold_within = std::chrono::minutes(1));
};

}  // namespace spindle
