package io.spindle;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * A hundred thousand messages to a client that is stopped, cut off and continued meanwhile: nothing is lost or doubled, and
 * nothing of it is kept. They have twice as many bytes as the client has memory.
 */
final class HundredThousandTest {
  private static final int MESSAGES = 100_000;
  private static final int BYTES = 1_000;
  private static final String MEMORY = "-Xmx48m";
  private static final int STOPPED_MS = 100; // for what is sent to gather

  private static void send(TestDaemon daemon) {
    byte[] payload = new byte[BYTES];
    try (Connection sender = daemon.connect("sender")) {
      for (int i = 0; i < MESSAGES; i++) {
        payload[0] = (byte) i;
        payload[1] = (byte) (i >> 8);
        payload[2] = (byte) (i >> 16);
        sender.multicast(Service.AGREED, "den", payload);
      }
      sender.confirm(Duration.ofSeconds(4 * TestDaemon.PATIENCE_S)).join();
    }
  }

  @Test
  void byThread() throws Exception {
    receive("thread");
  }

  @Test
  void bySubscriber() throws Exception {
    receive("subscriber");
  }

  private static void receive(String form) throws Exception {
    Path folder = TestDaemon.newFolder();
    // Whoever is away and has more waiting than this is gone for good.
    String more = "[session]\nqueue_hard_bytes = " + (256 << 20);
    try (TestDaemon daemon = TestDaemon.start(folder, "127.0.0.1:0", more);
        CuttingProxy proxy = new CuttingProxy(daemon.tcpAddress())) {
      List<String> command =
          List.of(
              System.getProperty("java.home") + "/bin/java",
              MEMORY,
              "-XX:+UseSerialGC",
              "-cp",
              System.getProperty("jdk.module.path") + ":" + System.getProperty("spindle.tests"),
              StoppedReceiver.class.getName(),
              "tcp:" + proxy.address(),
              form,
              Integer.toString(MESSAGES));
      Process receiver =
          new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
      try {
        var said = new BufferedReader(new InputStreamReader(receiver.getInputStream(), StandardCharsets.UTF_8));
        assertEquals("ready", said.readLine());
        CompletableFuture<Void> sent = CompletableFuture.runAsync(() -> send(daemon));
        for (int i = 1; i <= 10; i++) {
          assertEquals("at " + i * MESSAGES / 10, said.readLine());
          if (i <= 8) {
            TestDaemon.signal(receiver, "STOP");
            Thread.sleep(STOPPED_MS);
            proxy.cut();
            TestDaemon.signal(receiver, "CONT");
          }
        }
        sent.get(4 * TestDaemon.PATIENCE_S, SECONDS);
        String last = said.readLine();
        assertTrue(last.startsWith("resumed "), last);
        assertTrue(Integer.parseInt(last.substring("resumed ".length())) >= 4, last);
        assertTrue(receiver.waitFor(TestDaemon.PATIENCE_S, SECONDS));
        assertEquals(0, receiver.exitValue());
      } finally {
        receiver.destroyForcibly();
      }
    }
  }
}
