package io.spindle;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Sessions that outlive their connections. */
final class ResumptionTest {
  private static final Duration PATIENCE = Duration.ofSeconds(TestDaemon.PATIENCE_S);

  /** Cut again and again, in the middle of records and of frames: nothing is lost or doubled, and all is in order. */
  static void sendWhileCut(Connection ann, CuttingProxy proxy, int count) throws Exception {
    ann.join("den").get(TestDaemon.PATIENCE_S, SECONDS);
    Thread sender =
        new Thread(
            () -> {
              for (int i = 0; i < count; i++) {
                byte[] payload = new byte[3 + i % 3000];
                payload[0] = (byte) i;
                payload[1] = (byte) (i >> 8);
                payload[2] = (byte) (i >> 16);
                ann.multicast(Service.AGREED, "den", payload);
              }
            });
    sender.start();
    int got = 0;
    int again = 0;
    while (got < count) {
      Event event = ann.receive(PATIENCE);
      if (event instanceof Message message) {
        byte[] payload = message.payload();
        assertEquals(got, (payload[0] & 0xff) | (payload[1] & 0xff) << 8 | (payload[2] & 0xff) << 16);
        assertEquals(3 + got % 3000, payload.length);
        got++;
        if (got % 1000 == 500) {
          proxy.cut();
        }
      } else if (event instanceof Reconnected back) {
        assertTrue(back.resumed());
        again++;
      } else {
        assertTrue(event instanceof GroupView, String.valueOf(event));
      }
    }
    sender.join();
    assertTrue(again > 0);
  }

  @Test
  void nothingIsLostOrDoubled() throws Exception {
    try (TestDaemon daemon = TestDaemon.start();
        CuttingProxy proxy = new CuttingProxy(daemon.tcpAddress());
        Connection ann = Spindle.connect(ConnectOptions.at("tcp:" + proxy.address()))) {
      sendWhileCut(ann, proxy, 20_000);
    }
  }

  /** As where the system has no more for a moment. */
  @Test
  void goesOnOnceThereIsAThreadForThat() throws Exception {
    AtomicInteger refusals = new AtomicInteger();
    ThreadFactory few =
        work -> {
          if (refusals.getAndUpdate(left -> Math.max(left - 1, 0)) > 0) {
            throw new OutOfMemoryError("unable to create native thread");
          }
          Thread made = new Thread(work);
          made.setDaemon(true);
          return made;
        };
    try (TestDaemon daemon = TestDaemon.start();
        CuttingProxy proxy = new CuttingProxy(daemon.tcpAddress());
        Connection ann = Spindle.connect(ConnectOptions.at("tcp:" + proxy.address()).withThreadFactory(few))) {
      refusals.set(2);
      proxy.cut();
      assertInstanceOf(Reconnected.class, ann.receive(PATIENCE));
      assertEquals(0, refusals.get());
    }
  }

  @Test
  void severalAddressesAreTried() throws Exception {
    try (TestDaemon daemon = TestDaemon.start()) {
      ConnectOptions options = ConnectOptions.DEFAULT.withAddresses(List.of("unix:/nonexistent", daemon.address()));
      try (Connection ann = Spindle.connect(options)) {
        assertTrue(ann.privateName().toString().endsWith("#a"));
      }
    }
  }
}
