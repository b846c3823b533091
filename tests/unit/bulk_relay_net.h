// A network of relays for tests, with one channel, in steps of a millisecond: hops have a rate and a delay, a source
// and receivers are clients that count symbols and carry no content.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "daemon/bulk/relay/channel_relay.h"
#include "libclient/bulk/crc32c.h"
#include "tests/support/sha256.h"

namespace spindled::test {

/// How much there is of a content, in symbols.
struct NetContent {
  std::uint32_t blocks = 8;
  std::uint32_t symbols = 64;  // of a block
};

class RelayNet {
 public:
  static constexpr std::uint32_t kSymbolBytes = 1024;

  explicit RelayNet(NetContent content) : content_(content) {}

  /// As it travels here.
  static RelayedSymbol symbol(std::uint32_t block, std::uint32_t esi) {
    static const std::vector<std::uint8_t> bytes(kSymbolBytes);
    static const std::uint32_t crc = spindle::bulk::crc32c(bytes);
    return {1, block, esi, crc, Slice({}, bytes.data(), bytes.size())};
  }

  struct Receiver {
    std::map<std::uint32_t, std::set<std::uint32_t>> held;  // ESIs of blocks that are not complete
    spindle::bulk::BlockSet complete;
    std::uint64_t symbols = 0;     // that came
    std::uint64_t duplicates = 0;  // that were there, or of complete blocks
    Time done_at = kNever;
    bool serves = true;
    double rate = 1e9;        // symbols a millisecond that it takes
    bool is_stopped = false;  // it says and sends nothing
    bool is_done(const NetContent& content) const { return complete.count() == content.blocks; }
  };

  /// A daemon; the name says who may be its children.
  std::size_t add_daemon(const std::string& name) {
    daemons_.push_back(std::make_unique<Daemon>(*this, name));
    daemons_.back()->relay.set_blocks(content_.blocks);
    return daemons_.size() - 1;
  }
  /// From parent to child: so many symbols a millisecond, and so many milliseconds.
  ConnectionId connect(std::size_t parent, std::size_t child, double rate, int delay = 1) {
    Daemon& from = *daemons_[parent];
    Daemon& to = *daemons_[child];
    const ConnectionId id{next_++};
    hops_.push_back({id, &from, &to, nullptr, nullptr, rate, delay, 0, true});
    from.below.insert(to.name);
    from.relay.set_plan(1, from.below);
    await(from, [&] { from.awaited.daemons.insert(to.name); });
    to.relay.add_upstream(now_, id, false);
    from.relay.add_child(now_, id, to.name);
    return id;
  }
  /// One gives the other what comes to it along the tree.
  ConnectionId connect_peers(std::size_t sender, std::size_t receiver, double rate, int delay = 1) {
    Daemon& from = *daemons_[sender];
    Daemon& to = *daemons_[receiver];
    const ConnectionId id{next_++};
    hops_.push_back({id, &from, &to, nullptr, nullptr, rate, delay, 0, true});
    from.relay.add_peer_receiver(now_, id, to.name);
    to.relay.add_peer_sender(now_, id);
    to.relay.set_round_trip(id, std::chrono::milliseconds(2 * delay));
    return id;
  }
  /// The same both ways.
  void mesh(std::size_t a, std::size_t b, double rate, int delay = 1) {
    connect_peers(a, b, rate, delay);
    connect_peers(b, a, rate, delay);
  }
  void disconnect(ConnectionId id) {
    for (Hop& hop : hops_) {
      if (hop.id != id) continue;
      hop.is_up = false;
      if (hop.to != nullptr) await(*hop.from, [&] { hop.from->awaited.daemons.erase(hop.to->name); });
      await(*hop.from, [&] { hop.from->awaited.clients.erase(id); });
      hop.from->relay.remove(now_, id);
      if (hop.to != nullptr) hop.to->relay.remove(now_, id);
    }
  }
  void set_rate(ConnectionId id, double rate) {
    for (Hop& hop : hops_) {
      if (hop.id == id) hop.rate = rate;
    }
  }
  /// A client that offers, at a daemon; so many symbols a millisecond come live.
  void add_source(std::size_t daemon, double rate = 1e9) {
    const ConnectionId id{next_++};
    sources_.push_back({id, daemons_[daemon].get()});
    sources_.back().is_source = true;
    sources_.back().rate = rate;
    daemons_[daemon]->relay.add_upstream(now_, id, true);
    daemons_[daemon]->relay.add_holder(id, true);
  }
  /// `has`: from a former time.
  Receiver& add_receiver(std::size_t daemon, double rate = 1e9, bool serves = true, spindle::bulk::BlockSet has = {}) {
    const ConnectionId id{next_++};
    receivers_.push_back(std::make_unique<Receiver>());
    Receiver& receiver = *receivers_.back();
    receiver.serves = serves;
    receiver.complete = std::move(has);
    Daemon& at = *daemons_[daemon];
    await(at, [&] { at.awaited.clients.insert(id); });
    hops_.push_back({id, &at, nullptr, &receiver, nullptr, rate, 0, 0, true});
    if (serves) sources_.push_back({id, &at});
    if (serves) sources_.back().receiver = &receiver;
    at.relay.add_child(now_, id, "");
    tell(hops_.back());
    at.relay.grant_received(id, kWindow);
    return receiver;
  }

