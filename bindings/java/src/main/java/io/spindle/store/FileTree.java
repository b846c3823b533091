package io.spindle.store;

import io.spindle.bulk.FileList;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.DirectoryStream;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The files of a directory that is one content, by their list: which bytes of the content are in which file. */
final class FileTree {
  private static final int NONE = -1;

  /** Bytes of one file. `at`: in the file. */
  record Piece(int entry, long at, int bytes) {}

  private final List<FileList.Entry> entries;
  private final long listBytes;
  private final int[] parents; // of each entry: the directory that it is in; NONE: that of the content
  private final long[] starts; // in the content, of the files that are not empty,
  private final int[] files; // which are these
  private final int count;

  /** `listBytes`: what the list takes at the head of the content. */
  FileTree(FileList list, long listBytes) {
    entries = list.entries();
    this.listBytes = listBytes;
    parents = new int[entries.size()];
    long[] found = new long[entries.size()];
    files = new int[entries.size()];
    int[] open = new int[FileList.DEPTH_MAX + 2]; // directories around the entry, by depth
    Arrays.fill(open, NONE);
    long start = listBytes;
    int filled = 0;
    for (int i = 0; i < parents.length; i++) {
      FileList.Entry entry = entries.get(i);
      parents[i] = open[entry.depth()];
      if (entry.isDirectory()) {
        open[entry.depth() + 1] = i;
      }
      if (entry.size() > 0) {
        found[filled] = start;
        files[filled++] = i;
      }
      start += entry.size();
    }
    starts = found;
    count = filled;
  }

  FileList list() {
    return new FileList(entries);
  }

  long listBytes() {
    return listBytes;
  }

  int size() {
    return parents.length;
  }

  FileList.Entry entry(int number) {
    return entries.get(number);
  }

  boolean isSame(FileList list) {
    return entries.equals(list.entries());
  }

  /**
   * Of so many bytes of the content from `start` on, which are behind the list: in the order in which they are there.
   */
  List<Piece> piecesOf(long start, int bytes) {
    List<Piece> pieces = new ArrayList<>();
    int found = Arrays.binarySearch(starts, 0, count, start);
    int at = found >= 0 ? found : -found - 2;
    long from = start;
    for (int left = bytes; left > 0 && at >= 0 && at < count; at++) {
      long in = from - starts[at];
      long size = entry(files[at]).size();
      if (in >= size) {
        break; // beyond the content
      }
      int part = (int) Math.min(left, size - in);
      pieces.add(new Piece(files[at], in, part));
      from += part;
      left -= part;
    }
    return pieces;
  }

  /** From the directory of the content on. */
  String pathOf(int number) {
    StringBuilder path = new StringBuilder(entry(number).name());
    for (int above = parents[number]; above != NONE; above = parents[above]) {
      path.insert(0, entry(above).name() + "/");
    }
    return path.toString();
  }

  /** Without symbolic links on the way. Where the system cannot do that it fails. */
  static SecureDirectoryStream<Path> openDirectory(Path path) throws IOException {
    DirectoryStream<Path> opened = Files.newDirectoryStream(path);
    if (opened instanceof SecureDirectoryStream<Path> secure) {
      return secure;
    }
    opened.close();
    throw new IOException("directories are contents on systems alone that open files by their directory (openat)");
  }

  /**
   * Opens files below a directory. No symbolic link is followed on the way. For one thread; the last directory stays
   * open, as neighbours in the list are often in the same.
   */
  static final class Opener implements AutoCloseable {
    private final SecureDirectoryStream<Path> root;
    private final FileTree tree;
    private int open = NONE;
    private SecureDirectoryStream<Path> directory; // null: none but the root

    Opener(SecureDirectoryStream<Path> root, FileTree tree) {
      this.root = root;
      this.tree = tree;
    }

    private SecureDirectoryStream<Path> directoryOf(int entry) throws IOException {
      int wanted = tree.parents[entry];
      if (wanted == NONE) {
        return root;
      }
      if (directory != null && open == wanted) {
        return directory;
      }
      List<String> way = new ArrayList<>();
      for (int above = wanted; above != NONE; above = tree.parents[above]) {
        way.add(tree.entry(above).name());
      }
      SecureDirectoryStream<Path> at = null;
      for (int i = way.size() - 1; i >= 0; i--) {
        SecureDirectoryStream<Path> from = at == null ? root : at;
        try {
          at = from.newDirectoryStream(Path.of(way.get(i)), LinkOption.NOFOLLOW_LINKS);
        } finally {
          if (from != root) {
            from.close();
          }
        }
      }
      close();
      directory = at;
      open = wanted;
      return at;
    }

    FileChannel open(int entry, Set<OpenOption> how, FileAttribute<?>... attributes) throws IOException {
      Set<OpenOption> all = new HashSet<>(how);
      all.add(LinkOption.NOFOLLOW_LINKS);
      return (FileChannel) directoryOf(entry).newByteChannel(Path.of(tree.entry(entry).name()), all, attributes);
    }

    BasicFileAttributes find(int entry) throws IOException {
      return directoryOf(entry)
          .getFileAttributeView(
              Path.of(tree.entry(entry).name()), BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
          .readAttributes();
    }

    @Override
    public void close() throws IOException {
      if (directory != null) {
        directory.close();
        directory = null;
      }
    }
  }

  /** A directory with all that is in it, where it is there. Links in it go as such. */
  static void remove(Path path) throws IOException {
    if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    Files.walkFileTree(
        path,
        new SimpleFileVisitor<Path>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
            Files.delete(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path each, IOException failure) throws IOException {
            Files.delete(each);
            return FileVisitResult.CONTINUE;
          }
        });
  }
}
