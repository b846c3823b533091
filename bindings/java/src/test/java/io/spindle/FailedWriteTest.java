package io.spindle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.spindle.protocol.PlayedDaemon;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The daemon has closed a connection, and what it said before has not been read yet as something is written. */
final class FailedWriteTest {
  private final CountDownLatch isHeld = new CountDownLatch(1); // the connection's thread
  private final CountDownLatch isGone = new CountDownLatch(1); // the daemon
  private final CountDownLatch goesOn = new CountDownLatch(1); // that thread
  private final CountDownLatch hasEnded = new CountDownLatch(1);
  private final List<Event> events = new CopyOnWriteArrayList<>();

  private static void await(CountDownLatch latch) {
    try {
      assertTrue(latch.await(TestDaemon.PATIENCE_S, TimeUnit.SECONDS));
    } catch (InterruptedException interrupt) {
      throw new AssertionError(interrupt);
    }
  }

  /** Says something, and while the client's thread is at that something else, and why the connection ends. */
  void serve(Socket client) throws IOException {
    try (client) {
      OutputStream to = client.getOutputStream();
      to.write(PlayedDaemon.welcome(Name.of("#ann#alpha")).toBytes());
      to.write(PlayedDaemon.warning(50).toBytes());
      await(isHeld);
      to.write(PlayedDaemon.warning(80).toBytes());
      to.write(PlayedDaemon.close(Code.LIMIT_EXCEEDED).toBytes());
    }
    isGone.countDown();
  }

  private void take(Event event) {
    events.add(event);
    if (isHeld.getCount() != 0) {
      isHeld.countDown();
      await(goesOn);
    } else if (event instanceof Disconnected) {
      hasEnded.countDown();
    }
  }

  /** The client is one of a daemon that `serve` is. */
  void assertTheReasonIsHeard(ConnectOptions options) throws InterruptedException {
    ConnectOptions own =
        options.withExecutor(Runnable::run).withReconnectTimeout(Duration.ZERO).withKeepalive(Duration.ZERO);
    try (Connection ann = Spindle.connect(own)) {
      ann.onEvent(this::take);
      await(isGone);
      while (ann.isOpen()) { // until a write has failed
        try {
          ann.multicast(Service.AGREED, "den", new byte[100]);
          Thread.sleep(1); // so that it is written at once
        } catch (SpindleException error) {
          assertEquals(Code.NOT_CONNECTED, error.code());
        }
      }
      goesOn.countDown();
      await(hasEnded);
    }
    assertEquals(3, events.size(), events.toString());
    assertEquals(80, ((QueueWarning) events.get(1)).percent());
    assertEquals(Code.LIMIT_EXCEEDED, ((Disconnected) events.get(2)).code());
  }

  @Test
  void theReasonIsHeardAlthoughNothingCanBeWritten() throws Exception {
    try (ServerSocket server = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Thread daemon =
          new Thread(
              () -> {
                try {
                  serve(server.accept());
                } catch (IOException failure) {
                  throw new AssertionError(failure);
                }
              });
      daemon.start();
      assertTheReasonIsHeard(ConnectOptions.at("tcp:127.0.0.1:" + server.getLocalPort()));
      daemon.join();
    }
  }
}
