// Looks after the files of certificates that the configuration names, while the daemon runs.
#pragma once

#include <optional>
#include <string>

#include "daemon/base/log.h"
#include "daemon/net/file_watch.h"
#include "daemon/net/protection.h"

namespace spindled {

/// Nothing here reads the clock: whoever calls says what time it is.
class CertificateFiles {
 public:
  struct Taken {
    Protection protection;
    std::string news;  // what the log is to say of it; empty where the files are those that were taken before
  };

  explicit CertificateFiles(LogSink& sink) : log_(sink, "config") {}

  /// Reads the files that `config.tls` names, see load_protection; from then on the daemon goes by them. The caller
  /// tells of an error, which leaves everything as it is, and else has `warn` called.
  Result<Taken> take(const DaemonConfig& config, spindle::WallTime now);

  /// What the files say where they have changed since; nothing where they have not, or are of no use, which the log
  /// tells once for each change. `config` is what the daemon goes by. Warns, too.
  std::optional<Protection> look(const DaemonConfig& config, spindle::WallTime now);

  /// Warns of certificates that end soon, once for each threshold (warn_of_ends) and each time that files are taken.
  void warn(spindle::WallTime now);

 private:
  std::optional<Protection> take_changes(const DaemonConfig& config, spindle::WallTime now);

  Log log_;
  FileWatch watch_;      // the files as they were read last
  std::string failure_;  // why they were of no use then; empty where they were taken

  // Of what was taken last.
  std::string bundle_;  // the path
  std::vector<CertificateEnd> ends_;
  std::optional<spindle::WallTime> warned_;  // when warnings were looked for last
};

}  // namespace spindled
