#include "tools/spmonitor/pki/issued_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <limits>
#include <sstream>

namespace spmonitor::pki {

namespace {

std::optional<Issued> parse_line(const std::string& line) {
  std::istringstream words(line);
  std::string serial, uri, until, more;
  if (!(words >> serial >> uri >> until) || words >> more) return std::nullopt;
  const bool is_serial = serial.find_first_not_of("0123456789ABCDEF") == std::string::npos;
  const std::optional<spindle::CertificateName> name = spindle::parse_certificate_name(uri);
  if (!is_serial || !name) return std::nullopt;
  return Issued{serial, *name, until};
}

}  // namespace

Result<std::vector<Issued>> parse_issued(std::string_view text) {
  std::vector<Issued> entries;
  std::size_t number = 0;
  for (std::size_t end; (end = text.find('\n')) != std::string_view::npos; text.remove_prefix(end + 1)) {
    ++number;
    const std::optional<Issued> entry = parse_line(std::string(text.substr(0, end)));
    if (!entry) return fail(fmt::format("{}: is no line of serial, name and time; correct or remove it", number));
    entries.push_back(*entry);
  }
  return entries;
}

Result<IssuedLog> IssuedLog::open(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, static_cast<mode_t>(Access::secret));
  IssuedLog log(FileHandle(descriptor < 0 ? nullptr : ::fdopen(descriptor, "r+")), path);
  if (!log.file_) return fail(failure_of(path, "cannot be opened"));
  if (::flock(descriptor, LOCK_EX) != 0) return fail(failure_of(path, "cannot be locked"));
  std::optional<std::string> text = read_rest(*log.file_, std::numeric_limits<std::size_t>::max());
  if (!text) return fail(failure_of(path, "cannot be read"));
  log.bytes_ = text->rfind('\n') + 1;  // 0 where there is no line
  Result<std::vector<Issued>> entries = parse_issued(std::string_view(*text).substr(0, log.bytes_));
  if (!entries) return fail(path + ":" + entries.error());
  log.entries_ = *std::move(entries);
  return log;
}

Result<void> IssuedLog::append(const Issued& issued) {
  const std::string line = fmt::format("{} {} {}\n", issued.serial, spindle::to_uri(issued.name), issued.until);
  const bool is_done = ::ftruncate(::fileno(file_.get()), static_cast<off_t>(bytes_)) == 0 &&
                       std::fseek(file_.get(), 0, SEEK_END) == 0 && write_to_disk(*file_, line);
  if (!is_done) return fail(failure_of(path_, "cannot be written"));
  bytes_ += line.size();
  entries_.push_back(issued);
  return {};
}

}  // namespace spmonitor::pki
