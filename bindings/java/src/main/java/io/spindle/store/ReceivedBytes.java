package io.spindle.store;

import io.spindle.Code;
import io.spindle.bulk.ResumeState;
import io.spindle.protocol.ContentLayout;

/** A content in memory. It goes to the program when it is whole; nobody else is served from here then. */
public final class ReceivedBytes extends BulkStore {
  private volatile byte[] content = new byte[0];

  @Override
  public ResumeState open(ContentLayout layout, byte[] root) throws StoreException {
    try {
      content = new byte[Math.toIntExact(layout.size())];
    } catch (OutOfMemoryError | ArithmeticException none) {
      throw new StoreException(Code.OUT_OF_MEMORY, Code.OUT_OF_MEMORY.text());
    }
    return null;
  }

  @Override
  public boolean read(long start, byte[] to, int at, int count) {
    return FileIo.read(content, start, to, at, count);
  }

  @Override
  public void write(long start, byte[] bytes, int at, int count) throws StoreException {
    if (start > content.length || count > content.length - start) {
      throw new StoreException(Code.INTERNAL_ERROR, Code.INTERNAL_ERROR.text());
    }
    System.arraycopy(bytes, at, content, (int) start, count);
  }

  @Override
  public byte[] takeBytes() {
    byte[] taken = content;
    content = new byte[0];
    return taken;
  }
}
