package io.spindle;

import java.io.OutputStream;
import java.nio.file.Path;

/**
 * Where a content goes that is received: {@link Bulk#accept}.
 *
 * <p>In a directory it is first "NAME.spindle-part", which has its full size from the beginning, with
 * "NAME.spindle-state" beside it; once it is whole and written to the disk it gets its name, and the state goes. Who
 * accepts the same content there once more, after a crash or an end of the connection, goes on with what is there. A
 * content that is a directory goes into one by {@link ToFile} and {@link ToDirectory} alike.
 */
public sealed interface BulkSink {
  /**
   * The file of that path.
   *
   * @param path its last part is the name
   */
  record ToFile(Path path) implements BulkSink {}

  /**
   * A file in that directory, by the name that the source has offered. BAD_CONTENT_NAME where that is no name for a
   * file: empty, "." or "..", with '/' or control characters, or one of those beside parts.
   *
   * @param directory which is there
   */
  record ToDirectory(Path directory) implements BulkSink {}

  /**
   * {@link BulkReceived#content}. LIMIT_EXCEEDED where the content is larger, or of unknown size, and BAD_ARGUMENT
   * where it is a directory.
   *
   * @param bytesMax the most
   */
  record ToMemory(long bytesMax) implements BulkSink {}

  /**
   * Is written each block, in order, by a worker: a stream that takes its time holds up that worker. What it throws
   * ends the receiving. Each block is right by its hash as daemons tell it; whether all is what the source has offered
   * says {@link BulkReceived}. BAD_ARGUMENT where the content is a directory. It cannot be gone on with after a crash,
   * nobody is served, and it is not closed.
   *
   * @param stream to which it goes
   * @param temporary the directory for a file without a name, where blocks wait that come before their turn; null: that
   *     of the system
   */
  record ToStream(OutputStream stream, Path temporary) implements BulkSink {}

  /**
   * The file of that path.
   *
   * @param path its last part is the name
   * @return the sink
   */
  static BulkSink file(Path path) {
    return new ToFile(path);
  }

  /**
   * In that directory, by the name that the source has offered.
   *
   * @param directory which is there
   * @return the sink
   */
  static BulkSink directory(Path directory) {
    return new ToDirectory(directory);
  }

  /**
   * In memory, up to 64 MiB.
   *
   * @return the sink
   */
  static BulkSink memory() {
    return new ToMemory(64L << 20);
  }

  /**
   * In memory.
   *
   * @param bytesMax the most
   * @return the sink
   */
  static BulkSink memory(long bytesMax) {
    return new ToMemory(bytesMax);
  }

  /**
   * To a stream.
   *
   * @param stream to which it goes
   * @return the sink
   */
  static BulkSink stream(OutputStream stream) {
    return new ToStream(stream, null);
  }
}
