// Many clients at once, none of which does much: they come back on other connections, or read little.
#include <sys/socket.h>

#include <array>
#include <memory>
#include <optional>
#include <stdexcept>

#include "libclient/protocol/client_frames.h"
#include "libclient/protocol/client_handshake.h"
#include "tests/adversary/attack.h"

namespace spindle::test {

namespace {

constexpr const char* kKept = "kept";

/// A client whose session the daemon keeps, and that never says what it has got of it: whenever it comes back all is to
/// be written again.
class Returner {
 public:
  explicit Returner(const Daemon& daemon) : address_(daemon.client_address()) { connect(); }

  /// On another connection, in the same session.
  void connect() {
    Bytes frame;
    protocol::Hello hello;
    hello.is_resumable = true;
    if (key_) hello.resume = protocol::Resume{*key_, 0};
    protocol::write_hello(frame, hello);
    socket_.emplace(address_);
    socket_->write(frame);
    const Bytes body = await(protocol::ClientFrame::welcome);
    const std::optional<protocol::Welcome> welcome = protocol::read_welcome(body);
    const bool is_kept = welcome && welcome->resumable && welcome->resumed.has_value() == key_.has_value();
    if (!is_kept) throw std::runtime_error("the daemon does not keep the session");
    key_ = welcome->resumable->key;
  }
  void join(const std::string& group) {
    socket_->write(join_frame(group));
    await(protocol::ClientFrame::view);
  }
  /// So much to join and leave that it waits, and the daemon reads nothing of it meanwhile: then it does not wait to be
  /// told what has come either, and goes on writing and keeping.
  void keep_waiting() {
    Bytes changes;
    for (int i = 0; i < 50; ++i) changes += join_frame("to and fro");
    socket_->write(changes);
  }
  void read(std::size_t messages) {
    while (messages-- != 0) await(protocol::ClientFrame::message);
  }

 private:
  Bytes await(protocol::ClientFrame type) {
    while (std::optional<RawFrame> frame = socket_->read_frame()) {
      if (static_cast<protocol::ClientFrame>(frame->type) == type) return std::move(frame->body);
    }
    throw std::runtime_error("the daemon has hung up");
  }

  std::string address_;
  std::optional<RawSocket> socket_;
  std::optional<protocol::SessionKey> key_;
};

Attack returns() {
  constexpr std::size_t kBurst = 250;
  Attack attack;
  attack.name = "returns";
  attack.what = "16 clients of alpha for which 100,000 small messages each are kept come back again and again";
  const auto clients = std::make_shared<std::vector<Returner>>();
  attack.prepare = [clients](Scene& scene, const Scale& scale) {
    for (int i = 0; i < 16; ++i) {
      clients->emplace_back(scene.alpha());
      clients->back().join(kKept);
    }
    HostileClient sender(scene.alpha());
    sender.write(define_frame(0, {kKept}), {});
    Bytes burst;
    for (std::size_t i = 0; i < kBurst; ++i) burst += message_frames(0, Service::reliable, 1);
    for (std::size_t sent = 0; sent < 100 * scale.connections; sent += kBurst) {
      for (Returner& client : *clients) client.keep_waiting();
      sender.write(burst, {});
      for (Returner& client : *clients) client.read(kBurst);
    }
  };
  attack.run = [clients](Scene&, const Scale&, const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      for (Returner& client : *clients) client.connect();
    }
    clients->clear();
  };
  return attack;
}

constexpr std::size_t kGroupsOfReader = 64;

std::vector<std::string> groups_of(std::size_t reader) {
  std::vector<std::string> groups;
  for (std::size_t i = 0; i < kGroupsOfReader; ++i) {
    groups.push_back("slow " + std::to_string(reader) + " " + std::to_string(i));
  }
  return groups;
}

Attack slow_readers() {
  Attack attack;
  attack.name = "slow_readers";
  attack.what = "500 clients of alpha, in 64 groups of their own each, hardly read what is sent to these";
  const auto readers = std::make_shared<std::vector<HostileClient*>>();
  attack.prepare = [readers](Scene& scene, const Scale& scale) {
    for (std::size_t i = 0; i < scale.connections / 2; ++i) {
      Bytes joins;
      for (const std::string& group : groups_of(i)) joins += join_frame(group);
      readers->push_back(&scene.keep(HostileClient(scene.alpha())));
      readers->back()->write(joins, {});
      readers->back()->drain();
    }
  };
  attack.run = [readers](Scene& scene, const Scale&, const std::stop_token& stop) {
    HostileClient sender(scene.alpha(), {}, protocol::kIndependentFlowsBit);
    Bytes round;
    for (std::uint32_t i = 0; i < readers->size() && !stop.stop_requested(); ++i) {
      sender.write(define_frame(i, groups_of(i)), stop);
      round += message_frames(i, Service::reliable, 8'000);
    }
    while (sender.write(round, stop)) {
      std::array<std::uint8_t, 64> little;
      for (HostileClient* reader : *readers) ::recv(reader->descriptor(), little.data(), little.size(), MSG_DONTWAIT);
    }
    readers->clear();
  };
  return attack;
}

}  // namespace

std::vector<Attack> attacks_by_many() { return {returns(), slow_readers()}; }

}  // namespace spindle::test
