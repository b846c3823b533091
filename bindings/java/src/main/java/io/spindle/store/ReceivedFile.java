package io.spindle.store;

import io.spindle.bulk.ResumeState;
import io.spindle.protocol.ContentLayout;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;

/**
 * A content on its way into a file, which can be gone on with after a crash. "NAME.spindle-part" is locked as long as
 * it is received.
 */
public final class ReceivedFile extends BulkStore {
  private final ReceivedPlace place;
  private volatile FileChannel file;
  private volatile boolean isFinished;

  public ReceivedFile(ReceivedPlace place) {
    this.place = place;
  }

  @Override
  public ResumeState open(ContentLayout layout, byte[] root) throws StoreException {
    place.open(false);
    file = place.openLocked(place.part());
    ResumeState state = place.loadState();
    try {
      if (state != null && !isOf(state, layout, root)) {
        state = null;
      }
      if (state == null) {
        place.removeState();
        file.truncate(0);
      }
      if (layout.hasSize() && layout.size() > 0) {
        reserve(layout, state);
      }
      return state;
    } catch (IOException failure) {
      throw leave(place.failure(failure, place.part()), state);
    } catch (StoreException failure) {
      throw leave(failure, state);
    }
  }

  /** Whether the state may be that of what is offered, and its blocks are in the file. */
  private boolean isOf(ResumeState state, ContentLayout layout, byte[] root) throws IOException {
    return ReceivedPlace.mayBeOf(state, layout, root) && file.size() >= ReceivedPlace.endOf(state, layout);
  }

  private void reserve(ContentLayout layout, ResumeState state) throws IOException, StoreException {
    place.requireRoom(layout, state, place.part());
    FileIo.extend(file, layout.size());
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
      throw place.failure(failure, place.part()).orLater();
    }
  }

  @Override
  public void save(ResumeState state) throws StoreException {
    try {
      file.force(false);
    } catch (IOException failure) {
      throw place.failure(failure, place.part());
    }
    place.saveState(state);
  }

  @Override
  void settleState(boolean stays) {
    place.settleState(stays);
  }

  @Override
  public void finish(long size) throws StoreException {
    try {
      file.truncate(size);
      file.force(true);
    } catch (IOException failure) {
      throw place.failure(failure, place.part());
    }
    place.moveHere(place.part());
    isFinished = true;
    place.removeState();
    place.sync();
  }

  @Override
  public void discard() {
    if (!isFinished && file != null) {
      place.removeState();
      place.remove(place.part());
    }
  }

  @Override
  public Path path() {
    return place.path();
  }

  @Override
  public void close() {
    FileIo.close(file);
  }
}
