package io.spindle.bulk;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.spindle.protocol.ContentLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * A holder and a receiver, with what a daemon does between them played: symbols are lost, come twice, late, and
 * changed.
 */
final class EngineTest {
  private static final int BLOCK = 16 << 10; // of 16 symbols
  private static final int T = 1 << 10;
  private static final int STREAM = 3; // of the child

  private final Random random = new Random(7);
  private final BlockPool pool = new BlockPool();
  private long now = 1;

  private byte[] content;
  private byte[] stored;
  private boolean isUnreadable;
  private ContentLayout sealed;
  private BulkHolder holder;
  private BulkReceiver receiver;
  private int sent;

  private void offer(int size, boolean isStream) {
    content = new byte[size];
    random.nextBytes(content);
    sealed = new ContentLayout(BLOCK, T, size);
    ContentLayout layout = isStream ? new ContentLayout(BLOCK, T, ContentLayout.SIZE_UNKNOWN) : sealed;
    holder = new BulkHolder(BulkHolder.Kind.SOURCE, layout, random.nextInt(), random.nextInt());
    holder.handleAttached();
    if (!isStream) {
      holder.handleAvailable(BlockSet.ofFirst(sealed.blocks()));
    }
    stored = new byte[size + BLOCK];
    receiver = new BulkReceiver(layout, null, pool);
  }

  private boolean readContent(long start, byte[] to, int at, int count) {
    System.arraycopy(content, (int) start, to, at, count);
    return true;
  }

  /** Whether there was something to load. */
  private static boolean runHolder(BulkHolder of, ReceiverJob.ReadContent reading) {
    boolean wasBusy = false;
    for (LoadJob job = of.takeJob(); job != null; job = of.takeJob()) {
      of.handleLoaded(job.run(reading));
      wasBusy = true;
    }
    return wasBusy;
  }

  private boolean readStored(long start, byte[] to, int at, int count) {
    System.arraycopy(stored, (int) start, to, at, count);
    return !isUnreadable;
  }

  private void runReceiver() {
    for (ReceiverJob job = receiver.takeJob(); job != null; job = receiver.takeJob()) {
      if (job instanceof ReceiverJob.Decode decode) {
        receiver.handleDecoded(decode.run(this::readStored));
      } else if (job instanceof ReceiverJob.Store store) {
        keep(store);
        receiver.handleStored(store, true);
      } else if (job instanceof ReceiverJob.Write write) {
        System.arraycopy(write.content(), 0, stored, (int) write.place().start(), write.place().bytes());
        receiver.handleWritten(write, true);
      }
    }
  }

  private void keep(ReceiverJob.Store job) {
    for (ReceiverJob.HeldSymbol symbol : job.symbols()) {
      int bytes = job.place().bytesOf(symbol.esi(), 1);
      System.arraycopy(symbol.bytes(), 0, stored, (int) job.place().startOf(symbol.esi()), bytes);
    }
    for (int run = 0; run < job.placed().runs(); run++) {
      int first = job.placed().start(run);
      int bytes = job.place().bytesOf(first, job.placed().end(run) - first);
      System.arraycopy(job.content(), first * T, stored, (int) job.place().startOf(first), bytes);
    }
  }

  /** All that the holder has to send. */
  private List<BulkFrames.Symbol> takeSymbols() {
    List<BulkFrames.Symbol> symbols = new ArrayList<>();
    while (true) {
      for (BulkFrames.IndexPart part = holder.takeIndex(); part != null; part = holder.takeIndex()) {
        receiver.handleIndex(now, part);
      }
      BulkFrames.Symbol symbol = holder.nextSymbol();
      if (symbol == null && !runHolder(holder, this::readContent)) {
        return symbols;
      }
      if (symbol != null) {
        sent++;
        byte[] copy = Arrays.copyOfRange(symbol.bytes(), symbol.at(), symbol.at() + symbol.size());
        symbols.add(
            new BulkFrames.Symbol(symbol.stream(), symbol.block(), symbol.esi(), symbol.crc(), copy, 0, T));
      }
    }
  }

