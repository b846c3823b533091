#include "tests/hunt/explain.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "tests/checkers/channel_text.h"
#include "tests/checkers/message_index.h"

namespace spindled::hunt {

namespace {

using checkers::ClientHistory;
using checkers::Event;

constexpr std::size_t kClientsMax = 4;
constexpr std::size_t kEventsAround = 6;
constexpr std::size_t kEventsMax = 80;

struct EventText {
  std::string operator()(const checkers::Sent& sent) const {
    return fmt::format("sends {} to {}{}", checkers::to_text(sent.message), fmt::join(sent.message.groups, " "),
                       sent.self_discard ? ", not to itself" : "");
  }
  std::string operator()(const checkers::Delivered& delivered) const {
    return fmt::format("gets {} to {}", checkers::to_text(delivered.message), fmt::join(delivered.message.groups, " "));
  }
  std::string operator()(const checkers::JoinRequested& join) const { return "wants to join " + join.group; }
  std::string operator()(const checkers::LeaveRequested& leave) const {
    return (leave.by_rules ? "is told that it may not stay in " : "wants to leave ") + leave.group;
  }
  std::string operator()(const checkers::GroupView& view) const {
    constexpr const char* kCauses[] = {"none", "join", "leave", "disconnect", "network"};
    return fmt::format("view {} of {}, cause {}: {}; vs set {}; changed {}", checkers::to_text(view.id), view.group,
                       kCauses[static_cast<std::size_t>(view.cause) % std::size(kCauses)], fmt::join(view.members, " "),
                       fmt::join(view.vs_set, " "), fmt::join(view.changed, " "));
  }
  std::string operator()(const checkers::Transitional& signal) const {
    return "transitional signal of " + signal.group;
  }
  std::string operator()(const checkers::FlushRequested& request) const { return "is to flush " + request.group; }
  std::string operator()(const checkers::FlushAnswered& answer) const { return "has flushed " + answer.group; }
  std::string operator()(const checkers::Gapped& gap) const {
    return fmt::format("misses {} messages, which did not wait for it", gap.messages);
  }
  std::string operator()(const checkers::Refused& refused) const {
    return fmt::format("is refused {} with {}", refused.group, refused.code);
  }
  std::string operator()(const checkers::MessagesRefused& refused) const {
    return fmt::format("is refused {} messages, as it may not send to {}", refused.messages, refused.name);
  }
  std::string operator()(const checkers::ChannelSaid& said) const { return checkers::to_text(said); }
  std::string operator()(const checkers::ChannelTold& told) const { return checkers::to_text(told); }
  std::string operator()(const checkers::Closed& closed) const {
    return fmt::format("is closed with {}: {}", closed.code, closed.text);
  }
};

struct FeedText {
  std::string operator()(const checkers::FeedAsked& asked) const {
    return fmt::format("opens feed {} to {}{}", asked.feed, asked.group, asked.drops_oldest ? ", drops oldest" : "");
  }
  std::string operator()(const checkers::FeedSent& sent) const { return fmt::format("sends to feed {}", sent.feed); }
  std::string operator()(const checkers::FeedGivenUp& feed) const { return fmt::format("closes feed {}", feed.feed); }
  std::string operator()(const checkers::OwnFeedDenied&) const { return "is told that a feed of its own is denied"; }
  std::string operator()(const checkers::OwnFeedOver& over) const {
    return fmt::format("is told that its feed {} is over", over.feed);
  }
  std::string operator()(const checkers::ListenAsked& listen) const { return "listens to " + listen.group; }
  std::string operator()(const checkers::ListenOver& over) const { return "listens to " + over.group + " no more"; }
  std::string operator()(const checkers::FeedHeard& heard) const {
    return fmt::format("hears feed {} of {} to {}", heard.feed, heard.source, heard.group);
  }
  std::string operator()(const checkers::FeedGot& got) const { return fmt::format("gets of feed {}", got.feed); }
  std::string operator()(const checkers::FeedMissed& missed) const {
    return fmt::format("misses {} packets of feed {} from {} on, {}", missed.count, missed.feed, missed.first,
                       missed.cause == spindle::FeedGap::Cause::slow ? "slow" : "lost");
  }
  std::string operator()(const checkers::FeedOver& over) const {
    constexpr std::array kWhys{"closed", "lost", "denied", "left"};
    return fmt::format("is told that feed {} is over: {}", over.feed,
                       kWhys[static_cast<std::size_t>(over.why) % kWhys.size()]);
  }
  std::string operator()(const checkers::FeedFrameWrong& wrong) const { return "is told " + wrong.what; }
};

bool names(const std::vector<Finding>& findings, const std::string& what) {
  return std::any_of(findings.begin(), findings.end(), [&](const Finding& finding) {
    const std::size_t at = finding.sentence.find(what);
    if (at == std::string::npos) return false;
    // "#m1#d002" is not named by "#m1#d0023".
    const std::size_t end = at + what.size();
    return end == finding.sentence.size() || std::isalnum(static_cast<unsigned char>(finding.sentence[end])) == 0;
  });
}

std::string name_of(const Event& event) {
  if (const auto* sent = std::get_if<checkers::Sent>(&event.what)) return fmt::format("{:016x}", sent->message.digest);
  if (const auto* got = std::get_if<checkers::Delivered>(&event.what)) {
    return fmt::format("{:016x}", got->message.digest);
  }
  if (const auto* view = std::get_if<checkers::GroupView>(&event.what)) return checkers::to_text(view->id);
  return "";
}

/// Which events to show: those near a message or view that is named, otherwise the last ones.
std::vector<bool> choose(const ClientHistory& client, const std::vector<Finding>& findings) {
  std::vector<bool> shown(client.events.size(), false);
  bool any = false;
  for (std::size_t i = 0; i < client.events.size(); ++i) {
    const std::string digest = name_of(client.events[i]);
    if (digest.empty() || !names(findings, digest)) continue;
    any = true;
    const std::size_t from = i - std::min(i, kEventsAround);
    const std::size_t to = std::min(i + kEventsAround + 1, client.events.size());
    std::fill(shown.begin() + static_cast<std::ptrdiff_t>(from), shown.begin() + static_cast<std::ptrdiff_t>(to), true);
  }
  if (!any) {
    const std::size_t last = std::min<std::size_t>(client.events.size(), 2 * kEventsAround);
    std::fill(shown.end() - static_cast<std::ptrdiff_t>(last), shown.end(), true);
  }
  return shown;
}

std::string events_text(const ClientHistory& client, const std::vector<Finding>& findings) {
  std::string text = fmt::format("== {}\n", client.name);
  const std::vector<bool> shown = choose(client, findings);
  std::size_t lines = 0;
  for (std::size_t i = 0; i < client.events.size() && lines < kEventsMax; ++i) {
    if (!shown[i]) continue;
    if (i > 0 && !shown[i - 1]) text += "     ...\n";
    text += fmt::format("{:12.6f} {}\n", to_seconds(client.events[i].at.time_since_epoch()), to_text(client.events[i]));
    ++lines;
  }
  return text;
}

/// What it had to do with feeds; of what it sends to one, or gets of it, in a row one line.
std::string feeds_text(const ClientHistory& client) {
  std::vector<std::pair<std::string, std::size_t>> lines;  // and how often
  std::vector<Time> times;                                 // of the first of each
  for (const checkers::FeedEvent& event : client.feeds) {
    std::string line = std::visit(FeedText(), event.what);
    if (!lines.empty() && lines.back().first == line) {
      ++lines.back().second;
    } else {
      lines.emplace_back(std::move(line), 1);
      times.push_back(event.at);
    }
  }
  if (lines.empty()) return "";
  std::string text = fmt::format("== feeds of {}\n", client.name);
  for (std::size_t i = lines.size() - std::min(lines.size(), kEventsMax); i < lines.size(); ++i) {
    text += fmt::format("{:12.6f} {}{}\n", to_seconds(times[i].time_since_epoch()), lines[i].first,
                        lines[i].second == 1 ? "" : fmt::format(", {} messages", lines[i].second));
  }
  return text;
}

bool are_of_feeds(const std::vector<Finding>& findings) {
  return std::any_of(findings.begin(), findings.end(),
                     [](const Finding& finding) { return finding.property == "feeds"; });
}

}  // namespace

std::string to_text(const Event& event) { return std::visit(EventText(), event.what); }

std::string explain(const sim::Simulator& simulator, const std::vector<Finding>& findings) {
  std::string text;
  std::size_t clients = 0;
  for (const ClientHistory& client : simulator.history().clients) {
    if (clients == kClientsMax || !names(findings, client.name)) continue;
    text += events_text(client, findings);
    if (are_of_feeds(findings)) text += feeds_text(client);
    ++clients;
  }
  return text + simulator.explain();
}

}  // namespace spindled::hunt
