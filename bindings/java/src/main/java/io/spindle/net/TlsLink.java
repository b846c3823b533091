package io.spindle.net;

import io.spindle.ConnectOptions;
import java.io.IOException;
import java.nio.channels.SocketChannel;

/** To come. */
final class TlsLink {
  private TlsLink() {}

  static Link open(SocketChannel channel, ConnectOptions options, Address address, long deadline) throws IOException {
    throw new Link.ProtectionFailed("not yet");
  }
}
