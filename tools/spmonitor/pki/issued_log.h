// What a CA has issued: the file beside its key by which a name can be revoked whose certificate is elsewhere.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "libclient/tls/certificate_name.h"
#include "tools/spmonitor/pki/files.h"
#include "tools/spmonitor/pki/times.h"

namespace spmonitor::pki {

/// One line of the file: "SERIAL URI UNTIL".
struct Issued {
  std::string serial;  // in hexadecimal digits
  spindle::CertificateName name;
  std::string until;  // as of show_time
};

/// While one lives, no other process has the same file open this way: who has it may also rewrite the CA's list of
/// revoked certificates.
class IssuedLog {
 public:
  /// Waits for whoever else has it. The file is made where there is none.
  static Result<IssuedLog> open(const std::string& path);

  /// The file is on the disk then. A line that a crash has cut short is overwritten.
  Result<void> append(const Issued& issued);
  const std::vector<Issued>& entries() const { return entries_; }

 private:
  IssuedLog(FileHandle file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  FileHandle file_;
  std::string path_;
  std::vector<Issued> entries_;
  std::size_t bytes_ = 0;  // of whole lines
};

/// Whole lines only. An error names the line that is none.
Result<std::vector<Issued>> parse_issued(std::string_view text);

}  // namespace spmonitor::pki