  /** Of what is sent, so many in a hundred get through, in any order; some come twice. */
  private void deliver(List<BulkFrames.Symbol> symbols, int percent) {
    Collections.shuffle(symbols, random);
    for (BulkFrames.Symbol symbol : symbols) {
      if (random.nextInt(100) < percent) {
        receiver.handleSymbol(now++, symbol);
        if (random.nextInt(20) == 0) {
          assertFalse(receiver.handleSymbol(now++, symbol));
        }
      }
      if (random.nextInt(5) == 0) {
        runReceiver();
      }
    }
    runReceiver();
  }

  private void seal() {
    for (LoadJob job = holder.takeHashJob(true); job != null; job = holder.takeHashJob(true)) {
      holder.handleLoaded(job.run(this::readContent));
    }
    takeSymbols(); // and with them the index
    byte[] root = holder.index().root(sealed.blocks());
    assertNotNull(root);
    assertTrue(receiver.handleSeal(now, content.length, root));
    runReceiver();
  }

  /** What is lacking comes by the needs of the receiver, as from its daemon. */
  private void catchUp(int percent) {
    for (int rounds = 0; !receiver.isDone(); rounds++) {
      assertTrue(rounds < 200);
      receiver.handleMark(rounds + 1); // it says at once what it has
      Need need = receiver.takeNeed(now);
      assertEquals(rounds + 1, need.seen);
      holder.handleNeed(STREAM, need);
      holder.handleGrant(STREAM, 1_000);
      deliver(takeSymbols(), percent);
      while (holder.takeFinished() >= 0) {
        continue;
      }
    }
    assertArrayEquals(content, Arrays.copyOf(stored, content.length));
    assertFalse(receiver.lacksSomething());
  }

  @Test
  void whatIsLostComesAsRepairSymbols() {
    for (int size : new int[] {1, T, BLOCK, BLOCK + 1, 5 * BLOCK + 3 * T + 7, 300_000}) {
      offer(size, false);
      sent = 0;
      holder.handleGrant(BulkFrames.LIVE_STREAM, 1_000_000);
      deliver(takeSymbols(), 70);
      seal();
      catchUp(80);
      // A need is exact, but for what is lost once more, and two more for a block that could not be decoded.
      int symbols = (size + T - 1) / T;
      assertTrue(sent <= 3 * symbols + 20, sent + " of " + symbols);
    }
  }

  @Test
  void nothingIsSentTwiceWhereNothingIsLost() {
    offer(300_000, false);
    holder.handleGrant(BulkFrames.LIVE_STREAM, 1_000_000);
    deliver(takeSymbols(), 100);
    seal();
    assertTrue(receiver.isDone());
    assertEquals((300_000 + T - 1) / T, sent);
    assertArrayEquals(content, Arrays.copyOf(stored, content.length));
  }

  @Test
  void grantsBoundWhatIsSent() {
    offer(300_000, false);
    holder.handleGrant(BulkFrames.LIVE_STREAM, 10);
    assertEquals(10, takeSymbols().size());
    holder.handleGrant(BulkFrames.LIVE_STREAM, 3);
    assertEquals(3, takeSymbols().size());
  }

  /** The last block of a stream is shorter than it was taken for. */
  @Test
  void streamsAreCutWhenTheirEndIsKnown() {
    for (int rest : new int[] {0, 1, T, 5 * T + 9}) {
      offer(4 * BLOCK + rest, true);
      holder.handleGrant(BulkFrames.LIVE_STREAM, 1_000_000);
      holder.handleAvailable(BlockSet.ofFirst(4));
      deliver(takeSymbols(), 60);
      assertFalse(receiver.isDone());
      assertTrue(holder.handleSeal(content.length));
      holder.handleAvailable(BlockSet.ofFirst(sealed.blocks()));
      deliver(takeSymbols(), 60);
      seal();
      catchUp(70);
    }
  }

  /** Where there is little memory source symbols go to their places before their blocks are complete. */
  @Test
  void symbolsAreStoredWhereMemoryIsShort() {
    offer(20 * BLOCK, false);
    receiver = new BulkReceiver(sealed, null, pool, 4 * T, BLOCK);
    holder.handleGrant(BulkFrames.LIVE_STREAM, 1_000_000);
    deliver(takeSymbols(), 80);
    seal();
    catchUp(90);
  }

