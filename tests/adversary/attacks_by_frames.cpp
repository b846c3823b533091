// Small frames that name much: what they cost is not what they take on the line.
#include "tests/adversary/attack.h"

#include "libclient/protocol/client_frames.h"
#include "libclient/protocol/client_handshake.h"

namespace spindle::test {

namespace {

constexpr const char* kFlooded = "flooded";

/// As many names as a set may have, of `bytes` bytes each, or a few more, between `front` and `back`.
std::vector<std::string> many_names(const std::string& front, std::size_t bytes, const std::string& back = {}) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < kGroupsPerMessageMax; ++i) {
    const std::string number = std::to_string(i);
    const std::size_t taken = front.size() + number.size() + back.size();
    names.push_back(front + number + std::string(taken < bytes ? bytes - taken : 0, '-') + back);
  }
  return names;
}

Bytes many(const Bytes& frame, std::size_t count) {
  Bytes all;
  for (std::size_t i = 0; i < count; ++i) all += frame;
  return all;
}

Bytes synchronous_join_frame(const std::string& group) {
  Bytes frame;
  protocol::write_group_request(frame, protocol::ClientFrame::join, {1, group, protocol::kSynchronousBit});
  return frame;
}

/// Empty messages of one client of alpha to one set, without end.
void send_nothing(Scene& scene, Bytes start, const std::vector<std::string>& to, Service service,
                  const std::stop_token& stop) {
  start += define_frame(0, to);
  repeat(scene.alpha(), start, many(message_frames(0, service, 0), 1'000), stop);
}

Attack names_of_nobody() {
  Attack attack;
  attack.name = "names_of_nobody";
  attack.what = "a client of alpha sends empty messages to 1,000 clients of alpha that are not there";
  attack.run = [](Scene& scene, const Scale&, const std::stop_token& stop) {
    send_nothing(scene, {}, many_names("#nobody", 0, "#alpha"), Service::reliable, stop);
  };
  return attack;
}

Attack names_of_no_group() {
  Attack attack;
  attack.name = "names_of_no_group";
  attack.what = "a client of alpha, in a synchronous group, sends empty reliable messages to 1,000 groups of nobody";
  attack.run = [](Scene& scene, const Scale&, const std::stop_token& stop) {
    send_nothing(scene, synchronous_join_frame("synchronous"), many_names("nothing ", 0), Service::reliable, stop);
  };
  return attack;
}

Attack long_names() {
  Attack attack;
  attack.name = "long_names";
  attack.what = "a client of alpha sends empty messages to 30 of alpha, with 999 long names of nobody besides";
  // Each message is some 8 MB to be written, which takes several milliseconds, and the pair waits for that with every
  // step: what counts is that it is one message that it waits for, not many.
  attack.rate_share_min = 0.01;
  attack.prepare = [](Scene& scene, const Scale& scale) { scene.add_crowd(scene.alpha(), scale.crowd / 10, kFlooded); };
  attack.run = [](Scene& scene, const Scale&, const std::stop_token& stop) {
    std::vector<std::string> names = many_names("nothing ", kGroupNameBytesMax);
    names.back() = kFlooded;
    send_nothing(scene, {}, names, Service::agreed, stop);
  };
  return attack;
}

Attack definitions_again() {
  Attack attack;
  attack.name = "definitions_again";
  attack.what = "a client of alpha gives one set of 1,000 names after the other";
  attack.run = [](Scene& scene, const Scale&, const std::stop_token& stop) {
    Bytes both = define_frame(0, many_names("", 0));
    both += define_frame(0, many_names("x", 0));
    repeat(scene.alpha(), {}, many(both, 50), stop);
  };
  return attack;
}

Attack flow_requests() {
  Attack attack;
  attack.name = "flow_requests";
  attack.what = "a client of alpha asks what messages to 1,000 groups cost, while a reader at gamma has a price";
  attack.prepare = [](Scene& scene, const Scale&) {
    scene.keep(HostileClient(scene.gamma())).write(join_frame(kFlooded), {}, false);
  };
  attack.run = [](Scene& scene, const Scale&, const std::stop_token& stop) {
    const std::jthread flooding([&](const std::stop_token&) {
      repeat(scene.alpha(), define_frame(0, {kFlooded}), message_frames(0, Service::fifo, 10'000), stop);
    });
    Bytes asks;
    for (std::uint32_t i = 0; i < 1'000; ++i) protocol::write_flow_request(asks, {i, 0});
    repeat(scene.alpha(), define_frame(0, many_names("", 0)), asks, stop);
  };
  return attack;
}

Attack sets_given_up() {
  Attack attack;
  attack.name = "sets_given_up";
  attack.what = "300 clients of alpha define as many sets as there are numbers, and give them up again";
  attack.run = [](Scene& scene, const Scale& scale, const std::stop_token& stop) {
    Bytes all;
    for (std::uint32_t handle = 0; handle < protocol::kHandlesMax; ++handle) {
      all += define_frame(handle, {"set " + std::to_string(handle)});
    }
    for (std::uint32_t handle = 0; handle < protocol::kHandlesMax; ++handle) all += define_frame(handle, {});
    for (std::size_t i = 0; i < std::min<std::size_t>(scale.connections, 300) && !stop.stop_requested(); ++i) {
      scene.keep(HostileClient(scene.alpha())).write(all, stop);
    }
    wait_for_stop(stop);
  };
  return attack;
}

}  // namespace

std::vector<Attack> attacks_by_frames() {
  return {names_of_nobody(), names_of_no_group(), long_names(), definitions_again(), flow_requests(), sets_given_up()};
}

}  // namespace spindle::test
