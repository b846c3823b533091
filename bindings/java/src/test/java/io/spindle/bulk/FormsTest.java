package io.spindle.bulk;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.spindle.ChannelId;
import io.spindle.protocol.ByteReader;
import io.spindle.protocol.ContentLayout;
import io.spindle.protocol.Output;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Sets, layouts, states, lists and frames of bulk channels: as they are written and read, and what cannot be read. */
final class FormsTest {
  private final Random random = new Random(3);

  @Test
  void setsAreThoseOfAModel() {
    BlockSet set = new BlockSet();
    BitSet model = new BitSet();
    for (int step = 0; step < 20_000; step++) {
      int first = random.nextInt(300);
      int end = first + random.nextInt(20);
      switch (random.nextInt(3)) {
        case 0 -> {
          assertEquals(!model.get(first), set.add(first));
          model.set(first);
        }
        case 1 -> {
          set.addRun(first, end);
          model.set(first, end);
        }
        default -> {
          set.remove(first);
          model.clear(first);
        }
      }
      int at = random.nextInt(330);
      int present = model.nextSetBit(at);
      assertEquals(model.cardinality(), set.count());
      assertEquals(model.get(at), set.contains(at));
      assertEquals(model.nextClearBit(at), set.firstMissing(at));
      assertEquals(present < 0 ? ContentLayout.BLOCKS_MAX : present, set.firstPresent(at));
      assertEquals(model.length(), set.end());
      if (step % 100 == 0) {
        Output out = new Output();
        set.write(out);
        ByteReader reader = new ByteReader(out.bytes, 0, out.size);
        assertEquals(set, BlockSet.read(reader));
        assertTrue(reader.isDone());
      }
    }
    set.addRun(65_530, 70_000);
    assertEquals(ContentLayout.BLOCKS_MAX, set.end());
  }

  @Test
  void layoutsFollowTheirSizes() {
    assertEquals(new ContentLayout(1 << 20, 1 << 10, 0), ContentLayout.of(0));
    assertEquals(0, ContentLayout.of(0).blocks());
    assertEquals(new ContentLayout(1 << 20, 1 << 10, 1 << 20), ContentLayout.of(1 << 20));
    assertEquals(new ContentLayout(2 << 20, 2 << 10, (1 << 20) + 1), ContentLayout.of((1 << 20) + 1));
    assertEquals(8 << 20, ContentLayout.of(100 << 20).blockBytes());
    assertEquals(8 << 10, ContentLayout.of(ContentLayout.SIZE_UNKNOWN).symbolBytes());
    long large = 65_536L * (8 << 20);
    assertEquals(8 << 20, ContentLayout.of(large).blockBytes());
    assertEquals(16 << 20, ContentLayout.of(large + 1).blockBytes());
    ContentLayout largest = ContentLayout.of(ContentLayout.CONTENT_BYTES_MAX);
    assertTrue(largest.isValid());
    assertEquals(ContentLayout.BLOCKS_MAX, largest.blocks());
    assertNull(ContentLayout.of(ContentLayout.CONTENT_BYTES_MAX + 1));
    for (int i = 0; i < 1_000; i++) {
      ContentLayout layout = ContentLayout.of(random.nextLong() >>> (17 + random.nextInt(40)));
      assertTrue(layout.isValid());
      int last = layout.blocks() - 1;
      if (last >= 0) {
        assertEquals(layout.size(), layout.startOf(last) + layout.bytesOf(last));
      }
    }
    assertFalse(new ContentLayout(0, 1024, 5).isValid());
    assertFalse(new ContentLayout(-1024, 1024, 5).isValid());
    assertFalse(new ContentLayout(1024, 1000, 5).isValid());
    assertFalse(new ContentLayout(1024, 1024, 65_537L * 1024).isValid());
    assertFalse(new ContentLayout(1024, 1024, -2).isValid());
  }

  private ResumeState makeState() {
    BlockIndex index = new BlockIndex();
    BlockSet written = new BlockSet();
    for (int block : new int[] {0, 1, 2, 7, 9}) {
      byte[] hash = new byte[Sha256.BYTES];
      random.nextBytes(hash);
      index.set(block, hash);
      if (block != 9) {
        written.add(block);
      }
    }
    return new ResumeState(ContentLayout.of(100_000_000), new byte[Sha256.BYTES], written, index);
  }

