package io.spindle.store;

import io.spindle.bulk.ResumeState;
import io.spindle.protocol.ContentLayout;
import java.nio.file.Path;

/**
 * The content of a bulk channel. Read by any threads at once. What reads and writes fails for good where the file does.
 */
public abstract class BulkStore {
  /** Fills bytes of an array with what lies there in the content, and says whether it could. */
  public abstract boolean read(long start, byte[] to, int at, int count);

  /**
   * Of what is offered, as it is now; null: there are no files by which it is known again, or not all that there were.
   */
  public SourceStamp stamp() {
    return null;
  }

  // Of what is received. Any threads may write at once, at different places; the rest is for one thread at a time.

  /** Before anything else. `root`: of what is offered, or null. Gives what is there from a former time, or null. */
  public ResumeState open(ContentLayout layout, byte[] root) throws StoreException {
    return null;
  }

  public void write(long start, byte[] bytes, int at, int count) throws StoreException {}

  /** A whole block, which is right as far as is known. What was written to its place before need not be. */
  public void writeBlock(long start, byte[] bytes, int count) throws StoreException {
    write(start, bytes, 0, count);
  }

  /** What was written before is on the disk when the state is. */
  public void save(ResumeState state) throws StoreException {}

  /**
   * As `save`, where a block that the former state names is missing again. Behind it that state counts no more, not even
   * after a loss of power: also where there was no room for the new one, and none is there then.
   */
  public final void takeBack(ResumeState state) throws StoreException {
    try {
      save(state);
    } catch (StoreException failure) {
      if (failure.mayPass()) {
        settleState(false);
      }
      throw failure;
    }
    settleState(true);
  }

  /** What was saved last stays as it is, or goes; either is on the disk then. */
  void settleState(boolean stays) {}

  /** The content is whole, and has that size. */
  public void finish(long size) throws StoreException {}

  /** What is there of it goes, where it is not finished. */
  public void discard() {}

  /**
   * Of what `open` failed with, having found `state`: who finds no room leaves nothing behind that takes some.
   */
  final StoreException leave(StoreException failure, ResumeState state) {
    if (state == null) {
      discard();
    }
    return failure;
  }

  /** Of the file, once it is finished; null: none. */
  public Path path() {
    return null;
  }

  /** Whether both go to one file. */
  public final boolean isAtPlaceOf(BulkStore other) {
    return path() != null && path().equals(other.path());
  }

  /** What was received in memory; otherwise nothing. */
  public byte[] takeBytes() {
    return new byte[0];
  }

  /** Nothing is read or written any more. */
  public void close() {}
}
