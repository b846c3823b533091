#include "daemon/config/suggestion.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace spindled {

namespace {
/// Longer words are nobody's slip; the work grows with the square.
constexpr std::size_t kWordBytesMax = 64;
}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Rows of the table of distances between the beginnings of `a` and of `b`: the one before the last, the last, this.
  std::vector<std::size_t> before, last(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, last[j] + 1, row[j - 1] + 1});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    before = std::exchange(last, row);
  }
  return last[b.size()];
}

std::string_view nearest_word(std::string_view word, std::span<const std::string_view> known) {
  if (word.size() > kWordBytesMax) return {};
  std::string_view nearest;
  // A third of the letters may be wrong.
  std::size_t limit = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : known) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance >= limit) continue;
    limit = distance;
    nearest = candidate;
  }
  return nearest;
}

}  // namespace spindled
