// A simulated cluster through which contents go: what bulk scenarios run on.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "bench/sim/scenarios/bulk/hops.h"
#include "tests/sim/bulk_client.h"
#include "tests/sim/simulator.h"

namespace spindled::scenarios::bulk {

/// How often it is looked at what has come.
inline constexpr Duration kSample = 50ms;

/// What a client has got of a content, over time.
class Course {
 public:
  void add(std::uint64_t bytes) { bytes_.push_back(bytes); }
  /// Bits a second between two moments, each a multiple of kSample.
  double rate(Duration from, Duration to) const;
  std::uint64_t bytes_at(Duration at) const;
  Duration end() const { return kSample * static_cast<Duration::rep>(bytes_.size()); }
  void set_done(Duration at) { done_ = at; }
  /// When it had all of it.
  std::optional<Duration> done() const { return done_; }

 private:
  std::vector<std::uint64_t> bytes_;
  std::optional<Duration> done_;
};

/// Daemons, and clients of theirs in one group whose contents are hollow (sim::BulkClient::Options). Times count from
/// the first offer.
class Overlay {
 public:
  /// `later`: daemons at which no client is from the beginning on.
  Overlay(const std::vector<Hop>& hops, std::uint64_t seed, const std::set<std::string>& later = {});

  /// The daemons agree on a view, paths get their properties, and at each daemon, but for some, a client joins. False:
  /// they do not.
  [[nodiscard]] bool form();
  /// One more client there, beside what goes on. Its place among all.
  std::size_t add_client(const std::string& daemon);
  /// The first client of the daemon.
  std::size_t client_at(const std::string& daemon) const;

  /// That client offers a content to all. Its number; nothing: nobody was told of it.
  std::optional<std::size_t> offer(std::size_t client, std::uint64_t size, std::uint8_t weight = 10);

  void run_for(Duration duration) { simulator_.run_for(duration); }
  /// Whether all of them have it by then.
  bool run_until_done(const std::vector<std::size_t>& clients, std::size_t content, Duration limit);
  Duration now() const { return simulator_.now() - start_; }

  sim::Simulator& simulator() { return simulator_; }
  sim::SimHost& host(const std::string& daemon) { return *hosts_.at(daemon); }
  sim::SimClient& session(std::size_t client) { return *clients_.at(client).session; }
  const Course& course(std::size_t client, std::size_t content = 0) const;

  // What it took.

  /// Bytes on hops from the beginning on, both ways, but for what TCP sends again.
  std::uint64_t hop_bytes() const { return hop_bytes_; }
  /// Slabs that a daemon held at any time beyond those that it had before the first offer: the most of all daemons.
  std::size_t memory_max() const { return memory_max_; }
  /// Of all clients.
  spindle::test::DecodingCounters decoding(std::size_t content = 0) const;

 private:
  struct Member {
    std::string daemon;
    sim::SimClient* session = nullptr;
    std::unique_ptr<sim::BulkClient> bulk;
    std::map<std::size_t, Course> courses;  // by content
  };
  /// A stream between daemons, by the first frame of who has opened it.
  struct SeenStream {
    std::vector<std::uint8_t> start;
    std::optional<bool> is_hop;
  };

  Member& add_member(const std::string& daemon);
  void watch(const std::string& from, const std::string& to);
  void passed(sim::StreamRef from, ByteView bytes);
  void sample();

  std::vector<Hop> hops_;
  sim::Simulator simulator_;
  Competitors competitors_;
  std::map<std::string, sim::SimHost*> hosts_;
  std::vector<Member> clients_;
  std::vector<spindle::bulk::BulkChannelId> contents_;
  std::map<std::uint64_t, SeenStream> streams_;
  std::uint64_t hop_bytes_ = 0;
  std::map<std::string, std::size_t> slabs_before_;
  std::size_t memory_max_ = 0;
  Time start_ = kNever;
};

}  // namespace spindled::scenarios::bulk
