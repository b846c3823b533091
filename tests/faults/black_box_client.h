// A client that was written from docs/wire-format.md alone, in another language, among the clients of a field.
#pragma once

#include <csignal>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tests/checkers/history.h"
#include "tests/integration/process.h"

namespace spindle::test {

/// A process, tests/blackbox/talker.py, that talks as a RecordingClient does, with no code of the project. Whenever its
/// connection ends it makes another, as a new client.
class BlackBoxClient {
 public:
  /// `socket` is the path of the daemon's unix socket; `name` and a number make the names of its clients.
  BlackBoxClient(const std::string& socket, const std::string& name, std::uint64_t seed);

  /// Stops talking. Once what was sent has gone through the daemon, and nothing more comes, the client is at rest.
  void quiet() { process_->signal(SIGUSR1); }
  bool is_at_rest();
  /// For people who wonder why not.
  std::string state();
  /// Ends it and hands over what was written down. Throws where it has found something that the page does not allow.
  std::vector<spindled::checkers::ClientHistory> finish();

 private:
  TemporaryDirectory directory_;
  std::unique_ptr<Process> process_;
};

/// What talker.py writes. Throws where it makes no sense.
std::vector<spindled::checkers::ClientHistory> read_histories(const std::string& text);

}  // namespace spindle::test