  @Test
  void statesAreReadAsTheyWereWritten() {
    ResumeState state = makeState();
    byte[] bytes = state.encode();
    ResumeState read = ResumeState.decode(bytes, 0);
    assertEquals(state.layout(), read.layout());
    assertArrayEquals(state.root(), read.root());
    assertEquals(state.written(), read.written());
    assertArrayEquals(state.index().find(9), read.index().find(9));
    assertArrayEquals(bytes, read.encode());
    for (int bit = 0; bit < 8 * bytes.length; bit++) {
      byte[] changed = bytes.clone();
      changed[bit / 8] ^= (byte) (1 << bit % 8);
      assertNull(ResumeState.decode(changed, 0));
    }
    for (int size = 0; size < bytes.length; size++) {
      assertNull(ResumeState.decode(Arrays.copyOf(bytes, size), 0));
    }
  }

  private static FileList.Entry file(int depth, String name, long size) {
    return new FileList.Entry(FileList.Kind.FILE, depth, name, size);
  }

  private static FileList.Entry directory(int depth, String name) {
    return new FileList.Entry(FileList.Kind.DIRECTORY, depth, name, 0);
  }

  private static String whatIsWrong(long more, FileList.Entry... entries) {
    byte[] bytes = new FileList(List.of(entries)).encode();
    long content = bytes.length + more;
    for (FileList.Entry entry : entries) {
      content += entry.size();
    }
    long all = content;
    return assertThrows(FileList.Malformed.class, () -> FileList.decode(bytes, all)).getMessage();
  }

  @Test
  void listsThatLeadElsewhereAreRefused() throws Exception {
    FileList good =
        new FileList(
            List.of(
                file(0, "a", 5),
                directory(0, "b"),
                file(1, "\u00e4", 0),
                directory(1, "\u00f6"),
                file(2, "x", 9),
                file(0, "c", 1)));
    byte[] bytes = good.encode();
    assertEquals(bytes.length, FileList.sizeOf(Arrays.copyOf(bytes, FileList.HEAD_BYTES)));
    assertEquals(good, FileList.decode(bytes, bytes.length + 15));
    assertThrows(FileList.Malformed.class, () -> FileList.decode(bytes, bytes.length + 14));
    assertThrows(FileList.Malformed.class, () -> FileList.decode(bytes, bytes.length + 16));
    for (String name : new String[] {"", ".", "..", "a/b", "/", "a\u0000", "\u007f", "\n", "x".repeat(256)}) {
      assertFalse(FileList.isEntryName(name));
    }
    assertEquals("a name in the list of files cannot be one", whatIsWrong(0, file(0, "..", 1)));
    assertEquals("a name in the list of files cannot be one", whatIsWrong(0, file(0, "a/b", 1)));
    assertEquals("the list of files has a file in what is no directory", whatIsWrong(0, file(1, "a", 1)));
    assertEquals(
        "the list of files has a file in what is no directory", whatIsWrong(0, file(0, "a", 1), file(1, "b", 1)));
    assertEquals("the list of files has a name twice", whatIsWrong(0, file(0, "a", 1), file(0, "a", 1)));
    assertEquals("the list of files is not in order", whatIsWrong(0, file(0, "b", 1), file(0, "a", 1)));
    assertEquals(
        "the files of the list are not what is in the content", whatIsWrong(1, file(0, "a", 1)));
    assertEquals(
        "the files of the list are not what is in the content", whatIsWrong(-1, file(0, "a", 1)));
    // Whatever is changed, it is read as something else, or not at all.
    for (int i = 0; i < 20_000; i++) {
      byte[] changed = bytes.clone();
      changed[random.nextInt(changed.length)] = (byte) random.nextInt();
      try {
        FileList.decode(changed, changed.length + 15);
      } catch (FileList.Malformed malformed) {
        assertNotNull(malformed.getMessage());
      }
    }
  }

