// Daemons on a switch with clients under way: what faults are tried on, and what must hold in the end.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tests/checkers/checkers.h"
#include "tests/faults/black_box_client.h"
#include "tests/faults/lan.h"
#include "tests/faults/recording_client.h"
#include "tests/integration/daemon.h"

namespace spindle::test {

/// A disk of its own, of which a test can use up every byte.
class SmallDisk {
 public:
  explicit SmallDisk(std::string path);
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;
  ~SmallDisk();

  std::string path(const std::string& file) const { return path_ + "/" + file; }
  void fill();
  void clear();

 private:
  std::string path_;
};

struct FieldOptions {
  std::size_t daemons = 3;
  std::vector<std::pair<std::size_t, std::size_t>> links;  // the first of the two dials; empty: all pairs
  std::size_t clients_each = 2;
  std::size_t black_boxes_each = 0;  // of clients that share no code with the project; in "news", "sports", "weather"
  Traffic traffic{.groups = {"news", "sports"}};
  std::size_t descriptors_max = 0;
  std::string configuration;  // TOML, of every daemon
  bool log_to_disk = false;
  std::uint64_t seed = 1;
};

class Field {
 public:
  /// Comes up with one view of all daemons, and all clients in their groups.
  explicit Field(const FieldOptions& options);

  std::size_t size() const { return daemons_.size(); }
  const std::string& name(std::size_t index) const { return names_[index]; }
  Daemon& daemon(std::size_t index) { return *daemons_[index]; }
  Lan& lan() { return *lan_; }
  SmallDisk& disk() { return *disk_; }
  std::string log_file(std::size_t index) const { return disk_->path(names_[index] + ".log"); }
  std::vector<std::unique_ptr<RecordingClient>>& clients() { return clients_; }
  /// The `number`th client of a daemon.
  RecordingClient& client(std::size_t daemon, std::size_t number = 0) {
    return *clients_[daemon * clients_each_ + number];
  }

  bool is_running(std::size_t index) const { return !dead_[index]; }
  bool is_paused(std::size_t index) const { return paused_[index]; }
  void kill(std::size_t index);
  void start(std::size_t index);
  void pause(std::size_t index);
  void resume(std::size_t index);

  /// Waits until all daemons have one view and messages flow; throws after kPatience, saying how things stand.
  void wait_for_one_view();
  /// The same of the views that clients have: each that is at a daemon of `daemons` is in a view of the first group
  /// with as many members as all of those have clients. The time when the last of them got it.
  spindled::Time wait_for_clients(const std::vector<std::size_t>& daemons, spindled::Time since);

  /// Ends every fault, waits until all has come to rest, and checks what the clients saw. Ends the clients.
  spindled::checkers::Violations finish();
  /// Writes histories, logs and what is given into a folder, for whoever has to find out what went wrong.
  void save(const std::string& folder, const std::string& failure, const std::string& diary = {});
  /// Ends the clients without waiting for anything.
  void give_up();
  const spindled::checkers::History& history() const { return history_; }
  /// Empty, or how a daemon differs from being in one quiet view with all others.
  std::string unrest();

 private:
  DaemonOptions daemon_options(std::size_t index, const FieldOptions& options) const;

  std::vector<std::string> names_;
  std::size_t clients_each_;
  TemporaryDirectory directory_;
  std::unique_ptr<SmallDisk> disk_;  // where logs go there
  std::unique_ptr<Lan> lan_;
  std::vector<std::unique_ptr<Daemon>> daemons_;
  std::vector<bool> dead_, paused_;
  std::vector<std::unique_ptr<RecordingClient>> clients_;
  std::vector<std::unique_ptr<BlackBoxClient>> black_boxes_;
  spindled::checkers::History history_;
};

spindled::Time time_now();

/// One line for each event of each client, for people.
std::string to_text(const spindled::checkers::History& history);

}  // namespace spindle::test