  /// Until all are done, or so many milliseconds; whether they are.
  bool run(int milliseconds) {
    for (int i = 0; i < milliseconds; ++i) {
      if (std::all_of(receivers_.begin(), receivers_.end(),
                      [&](const auto& each) { return each->is_done(content_); })) {
        return true;
      }
      step();
    }
    return false;
  }
  /// Symbols that sources have sent live.
  std::uint64_t sent_live() const {
    std::uint64_t sent = 0;
    for (const Sender& each : sources_) sent += each.sent_live;
    return sent;
  }
  void run_for(int milliseconds) {
    for (int i = 0; i < milliseconds; ++i) step();
  }
  ChannelRelay& relay(std::size_t daemon) { return daemons_[daemon]->relay; }
  Time now() const { return now_; }
  std::uint64_t sent_over(ConnectionId id) const { return sent_.contains(id) ? sent_.at(id) : 0; }
  const NetContent& content() const { return content_; }

 private:
  static constexpr std::uint64_t kWindow = 256;

  struct Daemon final : RelayOutput {
    Daemon(RelayNet& of, std::string its_name)
        : net(of), name(std::move(its_name)), relay(*this, kSymbolBytes, net.content_.symbols, net.hasher_) {}
    void may_send(ConnectionId) override {}  // hops look in each step
    void send_need(ConnectionId to, std::uint8_t stream, const spindle::bulk::Need& need) override {
      net.later(to, *this, [to, stream, need](RelayNet& at) { at.need_arrived(to, stream, need); });
    }
    void send_grant(ConnectionId to, std::uint8_t stream, std::uint64_t symbols) override {
      net.later(to, *this, [to, stream, symbols](RelayNet& at) { at.grant_arrived(to, stream, symbols); });
    }
    void send_release(ConnectionId to, std::uint8_t stream) override {
      net.later(to, *this, [to, stream](RelayNet& at) { at.release_arrived(to, stream); });
    }
    void ask_index(ConnectionId) override {}  // nobody has any
    RelayNet& net;
    std::string name;
    ChannelRelay relay;
    std::set<std::string, std::less<>> below{};
    ChannelRelay::Awaited awaited{};
  };
  struct Hop {
    ConnectionId id{};
    Daemon* from = nullptr;
    Daemon* to = nullptr;  // null: to a receiver
    Receiver* receiver = nullptr;
    Receiver* told = nullptr;
    double rate = 0;
    int delay = 0;
    double tokens = 0;
    bool is_up = true;
    spindle::bulk::Need last_need{};
    Time told_at{};
    std::uint64_t seen = 0;  // the last mark
  };
  struct Stream {
    spindle::bulk::Need need{};
    std::uint64_t credit = 0;
    std::map<std::uint32_t, std::uint32_t> sent{};  // of blocks
  };
  /// A client that sends.
  struct Sender {
    ConnectionId id{};
    Daemon* at = nullptr;
    bool is_source = false;
    Receiver* receiver = nullptr;
    std::uint64_t live = 0;  // symbols that went, or were passed over
    std::uint64_t sent_live = 0;
    spindle::bulk::BlockSet unwanted{};
    double rate = 1e9;  // live symbols a millisecond that go at most,
    double tokens = 0;  // and may now
    std::uint64_t credit = 0;
    std::map<std::uint8_t, Stream> streams{};
    std::map<std::uint32_t, std::uint32_t> repairs{};  // made of blocks
  };

