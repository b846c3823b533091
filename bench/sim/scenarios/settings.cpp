#include "bench/sim/scenarios/settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cstdio>
#include <variant>

namespace spindled::scenarios {

namespace {

using Member = std::variant<bool AdmissionConfig::*, double AdmissionConfig::*, std::size_t AdmissionConfig::*,
                            Duration AdmissionConfig::*, BenefitKind AdmissionConfig::*>;

struct Setting {
  const char* name;
  Member member;
};

const Setting kSettings[] = {
    {"enabled", &AdmissionConfig::enabled},
    {"benefit", &AdmissionConfig::benefit},
    {"price_max", &AdmissionConfig::price_max},
    {"savings_max", &AdmissionConfig::savings_max},
    {"salary", &AdmissionConfig::salary},
    {"fee", &AdmissionConfig::fee},
    {"price_threshold", &AdmissionConfig::price_threshold},
    {"queue_time", &AdmissionConfig::queue_time},
    {"queue_packets", &AdmissionConfig::queue_packets},
    {"update_min", &AdmissionConfig::update_min},
    {"update_max", &AdmissionConfig::update_max},
};

constexpr const char* kBenefits[] = {"sending", "receiving", "fair"};

/// The number at the start of `text`, which is left with the rest.
bool take_number(std::string_view& text, double& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || number < 0) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool parse(std::string_view text, bool& value) {
  value = text == "true";
  return text == "true" || text == "false";
}

bool parse(std::string_view text, double& value) { return take_number(text, value) && text.empty(); }

bool parse(std::string_view text, std::size_t& value) {
  double number = 0;
  if (!parse(text, number)) return false;
  value = static_cast<std::size_t>(number);
  return true;
}

bool parse(std::string_view text, Duration& value) {
  double number = 0;
  if (!take_number(text, number)) return false;
  const double unit = text == "us" ? 1e3 : text == "ms" ? 1e6 : text == "s" ? 1e9 : 0;
  value = Duration(static_cast<Duration::rep>(number * unit));
  return unit > 0;
}

bool parse(std::string_view text, BenefitKind& value) {
  for (std::size_t i = 0; i < std::size(kBenefits); ++i) {
    value = static_cast<BenefitKind>(i);
    if (text == kBenefits[i]) return true;
  }
  return false;
}

std::string print(bool value) { return value ? "true" : "false"; }
std::string print(double value) { return fmt::format("{}", value); }
std::string print(std::size_t value) { return fmt::format("{}", value); }
std::string print(Duration value) { return fmt::format("{}ms", to_seconds(value) * 1e3); }
std::string print(BenefitKind value) { return kBenefits[static_cast<std::size_t>(value)]; }

}  // namespace

bool set(AdmissionConfig& config, const std::string& assignment) {
  const std::size_t middle = assignment.find('=');
  if (middle == std::string::npos) return false;
  const std::string_view name = std::string_view(assignment).substr(0, middle);
  const std::string_view value = std::string_view(assignment).substr(middle + 1);
  for (const Setting& setting : kSettings) {
    if (name != setting.name) continue;
    return std::visit([&](auto member) { return parse(value, config.*member); }, setting.member);
  }
  return false;
}

bool set_all(AdmissionConfig& config, const std::vector<std::string>& assignments, const char* program) {
  for (const std::string& assignment : assignments) {
    if (set(config, assignment)) continue;
    fmt::print(stderr, "{}: cannot set \"{}\"; there are\n  {}\n", program, assignment,
               fmt::join(settings(config), "\n  "));
    return false;
  }
  return true;
}

std::vector<std::string> settings(const AdmissionConfig& config) {
  std::vector<std::string> all;
  for (const Setting& setting : kSettings) {
    all.push_back(setting.name +
                  ("=" + std::visit([&](auto member) { return print(config.*member); }, setting.member)));
  }
  return all;
}

}  // namespace spindled::scenarios
