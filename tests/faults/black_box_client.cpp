#include "tests/faults/black_box_client.h"

#include <sstream>
#include <stdexcept>

namespace spindle::test {

using namespace spindled::checkers;

namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  if (text.empty()) return parts;
  std::size_t at = 0;
  for (std::size_t end; (end = text.find(separator, at)) != std::string::npos; at = end + 1) {
    parts.push_back(text.substr(at, end - at));
  }
  parts.push_back(text.substr(at));
  return parts;
}

/// What follows the word of a line, taken one by one.
class Words {
 public:
  explicit Words(std::vector<std::string> words) : words_(std::move(words)) {}

  std::string text() { return words_.at(next_++); }
  std::uint64_t number() { return std::stoull(text()); }
  std::vector<std::string> list() { return split(text(), ','); }
  bool done() const { return next_ == words_.size(); }

 private:
  std::vector<std::string> words_;
  std::size_t next_ = 0;
};

/// Digest, size, service, type, and, of one that was sent, whether its sender wants no copy.
MessageRecord read_message(Words& words, std::string sender, bool* self_discard) {
  MessageRecord message;
  message.sender = std::move(sender);
  message.digest = words.number();
  message.size = words.number();
  message.service = static_cast<spindled::Service>(words.number());
  message.type = static_cast<std::uint16_t>(words.number());
  if (self_discard != nullptr) *self_discard = words.number() != 0;
  message.groups = words.list();
  return message;
}

spindled::checkers::GroupView read_view(Words& words) {
  spindled::checkers::GroupView view;
  view.group = words.text();
  view.id.view_number = words.number();
  view.id.coordinator = words.text();
  view.id.incarnation = words.number();
  view.id.position = words.number();
  view.cause = static_cast<spindle::ViewCause>(words.number());
  view.digest_matches = words.number() != 0;
  view.members = words.list();
  view.vs_set = words.list();
  view.changed = words.list();
  return view;
}

decltype(spindled::checkers::Event::what) read_event(const std::string& word, Words& words, const std::string& self) {
  if (word == "sent") {
    Sent sent;
    sent.message = read_message(words, self, &sent.self_discard);
    return sent;
  }
  if (word == "got") {
    std::string sender = words.text();
    return Delivered{read_message(words, std::move(sender), nullptr)};
  }
  if (word == "join") return JoinRequested{words.text()};
  if (word == "leave") return LeaveRequested{words.text()};
  if (word == "view") return read_view(words);
  if (word == "signal") return spindled::checkers::Transitional{words.text()};
  std::string first = words.text();
  if (word == "refused") return Refused{std::move(first), static_cast<std::uint16_t>(words.number())};
  if (word == "closed") return Closed{static_cast<std::uint16_t>(std::stoul(first)), words.text()};
  throw std::runtime_error("a history has the word " + word);
}

}  // namespace

BlackBoxClient::BlackBoxClient(const std::string& socket, const std::string& name, std::uint64_t seed) {
  ProcessOptions options;
  options.environment = {"PYTHONDONTWRITEBYTECODE=1"};
  options.arguments = {std::string(SPINDLE_SOURCE_DIR) + "/tests/blackbox/talker.py", socket, name,
                       std::to_string(seed), directory_.path("history")};
  process_ = std::make_unique<Process>(SPINDLE_PYTHON, options);
  process_->wait_for_line("ready");
}

bool BlackBoxClient::is_at_rest() { return process_->output(Process::Stream::out).ends_with("\nrest\n"); }

std::string BlackBoxClient::state() { return "a client written from the page: " + process_->transcript(); }

std::vector<ClientHistory> BlackBoxClient::finish() {
  process_->signal(SIGTERM);
  if (process_->wait() != 0) throw std::runtime_error(state());
  return read_histories(read_file(directory_.path("history")));
}

std::vector<ClientHistory> read_histories(const std::string& text) {
  std::vector<ClientHistory> histories;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::vector<std::string> words = split(line, '\t');
    if (words.size() == 2 && words[0] == "client") {
      histories.push_back({words[1], {}});
      continue;
    }
    if (words.size() < 3 || histories.empty()) throw std::runtime_error("a history has the line " + line);
    const spindled::Time at{std::chrono::nanoseconds(std::stoll(words[0]))};
    const std::string word = words[1];
    Words rest({words.begin() + 2, words.end()});
    ClientHistory& history = histories.back();
    history.events.push_back({at, read_event(word, rest, history.name)});
    if (!rest.done()) throw std::runtime_error("a history has the line " + line);
  }
  return histories;
}

}  // namespace spindle::test