  /** A connection that has a channel to send and one to receive, which its daemon calls 0 and 1. */
  private static final class Linked {
    final Attachment attachment = new Attachment(7, new byte[16]);
    final ContentLayout layout = ContentLayout.of(300_000);
    final BulkHolder holder = new BulkHolder(BulkHolder.Kind.SOURCE, layout, 1, 2);
    final BulkReceiver receiver = new BulkReceiver(layout, null, new BlockPool());

    Linked() throws Attachment.Ended {
      ChannelId sends = new ChannelId("a", 1, 1);
      ChannelId receives = new ChannelId("a", 1, 2);
      attachment.add(sends, layout, new Attachment.Engines(holder, null));
      attachment.add(receives, layout, new Attachment.Engines(null, receiver));
      Output out = new Output();
      BulkFrames.writeOpen(out, 0, sends, layout);
      BulkFrames.writeOpen(out, 1, receives, layout);
      read(out.toBytes());
    }

    void read(byte[] bytes) throws Attachment.Ended {
      for (int at = 0; at < bytes.length; ) {
        ByteBuffer room = attachment.prepare();
        int count = Math.min(room.remaining(), bytes.length - at);
        room.put(bytes, at, count);
        attachment.handleRead(1, count);
        at += count;
      }
      attachment.fill(2);
      ByteBuffer output = attachment.output();
      if (output != null) {
        attachment.consume(output.remaining());
      }
    }
  }

  private byte[] drawFrames() {
    Output out = new Output();
    for (int i = random.nextInt(4); i >= 0; i--) {
      int number = random.nextInt(3);
      byte[] symbol = new byte[1024];
      random.nextBytes(symbol);
      int crc = BulkFrames.crc(symbol, 0, symbol.length);
      switch (random.nextInt(8)) {
        case 0 -> BulkFrames.writeSymbol(
            out, number, new BulkFrames.Symbol(0, random.nextInt(2), random.nextInt(400), crc, symbol, 0, 1024));
        case 1 -> BulkFrames.writeIndex(out, number, BulkFrames.IndexPart.of(random.nextInt(2), symbol));
        case 2 -> {
          Need need = new Need();
          need.complete.addRun(random.nextInt(3), random.nextInt(5));
          need.addBegun(10 + random.nextInt(10), 1 + random.nextInt(100));
          BulkFrames.writeNeed(out, number, need);
        }
        case 3 -> BulkFrames.writeGrant(out, number, 1 + random.nextInt(1_000));
        case 4 -> BulkFrames.writeRelease(out, number, random.nextInt(5));
        case 5 -> BulkFrames.writeAskIndex(out, number);
        case 6 -> BulkFrames.writeShut(out, number);
        default -> {
          int head = out.beginFrame(BulkFrames.MARK);
          out.varint(number);
          out.varint(random.nextInt(5));
          out.varint(random.nextInt(5));
          out.endFrame(head);
        }
      }
    }
    return out.toBytes();
  }

  /** Whatever comes: it is taken, or the connection ends with a reason, and nothing else. */
  @Test
  void framesThatCannotBeEndTheConnection() throws Exception {
    int ended = 0;
    int taken = 0;
    for (int round = 0; round < 3_000; round++) {
      Linked linked = new Linked();
      try {
        for (int i = 0; i < 5; i++) {
          byte[] bytes = drawFrames();
          for (int flips = random.nextInt(3); flips > 0; flips--) {
            bytes[random.nextInt(Math.min(bytes.length, 40))] ^= (byte) (1 << random.nextInt(8));
          }
          linked.read(bytes);
          taken++;
        }
      } catch (Attachment.Ended end) {
        assertNotNull(end.code());
        ended++;
      }
    }
    assertTrue(ended > 500 && taken > 500);
    List<byte[]> wrong = new ArrayList<>();
    wrong.add(new byte[] {(byte) 0xff, (byte) 0xff, (byte) 0xff, BulkFrames.SYMBOL}); // too large
    wrong.add(new byte[] {0, 0, 0, 99}); // of no type
    wrong.add(new byte[] {1, 0, 0, BulkFrames.ASK_INDEX, 5}); // of a channel that is not open
    wrong.add(new byte[] {2, 0, 0, BulkFrames.WELCOME, 9, 0}); // of another version
    for (byte[] each : wrong) {
      Linked linked = new Linked();
      assertThrows(Attachment.Ended.class, () -> linked.read(each));
    }
  }
}
