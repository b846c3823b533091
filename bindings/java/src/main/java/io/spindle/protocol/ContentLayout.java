package io.spindle.protocol;

/**
 * How content is cut into blocks, and blocks into symbols. A block is coded on its own: K source symbols of T bytes.
 * The last block is shorter: T is the same, the symbols are fewer, and the last symbol is filled up with zeros. An
 * empty content has no block.
 *
 * @param blockBytes of each block but the last: a multiple of `symbolBytes`
 * @param symbolBytes T: a power of two
 * @param size of the content, in bytes; SIZE_UNKNOWN: that of a stream which is not sealed
 */
public record ContentLayout(int blockBytes, int symbolBytes, long size) {
  public static final int BLOCKS_MAX = 65_536;
  public static final int SYMBOLS_PER_BLOCK_MAX = 56_403; // K at most (RFC 6330, section 5.1.2: K'_max)
  public static final int SYMBOL_BYTES_MIN = 1 << 10;
  public static final int SYMBOL_BYTES_MAX = 32 << 10;
  public static final int USUAL_BLOCK_BYTES = 8 << 20;
  public static final int USUAL_SYMBOLS = 1024;
  public static final long SIZE_UNKNOWN = -1;
  private static final long BLOCK_BYTES_MAX = (long) SYMBOLS_PER_BLOCK_MAX * SYMBOL_BYTES_MAX;
  public static final long CONTENT_BYTES_MAX = BLOCKS_MAX * BLOCK_BYTES_MAX;

  private static long parts(long total, long size) {
    return total / size + (total % size != 0 ? 1 : 0);
  }

  /** The layout that an offer of that size has; SIZE_UNKNOWN: that of a stream. Null above CONTENT_BYTES_MAX. */
  public static ContentLayout of(long size) {
    if (size == SIZE_UNKNOWN) {
      return new ContentLayout(USUAL_BLOCK_BYTES, USUAL_BLOCK_BYTES / USUAL_SYMBOLS, size);
    }
    if (size < 0 || size > CONTENT_BYTES_MAX) {
      return null;
    }
    long block = USUAL_BLOCK_BYTES;
    if (size < USUAL_BLOCK_BYTES) {
      // One block, with the smallest T for which 1,024 symbols suffice.
      long symbol = SYMBOL_BYTES_MIN;
      while (parts(size, symbol) > USUAL_SYMBOLS) {
        symbol *= 2;
      }
      block = symbol * USUAL_SYMBOLS;
    } else {
      while (parts(size, block) > BLOCKS_MAX && block < BLOCK_BYTES_MAX) {
        block *= 2;
      }
      block = Math.min(block, BLOCK_BYTES_MAX);
    }
    long symbol = Math.min(Long.highestOneBit(block) / USUAL_SYMBOLS, SYMBOL_BYTES_MAX);
    return new ContentLayout((int) block, (int) symbol, size);
  }

  /** Whether the values can be those of a content. All other functions are for layouts that are valid. */
  public boolean isValid() {
    if (Integer.bitCount(symbolBytes) != 1 || symbolBytes < SYMBOL_BYTES_MIN || symbolBytes > SYMBOL_BYTES_MAX) {
      return false;
    }
    if (blockBytes <= 0 || blockBytes % symbolBytes != 0 || blockBytes / symbolBytes > SYMBOLS_PER_BLOCK_MAX) {
      return false;
    }
    return !hasSize() || (size >= 0 && parts(size, blockBytes) <= BLOCKS_MAX);
  }

  public boolean hasSize() {
    return size != SIZE_UNKNOWN;
  }

  /** The same layout once the size is known. Null where so much does not fit into it, or it has another size. */
  public ContentLayout sealed(long finalSize) {
    ContentLayout layout = new ContentLayout(blockBytes, symbolBytes, finalSize);
    return finalSize == SIZE_UNKNOWN || (hasSize() && size != finalSize) || !layout.isValid() ? null : layout;
  }

  /** Blocks are numbered from 0 to below this. Without a size it is how many there may be. */
  public int blocks() {
    return hasSize() ? (int) parts(size, blockBytes) : BLOCKS_MAX;
  }

  public long startOf(int block) {
    return (long) block * blockBytes;
  }

  /** Of one of `blocks()`. Without a size all blocks are whole. */
  public int bytesOf(int block) {
    return hasSize() ? (int) Math.min(size - startOf(block), blockBytes) : blockBytes;
  }

  /** K of one of `blocks()`. */
  public int symbolsOf(int block) {
    return (int) parts(bytesOf(block), symbolBytes);
  }

  /** As frames and operations have it: u32 block bytes, u16 symbol bytes, the size as a varint. */
  public void write(Output out) {
    out.u32(blockBytes);
    out.u16(symbolBytes);
    out.varint(size);
  }

  /** The reader fails where the layout is not valid. */
  public static ContentLayout read(ByteReader reader) {
    ContentLayout layout = new ContentLayout(reader.u32(), reader.u16(), reader.varint());
    if (!layout.isValid()) {
      reader.fail();
    }
    return layout;
  }
}