  template <typename Change>
  void await(Daemon& at, Change&& change) {
    change();
    at.relay.set_awaited(now_, at.awaited);
  }
  void later(ConnectionId to, const Daemon&, std::function<void(RelayNet&)> what) {
    int delay = 0;
    for (const Hop& hop : hops_) {
      if (hop.id == to) delay = hop.delay;
    }
    events_.emplace(now_ + delay * 1ms + 1ms, std::move(what));
  }
  Sender* sender(ConnectionId id) {
    for (Sender& each : sources_) {
      if (each.id == id) return &each;
    }
    return nullptr;
  }
  Hop* hop(ConnectionId id) {
    for (Hop& each : hops_) {
      if (each.id == id && each.is_up) return &each;
    }
    return nullptr;
  }
  void need_arrived(ConnectionId at, std::uint8_t stream, const spindle::bulk::Need& need) {
    if (stream != 0) {
      Stream& fresh = sender(at)->streams[stream];
      fresh = {};
      fresh.need = need;
    } else if (Sender* source = sender(at); source != nullptr && source->is_source) {
      source->unwanted = need.complete;
    } else if (Hop* up = hop(at)) {
      up->from->relay.need_received(now_, at, need);
    }
  }
  void grant_arrived(ConnectionId at, std::uint8_t stream, std::uint64_t symbols) {
    if (stream != 0) {
      sender(at)->streams[stream].credit += symbols;
    } else if (Sender* source = sender(at); source != nullptr && source->is_source) {
      source->credit += symbols;
    } else if (Hop* up = hop(at)) {
      up->from->relay.grant_received(at, symbols);
    }
  }
  void release_arrived(ConnectionId at, std::uint8_t stream) {
    if (Sender* of = sender(at)) of->streams.erase(stream);
  }

