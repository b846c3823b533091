package io.spindle.store;

import io.spindle.Code;
import io.spindle.bulk.BlockSet;
import io.spindle.bulk.FileList;
import io.spindle.bulk.ResumeState;
import io.spindle.protocol.ContentLayout;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Set;

/**
 * Where in a directory a content is received: its name, and what is beside it until it is whole. Symbolic links are not
 * followed, so that nobody who may write to the directory can have something else written to.
 */
public final class ReceivedPlace {
  private static final String PART_SUFFIX = ".spindle-part";
  private static final String LIST_SUFFIX = ".spindle-list";
  private static final String STATE_SUFFIX = ".spindle-state";
  private static final String NEW_STATE_SUFFIX = ".spindle-state.new";
  private static final String FORMER_SUFFIX = ".spindle-former";
  private static final List<String> SUFFIXES =
      List.of(PART_SUFFIX, LIST_SUFFIX, STATE_SUFFIX, NEW_STATE_SUFFIX, FORMER_SUFFIX);
  private static final int NAME_BYTES_MAX = 255;
  // The longest state: all hashes of 65,536 blocks, and their runs.
  private static final long STATE_BYTES_MAX = 4L << 20;
  private static final int LOCK_TRIES = 100;
  private static final long LOCK_PAUSE_MS = 20;

  private final Path directory;
  private final String name;
  private final boolean replaces;
  private boolean isDirectory; // what is received

  public ReceivedPlace(Path directory, String name, boolean replaces) {
    this.directory = directory.toAbsolutePath();
    this.name = name;
    this.replaces = replaces;
  }

  /** Whether a file may have the name that somebody else has given to a content. */
  public static boolean isFileName(String name) {
    return FileList.isEntryName(name)
        && name.getBytes(StandardCharsets.UTF_8).length <= NAME_BYTES_MAX - NEW_STATE_SUFFIX.length()
        && SUFFIXES.stream().noneMatch(name::endsWith);
  }

  Path directory() {
    return directory;
  }

  boolean replaces() {
    return replaces;
  }

  Path path() {
    return directory.resolve(name);
  }

  Path part() {
    return directory.resolve(name + PART_SUFFIX);
  }

  Path list() {
    return directory.resolve(name + LIST_SUFFIX);
  }

  private Path state() {
    return directory.resolve(name + STATE_SUFFIX);
  }

  StoreException failure(IOException failure, Path file) {
    return FileIo.failure(failure, directory, file);
  }

  /** For all of it, of which what `state` says takes room already. `file` is what there is none for. */
  void requireRoom(ContentLayout layout, ResumeState state, Path file) throws StoreException {
    long there = state == null ? 0 : (long) state.written().count() * layout.blockBytes();
    if (layout.size() - there > FileIo.room(directory)) {
      throw new StoreException(Code.NO_SPACE, file + ": No space left on device");
    }
  }

  StoreException exists() {
    return new StoreException(Code.FILE_EXISTS, path() + " is there already");
  }

  private static BasicFileAttributes find(Path path) throws IOException {
    try {
      return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    } catch (NoSuchFileException none) {
      return null;
    }
  }

  /** Before anything else. `isDirectory`: of what is received. */
  void open(boolean isDirectory) throws StoreException {
    this.isDirectory = isDirectory;
    if (!Files.isDirectory(directory)) {
      throw new StoreException(Code.FILE_FAILED, directory + " is not a directory");
    }
    checkFree();
  }

  private void checkFree() throws StoreException {
    try {
      BasicFileAttributes found = find(path());
      // A file takes the place of what is no directory, a directory that of a directory.
      if (found != null && !(replaces && found.isDirectory() == isDirectory)) {
        throw exists();
      }
    } catch (IOException failure) {
      throw failure(failure, path());
    }
  }

  /**
   * Makes the file beside it, or opens it, and locks it as long as it is open. Where whoever had it has thrown it away
   * meanwhile it is made anew; where he has finished that is as if he had before.
   */
  FileChannel openLocked(Path file) throws StoreException {
    try {
      while (true) {
        FileChannel opened = openAndLock(file);
        checkFreeBehind(opened, file);
        if (opened != null) {
          return opened;
        }
      }
    } catch (IOException failure) {
      throw failure(failure, file);
    }
  }

  /** Another one may have finished meanwhile: `opened`, or null, is closed then, and goes where it is empty. */
  private void checkFreeBehind(FileChannel opened, Path file) throws IOException, StoreException {
    try {
      checkFree();
    } catch (StoreException taken) {
      try (opened) {
        if (opened != null && opened.size() == 0) {
          remove(file);
        }
      }
      throw taken;
    }
  }

  /** Null where the file has not got that name any more. */
  private FileChannel openAndLock(Path file) throws IOException, StoreException {
    Object key = keyOf(file);
    FileChannel opened =
        FileChannel.open(
            file,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE,
            StandardOpenOption.CREATE,
            LinkOption.NOFOLLOW_LINKS);
    boolean isGood = false;
    try {
      Object openedKey = keyOf(file);
      if (!lock(opened)) {
        throw new StoreException(Code.FILE_EXISTS, path() + " is being received already");
      }
      // Java does not say which file is open: it is the one that has had the name all the time.
      isGood = openedKey != null && openedKey.equals(keyOf(file)) && (key == null || key.equals(openedKey));
      return isGood ? opened : null;
    } finally {
      if (!isGood) {
        FileIo.close(opened);
      }
    }
  }

