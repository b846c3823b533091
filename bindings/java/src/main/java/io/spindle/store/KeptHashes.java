package io.spindle.store;

import io.spindle.bulk.BlockIndex;
import io.spindle.bulk.BlockSet;
import io.spindle.bulk.ResumeState;
import io.spindle.protocol.ContentLayout;
import io.spindle.protocol.Output;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.List;

/**
 * The hashes of the blocks of what was offered, kept in the user's cache: a source that is started again need not read
 * and hash everything again before the content is complete. The files are those of C++.
 *
 * <p>Of one content: a file in that directory, by the content's stamp, which is written aside and then takes its place;
 * its CRC tells one that is not whole. Nothing of this is ever needed, so that no failure is told: where a file is not
 * there, is no good, is somebody else's, or cannot be written, everything is hashed.
 *
 * <p>The stamp changes with the content, but for what is written while a file system's clock stands still: a content
 * that was changed less than SETTLED before it was hashed is not kept. What is read by kept hashes to be sent is held
 * to them by its holder; the receivers check it in any case.
 */
public final class KeptHashes {
  private static final byte[] MARK = "spindle hashes 1\n".getBytes(StandardCharsets.US_ASCII);
  private static final String SUFFIX = ".hashes";
  private static final String ASIDE = ".aside-";
  // One that is older was left by a program that has ended.
  private static final Duration ASIDE_AGE = Duration.ofHours(1);
  // Of the most blocks, and room for what is around that.
  private static final long FILE_BYTES_MAX = (2L << 20) + (64 << 10);
  private static final Duration SETTLED = Duration.ofSeconds(2);
  private static final int BLOCKS_LEAST = 4; // what has fewer is hashed as soon
  // Of all contents together; those that were used longest ago go first.
  private static final int FILES_MAX = 256;
  private static final long BYTES_MAX = 64L << 20;

  private final SourceStamp stamp;
  private final ContentLayout layout;
  private final Path directory;
  private final Path path;

  private KeptHashes(SourceStamp stamp, ContentLayout layout, Path directory) {
    this.stamp = stamp;
    this.layout = layout;
    this.directory = directory;
    path = directory.resolve(HexFormat.of().formatHex(stamp.key()) + SUFFIX);
  }

  /** Where they are kept unless the program says otherwise; null: that is not known. */
  public static Path usersDirectory() {
    String cache = System.getenv("XDG_CACHE_HOME");
    String home = System.getenv("HOME");
    if (cache != null && cache.startsWith("/")) {
      return Path.of(cache, "spindle", "hashes");
    }
    return home != null && home.startsWith("/") ? Path.of(home, ".cache", "spindle", "hashes") : null;
  }

  /** Null where they cannot be kept. `began`: before `store` was opened. `directory`: null for none. */
  public static KeptHashes of(BulkStore store, ContentLayout layout, Path directory, Instant began) {
    if (directory == null || !layout.hasSize() || layout.blocks() < BLOCKS_LEAST) {
      return null;
    }
    SourceStamp stamp = store.stamp();
    boolean isSettled = stamp != null && stamp.newest().isBefore(began.minus(SETTLED));
    return isSettled ? new KeptHashes(stamp, layout, directory) : null;
  }

  /** What is there from a former time, or null. */
  public BlockIndex load() {
    try {
      PosixFileAttributes found = Files.readAttributes(path, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
      boolean isOwn = found.owner().getName().equals(System.getProperty("user.name"));
      if (!isOwn || !found.isRegularFile() || found.size() > FILE_BYTES_MAX) {
        return null;
      }
      byte[] bytes = Files.readAllBytes(path);
      int head = MARK.length + stamp.key().length;
      boolean isOfIt =
          bytes.length >= head
              && Arrays.equals(bytes, 0, MARK.length, MARK, 0, MARK.length)
              && Arrays.equals(bytes, MARK.length, head, stamp.key(), 0, stamp.key().length);
      ResumeState state = isOfIt ? ResumeState.decode(bytes, head) : null;
      if (state == null || !state.layout().equals(layout)) {
        return null;
      }
      Files.setLastModifiedTime(path, FileTime.from(Instant.now())); // it was used now
      return state.index();
    } catch (IOException | UnsupportedOperationException none) {
      return null;
    }
  }

  /** Where the content is still what it was. False where nothing was kept. */
  public boolean save(BulkStore store, BlockIndex index) {
    if (!stamp.isSame(store.stamp()) || index.known().isEmpty()) {
      return false;
    }
    ResumeState state = new ResumeState(layout, null, new BlockSet(index.known()), index);
    Output out = new Output();
    out.bytes(MARK);
    out.bytes(stamp.key());
    out.bytes(state.encode());
    try {
      Files.createDirectories(
          directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      write(out.bytes, out.size);
      trim();
      return true;
    } catch (IOException | UnsupportedOperationException cannot) {
      return false;
    }
  }

  /** Whole, and on the disk. Nothing is left of one that could not be written. */
  private void write(byte[] bytes, int size) throws IOException {
    Path aside = Files.createTempFile(directory, ASIDE, "");
    try {
      try (FileChannel file = FileChannel.open(aside, StandardOpenOption.WRITE)) {
        FileIo.write(file, 0, bytes, 0, size);
        file.force(false);
      }
      Files.move(aside, path, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(aside);
    }
  }

  /** They were wrong. */
  public void forget() {
    try {
      Files.deleteIfExists(path);
    } catch (IOException stays) {
      // It is written anew.
    }
  }

  private record Kept(Path path, FileTime used, long bytes) {}

  private void trim() throws IOException {
    List<Kept> all = new ArrayList<>();
    Instant old = Instant.now().minus(ASIDE_AGE);
    try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
      for (Path each : files) {
        String name = each.getFileName().toString();
        PosixFileAttributes found =
            Files.readAttributes(each, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        if (name.startsWith(ASIDE) && found.lastModifiedTime().toInstant().isBefore(old)) {
          Files.deleteIfExists(each);
        } else if (name.endsWith(SUFFIX) && name.length() == 2 * stamp.key().length + SUFFIX.length()) {
          all.add(new Kept(each, found.lastModifiedTime(), found.size()));
        }
      }
    }
    all.sort(Comparator.comparing(Kept::used));
    long bytes = all.stream().mapToLong(Kept::bytes).sum();
    int files = all.size();
    for (Kept each : all) {
      if (files <= FILES_MAX && bytes <= BYTES_MAX) {
        return;
      }
      Files.deleteIfExists(each.path);
      files--;
      bytes -= each.bytes;
    }
  }
}
