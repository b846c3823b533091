// Two ends of a protected connection, and somebody between them who delays, cuts, alters, loses and adds. The input is
// a sequence of steps (tls_steps.h). What an end delivers is what the other has written, in order and without gaps, and
// after a failure it delivers nothing.
#include <array>

#include "libclient/tls/tls_engine.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/tls_steps.h"
#include "tests/support/tls_certificates.h"

namespace {

using namespace spindle;
using namespace spindle::test;
using spindle_fuzz::Input;
using spindle_fuzz::TlsStep;

struct Contexts {
  std::shared_ptr<const TlsContext> dialling, accepting;
};

/// Keys are made once in a process.
const Contexts& contexts() {
  static const Contexts made = [] {
    TestAuthority authority;
    const std::string bundle = make_bundle(authority, {.uri = "spindle://fuzz/daemon/alpha"});
    std::string error;
    const auto make = [&](TlsSide side) { return TlsContext::make({TlsPort::link, side}, bundle, {}, kToday, error); };
    Contexts both{make(TlsSide::dialling), make(TlsSide::accepting)};
    SPINDLE_CHECK(both.dialling != nullptr && both.accepting != nullptr);
    return both;
  }();
  return made;
}

/// Byte `i` of all that one end writes.
std::uint8_t byte_at(std::size_t i, bool dials) {
  return static_cast<std::uint8_t>(i * 31 + (i >> 8) + (dials ? 7 : 0));
}

class End {
 public:
  explicit End(bool dials)
      : dials_(dials), engine_(dials ? contexts().dialling : contexts().accepting, kToday, {.records = 3}) {}

  std::vector<std::uint8_t> take_unsent(std::size_t count) {
    const ByteView bytes = unsent_so_far().first(std::min(count, unsent_so_far().size()));
    std::vector<std::uint8_t> taken(bytes.begin(), bytes.end());
    outgoing_.erase(outgoing_.begin(), outgoing_.begin() + static_cast<std::ptrdiff_t>(taken.size()));
    return taken;
  }
  void alter(std::size_t place, std::uint8_t mask) {
    if (unsent_so_far().empty()) return;
    outgoing_[place % outgoing_.size()] ^= mask;
  }
  void receive(ByteView bytes) {
    while (!bytes.empty()) {
      const std::span<std::uint8_t> space = engine_.receive_space();
      const std::size_t size = std::min(space.size(), bytes.size());
      if (size == 0) {  // in earnest the stream would wait for the reader
        read(4096);
        continue;
      }
      std::copy_n(bytes.begin(), size, space.begin());
      engine_.received(size);
      bytes = bytes.subspan(size);
    }
  }
  void write(std::size_t size) {
    std::vector<std::uint8_t> text(size);
    for (std::size_t i = 0; i < size; ++i) text[i] = byte_at(written_ + i, dials_);
    const std::array<ByteView, 2> buffers{ByteView(text).first(size / 3), ByteView(text).subspan(size / 3)};
    GatheredBytes bytes(buffers, size);
    engine_.write({}, bytes);
    written_ += bytes.taken();
    SPINDLE_CHECK(engine_.unsent().size() <= TlsEngine::kUnsentMax);
  }
  void read(std::size_t size) {
    const bool may_deliver = engine_.state() == TlsEngine::State::open;
    std::vector<std::uint8_t> space(size);
    const std::size_t count = engine_.read({}, space);
    SPINDLE_CHECK(may_deliver || count == 0);
    for (std::size_t i = 0; i < count; ++i) SPINDLE_CHECK(space[i] == byte_at(read_ + i, !dials_));
    read_ += count;
  }
  void finish() { engine_.finish_writing(); }
  void end() { engine_.received_end(); }

  std::size_t bytes_written() const { return written_; }
  std::size_t bytes_read() const { return read_; }
  void check() const {
    const bool has_failed = engine_.state() == TlsEngine::State::failed;
    SPINDLE_CHECK(has_failed == (engine_.fault().failure != TlsFailure::none));
    if (engine_.state() != TlsEngine::State::handshaking && !has_failed) SPINDLE_CHECK(engine_.peer().has_value());
  }

 private:
  ByteView unsent_so_far() {
    const ByteView fresh = engine_.unsent();
    outgoing_.insert(outgoing_.end(), fresh.begin(), fresh.end());
    if (!fresh.empty()) engine_.sent(fresh.size());
    return outgoing_;
  }

  const bool dials_;
  TlsEngine engine_;
  std::vector<std::uint8_t> outgoing_;  // on its way
  std::size_t written_ = 0;
  std::size_t read_ = 0;
};

class Run {
 public:
  explicit Run(Input input) : input_(input) {}

  void go() {
    while (!input_.empty()) {
      const std::uint8_t code = input_.u8();
      const bool accepts = (code & spindle_fuzz::kTlsStepOfAccepting) != 0;
      step(TlsStep(code & ~spindle_fuzz::kTlsStepOfAccepting), accepts ? accepting_ : dialling_,
           accepts ? dialling_ : accepting_);
      for (const auto& [from, to] : {std::pair(&dialling_, &accepting_), std::pair(&accepting_, &dialling_)}) {
        SPINDLE_CHECK(to->bytes_read() <= from->bytes_written());
        from->check();
      }
    }
  }

 private:
  void step(TlsStep step, End& end, End& other) {
    switch (step) {
      case TlsStep::move:
        return other.receive(end.take_unsent(input_.u16()));
      case TlsStep::write:
        return end.write(input_.u16());
      case TlsStep::read:
        return end.read(input_.u16());
      case TlsStep::inject:
        return end.receive(input_.bytes(input_.u8()));
      case TlsStep::alter: {
        const std::size_t place = input_.u16();
        return end.alter(place, input_.u8());
      }
      case TlsStep::drop:
        return static_cast<void>(end.take_unsent(input_.u16()));
      case TlsStep::finish:
        return end.finish();
      case TlsStep::end:
        return end.end();
      case TlsStep::open:
        return exchange_all();
    }
  }
  void exchange_all() {
    for (bool moved = true; moved;) {
      const std::vector<std::uint8_t> there = dialling_.take_unsent(SIZE_MAX);
      accepting_.receive(there);
      const std::vector<std::uint8_t> back = accepting_.take_unsent(SIZE_MAX);
      dialling_.receive(back);
      moved = !there.empty() || !back.empty();
    }
  }

  Input input_;
  End dialling_{true}, accepting_{false};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Run(Input(data, size)).go();
  return 0;
}
