#include "tools/spuser/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "tools/spuser/events.h"

namespace spuser {

namespace {

constexpr std::chrono::seconds kLinePeriod{5};
constexpr std::size_t kBarWidth = 24;

std::size_t terminal_width() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

std::string numbers(const spindle::BulkProgress& progress) {
  std::string text = human_bytes(progress.bytes);
  if (!progress.size) return text + fmt::format(", {}/s", human_bytes(progress.bytes_per_second));
  const double share =
      *progress.size == 0 ? 1 : static_cast<double>(progress.bytes) / static_cast<double>(*progress.size);
  text = fmt::format("{:3.0f} % of {}, {}/s", 100 * share, human_bytes(*progress.size),
                     human_bytes(progress.bytes_per_second));
  if (progress.bytes_per_second == 0) return text;
  const std::uint64_t left = (*progress.size - progress.bytes) / progress.bytes_per_second;
  return text + fmt::format(", {} left", human_time(std::chrono::seconds(std::min<std::uint64_t>(left, 359'999))));
}

}  // namespace

std::string human_bytes(std::uint64_t bytes) {
  static constexpr std::string_view kUnits[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
  if (bytes < 1'000) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1'000;
  std::size_t unit = 0;
  for (; value >= 999.95 && unit + 1 < std::size(kUnits); ++unit) value /= 1'000;
  return fmt::format("{:.{}f} {}", value, value < 99.95 ? 1 : 0, kUnits[unit]);
}

std::string human_time(std::chrono::seconds time) {
  const auto seconds = time.count();
  if (seconds < 3'600) return fmt::format("{}:{:02}", seconds / 60, seconds % 60);
  return fmt::format("{}:{:02}:{:02}", seconds / 3'600, seconds / 60 % 60, seconds % 60);
}

Progress::Progress() : is_terminal_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() { clear(); }

void Progress::clear() {
  if (std::exchange(has_bar_, false)) std::fputs("\r\x1b[K", stderr);
}

void Progress::begin(const spindle::ChannelId& channel, std::string_view name) {
  contents_[channel] = {std::string(name), Clock::now(), Clock::now()};
}

void Progress::note(const spindle::BulkProgress& progress) {
  const auto found = contents_.find(progress.channel);
  if (found == contents_.end()) return;
  Content& content = found->second;
  const std::string text = numbers(progress);
  if (!is_terminal_) {
    if (Clock::now() - content.shown < kLinePeriod) return;
    content.shown = Clock::now();
    std::fputs(fmt::format("{}: {}\n", content.name, text).c_str(), stderr);
    return;
  }
  std::string bar;
  if (progress.size && *progress.size > 0) {
    const auto filled =
        static_cast<std::size_t>(static_cast<double>(progress.bytes) / static_cast<double>(*progress.size) * kBarWidth);
    bar = fmt::format("[{:#<{}}{:.<{}}] ", "", filled, "", kBarWidth - filled);
  }
  // A line that is too long would not be drawn over.
  const std::size_t width = terminal_width();
  const std::size_t rest = bar.size() + text.size() + 3;
  std::string name = content.name;
  if (name.size() + rest > width) name = rest + 8 < width ? name.substr(0, width - rest - 3) + "..." : std::string();
  std::fputs(fmt::format("\r\x1b[K{} {}{}", name, bar, text).c_str(), stderr);
  has_bar_ = true;
}

std::chrono::duration<double> Progress::end(const spindle::ChannelId& channel) {
  clear();
  const auto found = contents_.find(channel);
  if (found == contents_.end()) return {};
  const std::chrono::duration<double> took = Clock::now() - found->second.begin;
  contents_.erase(found);
  return took;
}

void Progress::say(std::string_view line) {
  clear();
  std::fputs(fmt::format("{}\n", line).c_str(), stderr);
}

}  // namespace spuser
