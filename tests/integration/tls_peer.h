// Who connects by TLS, and can write beneath it.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "libclient/tls/tls_engine.h"
#include "tests/integration/raw_socket.h"

namespace spindle::test {

class TlsPeer {
 public:
  /// Dials `address` with the certificate in the file `bundle`, up to the end of the handshake on this side, or its
  /// failure. The other side may find only then that it does not want this certificate. `meanwhile` is called when the
  /// other side has said its part of it, and waits for this one's.
  TlsPeer(const std::string& address, TlsPort port, const std::string& bundle,
          const std::function<void()>& meanwhile = {});

  /// Whether the other side writes something of its own accord, as daemons do on a link as soon as the peer is let in.
  bool is_greeted();
  /// What TLS makes of `text`. Nobody has sent it yet.
  Bytes seal(std::string_view text);
  /// As it is, beneath TLS.
  void send(const Bytes& bytes) { socket_.write(bytes); }
  /// Waits for the end of the connection. What has failed; nothing where the other side has ended it in good order.
  const TlsFault& wait_for_end();

 private:
  /// Plaintext that has come; 0: there is none, and more is to be received.
  std::size_t read();
  void receive(const std::function<void()>& meanwhile = {});
  void send_unsent();

  RawSocket socket_;
  std::unique_ptr<TlsEngine> engine_;
};

}  // namespace spindle::test
