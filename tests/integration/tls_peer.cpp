#include "tests/integration/tls_peer.h"

#include <array>
#include <stdexcept>

#include "tests/integration/process.h"

namespace spindle::test {

TlsPeer::TlsPeer(const std::string& address, TlsPort port, const std::string& bundle,
                 const std::function<void()>& meanwhile)
    : socket_(address) {
  std::string error;
  const auto context = TlsContext::make({port, TlsSide::dialling, true}, read_file(bundle), {}, wall_time(), error);
  if (!context) throw std::runtime_error(bundle + ": " + error);
  engine_ = std::make_unique<TlsEngine>(context, wall_time());
  send_unsent();
  receive(meanwhile);
  while (engine_->state() == TlsEngine::State::handshaking) receive();
}

bool TlsPeer::is_greeted() {
  while (engine_->state() == TlsEngine::State::open) {
    if (read() > 0) return true;
    if (engine_->state() == TlsEngine::State::open) receive();
  }
  return false;
}

Bytes TlsPeer::seal(std::string_view text) {
  const ByteView buffers[] = {as_bytes(text)};
  GatheredBytes bytes(buffers, text.size());
  engine_->write(Clock::now(), bytes);
  const Bytes sealed(engine_->unsent().begin(), engine_->unsent().end());
  engine_->sent(sealed.size());
  return sealed;
}

const TlsFault& TlsPeer::wait_for_end() {
  while (engine_->state() == TlsEngine::State::open) {
    if (read() == 0 && engine_->state() == TlsEngine::State::open) receive();
  }
  return engine_->fault();
}

std::size_t TlsPeer::read() {
  std::array<std::uint8_t, 4096> space;
  return engine_->read(Clock::now(), space);
}

void TlsPeer::receive(const std::function<void()>& meanwhile) {
  const std::size_t bytes = socket_.read_some(engine_->receive_space());
  if (meanwhile) meanwhile();
  engine_->received(bytes);
  if (bytes == 0) engine_->received_end();
  send_unsent();
}

void TlsPeer::send_unsent() {
  const Bytes unsent(engine_->unsent().begin(), engine_->unsent().end());
  socket_.write(unsent);
  engine_->sent(unsent.size());
}

}  // namespace spindle::test