  /** Null: there is none. */
  private static Object keyOf(Path file) throws IOException, StoreException {
    BasicFileAttributes found = find(file);
    if (found != null && !found.isRegularFile()) {
      throw new StoreException(Code.FILE_FAILED, file + " is not a regular file");
    }
    return found == null ? null : found.fileKey();
  }

  /** Whoever has given way lets go of it in a moment. */
  private static boolean lock(FileChannel file) throws IOException {
    for (int tries = 0; tries < LOCK_TRIES; tries++) {
      try {
        if (file.tryLock() != null) {
          return true;
        }
      } catch (OverlappingFileLockException held) {
        // By this process.
      }
      try {
        Thread.sleep(LOCK_PAUSE_MS);
      } catch (InterruptedException interrupt) {
        Thread.currentThread().interrupt();
        return false;
      }
    }
    return false;
  }

  /** Null where there is none, or it is none. */
  ResumeState loadState() {
    try {
      BasicFileAttributes found = find(state());
      if (found == null || !found.isRegularFile() || found.size() > STATE_BYTES_MAX) {
        return null;
      }
      byte[] bytes = new byte[(int) found.size()];
      try (FileChannel file = FileChannel.open(state(), StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
        return FileIo.read(file, 0, bytes, 0, bytes.length) ? ResumeState.decode(bytes, 0) : null;
      }
    } catch (IOException failure) {
      return null;
    }
  }

  /** Whether the state may be that of what is offered. */
  static boolean mayBeOf(ResumeState state, ContentLayout layout, byte[] root) {
    if (root != null && state.root() != null && !Arrays.equals(root, state.root())) {
      return false;
    }
    ContentLayout then = state.layout();
    if (then.blockBytes() != layout.blockBytes() || then.symbolBytes() != layout.symbolBytes()) {
      return false;
    }
    boolean isOtherSize = then.hasSize() && layout.hasSize() && then.size() != layout.size();
    return !isOtherSize && state.written().end() <= layout.blocks();
  }

  /** Behind the last of these blocks, in the content that the state tells of. */
  static long endOf(ResumeState state, ContentLayout layout) {
    BlockSet written = state.written();
    if (written.isEmpty()) {
      return 0;
    }
    int last = written.end() - 1;
    // The last block of a stream may be a shorter one.
    return layout.startOf(last) + (state.layout().hasSize() ? state.layout() : layout).bytesOf(last);
  }

  /** May fail for want of room, and the former state is there then. */
  void saveState(ResumeState state) throws StoreException {
    Path fresh = directory.resolve(name + NEW_STATE_SUFFIX);
    try {
      byte[] bytes = state.encode();
      Set<OpenOption> how =
          Set.of(
              StandardOpenOption.WRITE,
              StandardOpenOption.CREATE,
              StandardOpenOption.TRUNCATE_EXISTING,
              LinkOption.NOFOLLOW_LINKS);
      var own = PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
      try (FileChannel file = FileChannel.open(fresh, how, own)) {
        FileIo.write(file, 0, bytes, 0, bytes.length);
        file.force(false);
      }
      Files.move(fresh, state(), StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException failure) {
      remove(fresh);
      throw failure(failure, fresh).orLater();
    }
  }

  /** The state stays as it is, or goes; either is on the disk then. */
  void settleState(boolean stays) {
    if (!stays) {
      removeState();
    }
    sync();
  }

  void removeState() {
    remove(state());
  }

  void remove(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException stays) {
      // Nothing depends on it.
    }
  }

  /** What has come there in the meantime is replaced only where it may be. */
  void moveHere(Path part) throws StoreException {
    try {
      BasicFileAttributes found = find(part);
      if (found != null && found.isDirectory()) {
        moveDirectory(part);
      } else if (replaces) {
        Files.move(part, path(), StandardCopyOption.ATOMIC_MOVE);
      } else {
        moveFile(part);
      }
    } catch (FileAlreadyExistsException there) {
      throw exists();
    } catch (IOException failure) {
      throw failure(failure, path());
    }
  }

  /** A second name is not made where there is one already, whoever makes it. */
  private void moveFile(Path part) throws IOException {
    try {
      Files.createLink(path(), part);
    } catch (FileAlreadyExistsException there) {
      throw there;
    } catch (IOException | UnsupportedOperationException cannot) {
      if (find(path()) != null) {
        throw new FileAlreadyExistsException(path().toString());
      }
      Files.move(part, path(), StandardCopyOption.ATOMIC_MOVE);
      return;
    }
    Files.delete(part);
  }

  /** Java exchanges no two directories: for a moment there is none. */
  private void moveDirectory(Path part) throws IOException {
    Path former = directory.resolve(name + FORMER_SUFFIX);
    boolean isThere = find(path()) != null;
    if (isThere && !replaces) {
      throw new FileAlreadyExistsException(path().toString());
    }
    if (isThere) {
      FileTree.remove(former);
      move(path(), former);
    }
    try {
      move(part, path());
    } catch (IOException failure) {
      if (isThere) {
        move(former, path());
      }
      throw failure;
    }
    FileTree.remove(former);
  }

  private static void move(Path from, Path to) throws IOException {
    try {
      Files.move(from, to, StandardCopyOption.ATOMIC_MOVE);
    } catch (AtomicMoveNotSupportedException cannot) {
      Files.move(from, to);
    }
  }

  /** What has been moved is on the disk. */
  void sync() {
    try (FileChannel itself = FileChannel.open(directory, StandardOpenOption.READ)) {
      itself.force(true);
    } catch (IOException cannot) {
      // A system that does not do that.
    }
  }
}
