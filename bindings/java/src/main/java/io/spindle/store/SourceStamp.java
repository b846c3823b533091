package io.spindle.store;

import io.spindle.bulk.Sha256;
import io.spindle.protocol.Output;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.Arrays;
import java.util.Map;

/**
 * By what a content that was offered before is known again: the files that it is read from, as their system tells of
 * them. It is the same as that of C++.
 *
 * @param key SHA-256 of what there is to tell files apart: of each its device, inode and size, and when it and what is
 *     known of it were changed last. The latter nobody sets back
 * @param newest of all these times
 */
record SourceStamp(byte[] key, Instant newest) {
  boolean isSame(SourceStamp other) {
    return other != null && Arrays.equals(key, other.key);
  }

  /** Makes one, file by file. */
  static final class Maker {
    private static final int PIECE_BYTES = 64 << 10;

    private final Output gathered = new Output();
    private byte[] key = new byte[Sha256.BYTES];
    private Instant newest = Instant.EPOCH;

    /** Null: the system does not tell. */
    static Map<String, Object> tell(Path file) throws IOException {
      try {
        return Files.readAttributes(
            file, "unix:dev,ino,size,lastModifiedTime,ctime,isRegularFile", LinkOption.NOFOLLOW_LINKS);
      } catch (UnsupportedOperationException | IllegalArgumentException other) {
        return null;
      }
    }

    void add(Map<String, Object> file) {
      gathered.u64(((Number) file.get("dev")).longValue());
      gathered.u64(((Number) file.get("ino")).longValue());
      gathered.u64(((Number) file.get("size")).longValue());
      for (String each : new String[] {"lastModifiedTime", "ctime"}) {
        Instant time = ((FileTime) file.get(each)).toInstant();
        gathered.u64(time.getEpochSecond());
        gathered.u64(time.getNano());
        newest = newest.isBefore(time) ? time : newest;
      }
      foldIfLarge();
    }

    void add(byte[] bytes) {
      gathered.bytes(bytes);
      foldIfLarge();
    }

    private void foldIfLarge() {
      if (gathered.size >= PIECE_BYTES) {
        fold();
      }
    }

    /** Hashes what has gathered, behind the hash of all before it. */
    private void fold() {
      Output all = new Output(new byte[key.length + gathered.size]);
      all.bytes(key);
      all.bytes(gathered.bytes, 0, gathered.size);
      key = Sha256.hash(all.bytes, 0, all.size);
      gathered.size = 0;
    }

    SourceStamp make() {
      fold();
      return new SourceStamp(key, newest);
    }
  }
}
