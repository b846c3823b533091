// The thread of bulk transfers, for tests: it has jobs done at once, or when a test says so.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "libclient/codes/raptorq_code.h"
#include "libclient/src/bulk_transfer.h"
#include "libclient/src/sha256.h"

namespace spindle::test {

/// A disk whose bytes a test looks at.
class MemoryStore : public BulkStore {
 public:
  explicit MemoryStore(std::size_t size) : bytes(size) {}
  bool read(std::uint64_t start, std::span<std::uint8_t> to) const override {
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(start), to.size(), to.begin());
    return true;
  }
  StoreFailure write(std::uint64_t start, ByteView from) override {
    std::copy(from.begin(), from.end(), bytes.begin() + static_cast<std::ptrdiff_t>(start));
    return {};
  }

  std::vector<std::uint8_t> bytes;
};

class BulkHost final : public BulkTransferHost {
 public:
  void submit(std::function<std::function<void()>()> job) override {
    jobs_.push_back(std::move(job));
    if (!holds_jobs) do_jobs();
  }
  void do_jobs() {
    for (const auto& job : std::exchange(jobs_, {})) {
      if (const auto done = job()) done();
    }
  }
  void ask(protocol::BulkRequest request) override {
    if (const auto* said = std::get_if<protocol::BulkOutcomeSaid>(&request)) outcomes.push_back(said->outcome);
    if (const auto* seal = std::get_if<protocol::BulkSeal>(&request)) seals.push_back(*seal);
    is_cancelled = is_cancelled || std::holds_alternative<protocol::BulkCancel>(request);
  }
  void give(Event event) override { kinds.push_back(event.kind()); }
  void ask_and_give(protocol::BulkRequest request, Event event) override {
    ask(std::move(request));
    give(std::move(event));
  }
  void note_failure(const bulk::BulkChannelId&, const StoreFailure&) override {}
  void engines_changed(const bulk::BulkChannelId&) override {}
  void wake() override {}
  const codes::ErasureCode& code() const override { return code_; }
  const bulk::Hasher& hasher() const override { return hasher_; }
  std::shared_ptr<bulk::BlockMemory> memory() const override { return std::make_shared<bulk::HeapMemory>(); }
  std::uint32_t draw() override { return 1; }

  std::vector<EventKind> take_kinds() { return std::exchange(kinds, {}); }

  std::vector<EventKind> kinds;
  std::vector<protocol::BulkOutcome> outcomes;  // said
  std::vector<protocol::BulkSeal> seals;
  bool is_cancelled = false;
  bool holds_jobs = false;

 private:
  const codes::RaptorQCode code_{};
  const Sha256 hasher_{};
  std::vector<std::function<std::function<void()>()>> jobs_;
};

}  // namespace spindle::test
