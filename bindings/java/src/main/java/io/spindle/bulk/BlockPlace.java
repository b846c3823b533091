package io.spindle.bulk;

import io.spindle.protocol.ContentLayout;

/**
 * Where a block is, and how it is coded.
 *
 * @param bytes of content
 * @param start in the content
 * @param symbols K
 * @param symbolBytes T
 */
public record BlockPlace(int block, int bytes, long start, int symbols, int symbolBytes) {
  static BlockPlace of(ContentLayout layout, int block) {
    return new BlockPlace(
        block, layout.bytesOf(block), layout.startOf(block), layout.symbolsOf(block), layout.symbolBytes());
  }

  /** Of all source symbols, the last one filled up. */
  int wholeBytes() {
    return symbols * symbolBytes;
  }

  /** Where a source symbol begins in the content. */
  public long startOf(int esi) {
    return start + (long) esi * symbolBytes;
  }

  /** Content that is in so many source symbols from `esi` on: the last symbol of a content is filled up. */
  public int bytesOf(int esi, int count) {
    int from = (int) Math.min(bytes, (long) esi * symbolBytes);
    return (int) Math.min(bytes - from, (long) count * symbolBytes);
  }
}
