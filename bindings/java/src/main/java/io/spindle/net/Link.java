package io.spindle.net;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/**
 * A stream of bytes on a socket that does not block. One thread may read while another writes; everything else is for who
 * knows that nobody does.
 */
interface Link {
  /** By which it is waited for. */
  SocketChannel channel();

  /** Bytes that were read; -1 at the end; 0 where there are none now. */
  int read(ByteBuffer into) throws IOException;

  /** Whether it reads to memory outside the heap at less cost than to an array. */
  boolean readsDirectly();

  /** Takes bytes; fewer than there are where it takes no more now. Those before a failure may have come, too. */
  int write(ByteBuffer from) throws IOException;

  /** Whether some of what was taken waits for the socket: `flush` when that can be written to. */
  default boolean hasUnsent() {
    return false;
  }

  default void flush() throws IOException {}

  /** Whether bytes may wait here that the socket does not tell of. */
  default boolean mayHaveMore() {
    return false;
  }

  /** Tells the other side that nothing follows. */
  void finishWriting();

  /** Where writing has failed: nothing follows, not even what was taken. What comes can be read up to its end. */
  void stopWriting();

  /** Reading and writing end, for whoever does. */
  void shutDown();

  void close();

  /** What TLS does not allow. */
  final class ProtectionFailed extends IOException {
    private static final long serialVersionUID = 1;

    ProtectionFailed(String text) {
      super(text);
    }
  }
}
