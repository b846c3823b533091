#include "daemon/config/parse_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <set>
#include <system_error>

#include "daemon/config/address.h"
#include "daemon/config/exposure.h"
#include "daemon/config/hints.h"
#include "daemon/config/schema.h"
#include "daemon/config/toml_guard.h"
#include "daemon/config/wrong_values.h"

namespace spindled {

namespace {

/// Nobody reads more, and a file of nothing but errors must not cost many times its size.
constexpr std::size_t kErrorsMax = 100;

std::string text_of(Duration duration) {
  return std::to_string(std::chrono::duration_cast<std::chrono::milliseconds>(duration).count());
}
std::string text_of(std::size_t size) { return std::to_string(size); }
std::string text_of(double number) { return fmt::format("{}", number); }

class Parser {
 public:
  Parser(std::string_view file, const ConfigOverlay& overlay) : file_(file), overlay_(overlay) {}

  ConfigResult parse(std::string_view text) {
    if (text.size() > kConfigBytesMax) {
      error(0, "", fmt::format("is larger than {} bytes", kConfigBytesMax));
      return tl::unexpected(std::move(errors_));
    }
    if (const std::optional<TomlObjection> objection = find_objection(text)) {
      error(objection->line, "", objection->text);
      return tl::unexpected(std::move(errors_));
    }
    try {
      read_root(toml::parse(text));
      if (overlay_) overlay_(config_);
      check_relations();
      check_tokens();
      check_protection();
    } catch (const toml::parse_error& syntax) {
      const std::size_t line = syntax.source().begin.line;
      error(line, find_key_at(text, line), std::string(syntax.description()));
    }
    if (errors_.empty()) return std::move(config_);
    std::stable_sort(errors_.begin(), errors_.end(),
                     [](const ConfigError& a, const ConfigError& b) { return a.line < b.line; });
    return tl::unexpected(std::move(errors_));
  }

 private:
  void read_root(const toml::table& root) {
    for (const auto& [name, node] : root) {
      const std::string_view section = name.str();
      if (!is_section(section)) {
        error(name.source().begin.line, std::string(section), unknown_section(section, node.is_value()));
      } else if (section == kNeighbourSection) {
        read_entries(
            section, node, {"address"}, [&] { neighbour_ = NeighbourConfig(); },
            [&] { config_.node.link.neighbours.push_back(neighbour_); });
      } else if (section == kAccessSection) {
        read_entries(
            section, node, {"who", "groups", "allow"}, [&] { config_.node.access.rules.emplace_back(); }, [] {});
      } else if (section == kNamesSection) {
        read_entries(
            section, node, {"pattern", "who"}, [&] { config_.node.access.names.emplace_back(); }, [] {});
      } else if (section == kQuotaSection) {
        read_entries(
            section, node, {"who"}, [&] { config_.node.access.quotas.emplace_back(); }, [] {});
      } else if (section == kTokenSection) {
        read_entries(
            section, node, {"name", "sha256"}, [&] { config_.tokens.emplace_back(); }, [] {});
      } else if (const toml::table* table = node.as_table()) {
        read_section(section, *table);
      } else {
        error(line_of(node), std::string(section), fmt::format("must be a section, [{}]", section));
      }
    }
  }

  void read_section(std::string_view section, const toml::table& table) {
    for (const auto& [name, node] : table) {
      const std::string full_name = fmt::format("{}.{}", section, name.str());
      const Key* key = find_key(section, name.str());
      if (key == nullptr) {
        unknown_key(section, name);
        continue;
      }
      lines_[full_name] = line_of(node);
      std::visit([&, &value = node](const auto& kind) { read(full_name, value, kind); }, key->kind);
    }
  }

  void unknown_key(std::string_view section, const toml::key& name) {
    error(name.source().begin.line, fmt::format("{}.{}", section, name.str()),
          fmt::format("unknown key; {}", suggest_key(section, name.str())));
  }

  /// A list of sections that each have to have the keys `wanted`. `begin` and `end` are called around each.
  template <typename Begin, typename End>
  void read_entries(std::string_view section, const toml::node& node, std::initializer_list<std::string_view> wanted,
                    Begin&& begin, End&& end) {
    const toml::array* array = node.as_array();
    if (array == nullptr || !std::all_of(array->begin(), array->end(), [](auto& each) { return each.is_table(); })) {
      error(line_of(node), std::string(section), fmt::format("must be a list of sections, [[{}]]", section));
      return;
    }
    for (const toml::node& each : *array) {
      begin();
      read_section(section, *each.as_table());
      for (const std::string_view name : wanted) {
        if (!each.as_table()->contains(name)) {
          error(line_of(each), fmt::format("{}.{}", section, name), "is missing");
        }
      }
      end();
    }
  }

