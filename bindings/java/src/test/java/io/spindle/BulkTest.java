package io.spindle;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.spindle.bulk.BlockSet;
import io.spindle.bulk.ResumeState;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Bulk channels, among Java clients, and with those of C++. */
final class BulkTest {
  private static final int LARGE = 100 << 20;

  private TestDaemon daemon;
  private Path folder;

  @BeforeEach
  void begin() throws IOException {
    daemon = TestDaemon.start();
    folder = TestDaemon.newFolder();
  }

  @AfterEach
  void end() throws IOException {
    daemon.close();
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path each : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(each);
      }
    }
  }

  private Connection connect(String name) {
    BulkOptions options = BulkOptions.DEFAULT.withHashDirectory(folder.resolve("hashes"));
    return Spindle.connect(daemon.options(name).withBulk(options));
  }

  private static <T extends Event> T next(Connection connection, Class<T> kind) {
    while (true) {
      Event event = connection.receive(Duration.ofSeconds(60));
      if (kind.isInstance(event)) {
        return kind.cast(event);
      }
      assertTrue(event != null, "while waiting for " + kind.getSimpleName());
    }
  }

  private Path make(String name, int bytes) throws IOException {
    byte[] content = new byte[bytes];
    new Random(bytes).nextBytes(content);
    return Files.write(folder.resolve(name), content);
  }

  @Test
  void bytesArrive() throws Exception {
    byte[] content = new byte[300_000];
    new Random(1).nextBytes(content);
    try (Connection source = connect("source"); Connection receiver = connect("receiver")) {
      receiver.join("g").get(10, SECONDS);
      ChannelId channel = source.bulk().offer("g", BulkSource.bytes(content).named("some")).get(10, SECONDS);
      BulkOffered offered = next(receiver, BulkOffered.class);
      assertEquals(channel, offered.channel());
      assertEquals("some", offered.name());
      assertEquals(content.length, offered.size().getAsLong());
      BulkReceived received = receiver.bulk().accept(channel, BulkSink.memory()).get(30, SECONDS);
      assertArrayEquals(content, received.content());
      assertArrayEquals(content, next(receiver, BulkReceived.class).content());
      assertEquals(List.of(receiver.privateName()), next(source, BulkComplete.class).done());
    }
  }

  @Test
  void filesArrive() throws Exception {
    Path file = make("picture", 30_000_001);
    Path target = Files.createDirectory(folder.resolve("in"));
    try (Connection source = connect("source"); Connection receiver = connect("receiver")) {
      receiver.join("g").get(10, SECONDS);
      source.bulk().offerFile("g", file).get(10, SECONDS);
      ChannelId channel = next(receiver, BulkOffered.class).channel();
      BulkReceived received = receiver.bulk().receiveTo(channel, target).get(60, SECONDS);
      assertEquals(target.resolve("picture"), received.path().get());
      assertEquals(-1, Files.mismatch(file, target.resolve("picture")));
      assertEquals(1, next(source, BulkComplete.class).done().size());
      try (Stream<Path> there = Files.list(target)) {
        assertEquals(1, there.count());
      }
    }
  }

  @Test
  void directoriesArrive() throws Exception {
    Path tree = Files.createDirectories(folder.resolve("tree"));
    Files.createDirectories(tree.resolve("a/empty"));
    Files.createDirectories(tree.resolve("b/c/d"));
    Files.write(tree.resolve("b/c/d/deep"), new byte[] {1, 2, 3});
    Files.write(tree.resolve("b/nothing"), new byte[0]);
    Files.write(tree.resolve("b/large"), Files.readAllBytes(make("large", 20_000_000)));
    Files.writeString(tree.resolve("run"), "#!/bin/sh");
    assertTrue(tree.resolve("run").toFile().setExecutable(true));
    Path target = Files.createDirectory(folder.resolve("in"));
    Files.createSymbolicLink(tree.resolve("link"), tree.resolve("run"));
    try (Connection source = connect("source"); Connection receiver = connect("receiver")) {
      receiver.join("g").get(10, SECONDS);
      assertEquals(Code.FILE_FAILED, codeOf(source.bulk().offer("g", BulkSource.directory(tree))));
      List<Path> leftOut = new ArrayList<>();
      source.bulk().offer("g", new BulkSource.Directory(tree, "", leftOut::add)).get(10, SECONDS);
      assertEquals(List.of(Path.of("link")), leftOut);
      BulkOffered offered = next(receiver, BulkOffered.class);
      assertEquals(ContentKind.DIRECTORY, offered.kind());
      assertEquals("tree", offered.name());
      receiver.bulk().receiveTo(offered.channel(), target).get(60, SECONDS);
      Files.delete(tree.resolve("link"));
      assertSame(tree, target.resolve("tree"));
      // Once more in the same place, without and with leave to replace it.
      next(receiver, BulkComplete.class);
      source.bulk().offer("g", BulkSource.directory(tree)).get(10, SECONDS);
      ChannelId again = next(receiver, BulkOffered.class).channel();
      assertEquals(Code.FILE_EXISTS, codeOf(receiver.bulk().receiveTo(again, target)));
      next(receiver, BulkComplete.class);
      source.bulk().offer("g", BulkSource.directory(tree)).get(10, SECONDS);
      ChannelId third = next(receiver, BulkOffered.class).channel();
      Files.writeString(target.resolve("tree/more"), "of another time");
      AcceptOptions replacing = AcceptOptions.DEFAULT.withReplace(true);
      receiver.bulk().accept(third, BulkSink.directory(target), replacing).get(60, SECONDS);
      assertSame(tree, target.resolve("tree"));
      try (Stream<Path> there = Files.list(target)) {
        assertEquals(1, there.count());
      }
    }
  }

  private static void assertSame(Path one, Path other) throws IOException {
    List<String> names = names(one);
    assertEquals(names, names(other));
    for (String name : names) {
      Path a = one.resolve(name);
      if (Files.isRegularFile(a)) {
        assertEquals(-1, Files.mismatch(a, other.resolve(name)), name);
        assertEquals(Files.isExecutable(a), Files.isExecutable(other.resolve(name)), name);
      }
    }
  }

  private static List<String> names(Path tree) throws IOException {
    try (Stream<Path> all = Files.walk(tree)) {
      return all.map(each -> tree.relativize(each) + (Files.isDirectory(each) ? "/" : "")).sorted().toList();
    }
  }

  private static Code codeOf(CompletableFuture<?> future) {
    ExecutionException failure = assertThrows(ExecutionException.class, () -> future.get(60, SECONDS));
    return assertInstanceOf(SpindleException.class, failure.getCause()).code();
  }

  @Test
  void streamsArrive() throws Exception {
    byte[] content = Files.readAllBytes(make("content", 20_000_000));
    for (Path spool : new Path[] {null, folder.resolve("spool")}) {
      String group = spool == null ? "memory" : "spool";
      try (Connection source = connect("source"); Connection receiver = connect("receiver")) {
        receiver.join(group).get(10, SECONDS);
        ByteArrayInputStream stream = new ByteArrayInputStream(content);
        source.bulk().offer(group, new BulkSource.Stream(stream, "flow", spool)).get(10, SECONDS);
        BulkOffered offered = next(receiver, BulkOffered.class);
        assertTrue(offered.size().isEmpty());
        assertThrows(
            SpindleException.class, () -> receiver.bulk().accept(offered.channel(), BulkSink.memory()));
        ByteArrayOutputStream collected = new ByteArrayOutputStream();
        receiver.bulk().accept(offered.channel(), BulkSink.stream(collected)).get(60, SECONDS);
        assertArrayEquals(content, collected.toByteArray());
        assertFalse(spool != null && Files.exists(spool));
      }
    }
  }

  @Test
  void streamsThatFailEndTheChannel() throws Exception {
    try (Connection source = connect("source"); Connection receiver = connect("receiver")) {
      receiver.join("g").get(10, SECONDS);
      InputStream broken =
          new InputStream() {
            @Override
            public int read() throws IOException {
              throw new IOException("the pipe is broken");
            }
          };
      source.bulk().offer("g", BulkSource.stream(broken, "flow")).get(10, SECONDS);
      BulkEnded ended = next(source, BulkEnded.class);
      assertEquals(BulkEnded.Cause.CANCELLED, ended.cause());
      assertEquals(Code.FILE_FAILED, ended.code().get());
      assertEquals("the pipe is broken", ended.text());
      byte[] content = new byte[100_000];
      source.bulk().offer("g", BulkSource.bytes(content)).get(10, SECONDS);
      next(receiver, BulkOffered.class);
      next(receiver, BulkEnded.class);
      ChannelId channel = next(receiver, BulkOffered.class).channel();
      OutputStream closed =
          new OutputStream() {
            @Override
            public void write(int octet) throws IOException {
              throw new IOException("nobody reads");
            }
          };
      assertEquals(Code.FILE_FAILED, codeOf(receiver.bulk().accept(channel, BulkSink.stream(closed))));
      assertEquals("nobody reads", next(receiver, BulkReceived.class).text());
      assertEquals(Code.FILE_FAILED, next(source, BulkComplete.class).failed().get(0).code());
    }
  }

  /** A content that is changed while it is offered is not what was told of it. */
  @Test
  void filesThatChangeEndTheChannel() throws Exception {
    Path file = make("changing", 40_000_000);
    Path target = Files.createDirectory(folder.resolve("in"));
    try (Connection source = connect("source"); Connection receiver = connect("receiver")) {
      receiver.join("g").get(10, SECONDS);
      OfferOptions slowly = OfferOptions.DEFAULT.withBytesPerSecond(4_000_000);
      source.bulk().offer(Name.of("g"), BulkSource.file(file), slowly).get(10, SECONDS);
      Files.setLastModifiedTime(file, FileTime.fromMillis(1_000_000));
      ChannelId channel = next(receiver, BulkOffered.class).channel();
      CompletableFuture<BulkReceived> receiving = receiver.bulk().receiveTo(channel, target);
      BulkEnded ended = next(source, BulkEnded.class);
      assertEquals(Code.FILE_FAILED, ended.code().get());
      assertEquals(Code.UNKNOWN_CHANNEL, codeOf(receiving));
    }
    try (Stream<Path> there = Files.list(target)) {
      assertEquals(0, there.count(), "what its source has taken back is of no use to anybody");
    }
  }

  @Test
  void mistakesAreRefused() throws Exception {
    try (Connection without = daemon.connect("without"); Connection source = connect("source")) {
      assertThrows(SpindleException.class, without::bulk);
      Bulk bulk = source.bulk();
      BulkSource bytes = BulkSource.bytes(new byte[1]);
      assertEquals(Code.BAD_GROUP_NAME, codeOf(bulk.offer("#g", bytes)));
      assertEquals(Code.BAD_ARGUMENT, codeOf(bulk.offer(Name.of("g"), bytes, OfferOptions.DEFAULT.withWeight(0))));
      assertEquals(Code.BAD_ARGUMENT, codeOf(bulk.offer("g", bytes.named("x".repeat(256)))));
      assertEquals(Code.FILE_FAILED, codeOf(bulk.offerFile("g", folder.resolve("none"))));
      assertEquals(Code.FILE_FAILED, codeOf(bulk.offerFile("g", folder)));
      ChannelId none = new ChannelId("a", 1, 99);
      assertThrows(SpindleException.class, () -> bulk.accept(none, BulkSink.memory()));
      assertThrows(SpindleException.class, () -> bulk.refuse(none));
      assertThrows(SpindleException.class, () -> bulk.cancel(none));
      // Its own, which it cannot receive.
      ChannelId own = bulk.offer("g", bytes).get(10, SECONDS);
      assertThrows(SpindleException.class, () -> bulk.accept(own, BulkSink.memory()));
      source.disconnect();
      assertEquals(Code.NOT_CONNECTED, codeOf(bulk.offer("g", bytes)));
    }
    BulkOptions nobody = BulkOptions.DEFAULT.withWorkers(0);
    assertThrows(SpindleException.class, () -> Spindle.connect(daemon.options("x").withBulk(nobody)));
  }

  @Test
  void offersThatAreCancelledAreTakenBack() throws Exception {
    try (Connection source = connect("source"); Connection receiver = connect("receiver")) {
      receiver.join("g").get(10, SECONDS);
      int standing = 1; // the last one, and those that were taken before they could be cancelled
      for (int i = 0; i < 20; i++) {
        standing += source.bulk().offer("g", BulkSource.bytes(new byte[10])).cancel(true) ? 0 : 1;
      }
      source.bulk().offer("g", BulkSource.bytes(new byte[11])).get(10, SECONDS);
      // Whatever of the others was offered has ended, or ends.
      Set<ChannelId> open = new HashSet<>();
      boolean isLast = false;
      while (!isLast || open.size() != standing) {
        Event event = receiver.receive(Duration.ofSeconds(60));
        assertTrue(event != null, open + " are there, of which " + standing + " should be");
        if (event instanceof BulkOffered offered) {
          open.add(offered.channel());
          isLast |= offered.size().getAsLong() == 11;
        } else if (event instanceof BulkEnded ended) {
          open.remove(ended.channel());
        }
      }
    }
  }

  @Test
  void closingEndsWhatIsUnderWay() throws Exception {
    Path target = Files.createDirectory(folder.resolve("in"));
    try (Connection source = connect("source")) {
      Connection receiver = connect("receiver");
      receiver.join("g").get(10, SECONDS);
      OfferOptions slowly = OfferOptions.DEFAULT.withBytesPerSecond(8_000_000);
      source.bulk().offer(Name.of("g"), BulkSource.file(make("slow", 50_000_000)), slowly).get(10, SECONDS);
      ChannelId channel = next(receiver, BulkOffered.class).channel();
      CompletableFuture<BulkReceived> receiving = receiver.bulk().receiveTo(channel, target);
      next(receiver, BulkProgress.class);
      receiver.close();
      assertEquals(Code.NOT_CONNECTED, codeOf(receiving));
      assertTrue(Files.exists(target.resolve("slow.spindle-part")));
    }
  }

  /** Sessions and second connections are cut again and again, and go on. */
  @Test
  void cutsLoseNothing() throws Exception {
    Path file = make("cut", 60_000_000);
    Path target = Files.createDirectory(folder.resolve("in"));
    try (CuttingProxy proxy = new CuttingProxy(daemon.tcpAddress())) {
      BulkOptions bulk = BulkOptions.DEFAULT.withKeepHashes(false);
      ConnectOptions options = ConnectOptions.at("tcp:" + proxy.address()).withBulk(bulk);
      try (Connection source = Spindle.connect(options); Connection receiver = Spindle.connect(options)) {
        receiver.join("g").get(10, SECONDS);
        OfferOptions bounded = OfferOptions.DEFAULT.withBytesPerSecond(30_000_000);
        source.bulk().offer(Name.of("g"), BulkSource.file(file), bounded).get(10, SECONDS);
        ChannelId channel = next(receiver, BulkOffered.class).channel();
        CompletableFuture<BulkReceived> receiving = receiver.bulk().receiveTo(channel, target);
        int cuts = 0;
        for (; cuts < 4; cuts++) {
          next(receiver, BulkProgress.class);
          proxy.cut();
        }
        receiving.get(120, SECONDS);
        assertEquals(-1, Files.mismatch(file, target.resolve("cut")));
        assertEquals(1, next(source, BulkComplete.class).done().size());
      }
    }
  }

  /** In another session nobody knows what this client has offered, and what it receives goes on. */
  @Test
  void newSessionsEndWhatWasOffered() throws Exception {
    try (CuttingProxy proxy = new CuttingProxy(daemon.tcpAddress()); Connection other = connect("other")) {
      ConnectOptions options = ConnectOptions.at("tcp:" + proxy.address()).withResume(false).withBulk();
      try (Connection cut = Spindle.connect(options)) {
        cut.join("g").get(10, SECONDS);
        other.join("g").get(10, SECONDS);
        OfferOptions slowly = OfferOptions.DEFAULT.withBytesPerSecond(4_000_000);
        byte[] content = Files.readAllBytes(make("content", 6_000_000));
        ChannelId own = cut.bulk().offer("g", BulkSource.bytes(new byte[10])).get(10, SECONDS);
        ChannelId others = other.bulk().offer(Name.of("g"), BulkSource.bytes(content), slowly).get(10, SECONDS);
        while (!next(cut, BulkOffered.class).channel().equals(others)) {
          continue;
        }
        CompletableFuture<BulkReceived> receiving = cut.bulk().accept(others, BulkSink.memory());
        next(cut, BulkProgress.class);
        proxy.cut();
        BulkEnded ended = next(cut, BulkEnded.class);
        assertEquals(own, ended.channel());
        assertEquals(BulkEnded.Cause.DISCONNECTED, ended.cause());
        assertThrows(SpindleException.class, () -> cut.bulk().cancel(own));
        assertArrayEquals(content, receiving.get(60, SECONDS).content());
      }
    }
  }

  // --- With C++ ---

  private Process spuser(String... words) throws IOException {
    List<String> command = new ArrayList<>(List.of("setpriv", "--pdeathsig", "KILL"));
    command.add(TestDaemon.build() + "/tools/spuser");
    command.addAll(List.of(words));
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("SPINDLE_ADDRESS", daemon.address());
    builder.environment().put("XDG_CACHE_HOME", folder.toString());
    return builder.redirectErrorStream(true).redirectOutput(folder.resolve("spuser.log").toFile()).start();
  }

  @Test
  void largeFilesGoToJavaAndToCpp() throws Exception {
    Path file = make("image", LARGE);
    Path back = Files.createDirectory(folder.resolve("back"));
    Path target = Files.createDirectory(folder.resolve("in"));
    try (Connection java = connect("java")) {
      java.join("there").get(10, SECONDS);
      Process sender = spuser("send-file", "there", file.toString());
      BulkOffered offered = next(java, BulkOffered.class);
      assertEquals("image", offered.name());
      java.bulk().receiveTo(offered.channel(), target).get(120, SECONDS);
      assertTrue(sender.waitFor(60, SECONDS));
      assertEquals(0, sender.exitValue(), Files.readString(folder.resolve("spuser.log")));
      assertEquals(-1, Files.mismatch(file, target.resolve("image")));

      Process receiver = spuser("receive-file", "--count", "1", "back", back.toString());
      java.join("back").get(10, SECONDS);
      for (int members = 0; members < 2; ) {
        Event event = java.receive(Duration.ofSeconds(60));
        if (event instanceof GroupView view && view.group().equals(Name.of("back"))) {
          members = view.memberCount();
        }
      }
      java.bulk().offerFile("back", target.resolve("image")).get(10, SECONDS);
      assertTrue(receiver.waitFor(120, SECONDS));
      assertEquals(0, receiver.exitValue(), Files.readString(folder.resolve("spuser.log")));
      assertEquals(-1, Files.mismatch(file, back.resolve("image")));
    }
  }

  // --- Going on ---

  /** A receiver, which is killed in the middle. Another one gets what is missing, and not what is there. */
  @Test
  void goesOnAfterAKill() throws Exception {
    Path file = make("film", 90_000_000);
    Path target = Files.createDirectory(folder.resolve("in"));
    Path part = target.resolve("film.spindle-part");
    try (Connection source = connect("source")) {
      source.join("g").get(10, SECONDS);
      Process first = receiveElsewhere(target);
      while (next(source, GroupView.class).memberCount() < 2) {
        continue;
      }
      OfferOptions bounded = OfferOptions.DEFAULT.withBytesPerSecond(20_000_000);
      ChannelId channel = source.bulk().offer(Name.of("g"), BulkSource.file(file), bounded).get(10, SECONDS);
      BlockSet written = new BlockSet();
      while (written.count() < 3) {
        Thread.sleep(20);
        written = writtenAt(target.resolve("film.spindle-state"));
      }
      first.destroyForcibly().waitFor();
      source.bulk().setRate(channel, 0);
      written = writtenAt(target.resolve("film.spindle-state"));
      // What is written there meanwhile is not noticed, as blocks are hashed before they are written and not again: by
      // that it is seen that this block was not fetched again.
      long at = written.start(0) * (8L << 20) + 5;
      byte[] content = Files.readAllBytes(file);
      try (FileChannel opened = FileChannel.open(part, StandardOpenOption.WRITE)) {
        opened.write(ByteBuffer.wrap(new byte[] {(byte) ~content[(int) at]}), at);
      }
      try (Connection second = connect("second")) {
        second.join("g").get(10, SECONDS);
        BulkOffered offered = next(second, BulkOffered.class);
        assertTrue(offered.late());
        second.bulk().receiveTo(offered.channel(), target).get(120, SECONDS);
      }
      byte[] received = Files.readAllBytes(target.resolve("film"));
      assertEquals(at, Arrays.mismatch(content, received));
      received[(int) at] = (byte) ~received[(int) at];
      assertArrayEquals(content, received);
      assertFalse(Files.exists(part) || Files.exists(target.resolve("film.spindle-state")));
    }
  }

  /** Who has no room for all of it says so at once. */
  @Test
  void wantOfRoomIsToldAtOnce() throws Exception {
    Path file = make("film", 20_000_000);
    Path target = Files.createDirectory(folder.resolve("in"));
    try (Connection source = connect("source")) {
      source.join("g").get(10, SECONDS);
      // No file may have more than 10 MB.
      Process receiver = receiveElsewhere(target, "sh", "-c", "ulimit -f 20000; exec \"$@\"", "sh");
      while (next(source, GroupView.class).memberCount() < 2) {
        continue;
      }
      source.bulk().offerFile("g", file).get(10, SECONDS);
      BulkComplete complete = next(source, BulkComplete.class);
      assertEquals(Code.NO_SPACE, complete.failed().get(0).code());
      receiver.destroyForcibly().waitFor();
    }
    try (Stream<Path> there = Files.list(target)) {
      assertEquals(0, there.count(), "nothing is left that takes room");
    }
  }

  private static BlockSet writtenAt(Path state) throws IOException {
    try {
      ResumeState found = ResumeState.decode(Files.readAllBytes(state), 0);
      return found == null ? new BlockSet() : found.written();
    } catch (NoSuchFileException none) {
      return new BlockSet();
    }
  }

  /** In a virtual machine of its own, which joins "g" and receives what is offered there. */
  private Process receiveElsewhere(Path target, String... before) throws IOException {
    Path jar = Path.of(System.getProperty("jdk.module.path"));
    String java = System.getProperty("java.home") + "/bin/java";
    List<String> command = new ArrayList<>(List.of("setpriv", "--pdeathsig", "KILL"));
    command.addAll(List.of(before));
    command.addAll(List.of(java, "-XX:+UseSerialGC", "-cp", jar + ":" + jar.resolveSibling("tests")));
    command.addAll(List.of("io.spindle.BulkTest$Receiver", daemon.address(), target.toString()));
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }

  /** The program of `receiveElsewhere`. */
  static final class Receiver {
    public static void main(String[] arguments) throws Exception {
      try (Connection connection = Spindle.connect(ConnectOptions.at(arguments[0]).withBulk())) {
        connection.join("g").get(10, SECONDS);
        for (Event event : connection) {
          if (event instanceof BulkOffered offered) {
            connection.bulk().receiveTo(offered.channel(), Path.of(arguments[1]));
          }
        }
      }
    }
  }

  /** A source that is started again has the hashes of what it offers from before. */
  @Test
  void hashesAreKept() throws Exception {
    Path file = make("kept", 40_000_000);
    Files.setLastModifiedTime(file, FileTime.fromMillis(System.currentTimeMillis() - 60_000));
    for (int i = 0; i < 2; i++) {
      String group = "g" + i;
      try (Connection source = connect("source"); Connection receiver = connect("receiver")) {
        receiver.join(group).get(10, SECONDS);
        Thread.sleep(i == 0 ? 2_100 : 0); // what has just been made is not kept
        source.bulk().offerFile(group, file).get(10, SECONDS);
        ChannelId channel = next(receiver, BulkOffered.class).channel();
        byte[] content = receiver.bulk().accept(channel, BulkSink.memory()).get(60, SECONDS).content();
        assertArrayEquals(Files.readAllBytes(file), content);
        next(source, BulkComplete.class);
      }
      try (Stream<Path> there = Files.list(folder.resolve("hashes"))) {
        List<Path> kept = there.toList();
        assertEquals(1, kept.size());
        assertTrue(kept.get(0).toString().endsWith(".hashes"));
      }
    }
  }
}