  /// What is next in a stream; nothing: there is no more.
  std::optional<std::pair<std::uint32_t, std::uint32_t>> next_of(Sender& from, Stream& stream) {
    const std::uint32_t whole =
        from.is_source ? static_cast<std::uint32_t>(from.live / content_.symbols) : content_.blocks;
    const auto rest = from.is_source ? static_cast<std::uint32_t>(from.live % content_.symbols) : 0;
    for (std::uint32_t block = 0; block < content_.blocks; ++block) {
      if (stream.need.complete.contains(block)) continue;
      if (from.receiver != nullptr && !from.receiver->complete.contains(block)) continue;
      const std::uint32_t held = stream.need.held_of(block);
      std::uint32_t& sent = stream.sent[block];
      const std::uint32_t there = block < whole ? content_.symbols : block == whole ? rest : 0;
      if (held == 0 && sent < there) return std::pair(block, sent++);
      const std::uint32_t wanted = held < content_.symbols ? content_.symbols - held : 2;
      if (block < whole && held != 0 && sent < wanted) {
        ++sent;
        const auto maker = static_cast<std::uint32_t>(from.id);
        return std::pair(block, content_.symbols + 2048 * from.repairs[block]++ + maker);
      }
    }
    return std::nullopt;
  }
  void pass_over(Sender& from) const {
    if (from.live % content_.symbols != 0) return;
    const auto block = static_cast<std::uint32_t>(from.live / content_.symbols);
    from.live = std::uint64_t{std::min(from.unwanted.first_missing(block), content_.blocks)} * content_.symbols;
    if (from.live == std::uint64_t{content_.blocks} * content_.symbols && from.live / content_.symbols > block) {
      from.at->relay.release_received(now_, from.id, 0);
    }
  }
  void run_sender(Sender& from) {
    if (from.is_source) pass_over(from);
    from.tokens = std::min(from.tokens, from.rate) + from.rate;
    while (from.is_source && from.credit > 0 && from.tokens >= 1 &&
           from.live < std::uint64_t{content_.blocks} * content_.symbols) {
      --from.credit;
      from.tokens -= 1;
      ++from.sent_live;
      const auto block = static_cast<std::uint32_t>(from.live / content_.symbols);
      const auto esi = static_cast<std::uint32_t>(from.live % content_.symbols);
      ++from.live;
      from.at->relay.symbol_received(now_, from.id, 0, symbol(block, esi));
      if (from.live == std::uint64_t{content_.blocks} * content_.symbols) {
        from.at->relay.release_received(now_, from.id, 0);
      }
      pass_over(from);
    }
    for (auto at = from.streams.begin(); at != from.streams.end();) {
      auto& [number, stream] = *at;
      bool is_over = false;
      while (stream.credit > 0 && !is_over) {
        const auto next = next_of(from, stream);
        is_over = !next;
        if (!next) break;
        --stream.credit;
        from.at->relay.symbol_received(now_, from.id, number, symbol(next->first, next->second));
      }
      const std::uint8_t ended = number;
      at = is_over ? from.streams.erase(at) : std::next(at);
      if (is_over) from.at->relay.release_received(now_, from.id, ended);
    }
  }
  void take(Receiver& receiver, const RelayedSymbol& symbol) {
    ++receiver.symbols;
    if (receiver.complete.contains(symbol.block) || !receiver.held[symbol.block].insert(symbol.esi).second) {
      ++receiver.duplicates;
      return;
    }
    if (receiver.held[symbol.block].size() < content_.symbols) return;
    receiver.held.erase(symbol.block);
    receiver.complete.add(symbol.block);
    if (receiver.is_done(content_)) receiver.done_at = now_;
  }
  void tell(Hop& to) {
    spindle::bulk::Need need;
    need.complete = to.receiver->complete;
    need.serves = to.receiver->serves;
    for (const auto& [block, held] : to.receiver->held) {
      if (!held.empty()) need.begun.push_back({block, static_cast<std::uint32_t>(held.size())});
    }
    need.seen = to.seen;
    const Duration wait = need.seen != to.last_need.seen || to.told_at == Time{} ? 0ms
                          : need != to.last_need                                 ? 250ms
                                                                                 : 1s;
    if (now_ - to.told_at < wait) return;
    to.last_need = need;
    to.told_at = now_;
    to.from->relay.need_received(now_, to.id, need);
  }
  void run_hop(Hop& over) {
    if (!over.is_up) return;
    over.tokens = std::min(over.tokens + over.rate, std::max(over.rate, 1.0) * 2);
    while (over.tokens >= 1) {
      std::optional<ChannelRelay::Item> next = over.from->relay.next(now_, over.id);
      if (!next) break;
      if (const auto* mark = std::get_if<RelayedMark>(&*next)) {
        deliver(over, *mark);
        continue;
      }
      over.tokens -= 1;
      ++sent_[over.id];
      const RelayedSymbol& symbol = std::get<RelayedSymbol>(*next);
      if (over.receiver != nullptr) {
        take(*over.receiver, symbol);
        over.from->relay.grant_received(over.id, 1);
      } else {
        // No more of it than a frame carries: the place in a ring is its relay's own.
        const RelayedSymbol sent{symbol.generation, symbol.block, symbol.esi, symbol.crc, symbol.bytes};
        events_.emplace(now_ + over.delay * 1ms, [id = over.id, sent](RelayNet& at) {
          if (Hop* hop = at.hop(id)) hop->to->relay.symbol_received(at.now_, id, 0, sent);
        });
      }
    }
    if (over.receiver != nullptr && !over.receiver->is_stopped) tell(over);
  }
  void deliver(Hop& over, const RelayedMark& mark) {
    if (over.receiver != nullptr) {
      over.seen = mark.mark;
      return;
    }
    events_.emplace(now_ + over.delay * 1ms, [id = over.id, mark](RelayNet& at) {
      if (Hop* hop = at.hop(id)) hop->to->relay.mark_received(at.now_, id, mark);
    });
  }
  void step() {
    now_ += 1ms;
    while (!events_.empty() && events_.begin()->first <= now_) {
      const auto what = std::move(events_.begin()->second);
      events_.erase(events_.begin());
      what(*this);
    }
    for (Sender& each : sources_) {
      if (each.receiver == nullptr || !each.receiver->is_stopped) run_sender(each);
    }
    for (std::size_t i = 0; i < hops_.size(); ++i) run_hop(hops_[(i + turn_) % hops_.size()]);
    ++turn_;
    for (const auto& daemon : daemons_) daemon->relay.handle_time(now_);
  }

  NetContent content_;
  spindle::test::Sha256 hasher_;
  Time now_{1h};
  std::uint64_t next_ = 1;
  std::size_t turn_ = 0;
  std::vector<std::unique_ptr<Daemon>> daemons_;
  std::vector<std::unique_ptr<Receiver>> receivers_;
  std::deque<Hop> hops_;
  std::deque<Sender> sources_;
  std::multimap<Time, std::function<void(RelayNet&)>> events_;
  std::map<ConnectionId, std::uint64_t> sent_;
};

}  // namespace spindled::test
