package io.spindle.store;

import io.spindle.Code;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reading and writing at places, whole. */
final class FileIo {
  // Java copies what is read and written through memory of its own, of this size at most for each thread.
  private static final int PIECE_BYTES = 1 << 20;
  // A file system with less than that has no room.
  private static final long ROOM_BYTES = 1 << 20;

  private FileIo() {}

  /** False where it ends before, or cannot be read. */
  static boolean read(FileChannel file, long start, byte[] to, int at, int count) {
    try {
      for (int done = 0; done < count; ) {
        int got = file.read(ByteBuffer.wrap(to, at + done, Math.min(count - done, PIECE_BYTES)), start + done);
        if (got <= 0) {
          return false;
        }
        done += got;
      }
      return true;
    } catch (IOException failure) {
      return false;
    }
  }

  /** The same of a content in memory. */
  static boolean read(byte[] content, long start, byte[] to, int at, int count) {
    if (start < 0 || start > content.length || count > content.length - start) {
      return false;
    }
    System.arraycopy(content, (int) start, to, at, count);
    return true;
  }

  static void write(FileChannel file, long start, byte[] bytes, int at, int count) throws IOException {
    for (int done = 0; done < count; ) {
      done += file.write(ByteBuffer.wrap(bytes, at + done, Math.min(count - done, PIECE_BYTES)), start + done);
    }
  }

  /** Reserves no room, which Java cannot, but has the file that long. What is in it stays. */
  static void extend(FileChannel file, long size) throws IOException {
    if (file.size() < size) {
      write(file, size - 1, new byte[1], 0, 1);
    }
  }

  static void close(FileChannel file) {
    try {
      if (file != null) {
        file.close();
      }
    } catch (IOException gone) {
      // It is closed.
    }
  }

  /** What is left where that is; as much as can be where that is not known. */
  static long room(Path path) {
    try {
      return Files.getFileStore(path).getUsableSpace();
    } catch (IOException unknown) {
      return Long.MAX_VALUE;
    }
  }

  /** `directory`: of the file system. The system tells why in words alone. */
  static StoreException failure(IOException failure, Path directory, Path file) {
    String why = String.valueOf(failure.getMessage());
    boolean isRoom =
        why.contains("No space left on device")
            || why.contains("Disk quota exceeded")
            || why.contains("File too large")
            || room(directory) < ROOM_BYTES;
    String text = why.contains(file.toString()) ? describe(failure) : file + ": " + describe(failure);
    return new StoreException(isRoom ? Code.NO_SPACE : Code.FILE_FAILED, text);
  }

  private static String describe(IOException failure) {
    String kind = failure.getClass().getSimpleName();
    return kind.equals("FileSystemException") || kind.equals("IOException")
        ? failure.getMessage()
        : kind.replace("Exception", "") + ": " + failure.getMessage();
  }
}