  @Test
  void whatCannotBeReadBackIsLost() {
    offer(BLOCK, false);
    receiver = new BulkReceiver(sealed, null, pool, 4 * T, BLOCK);
    holder.handleGrant(BulkFrames.LIVE_STREAM, 1_000_000);
    List<BulkFrames.Symbol> symbols = takeSymbols();
    for (BulkFrames.Symbol symbol : symbols) {
      if (symbol == symbols.get(symbols.size() - 1)) {
        receiver.handleMark(1);
        assertFalse(receiver.takeNeed(now).lost);
        isUnreadable = true;
      }
      assertTrue(receiver.handleSymbol(now++, symbol));
      runReceiver();
    }
    assertEquals(0, receiver.written().count());
    receiver.handleMark(2);
    assertTrue(receiver.takeNeed(now).lost);
    isUnreadable = false;
    seal();
    catchUp(100);
  }

  @Test
  void changedSymbolsAreNotTaken() {
    offer(BLOCK, false);
    holder.handleGrant(BulkFrames.LIVE_STREAM, 1_000_000);
    List<BulkFrames.Symbol> symbols = takeSymbols();
    for (BulkFrames.Symbol symbol : symbols) {
      byte[] changed = symbol.bytes().clone();
      changed[random.nextInt(T)] ^= 1;
      assertFalse(
          receiver.handleSymbol(
              now, new BulkFrames.Symbol(0, symbol.block(), symbol.esi(), symbol.crc(), changed, 0, T)));
    }
    seal();
    catchUp(100);
  }

  /**
   * Symbols that are wrong although their checksums are right make a block that is wrong by its hash: it is fetched
   * again.
   */
  @Test
  void wrongBlocksAreFetchedAgain() {
    offer(3 * BLOCK, false);
    holder.handleGrant(BulkFrames.LIVE_STREAM, 1_000_000);
    List<BulkFrames.Symbol> symbols = takeSymbols();
    BulkFrames.Symbol wrong = symbols.remove(4);
    byte[] changed = wrong.bytes().clone();
    changed[9] ^= 1;
    int crc = BulkFrames.crc(changed, 0, T);
    assertTrue(
        receiver.handleSymbol(now, new BulkFrames.Symbol(0, wrong.block(), wrong.esi(), crc, changed, 0, T)));
    deliver(symbols, 100);
    seal();
    assertFalse(receiver.isDone());
    assertEquals(2, receiver.written().count());
    catchUp(100);
  }

  @Test
  void wrongIndexesAreAskedForAgain() {
    offer(3 * BLOCK, false);
    holder.handleGrant(BulkFrames.LIVE_STREAM, 1_000_000);
    List<BulkFrames.Symbol> symbols = takeSymbols();
    receiver.handleIndex(now, BulkFrames.IndexPart.of(1, new byte[Sha256.BYTES]));
    deliver(symbols, 100);
    seal();
    assertFalse(receiver.isDone());
    assertTrue(receiver.takeIndexWish(now));
    assertFalse(receiver.takeIndexWish(now), "once a second");
    holder.handleIndexAsked();
    takeSymbols();
    runReceiver();
    catchUp(100);
  }

  /** A receiver that is started again asks for what is missing, and for nothing else. */
  @Test
  void goesOnWithWhatIsThere() {
    offer(10 * BLOCK, false);
    holder.handleGrant(BulkFrames.LIVE_STREAM, 7 * 16);
    deliver(takeSymbols(), 100);
    assertEquals(7, receiver.written().count());
    ResumeState state = ResumeState.decode(receiver.resumeState().encode(), 0);
    receiver = new BulkReceiver(sealed, state, pool);
    assertEquals(7 * BLOCK, receiver.bytesVerified());
    sent = 0;
    holder.handleAttached();
    Need need = receiver.takeNeed(now);
    assertEquals(7, need.complete.count());
    holder.handleNeed(BulkFrames.LIVE_STREAM, need);
    holder.handleGrant(BulkFrames.LIVE_STREAM, 1_000);
    deliver(takeSymbols(), 100);
    seal();
    assertTrue(receiver.isDone());
    assertEquals(3 * 16, sent);
    assertArrayEquals(content, Arrays.copyOf(stored, content.length));
  }

