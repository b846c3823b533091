package io.spindle;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.spindle.net.PlainServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Connections that are protected by TLS. */
final class TlsTest {
  private static final Duration PATIENCE = Duration.ofSeconds(TestDaemon.PATIENCE_S);

  private static final String TOKEN = "spindle-token-" + "1".repeat(64);

  private Path folder;
  private TestDaemon daemon;

  private static void pki(Path folder, String... arguments) throws Exception {
    List<String> command = new ArrayList<>(List.of(TestDaemon.build() + "/tools/spmonitor", "pki"));
    command.addAll(List.of(arguments));
    Process process = new ProcessBuilder(command).directory(folder.toFile()).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes());
    assertEquals(0, process.waitFor(), said);
  }

  @BeforeEach
  void start() throws Exception {
    folder = TestDaemon.newFolder();
    pki(folder, "init", "trading");
    pki(folder, "issue", "trading.ca", "a");
    pki(folder, "issue", "trading.ca", "--client", "feed");
    pki(folder, "trust", "trading.ca");
    Path others = Files.createDirectory(folder.resolve("others"));
    pki(others, "init", "others");
    pki(others, "issue", "others.ca", "--client", "feed");
    startDaemon();
  }

  private void startDaemon() throws Exception {
    String more =
        "cluster = \"trading\"\n[tls]\nbundle = \"" + folder + "/a.pem\"\n[[token]]\nname = \"web\"\nsha256 = \""
            + HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(TOKEN.getBytes()))
            + "\"";
    daemon = TestDaemon.start(folder, "tls:127.0.0.1:0", more);
  }

  @AfterEach
  void stop() throws IOException {
    daemon.close();
  }

  private ConnectOptions options(String bundle) {
    return ConnectOptions.at(daemon.tcpAddress()).withTlsBundle(folder.resolve(bundle));
  }

  @Test
  void carriesContents() throws Exception {
    byte[] content = new byte[3_000_000];
    new Random(2).nextBytes(content);
    ConnectOptions options = options("feed.pem").withBulk(BulkOptions.DEFAULT.withKeepHashes(false));
    try (Connection ann = Spindle.connect(options.withName("ann"));
        Connection bob = Spindle.connect(options.withName("bob"))) {
      bob.join("den").get(TestDaemon.PATIENCE_S, SECONDS);
      ann.bulk().offer("den", BulkSource.bytes(content)).get(TestDaemon.PATIENCE_S, SECONDS);
      Event event = bob.receive(PATIENCE);
      while (!(event instanceof BulkOffered)) {
        event = bob.receive(PATIENCE);
      }
      ChannelId channel = ((BulkOffered) event).channel();
      BulkReceived received = bob.bulk().accept(channel, BulkSink.memory()).get(TestDaemon.PATIENCE_S, SECONDS);
      assertArrayEquals(content, received.content());
    }
  }

  @Test
  void carriesMessages() throws Exception {
    try (Connection ann = Spindle.connect(options("feed.pem").withName("ann"))) {
      ann.join("den").get(TestDaemon.PATIENCE_S, SECONDS);
      assertTrue(ann.receive(PATIENCE) instanceof GroupView);
      Random random = new Random(1);
      List<byte[]> contents = new ArrayList<>();
      for (int size : new int[] {3_000_000, 0, 100, 256 << 10, 1 << 20, 5_000_000}) {
        byte[] content = new byte[size];
        random.nextBytes(content);
        contents.add(content);
        ann.multicast(Service.AGREED, "den", content);
      }
      for (byte[] content : contents) {
        assertArrayEquals(content, ((Message) ann.receive(PATIENCE)).payload());
      }
      assertTrue(ann.drain(PATIENCE).isNothing());
    }
  }

  private Code refusal(ConnectOptions options) {
    return assertThrows(SpindleException.class, () -> Spindle.connect(options)).code();
  }

  @Test
  void refusesDaemonsOfOthers() throws Exception {
    assertEquals(Code.TLS_FAILED, refusal(options("others/feed.pem")));
    assertEquals(Code.TLS_FAILED, refusal(options("nothing.pem")));
    assertEquals(Code.TLS_FAILED, refusal(options("feed.pem").withTlsBundle(null)));
  }

  @Test
  void withoutCertificateWantsToken() {
    String token = "spindle-token-" + "0".repeat(64);
    assertEquals(Code.TOKEN_MISSING, refusal(options("trading.crt")));
    assertEquals(Code.TOKEN_UNKNOWN, refusal(options("trading.crt").withToken(token)));
    Spindle.connect(options("trading.crt").withToken(TOKEN)).close();
    assertEquals(Code.BAD_ARGUMENT, refusal(options("trading.crt").withToken("secret")));
    assertEquals(Code.TOKEN_EXPOSED, refusal(ConnectOptions.at("tcp:127.0.0.1:1").withToken(token)));
  }

  @Test
  void refusesWhoIsRevoked() throws Exception {
    pki(folder, "revoke", "trading.ca", "a.pem");
    Path list = folder.resolve("trading.crl");
    assertEquals(Code.TLS_FAILED, refusal(options("feed.pem").withTlsRevocationLists(list)));
    Path empty = Files.createFile(folder.resolve("empty.crl"));
    assertEquals(Code.TLS_FAILED, refusal(options("feed.pem").withTlsRevocationLists(empty)));
    Spindle.connect(options("feed.pem")).close();
  }

  @Test
  void refusesWhoIsNoDaemon() throws Exception {
    try (PlainServer server = new PlainServer(folder.resolve("feed.pem"))) {
      ConnectOptions options = options("feed.pem").withAddresses(List.of("tls:127.0.0.1:" + server.port()));
      SpindleException error = assertThrows(SpindleException.class, () -> Spindle.connect(options));
      assertEquals(Code.TLS_FAILED, error.code());
    }
  }

  @Test
  void theReasonIsHeardAlthoughNothingCanBeWritten() throws Exception {
    FailedWriteTest played = new FailedWriteTest();
    try (PlainServer server = new PlainServer(folder.resolve("a.pem"), played::serve)) {
      played.assertTheReasonIsHeard(options("feed.pem").withAddresses(List.of("tls:127.0.0.1:" + server.port())));
    }
  }

  @Test
  void isTakenUpAgainOnAnotherStream() throws Exception {
    try (CuttingProxy proxy = new CuttingProxy(daemon.tcpAddress());
        Connection ann = Spindle.connect(options("feed.pem").withAddresses(List.of("tls:" + proxy.address())))) {
      ResumptionTest.sendWhileCut(ann, proxy, 5000);
    }
  }
}
