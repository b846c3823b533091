package io.spindle.store;

/** Bytes that are offered. */
public final class SourceBytes extends BulkStore {
  private final byte[] content;

  public SourceBytes(byte[] content) {
    this.content = content;
  }

  @Override
  public boolean read(long start, byte[] to, int at, int count) {
    return FileIo.read(content, start, to, at, count);
  }
}
