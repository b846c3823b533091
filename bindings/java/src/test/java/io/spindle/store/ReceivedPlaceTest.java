package io.spindle.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.spindle.Code;
import io.spindle.bulk.BlockIndex;
import io.spindle.bulk.BlockSet;
import io.spindle.bulk.FileList;
import io.spindle.bulk.ResumeState;
import io.spindle.protocol.ContentLayout;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Where in a directory a content is received, and who may. */
final class ReceivedPlaceTest {
  private static final int BLOCK = 16 << 10;
  private static final int T = 1 << 10;

  @TempDir private Path folder;
  private final byte[] content = new byte[3 * BLOCK];

  ReceivedPlaceTest() {
    new Random(3).nextBytes(content);
  }

  private ReceivedFile open(boolean replaces) throws StoreException {
    ReceivedFile store = new ReceivedFile(new ReceivedPlace(folder, "got", replaces));
    store.open(new ContentLayout(BLOCK, T, content.length), null);
    return store;
  }

  /** How often this process has the part open, whatever its name is by now. */
  private long countOpen() throws IOException {
    String part = folder.toRealPath().resolve("got.spindle-part").toString();
    try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
      return open.filter(each -> isLinkTo(each, part)).count();
    }
  }

  private static boolean isLinkTo(Path link, String target) {
    try {
      return Files.readSymbolicLink(link).toString().equals(target);
    } catch (IOException gone) {
      return false;
    }
  }

  /** Another one, which waits for who has the part. */
  private CompletableFuture<ReceivedFile> openSecond(boolean replaces) throws IOException {
    long before = countOpen();
    CompletableFuture<ReceivedFile> second =
        CompletableFuture.supplyAsync(
            () -> {
              try {
                return open(replaces);
              } catch (StoreException failure) {
                throw new IllegalStateException(failure);
              }
            });
    while (countOpen() == before && !second.isDone()) {
      Thread.yield();
    }
    return second;
  }

  private void writeAll(ReceivedFile store) throws StoreException {
    store.write(0, content, 0, content.length);
    store.finish(content.length);
  }

  @Test
  void whosePartIsTakenAwayMeanwhileHasAnother() throws Exception {
    ReceivedFile first = open(false);
    CompletableFuture<ReceivedFile> waiting = openSecond(false);
    first.discard();
    first.close();
    ReceivedFile second = waiting.get();
    writeAll(second);
    second.close();
    assertArrayEquals(content, Files.readAllBytes(folder.resolve("got")));
  }

  @Test
  void whosePartIsFinishedMeanwhileLeavesItAsItIs() throws Exception {
    ReceivedFile first = open(false);
    CompletableFuture<ReceivedFile> waiting = openSecond(false);
    writeAll(first);
    first.close();
    ExecutionException ended = assertThrows(ExecutionException.class, waiting::get);
    StoreException why = assertInstanceOf(StoreException.class, ended.getCause().getCause());
    assertEquals(Code.FILE_EXISTS, why.code());
    assertArrayEquals(content, Files.readAllBytes(folder.resolve("got")));
  }

  @Test
  void whosePartIsFinishedMeanwhileReplacesItWhereItMay() throws Exception {
    ReceivedFile first = open(false);
    CompletableFuture<ReceivedFile> waiting = openSecond(true);
    writeAll(first);
    first.close();
    ReceivedFile second = waiting.get();
    assertArrayEquals(content, Files.readAllBytes(folder.resolve("got")), "until the other is whole");
    writeAll(second);
    second.close();
    assertArrayEquals(content, Files.readAllBytes(folder.resolve("got")));
  }

  /** Its part is gone by the time that the second one makes its own. */
  @Test
  void whoComesAsAnotherHasFinishedIsToldAtOnce() throws Exception {
    ReceivedPlace late = new ReceivedPlace(folder, "got", false);
    late.open(false);
    ReceivedFile first = open(false);
    writeAll(first);
    first.close();
    StoreException why = assertThrows(StoreException.class, () -> late.openLocked(late.part()));
    assertEquals(Code.FILE_EXISTS, why.code());
    try (Stream<Path> there = Files.list(folder)) {
      assertEquals(List.of(folder.resolve("got")), there.toList(), "nothing is left beside it");
    }
    assertEquals(0, countOpen());
  }

  /** A directory of two files, whose sizes are so many bytes. */
  private static byte[] directory(int one, int other) {
    byte[] list =
        new FileList(
                List.of(
                    new FileList.Entry(FileList.Kind.FILE, 0, "one", one),
                    new FileList.Entry(FileList.Kind.FILE, 0, "other", other)))
            .encode();
    byte[] bytes = Arrays.copyOf(list, list.length + one + other);
    Arrays.fill(bytes, list.length, list.length + one, (byte) '1');
    Arrays.fill(bytes, list.length + one, bytes.length, (byte) '2');
    return bytes;
  }

  private ReceivedDirectory directoryStore() {
    return new ReceivedDirectory(new ReceivedPlace(folder, "got", false));
  }

  private static void writeBlock(ReceivedDirectory store, ContentLayout layout, byte[] from, int block)
      throws StoreException {
    int start = (int) layout.startOf(block);
    int count = layout.bytesOf(block);
    store.writeBlock(start, Arrays.copyOfRange(from, start, start + count), count);
  }

  private static ResumeState stateOf(ContentLayout layout, int... blocks) {
    BlockSet written = new BlockSet();
    BlockIndex index = new BlockIndex();
    for (int block : blocks) {
      written.add(block);
      index.set(block, new byte[32]);
    }
    return new ResumeState(layout, null, written, index);
  }

  /** What has come before the list of files is lost before all of it is in files. */
  @Test
  void aDirectoryWhoseFilesAreMadeInVainIsSavedAndGoesOn() throws Exception {
    byte[] bytes = directory(30_000, 50_000);
    ContentLayout layout = new ContentLayout(BLOCK, T, bytes.length);
    ReceivedDirectory store = directoryStore();
    store.open(layout, null);
    writeBlock(store, layout, bytes, 1);
    writeBlock(store, layout, bytes, 3);
    try (FileChannel early = FileChannel.open(folder.resolve("got.spindle-list"), StandardOpenOption.WRITE)) {
      early.truncate(layout.startOf(3));
    }
    assertThrows(StoreException.class, () -> writeBlock(store, layout, bytes, 0));
    assertTrue(Files.exists(folder.resolve("got.spindle-part/one")), "files were made");
    store.save(stateOf(layout, 1));
    for (int block = layout.blocks() - 1; block >= 0; block--) {
      writeBlock(store, layout, bytes, block);
    }
    store.finish(bytes.length);
    store.close();
    assertEquals("1".repeat(30_000), Files.readString(folder.resolve("got/one")));
    assertEquals("2".repeat(50_000), Files.readString(folder.resolve("got/other")));
  }

  @Test
  void whoWasNotLetInDiscardsNothing() throws Exception {
    byte[] bytes = directory(30_000, 50_000);
    ContentLayout layout = new ContentLayout(BLOCK, T, bytes.length);
    ReceivedDirectory first = directoryStore();
    first.open(layout, null);
    writeBlock(first, layout, bytes, 0);
    first.save(stateOf(layout, 0));
    ReceivedDirectory second = directoryStore();
    StoreException why = assertThrows(StoreException.class, () -> second.open(layout, null));
    assertEquals(Code.FILE_EXISTS, why.code());
    second.discard();
    second.close();
    for (String suffix : List.of("part/one", "list", "state")) {
      assertTrue(Files.exists(folder.resolve("got.spindle-" + suffix)), suffix);
    }
    first.close();
  }

  @Test
  void aDirectoryThatHasBecomeAnotherOneBeginsAnew() throws Exception {
    byte[] before = directory(30_000, 50_000);
    byte[] after = directory(50_000, 30_000);
    assertEquals(before.length, after.length);
    ContentLayout layout = new ContentLayout(BLOCK, T, before.length);
    ReceivedDirectory first = directoryStore();
    first.open(layout, null);
    int[] written = IntStream.range(0, layout.blocks() - 1).toArray();
    for (int block : written) {
      writeBlock(first, layout, before, block);
    }
    first.save(stateOf(layout, written));
    first.close();
    ReceivedDirectory second = directoryStore();
    assertEquals(written.length, second.open(layout, null).written().count());
    StoreException why = assertThrows(StoreException.class, () -> writeBlock(second, layout, after, 0));
    assertTrue(why.beginsAnew());
    for (int block = 0; block < layout.blocks(); block++) {
      writeBlock(second, layout, after, block);
    }
    second.finish(after.length);
    second.close();
    assertEquals(50_000, Files.size(folder.resolve("got/one")));
    assertEquals("2".repeat(30_000), Files.readString(folder.resolve("got/other")));
    try (Stream<Path> there = Files.list(folder)) {
      assertEquals(1, there.count(), "nothing is left beside it");
    }
  }

  /** A thread that saves may wait for the one that finds that the directory is another one. */
  @Test
  void aDirectoryThatHasBecomeAnotherOneHasNoStateOfTheTimeBefore() throws Exception {
    byte[] before = directory(30_000, 50_000);
    byte[] after = directory(50_000, 30_000);
    ContentLayout layout = new ContentLayout(BLOCK, T, before.length);
    ReceivedDirectory store = directoryStore();
    store.open(layout, null);
    int[] all = IntStream.range(0, layout.blocks()).toArray();
    for (int block : all) {
      writeBlock(store, layout, before, block);
    }
    ResumeState former = stateOf(layout, all);
    Path saved = folder.resolve("got.spindle-state");
    store.save(former);
    assertTrue(Files.exists(saved));
    StoreException why = assertThrows(StoreException.class, () -> writeBlock(store, layout, after, 0));
    assertTrue(why.beginsAnew());
    store.save(former);
    assertFalse(Files.exists(saved));
    store.takeBack(former);
    assertFalse(Files.exists(saved));
    int last = layout.blocks() - 1;
    for (int block = 0; block < last; block++) {
      writeBlock(store, layout, after, block);
      store.save(former);
      assertFalse(Files.exists(saved), "block " + block);
    }
    store.takeBack(stateOf(layout, IntStream.range(0, last).toArray()));
    assertTrue(Files.exists(saved));
    store.close();
  }
}