  // One for each kind of key.

  void read(const std::string& name, const toml::node& node, const DurationKey& key) {
    if (const auto value = read_integer(name, node, key.min, key.max)) {
      key.field(config_) = std::chrono::milliseconds(*value);
    }
  }

  void read(const std::string& name, const toml::node& node, const SizeKey& key) {
    if (const auto value = read_integer(name, node, key.min, key.max)) {
      key.field(config_) = static_cast<std::size_t>(*value);
    }
  }

  void read(const std::string& name, const toml::node& node, const NumberKey& key) {
    const std::optional<double> value = node.is_number() ? node.value<double>() : std::nullopt;
    if (!value) {
      error(line_of(node), name, "must be a number");
    } else if (!(*value >= key.min && *value <= key.max)) {  // nor is nan
      error(line_of(node), name, fmt::format("must be between {} and {}", key.min, key.max));
    } else {
      key.field(config_) = *value;
    }
  }

  void read(const std::string& name, const toml::node& node, const TextKey& key) {
    if (auto value = read_text(name, node, key.wrong)) key.field(config_) = std::move(*value);
  }

  void read(const std::string& name, const toml::node& node, const FlagKey& key) {
    if (const std::optional<bool> value = node.value_exact<bool>()) {
      key.field(config_) = *value;
    } else {
      error(line_of(node), name, "must be true or false");
    }
  }

  void read(const std::string& name, const toml::node& node, const ChoiceKey& key) {
    const std::optional<std::string> text = node.value_exact<std::string>();
    const auto found = text ? std::find(key.words.begin(), key.words.end(), *text) : key.words.end();
    if (found != key.words.end()) {
      key.set(config_, static_cast<std::size_t>(found - key.words.begin()));
    } else {
      error(line_of(node), name, fmt::format("must be one of \"{}\"", fmt::join(key.words, "\", \"")));
    }
  }

  void read(const std::string& name, const toml::node& node, const LevelKey& key) {
    const std::optional<std::string> text = node.value_exact<std::string>();
    const std::optional<LogLevel> level = text ? parse_log_level(*text) : std::nullopt;
    if (level) {
      key.field(config_) = *level;
    } else {
      error(line_of(node), name, "must be \"debug\", \"info\", \"warning\" or \"error\"");
    }
  }

  void read(const std::string& name, const toml::node& node, const ListKey& key) {
    const toml::array* array = node.as_array();
    if (array == nullptr) {
      error(line_of(node), name, "must be a list of strings");
      return;
    }
    std::vector<std::string> values;
    std::set<std::string> seen;
    for (const toml::node& each : *array) {
      std::optional<std::string> value = read_text(name, each, key.wrong);
      if (!value) continue;
      // Port 0 is another port each time.
      if (!seen.insert(*value).second && !value->ends_with(":0")) {
        error(line_of(each), name, fmt::format("\"{}\" is listed twice", *value));
      }
      value_lines_[{name, *value}] = line_of(each);
      values.push_back(std::move(*value));
    }
    key.set(config_, std::move(values));
  }

  void read(const std::string& name, const toml::node& node, const NeighbourAddressKey&) {
    std::optional<std::string> address = read_text(name, node, wrong_neighbour_address);
    if (!address) return;
    if (!neighbour_addresses_.insert(*address).second) {
      error(line_of(node), name, fmt::format("\"{}\" is configured twice", *address));
    }
    value_lines_[{name, *address}] = line_of(node);
    neighbour_.address = std::move(*address);
  }

  void read(const std::string& name, const toml::node& node, const NeighbourWeightKey& key) {
    if (const auto value = read_integer(name, node, 0, key.max)) neighbour_.weight = static_cast<std::uint32_t>(*value);
  }

