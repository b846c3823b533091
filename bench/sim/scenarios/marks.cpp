#include "bench/sim/scenarios/marks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>

namespace spindled::scenarios {

namespace {

std::string with_unit(double value, std::string_view unit) {
  if (unit == "%") return fmt::format("{:.4g} %", value * 100);
  return unit.empty() ? fmt::format("{:.3f}", value) : fmt::format("{:.4g} {}", value, unit);
}

}  // namespace

Figure at_least(std::string what, std::string paper, double mark, double ours, std::string_view unit) {
  return {{}, std::move(what), std::move(paper), ">= " + with_unit(mark, unit), with_unit(ours, unit), ours >= mark};
}

Figure at_most(std::string what, std::string paper, double mark, double ours, std::string_view unit) {
  return {{}, std::move(what), std::move(paper), "<= " + with_unit(mark, unit), with_unit(ours, unit), ours <= mark};
}

Figure beside(std::string what, std::string paper, std::string ours) {
  return {{}, std::move(what), std::move(paper), "", std::move(ours), true};
}

void write_csv(const std::filesystem::path& file, const Table& table) {
  std::ofstream out(file);
  out << fmt::format("{}\n", fmt::join(table.columns, ","));
  for (const auto& row : table.rows) out << fmt::format("\"{}\"\n", fmt::join(row, "\",\""));
}

std::string json_of(const Figure& figure) {
  return fmt::format(R"({{"experiment": "{}", "what": "{}", "paper": "{}", "must": "{}", "ours": "{}", "ok": {}}})",
                     figure.scenario, figure.what, figure.paper, figure.must, figure.ours, figure.ok);
}

}  // namespace spindled::scenarios
