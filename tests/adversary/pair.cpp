#include "tests/adversary/pair.h"

#include <algorithm>

#include "tests/integration/clients.h"

namespace spindle::test {

namespace {

constexpr const char* kGroup = "the pair";
constexpr std::uint16_t kQuestion = 1;
constexpr std::uint16_t kAnswer = 2;
/// How long each waits for an event before it looks whether it is to stop.
constexpr std::chrono::milliseconds kLook{50};

double to_ms(Clock::duration duration) { return std::chrono::duration<double, std::milli>(duration).count(); }

double quantile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  const auto last = static_cast<double>(sorted.size() - 1);
  return sorted[static_cast<std::size_t>(share * last + 0.5)];
}

}  // namespace

Pair::Pair(Daemon& asking, Daemon& answering)
    : asking_(asking.connect("pair-asking")), answering_(answering.connect("pair-answering")) {
  const std::vector<std::string> both{std::string(asking_.private_name()), std::string(answering_.private_name())};
  for (Connection* each : {&asking_, &answering_}) {
    if (const std::error_code error = each->join(kGroup)) throw std::system_error(error, "the pair cannot join");
  }
  for (Connection* each : {&asking_, &answering_}) wait_for_members(*each, kGroup, both);
  answering_thread_ = std::thread(&Pair::answer, this);
  asking_thread_ = std::thread(&Pair::ask, this);
}

Pair::~Pair() {
  stopping_ = true;
  asking_thread_.join();
  answering_thread_.join();
}

void Pair::ask() {
  bool waits = false;
  while (!stopping_) {
    if (!waits) {
      waits = true;
      note_question();
      if (asking_.multicast(Service::agreed, kGroup, "how are you", {.type = kQuestion})) return fail("cannot ask");
    }
    std::error_code error;
    const std::optional<Event> event = asking_.receive(kLook, error);
    if (!event && error != Errc::timed_out) return fail("the one who asks is cut off");
    if (!event) continue;
    if (event->is<GroupView>()) note_view();
    if (const auto* end = event->get_if<Disconnected>()) return fail("the one who asks is cut off: " + end->text);
    const auto* message = event->get_if<Message>();
    if (message == nullptr || message->type() != kAnswer) continue;
    note_answer();
    waits = false;
  }
}

void Pair::note_question() {
  const std::lock_guard lock(mutex_);
  asked_at_ = Clock::now();
}

void Pair::note_answer() {
  const std::lock_guard lock(mutex_);
  round_trips_.push_back(to_ms(Clock::now() - asked_at_));
}

void Pair::answer() {
  while (!stopping_) {
    std::error_code error;
    const std::optional<Event> event = answering_.receive(kLook, error);
    if (!event && error != Errc::timed_out) return fail("the one who answers is cut off");
    if (!event) continue;
    if (event->is<GroupView>()) note_view();
    if (const auto* end = event->get_if<Disconnected>()) {
      return fail("the one who answers is cut off: " + end->text);
    }
    const auto* message = event->get_if<Message>();
    if (message == nullptr || message->type() != kQuestion) continue;
    if (answering_.multicast(Service::agreed, kGroup, "well", {.type = kAnswer})) return fail("cannot answer");
  }
}

void Pair::fail(const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (trouble_.empty()) trouble_ = why;
}

std::string Pair::trouble() {
  const std::lock_guard lock(mutex_);
  return trouble_;
}

void Pair::start_measuring() {
  const std::lock_guard lock(mutex_);
  round_trips_.clear();
  measured_since_ = Clock::now();
}

bool Pair::has_been_answered() {
  const std::lock_guard lock(mutex_);
  return !round_trips_.empty();
}

PairFigures Pair::stop_measuring() {
  const std::lock_guard lock(mutex_);
  const Clock::time_point now = Clock::now();
  PairFigures figures;
  figures.rate = static_cast<double>(round_trips_.size()) / (to_ms(now - measured_since_) / 1000);
  std::vector<double> sorted = round_trips_;
  sorted.push_back(to_ms(now - std::max(asked_at_, measured_since_)));
  std::sort(sorted.begin(), sorted.end());
  figures.median_ms = quantile(sorted, 0.5);
  figures.p99_ms = quantile(sorted, 0.99);
  figures.longest_ms = sorted.back();
  return figures;
}

}  // namespace spindle::test
