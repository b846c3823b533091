#include "bench/sim/scenarios/cell_options.h"

#include <algorithm>

namespace spindled::scenarios {

void CellOptions::add_to(CLI::App& app) {
  app.add_option("--only", only, "Cells whose names have one of these in them")->delimiter(',');
  app.add_flag("--list", list, "Name the cells, and run none");
  app.add_option("--seed", seed, "Draws when senders begin, and all that daemons draw");
  app.add_option("--set", settings, "A constant of admission, such as queue_time=10ms");
  app.add_option("--jobs", jobs, "How many cells run at once")->check(CLI::Range(1, 64));
  app.add_option("--output", output, "Folder for what was measured, as JSON and CSV");
  app.add_flag("--check", check, "Fail where a figure falls short");
}

bool CellOptions::wants(const std::string& name) const {
  return only.empty() || std::any_of(only.begin(), only.end(),
                                     [&](const std::string& part) { return name.find(part) != std::string::npos; });
}

}  // namespace spindled::scenarios
