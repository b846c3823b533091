package io.spindle.store;

import io.spindle.Code;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Map;
import java.util.Objects;

/** A file that is offered. */
public final class SourceFile extends BulkStore {
  private final Path path;
  private final FileChannel file;
  private final BasicFileAttributes then;

  private SourceFile(Path path, FileChannel file, BasicFileAttributes then) {
    this.path = path;
    this.file = file;
    this.then = then;
  }

  public static SourceFile open(Path path) throws StoreException {
    try {
      // What is no file, such as a pipe that nobody writes to, must not hold up the program.
      Path whole = path.toRealPath();
      BasicFileAttributes found = Files.readAttributes(whole, BasicFileAttributes.class);
      if (!found.isRegularFile()) {
        throw new StoreException(Code.FILE_FAILED, path + " is not a regular file");
      }
      return new SourceFile(whole, FileChannel.open(whole, StandardOpenOption.READ), found);
    } catch (IOException failure) {
      throw new StoreException(Code.FILE_FAILED, FileIo.failure(failure, path, path).getMessage());
    }
  }

  public long size() {
    return then.size();
  }

  /** Not what has been written to since it was offered: what was told of it, and sent, would not be right any more. */
  @Override
  public boolean read(long start, byte[] to, int at, int count) {
    return FileIo.read(file, start, to, at, count) && isSame();
  }

  private boolean isSame() {
    try {
      BasicFileAttributes now = Files.readAttributes(path, BasicFileAttributes.class);
      // One that has taken its name is another file.
      return !Objects.equals(now.fileKey(), then.fileKey())
          || (now.lastModifiedTime().equals(then.lastModifiedTime()) && now.size() == then.size());
    } catch (NoSuchFileException gone) {
      return true; // it is here still, without a name
    } catch (IOException failure) {
      return false;
    }
  }

  @Override
  public SourceStamp stamp() {
    try {
      Map<String, Object> found = SourceStamp.Maker.tell(path);
      if (found == null || !isSame()) {
        return null;
      }
      SourceStamp.Maker maker = new SourceStamp.Maker();
      maker.add(found);
      return maker.make();
    } catch (IOException gone) {
      return null;
    }
  }

  @Override
  public void close() {
    FileIo.close(file);
  }
}
