// Jobs that a group of workers shares out without anybody in charge, and that are taken over when a worker leaves.
//
// A job is an agreed message to the group, so all workers know the same jobs in the same order, and by one rule find
// the same worker for each. An answer goes to who has asked, by its private name, and with the same message to the
// group, which forgets the job then. Where the network splits each side does all jobs that it knows of: who asks takes
// the first answer.
#include <spindle/connection.h>

#include <algorithm>
#include <chrono>
#include <iostream>
#include <list>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <thread>

#include "options.h"

namespace {

constexpr std::string_view kHelp = R"(work_queue [--connect ADDRESS] [--name NAME] [--seconds S] work GROUP
work_queue [--connect ADDRESS] [--name NAME] ask GROUP NUMBER...

The first is a worker of GROUP, which splits numbers into their prime factors, each in S seconds (0) more than that takes,
until it is ended. The second asks the workers for those of each NUMBER, and ends when all have come.
)";

constexpr std::uint16_t kJob = 0;     // "ID NUMBER", to the group; the ID is the asker's
constexpr std::uint16_t kAnswer = 1;  // "ASKER ID NUMBER = FACTOR * FACTOR ...", to the asker and to the group

std::string factorize(std::uint64_t number) {
  std::ostringstream text;
  text << number << " =";
  const char* between = " ";
  for (std::uint64_t factor = 2; number > 1; ++factor) {
    if (factor > number / factor) factor = number;
    for (; number % factor == 0; number /= factor, between = " * ") text << between << factor;
  }
  return text.str();
}

struct Job {
  std::string asker;
  std::string id;
  std::uint64_t number = 0;
  std::vector<std::string> candidates;  // the members that know it, in an order that is the same at all of them
  std::string worker;                   // who of these does it
};

class Worker {
 public:
  Worker(spindle::Connection& connection, std::string group, std::chrono::seconds pause)
      : connection_(connection), group_(std::move(group)), pause_(pause) {}

  /// Until the connection ends.
  void run() {
    connection_.join(group_, std::chrono::seconds(5)).value();
    while (true) {
      // What has come is looked at before each job: somebody may have left.
      const std::chrono::nanoseconds patience = my_job() == jobs_.end() ? std::chrono::hours(1) : std::chrono::hours(0);
      std::error_code error;
      if (auto event = connection_.receive(patience, error)) {
        handle(*event);
      } else if (error == spindle::Errc::not_connected) {
        return;
      } else if (const auto job = my_job(); job != jobs_.end()) {
        perform(*job);
      }
    }
  }

 private:
  using Jobs = std::list<Job>;

  Jobs::iterator my_job() {
    return std::find_if(jobs_.begin(), jobs_.end(), [&](const Job& job) {
      return job.worker == connection_.private_name() && done_.count({job.asker, job.id}) == 0;
    });
  }

  void handle(const spindle::Event& event) {
    if (const auto* message = event.get_if<spindle::Message>()) {
      message->type() == kJob ? take(*message) : forget(*message);
    } else if (const auto* view = event.get_if<spindle::GroupView>()) {
      if (view->has_members()) take(*view);
    } else if (const auto* again = event.get_if<spindle::Reconnected>()) {
      if (!again->resumed) begin_anew();
    } else if (const auto* end = event.get_if<spindle::Disconnected>()) {
      std::cout << "the connection has ended: " << end->text << std::endl;
    }
  }

  void take(const spindle::Message& message) {
    Job job;
    job.asker = message.sender();
    job.candidates = members_;
    std::istringstream(std::string(message.text())) >> job.id >> job.number;
    assign(job);
    jobs_.push_back(job);
  }

  /// As another member, who knows of no jobs. The others have given its own to each other.
  void begin_anew() {
    jobs_.clear();
    done_.clear();
    members_.clear();
  }

