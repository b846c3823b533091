#include "daemon/config/print_config.h"

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "daemon/config/schema.h"

namespace spindled {

namespace {

std::string neighbours_text(const DaemonConfig& config) {
  std::string text;
  for (const NeighbourConfig& neighbour : config.node.link.neighbours) {
    text += fmt::format("\n[[{}]]\naddress = {}\nweight = {}\n", kNeighbourSection, toml_string(neighbour.address),
                        neighbour.weight);
  }
  return text;
}

std::string rules_text(const AccessConfig& access) {
  std::string text;
  for (const AccessRule& rule : access.rules) {
    std::vector<std::string> rights;
    for (std::size_t right = 0; right < kRights; ++right) {
      if (rule.allow.contains(static_cast<Right>(right))) rights.emplace_back(kRightNames[right]);
    }
    text += fmt::format("\n[[{}]]\nwho = {}\ngroups = {}\nallow = {}\n", kAccessSection, toml_list(rule.who),
                        toml_list(rule.groups), toml_list(rights));
  }
  return text;
}

std::string names_text(const AccessConfig& access) {
  std::string text;
  for (const ReservedNames& names : access.names) {
    text += fmt::format("\n[[{}]]\npattern = {}\nwho = {}\n", kNamesSection, toml_string(names.pattern),
                        toml_list(names.who));
  }
  return text;
}

std::string quotas_text(const AccessConfig& access) {
  std::string text;
  for (const auto& [who, limits] : access.quotas) {
    text += fmt::format("\n[[{}]]\nwho = {}\n", kQuotaSection, toml_list(who));
    const auto add = [&](std::string_view name, std::size_t value) {
      if (value != 0) text += fmt::format("{} = {}\n", name, value);
    };
    add("connections", limits.connections);
    add("memberships", limits.memberships);
    add("bytes_per_s", limits.bytes_per_s);
    add("memory_bytes", limits.memory_bytes);
  }
  return text;
}

std::string tokens_text(const std::vector<TokenConfig>& tokens) {
  std::string text;
  for (const TokenConfig& token : tokens) {
    text += fmt::format("\n[[{}]]\nname = {}\nsha256 = {}\n", kTokenSection, toml_string(token.name),
                        toml_string(token.sha256));
    if (token.until) text += fmt::format("until = {}\n", toml_date(*token.until));
  }
  return text;
}

/// Of a section that there may be several of; nothing for others.
std::optional<std::string> entries_text(const DaemonConfig& config, std::string_view section) {
  if (section == kNeighbourSection) return neighbours_text(config);
  if (section == kAccessSection) return rules_text(config.node.access);
  if (section == kNamesSection) return names_text(config.node.access);
  if (section == kQuotaSection) return quotas_text(config.node.access);
  if (section == kTokenSection) return tokens_text(config.tokens);
  return std::nullopt;
}

}  // namespace

std::string print_config(DaemonConfig config) {
  config.listen.links = link_addresses(config);
  std::string text;
  std::string_view section;
  std::optional<std::string> entries;
  for (const Key& key : schema()) {
    if (key.section != section) {
      section = key.section;
      entries = entries_text(config, section);
      text += entries ? *entries : fmt::format("{}[{}]\n", text.empty() ? "" : "\n", section);
    }
    if (!entries) text += fmt::format("{} = {}\n", key.name, value_text(key, config));
  }
  return text;
}

/// FNV-1a, of 64 bits: nobody gains by finding another text with the same one, as daemons are trusted.
std::uint64_t rules_digest(const AccessConfig& access) {
  if (access.rules.empty() && access.names.empty()) return 0;
  std::uint64_t digest = 0xcbf29ce484222325;
  for (const char byte : rules_text(access) + names_text(access)) {
    digest = (digest ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  }
  return digest;
}

}  // namespace spindled