  void read(const std::string& name, const toml::node& node, const EntryKey& key) {
    if (key.shape == EntryKey::Shape::text) {
      if (auto value = read_text(name, node, key.wrong)) {
        value_lines_[{name, *value}] = line_of(node);
        key.set(config_, {std::move(*value)});
      }
      return;
    }
    const toml::array* array = node.as_array();
    if (array == nullptr) return error(line_of(node), name, "must be a list of strings");
    if (array->empty() && key.shape == EntryKey::Shape::list) return error(line_of(node), name, "must not be empty");
    std::vector<std::string> values;
    for (const toml::node& each : *array) {
      if (auto value = read_text(name, each, key.wrong)) values.push_back(std::move(*value));
    }
    key.set(config_, std::move(values));
  }

  void read(const std::string& name, const toml::node& node, const EntryNumberKey& key) {
    if (const auto value = read_integer(name, node, key.min, key.max)) {
      key.set(config_, static_cast<std::size_t>(*value));
    }
  }

  void read(const std::string& name, const toml::node& node, const EntryDateKey& key) {
    const std::optional<toml::date> date = node.value_exact<toml::date>();
    const std::chrono::year_month_day day =
        date ? std::chrono::year(date->year) / date->month / date->day : std::chrono::year_month_day();
    if (day.ok()) {
      key.set(config_, day);
    } else {
      error(line_of(node), name, "must be a day, without quotes and without a time, such as 2027-11-26");
    }
  }

  std::optional<std::int64_t> read_integer(const std::string& name, const toml::node& node, std::int64_t min,
                                           std::int64_t max) {
    const std::optional<std::int64_t> value = node.value_exact<std::int64_t>();
    if (!value) {
      error(line_of(node), name, "must be an integer");
    } else if (*value < min || *value > max) {
      error(line_of(node), name, fmt::format("must be between {} and {}", min, max));
    } else {
      return value;
    }
    return std::nullopt;
  }

  std::optional<std::string> read_text(const std::string& name, const toml::node& node,
                                       std::string (*wrong)(const std::string&)) {
    std::optional<std::string> value = node.value_exact<std::string>();
    if (!value) {
      error(line_of(node), name, node.is_string() ? "is not valid" : "must be a string");
      return std::nullopt;
    }
    if (std::string what = wrong(*value); !what.empty()) {
      error(line_of(node), name, std::move(what));
      return std::nullopt;
    }
    return value;
  }

  /// Values that are right one by one but not together.
  void check_relations() {
    const NodeConfig& node = config_.node;
    at_least("link.liveness_timeout_ms", node.link.liveness_timeout, "link.heartbeat_interval_ms",
             node.link.hello_interval, 2);
    at_least("link.redial_max_ms", node.link.redial_max, "link.redial_min_ms", node.link.redial_min);
    at_least("view.gain_hold_down_max_ms", node.view.gain_hold_down_max, "view.gain_hold_down_ms",
             node.view.gain_hold_down);
    at_least("order.retention_max_bytes", node.order.retention_bytes_max, "session.send_window_bytes",
             node.session.send_window_bytes);
    at_least("order.retention_max_bytes", node.order.retention_bytes_max, "order.acknowledge_every_bytes",
             node.order.acknowledge_every_bytes);
    at_least("order.announce_stable_within_ms", node.order.announce_stable_within, "order.acknowledge_within_ms",
             node.order.acknowledge_within);
    at_least("admission.savings_max", node.admission.savings_max, "admission.fee", node.admission.fee);
    at_least("admission.price_threshold", node.admission.price_threshold, "admission.fee", node.admission.fee);
    at_least("admission.update_max_ms", node.admission.update_max, "admission.update_min_ms",
             node.admission.update_min);
    at_least("session.queue_hard_bytes", node.session.queue_hard_bytes, "session.queue_soft_bytes",
             node.session.queue_soft_bytes);
    at_least("session.queue_hard_bytes", node.session.queue_hard_bytes, "session.queue_full_price_bytes",
             node.session.queue_full_price_bytes);
    const std::string& socket = config_.listen.client_socket;
    if (!socket.empty() && socket != kAutoSocket && socket == config_.listen.admin_socket) {
      const std::string name = lines_.contains("listen.admin_socket") ? "listen.admin_socket" : "listen.client_socket";
      error(lines_[name], name, "must differ from the path of the other socket");
    }
  }

  void check_tokens() {
    std::set<std::string_view> seen;
    for (const TokenConfig& token : config_.tokens) {
      if (token.sha256.empty() || seen.insert(token.sha256).second) continue;
      error(line_of_value("token.sha256", token.sha256), "token.sha256",
            "is that of another section, too: each token stands in one");
    }
  }

