package io.spindle.store;

import io.spindle.Code;
import io.spindle.protocol.ContentLayout;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.TreeMap;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A content that comes while it is sent, and whose size nobody knows before its end. A thread reads the program's
 * stream. Blocks that are whole are kept in memory until they are released, and the stream is read no further while
 * there are BLOCKS_MAX of them; or in a file, all of them.
 */
public final class StreamSource extends BulkStore {
  private static final int BLOCKS_MAX = 12;

  /** Blocks that can be read: from `first` to below `end`. `size`: of all, once it is over; otherwise SIZE_UNKNOWN. */
  public record Progress(int first, int end, long size, StoreException failure) {}

  private final InputStream content;
  private final FileChannel spool; // null: none
  private int blockBytes;
  private Runnable news;
  private Thread thread;

  private final ReentrantLock lock = new ReentrantLock(); // guards what follows
  private final Condition room = lock.newCondition();
  private boolean isStopped;
  private Progress progress = new Progress(0, 0, ContentLayout.SIZE_UNKNOWN, null);
  private final TreeMap<Integer, byte[]> blocks = new TreeMap<>();

  private StreamSource(InputStream content, FileChannel spool) {
    this.content = content;
    this.spool = spool;
  }

  /**
   * With a spool everything is kept in that file, which must not be there yet, and goes at once but for its content.
   */
  public static StreamSource open(InputStream content, Path spool) throws StoreException {
    if (spool == null) {
      return new StreamSource(content, null);
    }
    try {
      return new StreamSource(content, openWithoutName(spool));
    } catch (IOException failure) {
      throw new StoreException(Code.FILE_FAILED, FileIo.failure(failure, spool, spool).getMessage());
    }
  }

  /** A file that nobody else has, and that goes with its last user. */
  static FileChannel openWithoutName(Path path) throws IOException {
    FileChannel file =
        FileChannel.open(
            path,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE,
            StandardOpenOption.CREATE_NEW,
            LinkOption.NOFOLLOW_LINKS);
    Files.delete(path);
    return file;
  }

  public boolean spools() {
    return spool != null;
  }

  /** Once. `onNews` is run by the thread whenever `progress` has changed. */
  public void start(int bytesOfBlock, ThreadFactory threads, Runnable onNews) {
    blockBytes = bytesOfBlock;
    news = onNews;
    thread = threads.newThread(this::run);
    thread.start();
  }

  /** Waits for nothing: the program's stream may hold up its thread. */
  public void stop() {
    lock.lock();
    try {
      isStopped = true;
      room.signalAll();
    } finally {
      lock.unlock();
    }
    if (thread != null) {
      thread.interrupt();
    }
  }

  public Progress progress() {
    lock.lock();
    try {
      return progress;
    } finally {
      lock.unlock();
    }
  }

  /** Blocks below `first` are not wanted any more. */
  public void release(int first) {
    lock.lock();
    try {
      if (spool != null || first <= progress.first) {
        return;
      }
      int from = Math.min(first, progress.end);
      progress = new Progress(from, progress.end, progress.size, progress.failure);
      blocks.headMap(from).clear();
      room.signalAll();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public boolean read(long start, byte[] to, int at, int count) {
    if (spool != null) {
      return FileIo.read(spool, start, to, at, count);
    }
    byte[] block;
    lock.lock();
    try {
      block = blocks.get((int) (start / blockBytes));
    } finally {
      lock.unlock();
    }
    return block != null && FileIo.read(block, start % blockBytes, to, at, count);
  }

  private void run() {
    try (content) {
      boolean isMore = true;
      while (isMore && waitForRoom()) {
        byte[] block = new byte[blockBytes];
        int filled = content.readNBytes(block, 0, blockBytes);
        isMore = filled == blockBytes;
        keep(isMore ? block : Arrays.copyOf(block, filled), !isMore);
      }
    } catch (StoreException failure) {
      fail(failure);
    } catch (IOException | RuntimeException failure) {
      fail(new StoreException(Code.FILE_FAILED, String.valueOf(failure.getMessage())));
    } catch (OutOfMemoryError none) {
      fail(new StoreException(Code.OUT_OF_MEMORY, Code.OUT_OF_MEMORY.text()));
    }
  }

  /** False where it is stopped. */
  private boolean waitForRoom() {
    lock.lock();
    try {
      while (!isStopped && spool == null && progress.end - progress.first >= BLOCKS_MAX) {
        room.awaitUninterruptibly();
      }
      return !isStopped;
    } finally {
      lock.unlock();
    }
  }

  private void keep(byte[] block, boolean isLast) throws StoreException {
    int end = progress().end; // which this thread alone changes
    long start = (long) end * blockBytes;
    if (block.length != 0 && end == ContentLayout.BLOCKS_MAX) {
      throw new StoreException(Code.LIMIT_EXCEEDED, "the stream is too long");
    }
    if (spool != null) {
      try {
        FileIo.write(spool, start, block, 0, block.length);
      } catch (IOException failure) {
        throw new StoreException(Code.FILE_FAILED, "the stream cannot be kept: " + failure.getMessage());
      }
    }
    lock.lock();
    try {
      if (isStopped) {
        return;
      }
      if (block.length != 0 && spool == null) {
        blocks.put(end, block);
      }
      progress =
          new Progress(
              progress.first,
              block.length != 0 ? end + 1 : end,
              isLast ? start + block.length : ContentLayout.SIZE_UNKNOWN,
              null);
    } finally {
      lock.unlock();
    }
    news.run();
  }

  private void fail(StoreException failure) {
    lock.lock();
    try {
      progress = new Progress(progress.first, progress.end, progress.size, failure);
    } finally {
      lock.unlock();
    }
    news.run();
  }

  @Override
  public void close() {
    FileIo.close(spool);
  }
}
