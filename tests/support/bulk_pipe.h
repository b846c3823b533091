// A holder and receivers of a channel, joined by pipes that have a rate and lose, repeat, reorder and corrupt symbols,
// in virtual time. The part of a daemon is played in a few lines: it grants symbols where there is room, and drops
// live ones where there is none.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <random>
#include <vector>

#include "libclient/bulk/bulk_holder.h"
#include "libclient/bulk/crc32c.h"
#include "tests/support/bulk_store.h"

namespace spindle::test {

/// Of a thousand symbols.
struct PipeFaults {
  unsigned lost = 0, repeated = 0, reordered = 0;
  unsigned corrupt = 0;  // the CRC tells
  unsigned wrong = 0;    // it does not
};

struct PipeShape {
  std::size_t symbols_per_ms = 4;
  bulk::Nanoseconds delay = std::chrono::milliseconds(5);
  std::size_t queue = 16;  // symbols that wait for the pipe
  PipeFaults faults = {};
};

struct PipeCounters {
  std::uint64_t sent = 0;  // into the pipe
  std::uint64_t lost = 0, repeated = 0, corrupt = 0, wrong = 0;
  std::uint64_t left_out = 0;  // live symbols without room
};

class BulkPipe {
 public:
  using Bytes = std::vector<std::uint8_t>;

  BulkPipe(const PipeShape& shape, std::uint32_t seed) : shape_(shape), random_(seed) {}

  bool has_room() const { return room() > 0; }
  std::size_t room() const {
    const auto symbols = static_cast<std::size_t>(
        std::count_if(queue_.begin(), queue_.end(), [](const InPipe& each) { return each.mark == 0; }));
    return shape_.queue - std::min(shape_.queue, symbols);
  }
  bool empty() const { return queue_.empty() && on_way_.empty(); }
  void set_faults(const PipeFaults& faults) { shape_.faults = faults; }
  const PipeCounters& counters() const { return counters_; }
  PipeCounters& counters() { return counters_; }

  void send(const bulk::Symbol& symbol) {
    queue_.push_back({symbol, {symbol.bytes.begin(), symbol.bytes.end()}, {}, 0});
    ++counters_.sent;
  }
  void send_mark(std::uint64_t mark) { queue_.push_back({{}, {}, {}, mark}); }

  /// Moves what has the time for it, and gives what arrives to `take`, and marks to `take_mark`.
  template <typename Take, typename TakeMark>
  void advance(bulk::Nanoseconds now, Take&& take, TakeMark&& take_mark) {
    for (std::size_t i = 0; i < shape_.symbols_per_ms && !queue_.empty();) {
      if (queue_.front().mark == 0) ++i;
      queue_.front().at = now + shape_.delay;
      damage(std::move(queue_.front()));
      queue_.pop_front();
    }
    while (!on_way_.empty() && on_way_.front().at <= now) {
      InPipe arrived = std::move(on_way_.front());
      on_way_.pop_front();
      if (arrived.mark != 0) {
        take_mark(arrived.mark);
        continue;
      }
      arrived.symbol.bytes = arrived.bytes;
      take(arrived.symbol);
    }
  }

 private:
  struct InPipe {
    bulk::Symbol symbol;
    Bytes bytes;
    bulk::Nanoseconds at;
    std::uint64_t mark = 0;  // not 0: a mark
  };

  bool draw(unsigned of_thousand) { return random_() % 1000 < of_thousand; }

  void damage(InPipe symbol) {
    const PipeFaults& faults = shape_.faults;
    if (symbol.mark != 0) return on_way_.push_back(std::move(symbol));
    if (draw(faults.lost)) {
      ++counters_.lost;
      return;
    }
    if (draw(faults.corrupt)) {
      symbol.bytes[random_() % symbol.bytes.size()] ^= 4;
      ++counters_.corrupt;
    } else if (draw(faults.wrong)) {
      symbol.bytes[random_() % symbol.bytes.size()] ^= 4;
      symbol.symbol.crc = bulk::crc32c(symbol.bytes);
      ++counters_.wrong;
    }
    if (draw(faults.repeated)) {
      on_way_.push_back(symbol);
      ++counters_.repeated;
    }
    on_way_.push_back(std::move(symbol));
    if (on_way_.size() <= 1 || !draw(faults.reordered)) return;
    InPipe& other = on_way_[random_() % on_way_.size()];
    if (other.mark == 0) std::swap(on_way_.back(), other);
  }

  PipeShape shape_;
  std::mt19937 random_;
  std::deque<InPipe> queue_, on_way_;
  PipeCounters counters_;
};

/// A receiver at the end of its pipe, which is one child of the holder.
struct PipedReceiver {
  PipedReceiver(const PipeShape& shape, std::uint32_t seed, const codes::ErasureCode& code, const bulk::Hasher& hasher)
      : pipe(shape, seed), store(code, hasher) {}

  BulkPipe pipe;
  BulkStore store;
  std::unique_ptr<bulk::BulkReceiver> receiver;
  std::uint64_t granted = 0;  // and not sent yet
  // What it lacks is known when a mark has come back, and sent in a stream.
  std::uint64_t marks = 0;
  std::uint32_t bound = 0;  // below which the last one counts
  bool is_marked = false;   // and has not come back
  bool has_stream = false;
};

/// Symbols of other holders than the first have their number as stream.
class BulkSwarm {
 public:
  BulkSwarm(const codes::ErasureCode& code, const bulk::Hasher& hasher) : code_(code), hasher_(hasher) {}

