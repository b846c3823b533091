#include "tests/sim/script/transcript.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "libclient/common/names.h"

namespace spindled::sim {

namespace {

/// "a" of "#a#d000".
std::string short_name(std::string_view private_name) {
  const auto parts = spindle::parse_private_name(private_name);
  return std::string(parts ? parts->client : private_name);
}

std::string short_names(const std::vector<std::string>& private_names) {
  std::vector<std::string> names;
  for (const std::string& name : private_names) names.push_back(short_name(name));
  return names.empty() ? "nobody" : fmt::format("{}", fmt::join(names, " "));
}

/// The lines of one subject, as long as no other says anything in between.
struct Paragraph {
  std::vector<std::string> who;
  std::vector<std::string> lines;
};

std::string to_text(const std::vector<Paragraph>& paragraphs) {
  std::string text;
  for (const Paragraph& each : paragraphs) {
    for (const std::string& line : each.lines) {
      text += each.who.front().empty() ? line : fmt::format("{}: {}", fmt::join(each.who, " "), line);
      text += '\n';
    }
  }
  return text;
}

/// Joins neighbours that say the same.
std::vector<Paragraph> merged(std::vector<Paragraph> paragraphs) {
  std::vector<Paragraph> result;
  for (Paragraph& each : paragraphs) {
    if (!result.empty() && result.back().lines == each.lines && !each.who.front().empty()) {
      result.back().who.push_back(each.who.front());
    } else {
      result.push_back(std::move(each));
    }
  }
  for (Paragraph& each : result) std::sort(each.who.begin(), each.who.end());
  return result;
}

}  // namespace

Transcript::Transcript(Simulator& simulator, Listener listener)
    : simulator_(simulator), listener_(std::move(listener)) {
  simulator_.log().listen([this](std::string_view host, LogLevel level, std::string_view room, std::string_view line) {
    heard(host, level, room, line);
  });
}

void Transcript::heard(std::string_view host, LogLevel level, std::string_view room, std::string_view line) {
  if (room != "view" && room != "order" && level < LogLevel::error) return;
  const std::string text = level < LogLevel::warning ? renamed(line) : fmt::format("{}: {}", room, renamed(line));
  entries_.push_back({simulator_.now(), 0, std::string(host), text, "", ""});
  listener_(host, text);
}

void Transcript::note(std::string_view text) {
  entries_.push_back({simulator_.now(), 0, "", std::string(text), "", ""});
}

void Transcript::restart() {
  collect();
  taken_ += entries_.size();
  entries_.clear();
  view_numbers_.clear();
}

std::size_t Transcript::size() const {
  std::size_t size = taken_ + entries_.size();
  for (std::size_t i = 0; i < simulator_.client_count(); ++i) {
    size += simulator_.client(i).history().events.size() - (i < seen_.size() ? seen_[i] : 0);
  }
  return size;
}

std::string Transcript::take() {
  collect();
  const auto place = [](const Entry& entry) { return std::pair(entry.at.time_since_epoch() / 1ms, entry.rank); };
  std::stable_sort(entries_.begin(), entries_.end(),
                   [&](const Entry& a, const Entry& b) { return place(a) < place(b); });
  std::vector<Paragraph> paragraphs;
  const Entry* last = nullptr;
  for (const Entry& entry : entries_) {
    const bool goes_on = last != nullptr && last->who == entry.who && !entry.who.empty();
    if (!goes_on) paragraphs.push_back({{entry.who}, {}});
    std::vector<std::string>& lines = paragraphs.back().lines;
    if (goes_on && !entry.message.empty() && last->what == entry.what && last->group == entry.group) {
      lines.back().insert(lines.back().size() - entry.group.size(), " " + entry.message);
    } else {
      lines.push_back(entry.message.empty() ? entry.what
                                            : fmt::format("{} {}{}", entry.what, entry.message, entry.group));
    }
    last = &entry;
  }
  taken_ += entries_.size();
  const std::string text = to_text(merged(std::move(paragraphs)));
  entries_.clear();
  return text;
}

void Transcript::collect() {
  seen_.resize(simulator_.client_count());
  for (std::size_t i = 0; i < seen_.size(); ++i) {
    const SimClient& client = simulator_.client(i);
    const std::vector<Event>& events = client.history().events;
    for (; seen_[i] < events.size(); ++seen_[i]) add(client, i + 1, events[seen_[i]]);
  }
}

void Transcript::add(const SimClient& client, std::size_t rank, const Event& event) {
  Entry entry{event.at, rank, short_name(client.private_name()), "", "", ""};
  if (const auto* delivered = std::get_if<Delivered>(&event.what)) {
    const MessageRecord& message = delivered->message;
    entry.what = fmt::format("gets {}", to_string(message.service));
    // A message's type is its place among those of its sender, from 0.
    entry.message = fmt::format("{}:{}", short_name(message.sender), message.type + 1);
    entry.group = fmt::format(" in {}", fmt::join(message.groups, ","));
  } else if (const auto* view = std::get_if<GroupView>(&event.what)) {
    entry.what = words_of(*view);
  } else if (const auto* signal = std::get_if<sim::Transitional>(&event.what)) {
    entry.what = fmt::format("transitional signal for {}", signal->group);
  } else if (const auto* gap = std::get_if<Gapped>(&event.what)) {
    entry.what = fmt::format("misses {} messages", gap->messages);
  } else if (const auto* refused = std::get_if<Refused>(&event.what)) {
    entry.what =
        fmt::format("refused for {}: {}", refused->group, spindle::to_string(static_cast<Errc>(refused->code)));
  } else if (const auto* closed = std::get_if<Closed>(&event.what)) {
    entry.what = fmt::format("is closed: {}", spindle::to_string(static_cast<Errc>(closed->code)));
  } else {
    return;  // what it asked for stands in the script
  }
  entries_.push_back(std::move(entry));
}

std::string Transcript::words_of(const GroupView& view) {
  std::string text =
      fmt::format("view {}.{} of {}: {} ({}", name_of({view.id.view_number, view.id.coordinator, view.id.incarnation}),
                  view.id.position, view.group, short_names(view.members), to_string(view.cause));
  if (!view.changed.empty()) text += fmt::format(", changed {}", short_names(view.changed));
  if (view.cause == spindle::ViewCause::network) text += fmt::format(", vs set {}", short_names(view.vs_set));
  return text + ")";
}

std::string Transcript::name_of(const ViewId& view) { return renamed(to_string(view)); }

std::string Transcript::renamed(std::string_view line) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto is_of_name = [&](char c) { return is_digit(c) || (c >= 'a' && c <= 'z'); };  // of a host of this simulator
  std::string text;
  for (std::size_t at = line.find('@'); at != std::string_view::npos; at = line.find('@')) {
    std::size_t begin = at;
    while (begin > 0 && is_digit(line[begin - 1])) --begin;
    std::size_t end = at + 1;
    while (end < line.size() && is_of_name(line[end])) ++end;
    const auto known = view_numbers_.emplace(line.substr(begin, end - begin), view_numbers_.size() + 1).first;
    text += fmt::format("{}v{}", line.substr(0, begin), known->second);
    line.remove_prefix(end);
  }
  return text + std::string(line);
}

}  // namespace spindled::sim
