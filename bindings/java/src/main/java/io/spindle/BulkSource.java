package io.spindle;

import java.io.InputStream;
import java.nio.file.Path;
import java.util.function.Consumer;

/** What is offered: {@link Bulk#offer}. */
public sealed interface BulkSource {
  /**
   * A regular file. It is read while it is sent, and must not change before the channel has ended: one that has changed
   * ends it.
   *
   * @param path where it is
   * @param name by which it is offered; empty: the last part of its path
   */
  record File(Path path, String name) implements BulkSource {}

  /**
   * A directory with all that is in it: files, whether their owner may execute them, and directories, also empty ones.
   * Names have to be UTF-8 without control characters. Files must not change, as with {@link File}.
   *
   * @param path where it is
   * @param name by which it is offered; empty: its own
   * @param leftOut is given what is neither file nor directory, symbolic links above all, which is not sent; null: then
   *     nothing is offered
   */
  record Directory(Path path, String name, Consumer<Path> leftOut) implements BulkSource {}

  /**
   * Bytes of the program.
   *
   * @param content which must not change any more
   * @param name by which they are offered; may be empty
   */
  record Bytes(byte[] content, String name) implements BulkSource {}

  /**
   * A content whose size is not known. A thread of its own reads it, and closes it at the end. Blocks of 8 MiB are sent
   * as soon as they are whole, the last one at the end. Without a spool the last 8 blocks are kept; for who is further
   * behind the source waits 10 s, and goes on without him. Then it reads no more than 96 MiB ahead of what has been
   * sent, and so not before somebody accepts.
   *
   * @param content its end is that of the content; what it throws ends the channel
   * @param name by which it is offered; may be empty
   * @param spool a file, which must not be there, in which everything is kept, without a name, until the channel has
   *     ended; null: none
   */
  record Stream(InputStream content, String name, Path spool) implements BulkSource {}

  /**
   * A regular file, by the last part of its path.
   *
   * @param path where it is
   * @return the source
   */
  static BulkSource file(Path path) {
    return new File(path, "");
  }

  /**
   * A directory, by its name. What is neither file nor directory in it is a failure.
   *
   * @param path where it is
   * @return the source
   */
  static BulkSource directory(Path path) {
    return new Directory(path, "", null);
  }

  /**
   * Bytes without a name.
   *
   * @param content which must not change any more
   * @return the source
   */
  static BulkSource bytes(byte[] content) {
    return new Bytes(content, "");
  }

  /**
   * A content whose size is not known.
   *
   * @param content its end is that of the content
   * @param name by which it is offered
   * @return the source
   */
  static BulkSource stream(InputStream content, String name) {
    return new Stream(content, name, null);
  }

  /**
   * Its name.
   *
   * @return empty: that of its path
   */
  String name();

  /**
   * The same by another name.
   *
   * @param name UTF-8 of up to 255 bytes
   * @return the source
   */
  default BulkSource named(String name) {
    if (this instanceof File file) {
      return new File(file.path, name);
    } else if (this instanceof Directory directory) {
      return new Directory(directory.path, name, directory.leftOut);
    } else if (this instanceof Bytes bytes) {
      return new Bytes(bytes.content, name);
    }
    Stream stream = (Stream) this;
    return new Stream(stream.content, name, stream.spool);
  }
}