  PipedReceiver& add(const PipeShape& shape, std::uint32_t seed) {
    receivers.push_back(std::make_unique<PipedReceiver>(shape, seed, code_, hasher_));
    return *receivers.back();
  }

  /// A millisecond passes. The holder, if there is one, has its content in `content`.
  void step(bulk::BulkHolder* holder, const std::vector<std::uint8_t>& content, std::size_t live_per_ms) {
    now += std::chrono::milliseconds(1);
    for (auto& each : receivers) {
      each->pipe.advance(
          now,
          [&](const bulk::Symbol& symbol) {
            if (each->receiver) each->receiver->handle_symbol(now, symbol, symbol.stream);
          },
          [&](std::uint64_t mark) {
            if (each->receiver) each->receiver->handle_mark(mark);
          });
      if (each->receiver) each->store.run_all(now, *each->receiver);
    }
    if (holder == nullptr) return;
    if (live_per_ms > live_granted_) holder->handle_grant(bulk::kLiveStream, live_per_ms - live_granted_);
    live_granted_ = std::max(live_granted_, live_per_ms);
    for (std::size_t i = 0; i < receivers.size(); ++i)
      tell_need(*holder, *receivers[i], static_cast<std::uint8_t>(i + 1));
    send(*holder, content);
  }

  std::vector<std::unique_ptr<PipedReceiver>> receivers;
  bulk::Nanoseconds now = std::chrono::seconds(1);
  std::size_t loads = 0;

 private:
  void tell_need(bulk::BulkHolder& holder, PipedReceiver& child, std::uint8_t stream) {
    if (!child.receiver) return;
    const auto need = child.receiver->take_need(now);
    if (need && child.is_marked && need->seen == child.marks) {
      child.is_marked = false;
      child.has_stream = true;
      child.granted = 0;
      bulk::Need lacking = *need;
      lacking.complete.add_run(child.bound, bulk::kBlocksMax);
      std::erase_if(lacking.begun, [&](const auto& each) { return lacking.complete.contains(each.block); });
      holder.handle_need(stream, lacking);
    }
    // A child gets symbols of its own where its pipe has room for more than live ones.
    const std::size_t room = child.pipe.room();
    if (child.has_stream && room > child.granted) {
      holder.handle_grant(stream, room - child.granted);
      child.granted = room;
    }
    const std::uint32_t bound = holder.is_live_over() ? bulk::kBlocksMax : live_block_;
    if (child.has_stream || child.is_marked || child.receiver->complete().first_missing() >= bound) return;
    child.pipe.send_mark(++child.marks);
    child.is_marked = true;
    child.bound = bound;
  }
  void finish(std::uint8_t stream) {
    if (stream != bulk::kLiveStream) receivers[stream - 1u]->has_stream = false;
  }

  void send(bulk::BulkHolder& holder, const std::vector<std::uint8_t>& content) {
    while (true) {
      const auto symbol = holder.next_symbol();
      while (const auto finished = holder.take_finished()) finish(*finished);
      if (!symbol) {
        if (!load(holder, content)) return;
        while (const auto index = holder.take_index()) tell(*index);
        continue;
      }
      if (symbol->stream != bulk::kLiveStream) {
        PipedReceiver& child = *receivers[symbol->stream - 1u];
        child.pipe.send(*symbol);
        --child.granted;
        continue;
      }
      --live_granted_;
      live_block_ = symbol->block;
      for (auto& each : receivers) {
        if (!each->receiver) continue;
        if (each->pipe.has_room()) {
          each->pipe.send(*symbol);
        } else {
          ++each->pipe.counters().left_out;
        }
      }
    }
  }

  bool load(bulk::BulkHolder& holder, const std::vector<std::uint8_t>& content) {
    auto job = holder.take_job();
    if (!job) return false;
    ++loads;
    const auto read = [&](std::uint64_t start, std::span<std::uint8_t> to) {
      if (start + to.size() > content.size()) return false;
      std::copy_n(content.begin() + static_cast<std::ptrdiff_t>(start), to.size(), to.begin());
      return true;
    };
    holder.handle_loaded(bulk::run(std::move(*job), read, code_, hasher_));
    return true;
  }

  void tell(const bulk::IndexPart& index) {
    // Daemons keep it for those who come later.
    for (std::uint32_t i = 0; i < index.count(); ++i) {
      bulk::BlockHash hash{};
      std::copy_n(index.hash(i).begin(), hash.size(), hash.begin());
      index_.set(index.first + i, hash);
    }
    for (auto& each : receivers) {
      if (each->receiver) each->receiver->handle_index(now, index);
    }
  }

 public:
  /// To one who comes later.
  void tell_index(bulk::BulkReceiver& receiver) {
    for (const bulk::BlockSet::Run& run : index_.known().runs()) {
      receiver.handle_index(now, {0, run.first, index_.hashes_from(run.first, run.end - run.first)});
    }
  }

 private:
  const codes::ErasureCode& code_;
  const bulk::Hasher& hasher_;
  bulk::BlockIndex index_;
  std::size_t live_granted_ = 0;  // and not sent yet
  std::uint32_t live_block_ = 0;  // that is sent live now
};

}  // namespace spindle::test