  /// What is asked of TLS without its bundle, and what reaches beyond this host without TLS.
  void check_protection() {
    const TlsConfig& tls = config_.tls;
    const bool is_known = std::none_of(errors_.begin(), errors_.end(),
                                       [](const ConfigError& each) { return each.key.starts_with("tls."); });
    if (!is_known) return;
    if (tls.bundle.empty()) {
      if (!tls.revocation_lists.empty()) {
        error(lines_["tls.revocation_lists"], "tls.revocation_lists", "is of no use without tls.bundle: set that, too");
      }
      check_for_bundle("listen.clients", config_.listen.clients);
      check_for_bundle("listen.admin", config_.listen.admin);
    }
    for (const Exposure& exposure : find_exposed(config_)) {
      const std::size_t line = line_of_value(exposure.key, exposure.address);
      if (line != 0) error(line, exposure.key, exposure.text);
    }
  }

  void check_for_bundle(const std::string& key, const std::vector<std::string>& addresses) {
    for (const std::string& text : addresses) {
      const std::optional<ListenAddress> listen = parse_listen_address(text);
      if (listen && listen->tls) error(line_of_value(key, text), key, needs_bundle(text));
    }
  }

  /// 0 for a value that the file does not have.
  std::size_t line_of_value(const std::string& key, const std::string& value) const {
    const auto found = value_lines_.find({key, value});
    return found == value_lines_.end() ? 0 : found->second;
  }

  /// Blames whichever of the two keys the file sets. `factor` is 1 or 2.
  template <typename Value>
  void at_least(const std::string& large_name, Value large, const std::string& small_name, Value small,
                unsigned factor = 1) {
    if (large >= small * factor) return;
    if (lines_.contains(large_name)) {
      error(lines_[large_name], large_name,
            fmt::format("must be at least {}{}, which is {}", factor == 2 ? "twice " : "", small_name, text_of(small)));
    } else {
      error(
          lines_[small_name], small_name,
          fmt::format("must be at most {}{}, which is {}", factor == 2 ? "half of " : "", large_name, text_of(large)));
    }
  }

  static bool is_section(std::string_view name) {
    return std::any_of(schema().begin(), schema().end(), [&](const Key& key) { return key.section == name; });
  }
  static const Key* find_key(std::string_view section, std::string_view name) {
    for (const Key& key : schema()) {
      if (key.section == section && key.name == name) return &key;
    }
    return nullptr;
  }
  static std::size_t line_of(const toml::node& node) { return node.source().begin.line; }

  void error(std::size_t line, std::string key, std::string text) {
    if (errors_.size() == kErrorsMax) return;
    errors_.push_back({file_, line, std::move(key), std::move(text)});
  }

  std::string file_;
  const ConfigOverlay& overlay_;
  DaemonConfig config_;
  NeighbourConfig neighbour_;  // the one being read
  std::set<std::string> neighbour_addresses_;
  std::map<std::string, std::size_t> lines_;                                // of the keys that the file sets
  std::map<std::pair<std::string, std::string>, std::size_t> value_lines_;  // of lists, neighbours and entries
  std::vector<ConfigError> errors_;
};

ConfigResult cannot_read(const std::string& file, std::string text) {
  return tl::unexpected(std::vector<ConfigError>{{file, 0, "", std::move(text)}});
}

}  // namespace

std::string to_string(const ConfigError& error) {
  std::string text = error.file;
  if (error.line != 0) text += fmt::format(":{}", error.line);
  if (!error.key.empty()) text += ": " + error.key;
  return text + ": " + error.text;
}

ConfigResult parse_config(std::string_view text, std::string_view file, const ConfigOverlay& overlay) {
  return Parser(file, overlay).parse(text);
}

ConfigResult load_config(const std::string& file, const ConfigOverlay& overlay) {
  errno = 0;
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return cannot_read(file, fmt::format("cannot be opened: {}", std::strerror(errno)));
  // One byte more than allowed tells a file that is too large, whatever its size is said to be.
  std::string text(kConfigBytesMax + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (stream.bad()) return cannot_read(file, fmt::format("cannot be read: {}", std::strerror(errno)));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  return parse_config(text, file, overlay);
}

}  // namespace spindled
