// Joins and leaves without end, and tables that are too large.
#include "tests/adversary/attack.h"

#include "daemon/admin/admin.pb.h"
#include "libclient/protocol/feed_frames.h"

namespace spindle::test {

namespace {

constexpr const char* kStormed = "stormed";

std::uint32_t groups_known(Daemon& daemon) {
  admin::Request request;
  request.mutable_status();
  return daemon.ask(request).status().groups();
}

/// A burst of joins and leaves of one group, again and again, as fast as the daemon takes them.
void storm(HostileClient& client, const std::stop_token& stop) {
  Bytes burst;
  for (int i = 0; i < 500; ++i) {
    burst += join_frame(kStormed);
    burst += leave_frame(kStormed);
  }
  while (client.write(burst, stop)) {
  }
}

Bytes joins_of_many(const std::string& prefix, std::size_t count, Bytes (*frame)(const std::string&)) {
  Bytes bytes;
  for (std::size_t i = 0; i < count; ++i) bytes += frame(prefix + std::to_string(i));
  return bytes;
}

Attack storms(const std::string& name, std::size_t crowd, std::size_t attackers) {
  Attack attack;
  attack.name = name;
  attack.what = std::to_string(attackers) + " of alpha's clients join and leave a group of " + std::to_string(crowd) +
                " at gamma, without end";
  attack.prepare = [crowd](Scene& scene, const Scale&) { scene.add_crowd(scene.gamma(), crowd, kStormed); };
  attack.run = [attackers](Scene& scene, const Scale&, const std::stop_token& stop) {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < attackers; ++i) {
      threads.emplace_back([&] {
        HostileClient client(scene.alpha());
        storm(client, stop);
      });
    }
  };
  return attack;
}

/// One client of alpha has joined many groups when this returns.
HostileClient& join_many(Scene& scene, const std::string& prefix, std::size_t groups) {
  const std::uint32_t before = groups_known(scene.gamma());
  HostileClient& client = scene.keep(HostileClient(scene.alpha()));
  client.write(joins_of_many(prefix, groups, join_frame), {});
  wait_until("all groups", [&] {
    client.drain();
    return groups_known(scene.gamma()) >= before + groups;
  });
  return client;
}

Attack listening_storm() {
  Attack attack;
  attack.name = "listening_storm";
  attack.what = "10 clients of gamma begin and stop to listen to a group with 64 feeds, without end";
  attack.rate_share_min = 0.2;  // a tenth of each turn goes there, and a question takes several turns
  attack.run = [](Scene& scene, const Scale&, const std::stop_token& stop) {
    Bytes opens = join_frame(kStormed);
    for (std::uint32_t i = 0; i < 64; ++i) protocol::write_feed_open(opens, {i, kStormed, 200'000, 0});
    scene.keep(HostileClient(scene.gamma())).write(opens, stop);
    Bytes burst;
    for (std::uint32_t i = 0; i < 500; ++i) {
      protocol::write_listen(burst, protocol::ClientFrame::listen, {i, kStormed});
      protocol::write_listen(burst, protocol::ClientFrame::stop_listening, {i, kStormed});
    }
    std::vector<std::jthread> threads;
    for (int i = 0; i < 10; ++i) {
      threads.emplace_back([&] {
        HostileClient client(scene.gamma());
        client.write(join_frame(kStormed), stop);
        while (client.write(burst, stop)) {
        }
      });
    }
  };
  return attack;
}

Attack leave_at_once() {
  Attack attack;
  attack.name = "leave_at_once";
  attack.what = "a client of alpha that is in 100,000 groups goes away";
  attack.prepare = [](Scene& scene, const Scale& scale) { join_many(scene, "g", scale.groups); };
  attack.run = [](Scene& scene, const Scale&, const std::stop_token&) {
    scene.let_go();
    wait_until("the end of its memberships", [&] { return groups_known(scene.gamma()) < 10; });
  };
  return attack;
}

Attack leave_one_by_one() {
  Attack attack;
  attack.name = "leave_one_by_one";
  attack.what = "a client of alpha joins 100,000 groups and leaves them, and again";
  attack.run = [](Scene& scene, const Scale& scale, const std::stop_token& stop) {
    HostileClient client(scene.alpha());
    Bytes all = joins_of_many("g", scale.groups, join_frame);
    all += joins_of_many("g", scale.groups, leave_frame);
    while (client.write(all, stop)) {
    }
  };
  return attack;
}

Attack million_groups() {
  Attack attack;
  attack.name = "million_groups";
  attack.what = "ten clients of alpha are in 1,000,000 groups, while a fourth daemon comes and goes";
  attack.views_allowed = 4;
  attack.prepare = [](Scene& scene, const Scale& scale) {
    for (int i = 0; i < 10; ++i) join_many(scene, "g" + std::to_string(i) + "-", scale.groups_of_all / 10);
  };
  attack.run = [](Scene& scene, const Scale&, const std::stop_token&) {
    const std::unique_ptr<Daemon> delta = scene.make_daemon("delta");
    scene.wait_for_view(4);
    delta->kill();
    scene.wait_for_view(3);
  };
  return attack;
}

}  // namespace

std::vector<Attack> attacks_on_membership() {
  return {storms("storm", 300, 1),
          storms("storm_small", 20, 1),
          storms("storm_of_ten", 100, 10),
          listening_storm(),
          leave_at_once(),
          leave_one_by_one(),
          million_groups()};
}

}  // namespace spindle::test
