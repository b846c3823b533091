// Whole daemons that have feeds, with clients of feeds that stand in place of their sessions.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <vector>

#include "daemon/feed/feeds.h"
#include "tests/sim/feed_ear.h"
#include "tests/sim/scenario.h"

namespace spindled::sim {

class FeedScenario : public Scenario {
 protected:
  /// Of a message that has a packet to itself: two of them do not fit into one.
  static constexpr std::size_t kAlone = 800;

  /// h0 to the last, each of which dials the one before, with datagrams between them.
  void start_line(std::uint64_t seed, std::size_t count, const DatagramPath& path = {}, const FeedConfig& feed = {}) {
    simulate(seed);
    ears_.clear();
    datagrams().turn_on();
    datagrams().set_default_path(path);
    for (std::size_t i = 0; i < count; ++i) add_host(i, {i == 0 ? i : i - 1}, feed);
    start_all();
  }
  /// Not started; dials those.
  SimHost& add_host(std::size_t index, const std::vector<std::size_t>& neighbours, const FeedConfig& feed = {}) {
    NodeConfig config;
    config.name = fmt::format("h{}", index);
    config.feed = feed;
    config.turn_work_max = turn_work_max;
    for (const std::size_t each : neighbours) {
      if (each != index) config.link.neighbours.push_back({.address = Simulator::address_of(fmt::format("h{}", each))});
    }
    ears_.push_back(std::make_unique<FeedEar>(sim().world().events));
    return sim().add_host(config);
  }
  void start(std::size_t host) {
    sim().host(host).start();
    sim().host(host).act([ear = ears_[host].get()](Node& node, Time) { node.feeds().attach(*ear); });
  }
  void start_all() {
    for (std::size_t i = 0; i < sim().host_count(); ++i) start(i);
    await([this] { return have_one_view(sim().hosts()); }, 10s, "one view");
    await([this] { return are_open(); }, 2s, "open ways");
  }
  /// Datagrams get through on all links.
  bool are_open() {
    if (datagrams_are_blocked) return true;
    for (SimHost* host : sim().running_hosts()) {
      for (SimHost* other : sim().running_hosts()) {
        const std::optional<LinkInfo> link = host->node().link_to(other->name());
        if (link && !link->datagrams.is_open) return false;
      }
    }
    return true;
  }
  DatagramNetwork& datagrams() { return sim().network().datagrams(); }
  FeedEar& ear(std::size_t host) { return *ears_[host]; }
  std::uint64_t counted(std::size_t host, Counter counter) { return sim().host(host).node().counters().value(counter); }

  /// A client of that host that has joined the group; `listens`: to its feeds.
  struct Member {
    std::size_t host = 0;
    SimClient* client = nullptr;
    SessionId session = 0;
  };
  Member add_member(std::size_t host, const std::string& group = "g", bool listens = true) {
    Member member{host, &sim().add_client(sim().host(host), fmt::format("c{}", sim().client_count())), 0};
    member.client->join(group);
    await([&] { return member.client->view(group) != nullptr; }, 10s, "a member");
    const std::string name = fmt::format("c{}", sim().client_count() - 1);
    act(host, [&](Node& node, Time now) {
      member.session = node.session_of(name).value_or(0);
      if (listens) node.feeds().listen(now, member.session, group);
    });
    EXPECT_NE(member.session, 0u);
    return member;
  }
  /// Has the daemon do that, and runs until it has.
  void act(std::size_t host, const std::function<void(Node&, Time)>& what) {
    bool is_done = false;
    sim().host(host).act([&](Node& node, Time now) {
      what(node, now);
      is_done = true;
    });
    await([&] { return is_done; }, 1s, "a turn");
  }

  /// A feed of a client, and what it has sent.
  struct Source {
    std::size_t host = 0;
    SessionId session = 0;
    std::uint64_t life = 0;  // of its host's daemon
    FeedHandle feed = 0;
    std::uint64_t sent = 0;     // messages
    std::uint64_t refused = 0;  // there was no room for
  };
  std::shared_ptr<Source> open(const Member& member, FeedTerms terms = {"g", 1s, 0}) {
    auto source = std::make_shared<Source>(Source{member.host, member.session, sim().host(member.host).life()});
    act(member.host, [&](Node& node, Time now) {
      const Result<FeedHandle> feed = node.feeds().open(now, member.session, "source", terms);
      ASSERT_TRUE(feed) << to_string(feed.error().code);
      source->feed = *feed;
    });
    return source;
  }
  /// One message, where there is room for it; nothing where the daemon is gone.
  void send(const std::shared_ptr<Source>& source, std::size_t bytes = kAlone) {
    if (sim().host(source->host).life() != source->life) return;
    sim().host(source->host).act([this, source, bytes](Node& node, Time now) { send(node, now, *source, bytes); });
  }
  /// So many, one each `every`.
  void stream(const std::shared_ptr<Source>& source, std::size_t count, Duration every, std::size_t bytes = kAlone) {
    for (std::size_t i = 0; i < count; ++i) {
      sim().after(static_cast<std::int64_t>(i) * every, [this, source, bytes] { send(source, bytes); });
    }
  }
  void close(const std::shared_ptr<Source>& source) {
    act(source->host, [&](Node& node, Time now) { node.feeds().close(now, source->session, source->feed); });
  }
  void send(Node& node, Time now, Source& source, std::size_t bytes) {
    std::int64_t& room = ear(source.host).sources[source.feed].room;
    if (room <= 0) {
      ++source.refused;
      return;
    }
    room -= static_cast<std::int64_t>(bytes);
    const auto error = node.feeds().send(now, source.session, source.feed, message(source.sent, bytes));
    EXPECT_FALSE(error) << to_string(error.value_or(Errc{}));
    ++source.sent;
  }
  /// The nth of its source.
  static std::vector<std::uint8_t> message(std::uint64_t number, std::size_t bytes) {
    std::vector<std::uint8_t> text(bytes);
    for (std::size_t i = 0; i < bytes; ++i) text[i] = static_cast<std::uint8_t>(number * 31 + i);
    return text;
  }

  /// All feeds that it was told of, by the handles of its daemon.
  std::map<FeedHandle, const FeedEar::Heard*> feeds_of(const Member& member) {
    return ear(member.host).of_session(member.session);
  }
  /// The one feed that it was told of.
  const FeedEar::Heard& heard_by(const Member& member) {
    static const FeedEar::Heard kNothing;
    const auto feeds = feeds_of(member);
    EXPECT_EQ(feeds.size(), 1u);
    return feeds.empty() ? kNothing : *feeds.begin()->second;
  }
  /// That it got, of short messages.
  std::size_t packets_of(const Member& member) {
    return feeds_of(member).empty() ? 0 : heard_by(member).packets.size();
  }

  void TearDown() override {
    for (const auto& each : ears_) {
      for (const std::string& broken : each->broken) ADD_FAILURE() << broken;
    }
    Scenario::TearDown();
  }

  bool datagrams_are_blocked = false;
  std::size_t turn_work_max = NodeConfig().turn_work_max;  // of daemons that are added from here on

 private:
  std::vector<std::unique_ptr<FeedEar>> ears_;
};

}  // namespace spindled::sim
