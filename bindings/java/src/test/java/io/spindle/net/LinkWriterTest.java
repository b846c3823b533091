package io.spindle.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.spindle.ConnectOptions;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import org.junit.jupiter.api.Test;

/** Who writes to the daemon. */
final class LinkWriterTest {
  /** What it has taken waits for a socket that is broken, as with TLS. */
  private static final class BrokenLink implements Link {
    int flushes;
    boolean isStopped;

    @Override
    public SocketChannel channel() {
      return null;
    }

    @Override
    public int read(ByteBuffer into) {
      return 0;
    }

    @Override
    public boolean readsDirectly() {
      return false;
    }

    @Override
    public int write(ByteBuffer from) throws IOException {
      throw new IOException("on purpose");
    }

    @Override
    public boolean hasUnsent() {
      return true;
    }

    @Override
    public void flush() throws IOException {
      flushes++;
      throw new IOException("on purpose");
    }

    @Override
    public void finishWriting() {}

    @Override
    public void stopWriting() {
      isStopped = true;
    }

    @Override
    public void shutDown() {}

    @Override
    public void close() {}
  }

  /** A socket that is broken is ready to be written to for ever. */
  @Test
  void whatCannotBeWrittenIsNotTriedAgain() throws Exception {
    try (Selector selector = Selector.open()) {
      ConnectionState state = new ConnectionState(ConnectOptions.DEFAULT, selector);
      LinkWriter writer = new LinkWriter(state);
      BrokenLink link = new BrokenLink();
      state.locked(
          () -> {
            writer.begin(link);
            assertTrue(writer.wantsSocket());
            writer.goOn();
            assertFalse(writer.wantsSocket());
            return null;
          });
      assertEquals(1, link.flushes);
      assertTrue(link.isStopped);
    }
  }
}
