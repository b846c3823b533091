package io.spindle.bulk;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Arrays for whole blocks, which are large, and wanted again and again: what was given back is kept for the next block.
 * What is not given back is left to the collector. Any threads may call it at once.
 */
public final class BlockPool {
  private static final int FREE_BYTES_MAX = 32 << 20;

  private final ReentrantLock lock = new ReentrantLock(); // guards what follows
  private final Deque<byte[]> free = new ArrayDeque<>();
  private long freeBytes;

  /** With any content. */
  public byte[] take(int bytes) {
    lock.lock();
    try {
      for (byte[] each : free) {
        if (each.length == bytes) {
          free.removeFirstOccurrence(each);
          freeBytes -= bytes;
          return each;
        }
      }
    } finally {
      lock.unlock();
    }
    return new byte[bytes];
  }

  /** Nobody uses it any more. Null: nothing is given. */
  public void give(byte[] block) {
    if (block == null) {
      return;
    }
    lock.lock();
    try {
      free.addFirst(block);
      freeBytes += block.length;
      while (freeBytes > FREE_BYTES_MAX) {
        freeBytes -= free.removeLast().length;
      }
    } finally {
      lock.unlock();
    }
  }

  public void clear() {
    lock.lock();
    try {
      free.clear();
      freeBytes = 0;
    } finally {
      lock.unlock();
    }
  }
}
