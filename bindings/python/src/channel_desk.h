// Between a session, which belongs to one thread of the program, and the threads of its bulk channels.
#pragma once

#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <variant>
#include <vector>

#include "libclient/src/bulk_host.h"
#include "libclient/src/socket.h"

namespace spindle::python {

/// What threads of bulk channels want is left here, and the session's owner, whom `descriptor` tells of it, serves it:
/// no thread of theirs waits for the owner, or uses Python for it.
///
/// Locks: `listening_` is the lock of the session, as BulkHost calls it; `mutex_` is taken within it, and nothing
/// within that.
class ChannelDesk final : public BulkHost, public std::enable_shared_from_this<ChannelDesk> {
 public:
  /// Not a good one where no descriptor is left.
  ChannelDesk() : wake_(std::make_shared<Descriptor>(make_event_descriptor())) {}

  // BulkHost.
  bool is_open() const override { return is_open_; }
  bool set_channel_listener(ChannelListener* listener) override;
  std::error_code ask_channel(protocol::BulkRequest request, Asked asked) override;
  void add_event(Event event) override;
  void add_events(MakeEvents make) override;
  void ask_and_add(protocol::BulkRequest request, Event event) override;
  bool has_room_for_events() const override { return has_room_; }
  bool is_told() const override { return is_connected_ && has_room_; }
  /// What waits in here does so in threads of its own.
  bool is_own_thread() const override { return false; }
  std::unique_ptr<SecondDialler> make_dialler() override;

  // What the owner does.

  /// Readable when there is something to serve; -1 where none was left.
  int descriptor() const { return wake_->get(); }
  void clear() { clear_event(*wake_); }
  bool has_posted() const { return has_posted_; }
  /// From here on requests are refused.
  void refuse_requests() {
    const std::lock_guard lock(mutex_);
    is_open_ = false;
  }
  void set_room(bool has_room) { has_room_ = has_room; }
  void set_connected(bool is_connected) { is_connected_ = is_connected; }
  /// `ask(request, number)` gives an error, `give(event)` nothing.
  template <typename Ask, typename Give>
  void serve(Ask&& ask, Give&& give);
  /// Calls `tell` with the listener, where there is one.
  template <typename Tell>
  void tell(Tell&& tell) {
    const std::lock_guard lock(listening_);
    if (listener_ != nullptr) tell(*listener_);
  }
  /// Requests are refused, those that wait here too, and what waits for answers has none.
  void end(std::error_code error);

  // Second connections.

  /// The number of one that is to be made.
  std::optional<std::uint64_t> take_dial();
  /// By any thread: what has come of it. It is let go of where nobody wants it any more.
  void dialled(std::uint64_t number, DialledServer server);

 private:
  class Dialler;
  struct Dial {
    std::function<void()> on_done;
    std::optional<DialledServer> result;
    bool is_begun = false;
  };
  struct Request {
    protocol::BulkRequest request;
    Asked asked;
  };

  void start_dial(std::uint64_t number, std::function<void()> on_done);
  std::optional<DialledServer> take_dialled(std::uint64_t number);
  void forget_dial(std::uint64_t number);
  using Posted = std::variant<Request, Event, MakeEvents>;
  void post(Posted what);  // within `mutex_`
  std::optional<Posted> next();

  const std::shared_ptr<Descriptor> wake_;
  std::atomic<bool> is_open_ = true;
  std::atomic<bool> has_room_ = true;
  std::atomic<bool> is_connected_ = false;  // the session
  std::atomic<bool> has_posted_ = false;    // set within `mutex_`

  std::mutex listening_;  // guards what follows
  ChannelListener* listener_ = nullptr;

  std::mutex mutex_;  // guards what follows
  bool is_closed_ = false;
  std::deque<Posted> posted_;
  std::uint64_t last_dial_ = 0;
  std::map<std::uint64_t, Dial> dials_;
};

template <typename Ask, typename Give>
void ChannelDesk::serve(Ask&& ask, Give&& give) {
  for (;;) {
    const std::lock_guard lock(listening_);
    auto posted = next();
    if (!posted) return;
    if (auto* event = std::get_if<Event>(&*posted)) {
      give(std::move(*event));
    } else if (auto* make = std::get_if<MakeEvents>(&*posted)) {
      for (Event& each : (*make)()) give(std::move(each));
    } else {
      Request& one = std::get<Request>(*posted);
      std::uint32_t number = 0;
      const std::error_code error = ask(std::move(one.request), number);
      if (one.asked) one.asked(error, number);
    }
  }
}

}  // namespace spindle::python
