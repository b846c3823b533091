package io.spindle.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.spindle.ConnectOptions;
import io.spindle.Name;
import io.spindle.protocol.ClientSession;
import io.spindle.protocol.PlayedDaemon;
import java.nio.ByteBuffer;
import java.nio.channels.Selector;
import org.junit.jupiter.api.Test;

/** How far a connection has come. */
final class ConnectionStateTest {
  private static void welcome(ConnectionState state) {
    ClientSession session = state.session();
    session.takeDial();
    session.connected("");
    session.reader().read(ByteBuffer.wrap(PlayedDaemon.welcome(Name.of("#ann#alpha")).toBytes()));
    session.settle(Clock.now());
    state.noteConnected();
  }

  @Test
  void aDaemonHasToWelcomeAClientOnce() throws Exception {
    try (Selector selector = Selector.open()) {
      ConnectionState state = new ConnectionState(ConnectOptions.DEFAULT, selector);
      state.beginConnecting();
      assertNotEquals(ClientSession.NEVER, state.connectUntil());
      welcome(state);
      assertTrue(state.wasWelcomed());
      assertEquals(ClientSession.NEVER, state.connectUntil());
    }
  }

  /** The welcome has come before the thread was told. */
  @Test
  void whatNobodyWantsAnyMoreIsGivenUp() throws Exception {
    try (Selector selector = Selector.open()) {
      ConnectionState state = new ConnectionState(ConnectOptions.DEFAULT, selector);
      state.beginConnecting();
      state.stopConnecting();
      welcome(state);
      assertTrue(state.connectUntil() <= Clock.now());
    }
  }
}