  /// By the number alone: who knows the job and its candidates finds the same worker, whatever else it has seen.
  void assign(Job& job) const {
    if (!job.candidates.empty()) job.worker = job.candidates[job.number % job.candidates.size()];
  }

  void forget(const spindle::Message& message) {
    std::string asker, id;
    std::istringstream(std::string(message.text())) >> asker >> id;
    jobs_.remove_if([&](const Job& job) { return job.asker == asker && job.id == id; });
    done_.erase({asker, id});
  }

  /// Who comes has not seen the jobs that there are; those of who has gone are given to others that have.
  void take(const spindle::GroupView& view) {
    members_ = view.members;
    std::cout << members_.size() << " workers" << std::endl;
    for (Job& job : jobs_) {
      std::erase_if(job.candidates, [&](const std::string& name) { return !is_here(name); });
      if (is_here(job.worker)) continue;
      std::cout << "job " << job.number << " of " << job.worker << " is given to others" << std::endl;
      assign(job);
    }
  }

  bool is_here(const std::string& name) const {
    return std::find(members_.begin(), members_.end(), name) != members_.end();
  }

  void perform(const Job& job) {
    std::cout << "doing " << job.number << std::endl;
    std::this_thread::sleep_for(pause_);
    const std::string answer = job.asker + " " + job.id + " " + factorize(job.number);
    const auto error = connection_.multicast(spindle::Service::agreed, {job.asker, group_}, answer, {.type = kAnswer});
    if (error) throw std::system_error(error);
    done_.emplace(job.asker, job.id);  // until the answer comes back
  }

  spindle::Connection& connection_;
  const std::string group_;
  const std::chrono::seconds pause_;
  std::vector<std::string> members_;
  Jobs jobs_;                                           // that nobody has answered, as far as has been told
  std::set<std::pair<std::string, std::string>> done_;  // those of them that this worker has answered
};

using Questions = std::map<std::string, std::string>;  // numbers, by id

void send(spindle::Connection& connection, const std::string& group, const Questions& questions) {
  for (const auto& [id, number] : questions) {
    const auto error = connection.multicast(spindle::Service::agreed, group, id + " " + number, {.type = kJob});
    if (error) throw std::system_error(error);
  }
}

/// Asks for all numbers at once, and shows answers in the order in which they come.
void ask(spindle::Connection& connection, const std::string& group, const std::vector<std::string>& numbers) {
  Questions open;
  for (const std::string& number : numbers) open.emplace(std::to_string(open.size() + 1), number);
  send(connection, group, open);
  while (!open.empty()) {
    const auto event = connection.receive();
    if (!event) throw std::system_error(spindle::Errc::not_connected);
    // Answers go to the name that asked, which is nobody's now.
    const auto* again = event->get_if<spindle::Reconnected>();
    if (again != nullptr && !again->resumed) send(connection, group, open);
    const auto* message = event->get_if<spindle::Message>();
    if (message == nullptr || message->type() != kAnswer) continue;
    std::istringstream words{std::string(message->text())};
    std::string asker, id, answer;
    words >> asker >> id;
    std::getline(words >> std::ws, answer);
    if (open.erase(id) != 0) std::cout << answer << std::endl;
  }
}

int run(const examples::Options& options) {
  const std::vector<std::string>& words = options.words();
  if (words.size() < 2) throw std::system_error(spindle::Errc::bad_argument, "say --help");
  spindle::Connection connection =
      spindle::Connection::connect({.address = options["connect"], .name = options["name"]}).value();
  if (words[0] == "work") {
    Worker(connection, words[1], std::chrono::seconds(options.number("seconds"))).run();
    return 1;
  }
  ask(connection, words[1], {words.begin() + 2, words.end()});
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  return run(examples::Options(argc, argv, kHelp, {{"connect", ""}, {"name", ""}, {"seconds", "0"}}));
} catch (const std::system_error& error) {
  std::cerr << "work_queue: " << error.what() << '\n';
  return 1;
}
