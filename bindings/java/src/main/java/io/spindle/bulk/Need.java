package io.spindle.bulk;

import io.spindle.protocol.ByteReader;
import io.spindle.protocol.ContentLayout;
import io.spindle.protocol.Output;
import java.util.Arrays;

/** What a receiver lacks of a channel, or all receivers below a relay together: advice to whoever sends. */
public final class Need {
  /** A need names so many begun blocks at most; of others more then comes than it would have needed. */
  static final int BEGUN_BLOCKS_MAX = 4096;
  /** Symbols held of a block that is being put together, or waits for that: it asks for no more at present. */
  public static final int ENOUGH = 1 << 24;

  private static final int SERVES_BIT = 0x01;
  private static final int LOST_BIT = 0x02;
  private static final int INDEX_BIT = 0x04;
  private static final int ALL_BITS = 0x1f; // with those of daemons

  BlockSet complete = new BlockSet();
  // Blocks that are not complete, by ascending number, and how many symbols of each are there.
  private int[] blocks = new int[8];
  private int[] held = new int[8];
  private int begun;
  boolean serves; // the sender of this can give complete blocks
  boolean knowsIndex; // and all hashes, which the root has proved
  boolean lost; // a receiver has not kept what came
  long seen; // the latest mark behind which everything is counted here that was sent before it; 0: none

  int begun() {
    return begun;
  }

  /** False where there are as many as there may be. */
  boolean addBegun(int block, int symbols) {
    if (begun == BEGUN_BLOCKS_MAX) {
      return false;
    }
    if (begun == blocks.length) {
      blocks = Arrays.copyOf(blocks, 2 * begun);
      held = Arrays.copyOf(held, 2 * begun);
    }
    blocks[begun] = block;
    held[begun++] = symbols;
    return true;
  }

  /** Symbols held of a block that is not complete. */
  int heldOf(int block) {
    int at = Arrays.binarySearch(blocks, 0, begun, block);
    return at < 0 ? 0 : held[at];
  }

  void write(Output out) {
    out.u8((serves ? SERVES_BIT : 0) | (lost ? LOST_BIT : 0) | (knowsIndex ? INDEX_BIT : 0));
    out.varint(seen);
    complete.write(out);
    out.varint(begun);
    int at = 0;
    for (int i = 0; i < begun; i++) {
      out.varint(blocks[i] - at);
      out.varint(held[i]);
      at = blocks[i] + 1;
    }
  }

  /** The reader fails where flags are not known, a number is beyond its bounds, or a begun block is complete. */
  static Need read(ByteReader reader) {
    Need need = new Need();
    int flags = reader.u8();
    if ((flags & ~ALL_BITS) != 0) {
      reader.fail();
    }
    need.serves = (flags & SERVES_BIT) != 0;
    need.lost = (flags & LOST_BIT) != 0;
    need.knowsIndex = (flags & INDEX_BIT) != 0;
    need.seen = reader.varint();
    need.complete = BlockSet.read(reader);
    long count = reader.varintUpTo(BEGUN_BLOCKS_MAX);
    if (count > reader.remaining() / 2) {
      reader.fail(); // each takes two bytes at least
    }
    int at = 0;
    for (long i = 0; i < count && reader.isOk(); i++) {
      int block = at + (int) reader.varintUpTo(ContentLayout.BLOCKS_MAX);
      int symbols = (int) reader.varintUpTo(ENOUGH);
      if (!reader.isOk() || block >= ContentLayout.BLOCKS_MAX || symbols == 0 || need.complete.contains(block)) {
        reader.fail();
        break;
      }
      need.addBegun(block, symbols);
      at = block + 1;
    }
    return need;
  }
}
