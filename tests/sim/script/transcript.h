// What daemons say and clients see while a script runs, as text for people to read.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/sim/simulator.h"

namespace spindled::sim {

/// Takes down the steps of view agreement and of the end of a view as the daemons log them, errors of all layers, and
/// each event of the clients. Views are called v1, v2, ... in the order in which they are first spoken of, messages by
/// their sender and their place among its messages: `a:1`.
///
/// Lines come in the order of virtual time, but for what happens within one millisecond: there the daemons come first,
/// and each client's events stand together. Equal neighbouring lines of several become one line, names in front.
class Transcript {
 public:
  /// Called with each line of a daemon, as it will be read, from within the turn of that daemon.
  using Listener = std::function<void(std::string_view host, std::string_view line)>;

  Transcript(Simulator& simulator, Listener listener);

  /// A line of nobody, for what the script itself does meanwhile.
  void note(std::string_view text);
  /// What happened since the last call, one line each.
  std::string take();
  /// Forgets what happened so far and begins to number views anew.
  void restart();
  /// How much has been taken down or waits to be, ever.
  std::size_t size() const;

  std::string name_of(const ViewId& view);
  std::string words_of(const GroupView& view);

 private:
  struct Entry {
    Time at{};
    std::size_t rank = 0;  // within its millisecond: 0 for daemons, then the clients by number
    std::string who;
    std::string what;     // all of it, or what precedes `message`
    std::string message;  // one that can share a line with the next, "" otherwise
    std::string group;
  };

  void heard(std::string_view host, LogLevel level, std::string_view room, std::string_view line);
  void collect();
  void add(const SimClient& client, std::size_t rank, const Event& event);
  /// `line` with every view that it names renamed.
  std::string renamed(std::string_view line);

  Simulator& simulator_;
  Listener listener_;
  std::vector<Entry> entries_;
  std::size_t taken_ = 0;
  std::vector<std::size_t> seen_;  // events of each client
  std::map<std::string, std::size_t> view_numbers_;
};

}  // namespace spindled::sim
