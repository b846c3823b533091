package io.spindle.store;

import io.spindle.Code;
import io.spindle.bulk.FileList;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * A directory as a content: the list of its files, and what is in them. Files are opened when they are read: there may
 * be more of them than descriptors. One that is not what it was when the content was offered cannot be read.
 */
public final class SourceDirectory extends BulkStore {
  private final Path path;
  private final SecureDirectoryStream<Path> root;
  private final FileTree tree;
  private final List<FileTime> changed; // of each entry: when it was written to last
  private final byte[] head;
  private final long size;

  private SourceDirectory(Path path, Walk walk, byte[] head) throws IOException {
    this.path = path;
    root = FileTree.openDirectory(path);
    tree = new FileTree(new FileList(walk.entries), head.length);
    changed = walk.changed;
    this.head = head;
    size = head.length + walk.bytes;
  }

  /** `leftOut`: is given what is neither file nor directory, from the directory on; null: that is a failure. */
  public static SourceDirectory open(Path path, Consumer<Path> leftOut) throws StoreException {
    try {
      Path whole = path.toRealPath();
      if (!Files.isDirectory(whole)) {
        throw new StoreException(Code.FILE_FAILED, path + " is not a directory");
      }
      Walk walk = new Walk(whole, leftOut);
      walk.go(whole, 0);
      byte[] head = new FileList(walk.entries).encode();
      if (head.length > FileList.BYTES_MAX) {
        throw new StoreException(Code.LIMIT_EXCEEDED, path + " has too many files");
      }
      return new SourceDirectory(whole, walk, head);
    } catch (IOException failure) {
      throw new StoreException(Code.FILE_FAILED, FileIo.failure(failure, path, path).getMessage());
    }
  }

  public long size() {
    return size;
  }

  public String name() {
    return path.getFileName() == null ? "" : path.getFileName().toString();
  }

  /** Makes the list. */
  private static final class Walk {
    private final Path root;
    private final Consumer<Path> leftOut;
    final List<FileList.Entry> entries = new ArrayList<>();
    final List<FileTime> changed = new ArrayList<>();
    long bytes;

    Walk(Path root, Consumer<Path> leftOut) {
      this.root = root;
      this.leftOut = leftOut;
    }

    void go(Path directory, int depth) throws IOException, StoreException {
      if (depth > FileList.DEPTH_MAX) {
        throw new StoreException(Code.LIMIT_EXCEEDED, directory + " is too deep");
      }
      List<Path> inside = new ArrayList<>();
      try (DirectoryStream<Path> found = Files.newDirectoryStream(directory)) {
        found.forEach(inside::add);
      } catch (DirectoryIteratorException failure) {
        throw failure.getCause();
      }
      inside.sort((a, b) -> Arrays.compareUnsigned(bytesOf(a), bytesOf(b)));
      for (Path each : inside) {
        add(each, depth);
      }
    }

    private static byte[] bytesOf(Path path) {
      return path.getFileName().toString().getBytes(StandardCharsets.UTF_8);
    }

    private void add(Path each, int depth) throws IOException, StoreException {
      BasicFileAttributes found = Files.readAttributes(each, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
      if (!found.isRegularFile() && !found.isDirectory()) {
        leaveOut(each, found);
        return;
      }
      String name = each.getFileName().toString();
      // Bytes that are no text here have been replaced.
      if (!FileList.isEntryName(name) || name.indexOf('\ufffd') >= 0) {
        throw new StoreException(
            Code.BAD_CONTENT_NAME, each + ": a name that is sent is UTF-8 without control characters");
      }
      if (entries.size() == FileList.ENTRIES_MAX) {
        throw new StoreException(Code.LIMIT_EXCEEDED, root + " has more than 1,000,000 files");
      }
      changed.add(found.lastModifiedTime());
      if (found.isDirectory()) {
        entries.add(new FileList.Entry(FileList.Kind.DIRECTORY, depth, name, 0));
        go(each, depth + 1);
        return;
      }
      if (!Files.isReadable(each)) {
        throw new StoreException(Code.FILE_FAILED, each + ": Permission denied");
      }
      FileList.Kind kind = isExecutable(each) ? FileList.Kind.EXECUTABLE : FileList.Kind.FILE;
      entries.add(new FileList.Entry(kind, depth, name, found.size()));
      bytes += found.size();
    }

    /** For its owner. */
    private static boolean isExecutable(Path file) throws IOException {
      try {
        int mode = (Integer) Files.getAttribute(file, "unix:mode", LinkOption.NOFOLLOW_LINKS);
        return (mode & 0100) != 0;
      } catch (UnsupportedOperationException | IllegalArgumentException other) {
        return false;
      }
    }

    private void leaveOut(Path each, BasicFileAttributes found) throws StoreException {
      if (leftOut == null) {
        String what = found.isSymbolicLink() ? " is a symbolic link" : " is neither a file nor a directory";
        throw new StoreException(Code.FILE_FAILED, each + what);
      }
      leftOut.accept(root.relativize(each));
    }
  }

  @Override
  public boolean read(long start, byte[] to, int at, int count) {
    int done = 0;
    if (start < head.length) {
      done = (int) Math.min(count, head.length - start);
      System.arraycopy(head, (int) start, to, at, done);
    }
    if (done == count) {
      return true;
    }
    try (FileTree.Opener opener = new FileTree.Opener(root, tree)) {
      for (FileTree.Piece piece : tree.piecesOf(start + done, count - done)) {
        try (FileChannel file = opener.open(piece.entry(), Set.of(StandardOpenOption.READ))) {
          boolean isGood =
              FileIo.read(file, piece.at(), to, at + done, piece.bytes())
                  && isSame(opener.find(piece.entry()), piece.entry());
          if (!isGood) {
            return false;
          }
        }
        done += piece.bytes();
      }
      return done == count;
    } catch (IOException failure) {
      return false;
    }
  }

  private boolean isSame(BasicFileAttributes found, int entry) {
    return found.isRegularFile()
        && found.size() == tree.entry(entry).size()
        && found.lastModifiedTime().equals(changed.get(entry));
  }

  @Override
  public SourceStamp stamp() {
    SourceStamp.Maker maker = new SourceStamp.Maker();
    maker.add(head);
    try {
      for (int entry = 0; entry < tree.size(); entry++) {
        if (tree.entry(entry).isDirectory()) {
          continue;
        }
        Map<String, Object> found = SourceStamp.Maker.tell(path.resolve(tree.pathOf(entry)));
        boolean isSame =
            found != null
                && (Boolean) found.get("isRegularFile")
                && ((Number) found.get("size")).longValue() == tree.entry(entry).size()
                && found.get("lastModifiedTime").equals(changed.get(entry));
        if (!isSame) {
          return null;
        }
        maker.add(found);
      }
    } catch (IOException gone) {
      return null;
    }
    return maker.make();
  }

  @Override
  public void close() {
    try {
      root.close();
    } catch (IOException gone) {
      // It is closed.
    }
  }
}
