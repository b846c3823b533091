package io.spindle.store;

import io.spindle.Code;
import io.spindle.bulk.ResumeState;
import io.spindle.protocol.ContentLayout;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A content that goes to the program block by block, in order. What comes before its turn is in a file without a name.
 */
public final class ReceivedStream extends BulkStore {
  private final OutputStream stream;
  private final Path directory;
  private ContentLayout layout;
  private volatile FileChannel file;

  private final ReentrantLock lock = new ReentrantLock(); // guards what follows
  private int next;
  private boolean isGiving;
  private final Map<Integer, Integer> waiting = new HashMap<>(); // blocks that are in the file, and their bytes

  public ReceivedStream(OutputStream stream, Path directory) {
    this.stream = stream;
    this.directory = directory != null ? directory : Path.of(System.getProperty("java.io.tmpdir"));
  }

  @Override
  public ResumeState open(ContentLayout ofOffer, byte[] root) throws StoreException {
    layout = ofOffer;
    try {
      file = StreamSource.openWithoutName(directory.resolve("spindle-stream-" + UUID.randomUUID()));
    } catch (IOException failure) {
      throw FileIo.failure(failure, directory, directory);
    }
    return null;
  }

  @Override
  public boolean read(long start, byte[] to, int at, int count) {
    return FileIo.read(file, start, to, at, count);
  }

  @Override
  public void write(long start, byte[] bytes, int at, int count) throws StoreException {
    try {
      FileIo.write(file, start, bytes, at, count);
    } catch (IOException failure) {
      throw FileIo.failure(failure, directory, directory).orLater();
    }
  }

  /** One thread at a time gives blocks to the program; others leave theirs to it. */
  @Override
  public void writeBlock(long start, byte[] bytes, int count) throws StoreException {
    int block = (int) (start / layout.blockBytes());
    lock.lock();
    try {
      if (block < next) {
        throw new StoreException(Code.FILE_FAILED, "what the program was given has turned out to be wrong");
      }
      if (block != next || isGiving) {
        lock.unlock();
        try {
          write(start, bytes, 0, count);
        } finally {
          lock.lock();
        }
        waiting.put(block, count);
        if (isGiving) {
          return;
        }
        isGiving = true;
      } else {
        isGiving = true;
        give(bytes, count);
        next++;
      }
      try {
        giveWaiting();
      } finally {
        isGiving = false;
      }
    } finally {
      lock.unlock();
    }
  }

  private void giveWaiting() throws StoreException {
    for (Integer count = waiting.remove(next); count != null; count = waiting.remove(next)) {
      byte[] bytes = new byte[count];
      if (!read(layout.startOf(next), bytes, 0, count)) {
        throw new StoreException(Code.FILE_FAILED, directory + ": what was kept there cannot be read");
      }
      give(bytes, count);
      next++;
    }
  }

  /** Without the lock. */
  private void give(byte[] bytes, int count) throws StoreException {
    lock.unlock();
    try {
      stream.write(bytes, 0, count);
    } catch (IOException | RuntimeException failure) {
      throw new StoreException(Code.FILE_FAILED, String.valueOf(failure.getMessage()));
    } finally {
      lock.lock();
    }
  }

  /** The program has all of it. */
  @Override
  public void finish(long size) throws StoreException {
    try {
      stream.flush();
    } catch (IOException | RuntimeException failure) {
      throw new StoreException(Code.FILE_FAILED, String.valueOf(failure.getMessage()));
    }
  }

  @Override
  public void close() {
    FileIo.close(file);
  }
}
