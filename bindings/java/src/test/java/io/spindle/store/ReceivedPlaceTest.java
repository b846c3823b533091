package io.spindle.store;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.spindle.Code;
import io.spindle.protocol.ContentLayout;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
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
}
