// Every key of the configuration file: its section, its field, and what it may be. Defaults are the values of a fresh
// DaemonConfig. The keys of sections that a file may have several of, such as [[neighbour]], are listed for their
// limits; a table of such a section is an entry of a list.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "daemon/config/daemon_config.h"

namespace spindled {

/// An integer, in milliseconds.
struct DurationKey {
  Duration& (*field)(DaemonConfig&);
  std::int64_t min, max;
};

/// An integer: bytes or a count.
struct SizeKey {
  std::size_t& (*field)(DaemonConfig&);
  std::int64_t min, max;
};

/// A string. `wrong` says what is wrong with a value, or is empty.
struct TextKey {
  std::string& (*field)(DaemonConfig&);
  std::string (*wrong)(const std::string& value);
};

struct FlagKey {
  bool& (*field)(DaemonConfig&);
};

/// A number, with or without a fraction: dollars.
struct NumberKey {
  double& (*field)(DaemonConfig&);
  double min, max;
};

/// One of some words.
struct ChoiceKey {
  std::span<const std::string_view> words;
  std::size_t (*get)(const DaemonConfig&);  // the place of the word in `words`
  void (*set)(DaemonConfig&, std::size_t word);
};

struct LevelKey {
  LogLevel& (*field)(DaemonConfig&);
};

/// A list of strings: addresses to listen at, or groups. `wrong` is asked about each.
struct ListKey {
  std::vector<std::string> (*get)(const DaemonConfig&);
  void (*set)(DaemonConfig&, std::vector<std::string>);
  std::string (*wrong)(const std::string& value);
  bool has_default = false;  // that does not depend on the rest
};

/// `address` and `weight` of a neighbour.
struct NeighbourAddressKey {};
struct NeighbourWeightKey {
  std::int64_t max;
};

/// Of an entry of a list, in a section with double brackets: the one that was added last. A string, or a list of them.
struct EntryKey {
  enum class Shape : std::uint8_t { text, list, list_or_none };

  Shape shape;
  std::string (*wrong)(const std::string& value);
  void (*set)(DaemonConfig&, std::vector<std::string>);
};

/// A number of an entry, which it may lack.
struct EntryNumberKey {
  std::int64_t min;
  std::int64_t max;
  void (*set)(DaemonConfig&, std::size_t);
};

/// A day of an entry, which it may lack.
struct EntryDateKey {
  void (*set)(DaemonConfig&, std::chrono::sys_days);
};

struct Key {
  std::string_view section;
  std::string_view name;
  std::variant<DurationKey, SizeKey, NumberKey, TextKey, FlagKey, ChoiceKey, LevelKey, ListKey, NeighbourAddressKey,
               NeighbourWeightKey, EntryKey, EntryNumberKey, EntryDateKey>
      kind;

  /// "section.name"
  std::string full_name() const;
};

/// In the order of docs/configuration.md.
std::span<const Key> schema();

/// Whether a daemon that runs can go by another value: nothing that is set up when it starts depends on it, and
/// neighbours need not know.
bool is_live(const Key& key);
/// Gives `to` the value that `from` has; not for the keys of entries of lists.
void copy_value(const Key& key, DaemonConfig& from, DaemonConfig& to);

/// The value that `config` has, as one writes it in the file; empty for the keys of entries of lists.
std::string value_text(const Key& key, DaemonConfig& config);
/// The default in the same form; empty where it depends on the rest or there is none.
std::string default_text(const Key& key);
/// `text` in quotes, as TOML has it.
std::string toml_string(std::string_view text);
/// The same for a list of strings.
std::string toml_list(const std::vector<std::string>& texts);
/// "2027-11-26"
std::string toml_date(std::chrono::sys_days day);
/// "10 to 60000" for numbers, empty for others.
std::string range_text(const Key& key);

inline constexpr std::string_view kNeighbourSection = "neighbour";
inline constexpr std::string_view kAccessSection = "access";
inline constexpr std::string_view kNamesSection = "names";
inline constexpr std::string_view kQuotaSection = "quota";
inline constexpr std::string_view kTokenSection = "token";
/// Whether a file may have several of this section, each in double brackets.
constexpr bool is_repeated(std::string_view section) {
  return section == kNeighbourSection || section == kAccessSection || section == kNamesSection ||
         section == kQuotaSection || section == kTokenSection;
}
/// By the place of a Right.
inline constexpr std::string_view kRightNames[kRights] = {"send", "join", "create"};
inline constexpr std::int64_t kWeightMax = 1'000'000;

}  // namespace spindled
