// Columns of text, aligned.
#pragma once

#include <string>
#include <vector>

namespace spmonitor {

class Table {
 public:
  enum class Align { left, right };
  struct Column {
    std::string title;
    Align align = Align::left;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// As many cells as there are columns.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }
  /// A line of titles and one a row.
  std::string text() const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// "1.5 KB", with decimal units; what is below 1,000 in full.
std::string show_bytes(double bytes);
/// "3 ms", "1.2 s", "5m 12s", "3d 4h".
std::string show_seconds(double seconds);
/// "640 us", "12.5 ms"; "-" for nothing measured.
std::string show_round_trip(std::uint64_t microseconds);

}  // namespace spmonitor
