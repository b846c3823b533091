package io.spindle.bulk;

import io.spindle.protocol.ContentLayout;
import java.util.Arrays;

/**
 * The hashes of the blocks of a content, as far as they are known, and the root above them. What it takes grows with
 * the highest block that it knows: 2 MiB at most.
 */
public final class BlockIndex {
  private byte[] hashes = new byte[0]; // of the blocks in `known`; others have any
  private final BlockSet known;

  public BlockIndex() {
    known = new BlockSet();
  }

  public BlockIndex(BlockIndex other) {
    hashes = other.hashes.clone();
    known = new BlockSet(other.known);
  }

  /** `block`: below BLOCKS_MAX. What was known of it is replaced. */
  public void set(int block, byte[] from, int at) {
    if (block >= ContentLayout.BLOCKS_MAX) {
      return;
    }
    int end = (block + 1) * Sha256.BYTES;
    if (hashes.length < end) {
      int more = Math.min(2 * hashes.length, ContentLayout.BLOCKS_MAX * Sha256.BYTES);
      hashes = Arrays.copyOf(hashes, Math.max(end, more));
    }
    System.arraycopy(from, at, hashes, end - Sha256.BYTES, Sha256.BYTES);
    known.add(block);
  }

  public void set(int block, byte[] hash) {
    set(block, hash, 0);
  }

  public void forget(int block) {
    known.remove(block);
  }

  public void clear() {
    known.clear();
  }

  public boolean has(int block) {
    return known.contains(block);
  }

  /** Null where it is not known. */
  public byte[] find(int block) {
    return has(block) ? Arrays.copyOfRange(hashes, block * Sha256.BYTES, (block + 1) * Sha256.BYTES) : null;
  }

  /** Whether that is what is known of the block. */
  public boolean is(int block, byte[] hash, int at) {
    int own = block * Sha256.BYTES;
    return has(block) && Arrays.equals(hashes, own, own + Sha256.BYTES, hash, at, at + Sha256.BYTES);
  }

  public BlockSet known() {
    return known;
  }

  /** Of the neighbouring blocks that are known from `first` on: at most `most` of them. */
  public byte[] hashesFrom(int first, int most) {
    int count = Math.min(known.firstMissing(first) - first, most);
    return Arrays.copyOfRange(hashes, first * Sha256.BYTES, (first + count) * Sha256.BYTES);
  }

  /**
   * The root of a content of that many blocks: the hash of all their hashes, one behind the other. Null where some are
   * not known.
   */
  public byte[] root(int blocks) {
    return known.firstMissing(0) < blocks ? null : Sha256.hash(hashes, 0, blocks * Sha256.BYTES);
  }
}
