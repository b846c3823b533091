package io.spindle.net;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.spindle.ChannelId;
import io.spindle.Code;
import io.spindle.Event;
import io.spindle.bulk.BlockPool;
import io.spindle.bulk.HeardContent;
import io.spindle.protocol.BulkRequest;
import io.spindle.protocol.ContentLayout;
import io.spindle.store.BulkStore;
import io.spindle.store.StoreException;
import java.util.Random;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadFactory;
import org.junit.jupiter.api.Test;

/** A receiver on a disk that takes symbols and does not give them back. */
final class UnreadableTest {
  private static final int BLOCKS = 80;
  private static final int BLOCK = 256 << 10; // 20 MiB: more than stays in memory
  private static final int T = 16 << 10;

  private static final class Disk extends BulkStore {
    final byte[] bytes = new byte[BLOCKS * BLOCK];
    int readsToFail;

    @Override
    public boolean read(long start, byte[] to, int at, int count) {
      System.arraycopy(bytes, (int) start, to, at, count);
      return --readsToFail < 0;
    }

    @Override
    public void write(long start, byte[] from, int at, int count) {
      System.arraycopy(from, at, bytes, (int) start, count);
    }
  }

  /** Does jobs at once. */
  private static final class Host implements BulkTransfer.Host {
    private final BlockPool pool = new BlockPool();
    BulkRequest asked;

    @Override
    public void submit(BulkTransfer.Job job) {
      job.run().run();
    }

    @Override
    public void ask(BulkRequest request) {
      asked = request;
    }

    @Override
    public void give(Event event) {}

    @Override
    public void askAndGive(BulkRequest request, Event event) {
      ask(request);
    }

    @Override
    public void noteFailure(ChannelId channel, StoreException failure) {}

    @Override
    public void enginesChanged(ChannelId channel) {}

    @Override
    public void wake() {}

    @Override
    public ThreadFactory threads() {
      return Executors.defaultThreadFactory();
    }

    @Override
    public BlockPool pool() {
      return pool;
    }

    @Override
    public int draw() {
      return 1;
    }
  }

  private final Host host = new Host();
  private final Disk disk = new Disk();
  private final ContentLayout layout = new ContentLayout(BLOCK, T, (long) BLOCKS * BLOCK);
  private final byte[] content = new byte[BLOCKS * BLOCK];
  private final ChannelId id = new ChannelId("alpha", 7, 8);
  private final ReceiverTransfer transfer =
      new ReceiverTransfer(host, new ReceiverTransfer.Acceptance(id, layout, null, disk, true));
  private long now = 1;

  /** What it hears goes to the disk where it finds no room, as it has no hash to hold a block to yet. */
  UnreadableTest() {
    new Random(1).nextBytes(content);
    transfer.start();
    hear();
    HeardContent.hearHashes(transfer.engines().receiver(), now, layout, content);
  }

  private void hear() {
    HeardContent.hear(transfer.engines().receiver(), now++, layout, content, () -> transfer.pump(now));
  }

  private void pump() {
    for (int i = 0; i < BLOCKS; i++) {
      transfer.pump(now++);
    }
  }

  @Test
  void symbolsAreFetchedAnew() {
    disk.readsToFail = 7;
    pump();
    assertEquals(BLOCKS - 7, transfer.engines().receiver().written().count());
    hear();
    pump();
    assertEquals(BLOCKS, transfer.engines().receiver().written().count());
    assertArrayEquals(content, disk.bytes);
  }

  @Test
  void symbolsAreNotFetchedAnewForEver() {
    disk.readsToFail = 8;
    pump();
    assertNull(transfer.engines().receiver());
    assertEquals(new BulkRequest.OutcomeSaid(id, BulkRequest.Outcome.FAILED, Code.FILE_FAILED.number()), host.asked);
  }
}
