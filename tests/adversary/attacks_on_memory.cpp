// Things begun and not finished, things stored and not paid for, and questions without end.
#include "tests/adversary/attack.h"

#include "libclient/protocol/client_frames.h"
#include "libclient/protocol/client_handshake.h"

namespace spindle::test {

namespace {

constexpr const char* kFlooded = "flooded";
constexpr std::size_t kLargest = spindle::kMessageBytesMax;

std::uint8_t with_policy(SlowPolicy policy) {
  return static_cast<std::uint8_t>(static_cast<unsigned>(policy) << protocol::kSlowPolicyShift);
}

Attack half_messages() {
  Attack attack;
  attack.name = "half_messages";
  attack.what = "30 clients of alpha send half of a message of 16 MiB each, and then nothing";
  attack.run = [](Scene& scene, const Scale&, const std::stop_token& stop) {
    Bytes half = define_frame(0, {kFlooded});
    const Bytes message = message_frames(0, Service::agreed, kLargest);
    half.insert(half.end(), message.begin(), message.begin() + static_cast<std::ptrdiff_t>(message.size() / 2));
    std::vector<std::jthread> threads;
    for (int i = 0; i < 30; ++i) {
      threads.emplace_back([&] {
        HostileClient client(scene.alpha());
        client.write(half, stop);
        wait_for_stop(stop);
      });
    }
  };
  return attack;
}

Attack definitions() {
  Attack attack;
  attack.name = "definitions";
  attack.what = "30 clients of alpha define as many sets of destinations as they may";
  attack.run = [](Scene& scene, const Scale&, const std::stop_token& stop) {
    std::vector<std::string> names;
    for (int i = 0; i < 1000; ++i) names.push_back(std::string(240, 'n') + std::to_string(i));
    Bytes all;
    for (std::uint32_t handle = 0; handle < 54; ++handle) all += define_frame(handle, names);
    std::vector<std::jthread> threads;
    for (int i = 0; i < 30; ++i) {
      threads.emplace_back([&] {
        HostileClient client(scene.alpha());
        client.write(all, stop);
        wait_for_stop(stop);
      });
    }
  };
  return attack;
}

/// Members of a group that do not read, under a policy of their choice, and senders that flood the group.
Attack stalled_readers(const std::string& name, SlowPolicy policy) {
  Attack attack;
  attack.name = name;
  attack.what = "40 clients of gamma with the policy " + name.substr(8) + " read nothing of a group that is flooded";
  attack.run = [policy](Scene& scene, const Scale&, const std::stop_token& stop) {
    for (int i = 0; i < 40; ++i) {
      scene.keep(HostileClient(scene.gamma(), {}, with_policy(policy))).write(join_frame(kFlooded), stop, false);
    }
    const Bytes start = define_frame(0, {kFlooded});
    const Bytes burst = message_frames(0, Service::fifo, 10'000);
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([&] { repeat(scene.alpha(), start, burst, stop); });
  };
  return attack;
}

Attack large_messages() {
  Attack attack;
  attack.name = "large_messages";
  attack.what = "4 clients of alpha send messages of 16 MiB to a group at gamma, without end";
  attack.prepare = [](Scene& scene, const Scale&) { scene.add_crowd(scene.gamma(), 5, kFlooded); };
  attack.run = [](Scene& scene, const Scale&, const std::stop_token& stop) {
    const Bytes start = define_frame(0, {kFlooded});
    const Bytes message = message_frames(0, Service::agreed, kLargest);
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back([&] { repeat(scene.alpha(), start, message, stop); });
  };
  return attack;
}

Attack view_requests() {
  Attack attack;
  attack.name = "view_requests";
  attack.what = "a client of gamma asks for the members of a group of 300, without end";
  attack.prepare = [](Scene& scene, const Scale& scale) { scene.add_crowd(scene.gamma(), scale.crowd, kFlooded); };
  attack.run = [](Scene& scene, const Scale&, const std::stop_token& stop) {
    Bytes asks;
    for (std::uint32_t i = 0; i < 100; ++i) {
      protocol::write_group_request(asks, protocol::ClientFrame::view_request, {i, kFlooded});
    }
    repeat(scene.gamma(), join_frame(kFlooded), asks, stop);
  };
  return attack;
}

Attack unreliable_flood() {
  Attack attack;
  attack.name = "unreliable_flood";
  attack.what = "a client of alpha floods gamma, behind a line of 1 MB/s, with unreliable messages; admission is off";
  attack.scene.configuration = "[admission]\nenabled = false\n";
  attack.scene.line_rate = 1'000'000;
  attack.scene.pair_at_gamma = false;
  attack.prepare = [](Scene& scene, const Scale&) { scene.add_crowd(scene.gamma(), 1, kFlooded); };
  attack.run = [](Scene& scene, const Scale&, const std::stop_token& stop) {
    repeat(scene.alpha(), define_frame(0, {kFlooded}), message_frames(0, Service::unreliable, 10'000), stop);
  };
  return attack;
}

Attack unread_log() {
  Attack attack;
  attack.name = "unread_log";
  attack.what = "nobody reads the daemons' logs, while clients connect and leave without end";
  attack.scene.unread_log = true;
  attack.run = [](Scene& scene, const Scale&, const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      HostileClient client(scene.alpha());
      client.write(join_frame(kFlooded), stop);
    }
  };
  return attack;
}

Attack half_open() {
  Attack attack;
  attack.name = "half_open";
  attack.what = "1,000 connect to alpha's client port and say nothing, again and again";
  attack.run = [](Scene& scene, const Scale& scale, const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::vector<HostileClient> silent;
      for (std::size_t i = 0; i < scale.connections && !stop.stop_requested(); ++i) {
        silent.emplace_back("unix:" + scene.alpha().socket());
      }
    }
  };
  return attack;
}

}  // namespace

std::vector<Attack> attacks_on_memory() {
  return {half_messages(),
          definitions(),
          stalled_readers("stalled_price", SlowPolicy::price),
          stalled_readers("stalled_drop", SlowPolicy::drop),
          stalled_readers("stalled_disconnect", SlowPolicy::disconnect),
          large_messages(),
          view_requests(),
          unreliable_flood(),
          unread_log(),
          half_open()};
}

}  // namespace spindle::test
