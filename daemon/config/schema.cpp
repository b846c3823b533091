#include "daemon/config/schema.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "daemon/base/datagram.h"
#include "daemon/config/wrong_values.h"

namespace spindled {

namespace {

constexpr std::int64_t kKiB = 1 << 10;
constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kGiB = 1 << 30;
constexpr std::int64_t kMinute = 60'000;
constexpr std::int64_t kHour = 60 * kMinute;
constexpr double kDollarsMin = 0.001;
constexpr double kDollarsMax = 1'000'000;

/// In the order of BenefitKind.
constexpr std::string_view kBenefits[] = {"sending", "receiving", "fair"};
/// In the order of FeedCache.
constexpr std::string_view kFeedCaches[] = {"all", "members"};

std::optional<Right> find_right(std::string_view word) {
  const auto found = std::find(std::begin(kRightNames), std::end(kRightNames), word);
  if (found == std::end(kRightNames)) return std::nullopt;
  return static_cast<Right>(found - std::begin(kRightNames));
}

std::string wrong_right(const std::string& value) {
  if (find_right(value)) return {};
  return fmt::format("\"{}\" is no right: there are \"{}\"", value, fmt::join(kRightNames, "\", \""));
}

#define SPINDLE_FIELD(member) \
  [](DaemonConfig & config) -> auto& { return config.member; }

/// The groups for which something else is sought than elsewhere.
template <BenefitKind benefit>
constexpr ListKey groups_key() {
  return {[](const DaemonConfig& config) { return config.node.admission.groups_of(benefit); },
          [](DaemonConfig& config, std::vector<std::string> value) {
            config.node.admission.groups_of(benefit) = std::move(value);
          },
          wrong_group_pattern, true};
}

// Of the rule, or the reserved names, that were read last.
void set_who(DaemonConfig& config, std::vector<std::string> value) {
  config.node.access.rules.back().who = std::move(value);
}
void set_groups(DaemonConfig& config, std::vector<std::string> value) {
  config.node.access.rules.back().groups = std::move(value);
}
void set_rights(DaemonConfig& config, std::vector<std::string> value) {
  for (const std::string& word : value) config.node.access.rules.back().allow.insert(*find_right(word));
}
void set_name_pattern(DaemonConfig& config, std::vector<std::string> value) {
  config.node.access.names.back().pattern = std::move(value.front());
}
void set_name_who(DaemonConfig& config, std::vector<std::string> value) {
  config.node.access.names.back().who = std::move(value);
}

void set_quota_who(DaemonConfig& config, std::vector<std::string> value) {
  config.node.access.quotas.back().who = std::move(value);
}
template <std::size_t QuotaLimits::*limit>
void set_quota(DaemonConfig& config, std::size_t value) {
  config.node.access.quotas.back().limits.*limit = value;
}

// Of the token.
void set_token_name(DaemonConfig& config, std::vector<std::string> value) {
  config.tokens.back().name = std::move(value.front());
}
void set_token_digest(DaemonConfig& config, std::vector<std::string> value) {
  config.tokens.back().sha256 = std::move(value.front());
}
void set_token_end(DaemonConfig& config, std::chrono::sys_days day) { config.tokens.back().until = day; }

const Key kKeys[] = {
    {"daemon", "name", TextKey{SPINDLE_FIELD(node.name), wrong_name}},
    {"daemon", "cluster", TextKey{SPINDLE_FIELD(node.cluster), wrong_name}},

    {"listen", "clients",
     ListKey{[](const DaemonConfig& config) { return config.listen.clients; },
             [](DaemonConfig& config, std::vector<std::string> value) { config.listen.clients = std::move(value); },
             wrong_client_address}},
    {"listen", "client_socket", TextKey{SPINDLE_FIELD(listen.client_socket), wrong_socket_path}},
    {"listen", "admin_socket", TextKey{SPINDLE_FIELD(listen.admin_socket), wrong_socket_path}},
    {"listen", "admin",
     ListKey{[](const DaemonConfig& config) { return config.listen.admin; },
             [](DaemonConfig& config, std::vector<std::string> value) { config.listen.admin = std::move(value); },
             wrong_admin_address, true}},
    {"listen", "links",
     ListKey{link_addresses,
             [](DaemonConfig& config, std::vector<std::string> value) { config.listen.links = std::move(value); },
             wrong_link_address}},

    {"tls", "bundle", TextKey{SPINDLE_FIELD(tls.bundle), wrong_absolute_file}},
    {"tls", "revocation_lists", TextKey{SPINDLE_FIELD(tls.revocation_lists), wrong_absolute_file}},
    {"tls", "insecure", FlagKey{SPINDLE_FIELD(tls.insecure)}},

    {kNeighbourSection, "address", NeighbourAddressKey{}},
    {kNeighbourSection, "weight", NeighbourWeightKey{kWeightMax}},

    {"limits", "memory_bytes",
     SizeKey{SPINDLE_FIELD(node.memory_bytes_max), static_cast<std::int64_t>(kMemoryBytesLeast), 1024 * kGiB}},

    {"link", "heartbeat_interval_ms", DurationKey{SPINDLE_FIELD(node.link.hello_interval), 10, kMinute}},
    {"link", "liveness_timeout_ms", DurationKey{SPINDLE_FIELD(node.link.liveness_timeout), 20, 10 * kMinute}},
    {"link", "handshake_timeout_ms", DurationKey{SPINDLE_FIELD(node.link.handshake_timeout), 100, kMinute}},
    {"link", "redial_min_ms", DurationKey{SPINDLE_FIELD(node.link.redial_min), 10, kMinute}},
    {"link", "redial_max_ms", DurationKey{SPINDLE_FIELD(node.link.redial_max), 10, kHour}},
    {"link", "redial_lost_max_ms", DurationKey{SPINDLE_FIELD(node.link.redial_lost_max), 10, kHour}},

    {"view", "gain_hold_down_ms", DurationKey{SPINDLE_FIELD(node.view.gain_hold_down), 0, kMinute}},
    {"view", "gain_hold_down_max_ms", DurationKey{SPINDLE_FIELD(node.view.gain_hold_down_max), 0, kHour}},
    {"view", "response_timeout_ms", DurationKey{SPINDLE_FIELD(node.view.response_timeout), 10, kMinute}},
    {"view", "link_state_refresh_interval_ms", DurationKey{SPINDLE_FIELD(node.view.refresh_interval), 1000, kHour}},
    {"view", "reroute_delay_ms", DurationKey{SPINDLE_FIELD(node.view.reroute_delay), 1000, 24 * kHour}},

    {"order", "retention_max_bytes", SizeKey{SPINDLE_FIELD(node.order.retention_bytes_max), kMiB, 16 * kGiB}},
    {"order", "acknowledge_every_bytes", SizeKey{SPINDLE_FIELD(node.order.acknowledge_every_bytes), kKiB, 16 * kMiB}},
    {"order", "acknowledge_within_ms", DurationKey{SPINDLE_FIELD(node.order.acknowledge_within), 1, 10'000}},
    {"order", "announce_stable_within_ms", DurationKey{SPINDLE_FIELD(node.order.announce_stable_within), 1, kHour}},

    {"admission", "enabled", FlagKey{SPINDLE_FIELD(node.admission.enabled)}},
    {"admission", "benefit",
     ChoiceKey{kBenefits,
               [](const DaemonConfig& config) { return static_cast<std::size_t>(config.node.admission.benefit); },
               [](DaemonConfig& config, std::size_t word) {
                 config.node.admission.benefit = static_cast<BenefitKind>(word);
               }}},
    {"admission", "sending_groups", groups_key<BenefitKind::sending>()},
    {"admission", "receiving_groups", groups_key<BenefitKind::receiving>()},
    {"admission", "fair_groups", groups_key<BenefitKind::fair>()},
    {"admission", "price_max", NumberKey{SPINDLE_FIELD(node.admission.price_max), kDollarsMin, kDollarsMax}},
    {"admission", "savings_max", NumberKey{SPINDLE_FIELD(node.admission.savings_max), kDollarsMin, kDollarsMax}},
    {"admission", "salary", NumberKey{SPINDLE_FIELD(node.admission.salary), kDollarsMin, kDollarsMax}},
    {"admission", "fee", NumberKey{SPINDLE_FIELD(node.admission.fee), kDollarsMin, kDollarsMax}},
    {"admission", "price_threshold",
     NumberKey{SPINDLE_FIELD(node.admission.price_threshold), kDollarsMin, kDollarsMax}},
    {"admission", "queue_target_ms", DurationKey{SPINDLE_FIELD(node.admission.queue_time), 1, 10'000}},
    {"admission", "queue_target_packets", SizeKey{SPINDLE_FIELD(node.admission.queue_packets), 1, 1'000'000}},
    {"admission", "update_min_ms", DurationKey{SPINDLE_FIELD(node.admission.update_min), 1, 10'000}},
    {"admission", "update_max_ms", DurationKey{SPINDLE_FIELD(node.admission.update_max), 10, 10 * kMinute}},

    {"session", "sessions_max", SizeKey{SPINDLE_FIELD(node.session.sessions_max), 1, 1'000'000}},
    {"session", "memberships_max", SizeKey{SPINDLE_FIELD(node.session.memberships_max), 1, 1'000'000}},
    {"session", "groups_max", SizeKey{SPINDLE_FIELD(node.session.groups_max), 1, 100'000'000}},
    {"session", "full_view_members", SizeKey{SPINDLE_FIELD(node.session.full_view_members), 0, 1'000'000}},
    {"session", "handshake_timeout_ms", DurationKey{SPINDLE_FIELD(node.session.handshake_timeout), 100, kMinute}},
    {"session", "send_window_bytes", SizeKey{SPINDLE_FIELD(node.session.send_window_bytes), 64 * kKiB, 16 * kGiB}},
    {"session", "queue_full_price_bytes",
     SizeKey{SPINDLE_FIELD(node.session.queue_full_price_bytes), 16 * kKiB, 16 * kGiB}},
    {"session", "queue_soft_bytes", SizeKey{SPINDLE_FIELD(node.session.queue_soft_bytes), 64 * kKiB, 16 * kGiB}},
    {"session", "queue_hard_bytes", SizeKey{SPINDLE_FIELD(node.session.queue_hard_bytes), 128 * kKiB, 16 * kGiB}},
    {"session", "slow_policy",
     ChoiceKey{spindle::kSlowPolicyNames,
               [](const DaemonConfig& config) { return static_cast<std::size_t>(config.node.session.slow_policy) - 1; },
               [](DaemonConfig& config, std::size_t word) {
                 config.node.session.slow_policy = static_cast<SlowPolicy>(word + 1);
               }}},
    {"session", "stall_timeout_ms", DurationKey{SPINDLE_FIELD(node.session.stall_timeout), 100, kHour}},
    {"session", "membership_rate_bytes",
     SizeKey{SPINDLE_FIELD(node.session.membership_rate_bytes), 64 * kKiB, 16 * kGiB}},
    {"session", "membership_burst_bytes",
     SizeKey{SPINDLE_FIELD(node.session.membership_burst_bytes), 4 * kKiB, 16 * kGiB}},
    {"session", "client_memory_max_bytes",
     SizeKey{SPINDLE_FIELD(node.session.client_memory_bytes_max), kMiB, 1024 * kGiB}},
    {"session", "message_timeout_ms", DurationKey{SPINDLE_FIELD(node.session.message_timeout), 100, kHour}},
    {"session", "resume_timeout_ms", DurationKey{SPINDLE_FIELD(node.session.resume_timeout), 0, kHour}},
    {"session", "resume_bytes", SizeKey{SPINDLE_FIELD(node.session.resume_bytes), 256 * kKiB, kGiB}},
    {"session", "going_ms", DurationKey{SPINDLE_FIELD(node.session.going_time), 0, kHour}},
    {"session", "flush_timeout_ms", DurationKey{SPINDLE_FIELD(node.session.flush_timeout), 100, kHour}},

    {"bulk", "share", NumberKey{SPINDLE_FIELD(node.bulk.share), 0.001, 1}},
    {"bulk", "mesh", FlagKey{SPINDLE_FIELD(node.bulk.mesh)}},
    {"bulk", "address", TextKey{SPINDLE_FIELD(node.bulk.address), wrong_bulk_address}},

    {"feed", "datagrams", FlagKey{SPINDLE_FIELD(node.feed.datagrams)}},
    {"feed", "datagram_bytes", SizeKey{SPINDLE_FIELD(node.feed.datagram_bytes), kDatagramBytesMin, kDatagramBytesMax}},
    {"feed", "cache",
     ChoiceKey{kFeedCaches, [](const DaemonConfig& config) { return static_cast<std::size_t>(config.node.feed.cache); },
               [](DaemonConfig& config, std::size_t word) { config.node.feed.cache = static_cast<FeedCache>(word); }}},
    {"feed", "cache_bytes", SizeKey{SPINDLE_FIELD(node.feed.cache_bytes), kMiB, 16 * kGiB}},
    {"feed", "link_share", NumberKey{SPINDLE_FIELD(node.feed.link_share), 0.001, 1000}},
    {"feed", "rate_min", SizeKey{SPINDLE_FIELD(node.feed.rate_min), 0, kGiB}},

    {kAccessSection, "who", EntryKey{EntryKey::Shape::list, wrong_identity, set_who}},
    {kAccessSection, "groups", EntryKey{EntryKey::Shape::list, wrong_pattern, set_groups}},
    {kAccessSection, "allow", EntryKey{EntryKey::Shape::list_or_none, wrong_right, set_rights}},

    {kNamesSection, "pattern", EntryKey{EntryKey::Shape::text, wrong_pattern, set_name_pattern}},
    {kNamesSection, "who", EntryKey{EntryKey::Shape::list_or_none, wrong_identity, set_name_who}},

    {kQuotaSection, "who", EntryKey{EntryKey::Shape::list, wrong_identity, set_quota_who}},
    {kQuotaSection, "connections", EntryNumberKey{1, 1'000'000, set_quota<&QuotaLimits::connections>}},
    {kQuotaSection, "memberships", EntryNumberKey{1, 100'000'000, set_quota<&QuotaLimits::memberships>}},
    {kQuotaSection, "bytes_per_s", EntryNumberKey{1000, 1000 * kGiB, set_quota<&QuotaLimits::bytes_per_s>}},
    {kQuotaSection, "memory_bytes", EntryNumberKey{kMiB, 1024 * kGiB, set_quota<&QuotaLimits::memory_bytes>}},

    {kTokenSection, "name", EntryKey{EntryKey::Shape::text, wrong_token_name, set_token_name}},
    {kTokenSection, "sha256", EntryKey{EntryKey::Shape::text, wrong_token_digest, set_token_digest}},
    {kTokenSection, "until", EntryDateKey{set_token_end}},

    {"admin", "operators",
     ListKey{
         [](const DaemonConfig& config) { return config.node.admin.operators; },
         [](DaemonConfig& config, std::vector<std::string> value) { config.node.admin.operators = std::move(value); },
         wrong_identity, true}},
    {"admin", "viewers",
     ListKey{[](const DaemonConfig& config) { return config.node.admin.viewers; },
             [](DaemonConfig& config, std::vector<std::string> value) { config.node.admin.viewers = std::move(value); },
             wrong_identity, true}},
    {"admin", "allow_partition", FlagKey{SPINDLE_FIELD(node.admin.allow_partition)}},

    {"log", "level", LevelKey{SPINDLE_FIELD(log.level)}},
    {"log", "file", TextKey{SPINDLE_FIELD(log.file), wrong_file}},
    {"log", "queue_bytes", SizeKey{SPINDLE_FIELD(log.queue_bytes), 4 * kKiB, kGiB}},
    {"log", "lines_per_minute", SizeKey{SPINDLE_FIELD(log.lines_per_minute), 0, 1'000'000}},
};

#undef SPINDLE_FIELD

std::int64_t milliseconds(Duration duration) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(duration).count();
}

struct CopyValue {
  DaemonConfig& from;
  DaemonConfig& to;

  template <typename FieldKey>
  void operator()(const FieldKey& key) {
    key.field(to) = key.field(from);
  }
  void operator()(const ChoiceKey& key) { key.set(to, key.get(from)); }
  void operator()(const ListKey& key) { key.set(to, key.get(from)); }
  void operator()(const NeighbourAddressKey&) {}
  void operator()(const NeighbourWeightKey&) {}
  void operator()(const EntryKey&) {}
  void operator()(const EntryNumberKey&) {}
  void operator()(const EntryDateKey&) {}
};

struct ValueText {
  DaemonConfig& config;

  std::string operator()(const DurationKey& key) const { return std::to_string(milliseconds(key.field(config))); }
  std::string operator()(const SizeKey& key) const { return std::to_string(key.field(config)); }
  std::string operator()(const NumberKey& key) const { return fmt::format("{}", key.field(config)); }
  std::string operator()(const TextKey& key) const { return toml_string(key.field(config)); }
  std::string operator()(const FlagKey& key) const { return key.field(config) ? "true" : "false"; }
  std::string operator()(const ChoiceKey& key) const { return toml_string(key.words[key.get(config)]); }
  std::string operator()(const LevelKey& key) const { return toml_string(to_string(key.field(config))); }
  std::string operator()(const ListKey& key) const { return toml_list(key.get(config)); }
  std::string operator()(const NeighbourAddressKey&) const { return {}; }
  std::string operator()(const NeighbourWeightKey&) const { return {}; }
  std::string operator()(const EntryKey&) const { return {}; }
  std::string operator()(const EntryNumberKey&) const { return {}; }
  std::string operator()(const EntryDateKey&) const { return {}; }
};

}  // namespace

std::string Key::full_name() const { return fmt::format("{}.{}", section, name); }

std::span<const Key> schema() { return kKeys; }

bool is_live(const Key& key) {
  if (key.section == "admission") return key.name != "enabled";  // which spmonitor switches
  if (key.section == "tls") return key.name != "insecure";
  if (key.section == "limits" || key.section == "bulk") return true;
  if (is_repeated(key.section)) return key.section != kNeighbourSection;
  return key.section == "session" || key.section == "order" || key.section == "admin" ||
         key.full_name() == "log.level" || key.full_name() == "feed.link_share";
}

void copy_value(const Key& key, DaemonConfig& from, DaemonConfig& to) { std::visit(CopyValue{from, to}, key.kind); }

std::string value_text(const Key& key, DaemonConfig& config) { return std::visit(ValueText{config}, key.kind); }

std::string default_text(const Key& key) {
  if (const auto* list = std::get_if<ListKey>(&key.kind); list != nullptr && !list->has_default) return {};
  if (std::holds_alternative<NeighbourWeightKey>(key.kind)) return std::to_string(NeighbourConfig().weight);
  DaemonConfig config;
  return value_text(key, config);
}

std::string toml_string(std::string_view text) {
  fmt::memory_buffer quoted;
  const auto out = std::back_inserter(quoted);
  for (const char byte : text) {
    const auto code = static_cast<unsigned char>(byte);
    if (byte == '"' || byte == '\\') {
      fmt::format_to(out, "\\{}", byte);
    } else if (code < 0x20 || code == 0x7f) {
      fmt::format_to(out, "\\u{:04x}", code);
    } else {
      quoted.push_back(byte);
    }
  }
  return fmt::format("\"{}\"", fmt::to_string(quoted));
}

std::string toml_list(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  for (const std::string& text : texts) quoted.push_back(toml_string(text));
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

std::string toml_date(std::chrono::sys_days day) {
  const std::chrono::year_month_day date(day);
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                     static_cast<unsigned>(date.day()));
}

std::string range_text(const Key& key) {
  if (const auto* duration = std::get_if<DurationKey>(&key.kind)) {
    return fmt::format("{} to {}", duration->min, duration->max);
  }
  if (const auto* size = std::get_if<SizeKey>(&key.kind)) return fmt::format("{} to {}", size->min, size->max);
  if (const auto* number = std::get_if<NumberKey>(&key.kind)) return fmt::format("{} to {}", number->min, number->max);
  if (const auto* weight = std::get_if<NeighbourWeightKey>(&key.kind)) return fmt::format("0 to {}", weight->max);
  return {};
}

}  // namespace spindled
