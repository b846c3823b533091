package io.spindle.net;

import io.spindle.AcceptOptions;
import io.spindle.BulkSink;
import io.spindle.Code;
import io.spindle.ContentKind;
import io.spindle.SpindleException;
import io.spindle.protocol.ContentLayout;
import io.spindle.store.BulkStore;
import io.spindle.store.ReceivedBytes;
import io.spindle.store.ReceivedDirectory;
import io.spindle.store.ReceivedFile;
import io.spindle.store.ReceivedPlace;
import io.spindle.store.ReceivedStream;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;

/** Where a content goes to that the program accepts. */
final class SinkStore {
  private static final int ARRAY_BYTES_MAX = Integer.MAX_VALUE - 8;

  private SinkStore() {}

  private static boolean goesToFiles(BulkSink sink) {
    return sink instanceof BulkSink.ToFile || sink instanceof BulkSink.ToDirectory;
  }

  /** Whether what is there can be read again, for others. */
  static boolean canServe(BulkSink sink) {
    return goesToFiles(sink);
  }

  /** For a content of that name; nothing is opened or made yet. */
  static BulkStore of(BulkSink sink, String contentName, ContentKind kind, ContentLayout layout, AcceptOptions how) {
    boolean isDirectory = kind == ContentKind.DIRECTORY;
    if (isDirectory && (!goesToFiles(sink) || !layout.hasSize())) {
      throw new SpindleException(Code.BAD_ARGUMENT);
    }
    if (sink instanceof BulkSink.ToStream stream) {
      return new ReceivedStream(stream.stream(), stream.temporary());
    } else if (sink instanceof BulkSink.ToMemory memory) {
      long most = Math.min(memory.bytesMax(), ARRAY_BYTES_MAX);
      if (!layout.hasSize() || layout.size() > most) {
        throw new SpindleException(Code.LIMIT_EXCEEDED);
      }
      return new ReceivedBytes();
    }
    try {
      Path directory;
      String name = contentName;
      if (sink instanceof BulkSink.ToFile file) {
        Path whole = file.path().toAbsolutePath();
        directory = whole.getParent();
        name = whole.getFileName() == null ? "" : whole.getFileName().toString();
      } else {
        directory = ((BulkSink.ToDirectory) sink).directory();
      }
      if (!ReceivedPlace.isFileName(name)) {
        throw new SpindleException(Code.BAD_CONTENT_NAME);
      }
      ReceivedPlace place = new ReceivedPlace(directory, name, how.replace());
      return isDirectory ? new ReceivedDirectory(place) : new ReceivedFile(place);
    } catch (InvalidPathException none) {
      throw new SpindleException(Code.BAD_CONTENT_NAME, none.getMessage()); // by what this system can write
    }
  }
}