  /** The stream is sent again, and has become another one, whose source keeps nothing that all say to have. */
  @Test
  void saysToHaveABlockOfAStreamOnceItsHashIsTold() {
    offer(3 * BLOCK, true);
    holder.handleGrant(BulkFrames.LIVE_STREAM, 1_000);
    holder.handleAvailable(BlockSet.ofFirst(3));
    deliver(takeSymbols(), 100);
    assertEquals(3, receiver.written().count());
    final ResumeState state = receiver.resumeState();
    final byte[] before = stored;
    final byte[] changed = content;
    offer(3 * BLOCK, true);
    content = changed;
    content[BLOCK + 5] ^= 1;
    stored = before;
    receiver = new BulkReceiver(new ContentLayout(BLOCK, T, ContentLayout.SIZE_UNKNOWN), state, pool);
    assertEquals(0, receiver.takeNeed(now).complete.count());
    assertEquals(3, receiver.resumeState().written().count(), "it may still be the same");
    assertFalse(receiver.lacksSomething());
    sent = 0;
    holder.handleGrant(BulkFrames.LIVE_STREAM, 1_000);
    holder.handleAvailable(BlockSet.ofFirst(3));
    deliver(takeSymbols(), 100);
    assertEquals(1, receiver.takenBack());
    assertEquals(3 * BLOCK, receiver.bytesVerified());
    assertTrue(holder.handleSeal(content.length));
    seal();
    assertTrue(receiver.isDone());
    assertArrayEquals(content, Arrays.copyOf(stored, content.length));
  }

  @Test
  void allIsFetchedAgainWhereItsPlaceHasBegunAnew() {
    offer(4 * BLOCK, false);
    holder.handleGrant(BulkFrames.LIVE_STREAM, 3 * 16 + 5);
    deliver(takeSymbols(), 100);
    assertEquals(3, receiver.written().count());
    receiver.handleAllLost();
    assertEquals(3, receiver.takenBack());
    assertEquals(0, receiver.written().count());
    assertEquals(0, receiver.bytesVerified());
    holder.handleGrant(BulkFrames.LIVE_STREAM, 1_000);
    deliver(takeSymbols(), 100);
    seal();
    catchUp(100);
  }

  @Test
  void aSourceHoldsBlocksToWhatTheyWereBefore() {
    offer(10 * BLOCK, false); // more than it keeps in memory
    holder.handleGrant(BulkFrames.LIVE_STREAM, 1_000);
    assertEquals(10 * 16, takeSymbols().size());
    content[77] ^= 1;
    holder.handleNeed(STREAM, new Need());
    holder.handleGrant(STREAM, 1_000);
    assertEquals(9 * 16, takeSymbols().size());
    assertEquals(0, holder.takeBad());
  }

  @Test
  void blocksThatWentBadAreFetchedAgain() {
    offer(4 * BLOCK, false);
    holder.handleGrant(BulkFrames.LIVE_STREAM, 1_000_000);
    deliver(takeSymbols(), 100);
    seal();
    assertTrue(receiver.isDone());
    stored[2 * BLOCK + 5] ^= 1;
    BulkHolder serving = new BulkHolder(BulkHolder.Kind.RECEIVER, sealed, 1, 2);
    serving.setHashes(receiver.hashes());
    serving.handleAvailable(receiver.written());
    serving.handleNeed(STREAM, new Need());
    serving.handleGrant(STREAM, 1_000);
    int given = 0;
    do {
      while (serving.nextSymbol() != null) {
        given++;
      }
    } while (runHolder(serving, this::readStored));
    assertEquals(3 * 16, given, "what is bad is given to nobody");
    assertEquals(2, serving.takeBad());
    assertEquals(-1, serving.takeBad());
    assertEquals(0, receiver.takenBack());
    receiver.handleBad(2);
    assertFalse(receiver.isDone());
    assertEquals(1, receiver.takenBack(), "what is saved names a block that is missing again");
    catchUp(100);
  }
}
