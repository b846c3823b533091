package io.spindle.bulk;

import io.spindle.protocol.ContentLayout;

/** Has a receiver hear a content, as its connection does. */
public final class HeardContent {
  private HeardContent() {}

  /** All source symbols; `then` is called behind each. */
  public static void hear(BulkReceiver receiver, long now, ContentLayout layout, byte[] content, Runnable then) {
    int symbolBytes = layout.symbolBytes();
    int symbols = layout.blockBytes() / symbolBytes;
    for (int at = 0; at < content.length; at += symbolBytes) {
      int number = at / symbolBytes;
      int crc = BulkFrames.crc(content, at, symbolBytes);
      receiver.handleSymbol(
          now, new BulkFrames.Symbol(0, number / symbols, number % symbols, crc, content, at, symbolBytes));
      then.run();
    }
  }

  public static void hearHashes(BulkReceiver receiver, long now, ContentLayout layout, byte[] content) {
    byte[] hashes = new byte[layout.blocks() * Sha256.BYTES];
    for (int block = 0; block < layout.blocks(); block++) {
      byte[] hash = Sha256.hash(content, block * layout.blockBytes(), layout.blockBytes());
      System.arraycopy(hash, 0, hashes, block * Sha256.BYTES, Sha256.BYTES);
    }
    receiver.handleIndex(now, BulkFrames.IndexPart.of(0, hashes));
  }
}
