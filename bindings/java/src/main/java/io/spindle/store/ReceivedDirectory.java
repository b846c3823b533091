package io.spindle.store;

import io.spindle.Code;
import io.spindle.bulk.BlockSet;
import io.spindle.bulk.FileList;
import io.spindle.bulk.ResumeState;
import io.spindle.protocol.ContentLayout;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * A content on its way into the files of a directory, which can be gone on with after a crash.
 *
 * <p>"NAME.spindle-part" is a directory with the files. "NAME.spindle-list" is locked as long as it is received: it has
 * the list of files, and, until the list is whole and right, all else that has come, at its place in the content. Then
 * files are made, and get what is theirs. A state that was saved before tells of what is in that file: it is cut to the
 * list only once a state tells of the list, and so of the files.
 */
public final class ReceivedDirectory extends BulkStore {
  private static final int COPY_BYTES = 1 << 20;

  private final ReceivedPlace place;
  private ContentLayout layout;
  private volatile FileChannel early;
  private SecureDirectoryStream<Path> root;
  private volatile boolean isFinished;
  private volatile boolean isEarlyKept; // what has come before the list was there

  // Whoever reads and writes shares it; whoever makes the files has it alone.
  private final ReentrantReadWriteLock lock = new ReentrantReadWriteLock();
  private FileTree tree; // null: the list is not there yet
  // Blocks that are right, and once were, of this directory: who has it alone, or `notes` too.
  private final BlockSet right = new BlockSet();

  private final ReentrantLock notes = new ReentrantLock(); // guards what follows
  private Set<Integer> written = new HashSet<>(); // files that were written to since the last save
  private final Ranges inEarly = new Ranges(); // what has come, as long as the list is not there

  public ReceivedDirectory(ReceivedPlace place) {
    this.place = place;
  }

  private interface Work<T> {
    T run() throws StoreException;
  }

  private static <T> T with(Lock taken, Work<T> work) throws StoreException {
    taken.lock();
    try {
      return work.run();
    } finally {
      taken.unlock();
    }
  }

  // --- Its beginning ---

  @Override
  public ResumeState open(ContentLayout ofOffer, byte[] contentRoot) throws StoreException {
    layout = ofOffer;
    place.open(true);
    early = place.openLocked(place.list());
    ResumeState state = null;
    try {
      openPart();
      state = place.loadState();
      if (state != null && !(ReceivedPlace.mayBeOf(state, layout, contentRoot) && goOn(state))) {
        state = null;
      }
      if (state == null) {
        beginAnew();
      }
      // Who has no room says so at once, although nobody knows yet which files there are.
      if (tree == null) {
        place.requireRoom(layout, state, place.list());
      }
      return state;
    } catch (IOException failure) {
      throw leave(place.failure(failure, place.part()), state);
    } catch (StoreException failure) {
      throw leave(failure, state);
    }
  }

  private void openPart() throws IOException {
    try {
      Files.createDirectory(place.part());
    } catch (FileAlreadyExistsException there) {
      // It is looked at when it is opened.
    }
    try (SecureDirectoryStream<Path> above = FileTree.openDirectory(place.directory())) {
      SecureDirectoryStream<Path> opened =
          above.newDirectoryStream(place.part().getFileName(), LinkOption.NOFOLLOW_LINKS);
      closeRoot();
      root = opened;
    }
  }

  private void closeRoot() throws IOException {
    if (root != null) {
      root.close();
      root = null;
    }
  }

  private void beginAnew() throws IOException {
    tree = null;
    right.clear();
    forgetWritten();
    notes.lock();
    try {
      inEarly.clear();
    } finally {
      notes.unlock();
    }
    isEarlyKept = false;
    place.removeState();
    early.truncate(0);
    FileTree.remove(place.part());
    openPart();
  }

  /** Whether what the state says is there. */
  private boolean goOn(ResumeState state) throws IOException {
    right.addAll(state.written());
    if (right.isEmpty()) {
      return true;
    }
    long listBytes = bytesOfList(right);
    if (listBytes >= 0) {
      FileTree found = readTree(listBytes);
      if (found == null || !hasFiles(found)) {
        return false;
      }
      tree = found;
      isEarlyKept = true;
      cutEarly();
      return true;
    }
    if (early.size() < ReceivedPlace.endOf(state, layout)) {
      return false;
    }
    for (int run = 0; run < right.runs(); run++) {
      inEarly.add(layout.startOf(right.start(run)), layout.startOf(right.end(run)));
    }
    // Files that were made lack some of what is there, and have nothing else that the state tells of.
    FileTree.remove(place.part());
    openPart();
    return true;
  }

  private boolean hasFiles(FileTree found) {
    try (FileTree.Opener opener = new FileTree.Opener(root, found)) {
      for (int i = 0; i < found.size(); i++) {
        FileList.Entry entry = found.entry(i);
        BasicFileAttributes there = opener.find(i);
        boolean isGood =
            entry.isDirectory() ? there.isDirectory() : there.isRegularFile() && there.size() == entry.size();
        if (!isGood) {
          return false;
        }
      }
      return true;
    } catch (IOException failure) {
      return false;
    }
  }

  // --- The list ---

  /** What the list takes, where all blocks that have some of it are among those that are right; otherwise -1. */
  private long bytesOfList(BlockSet among) {
    byte[] head = new byte[FileList.HEAD_BYTES];
    if (!among.contains(0) || !FileIo.read(early, 0, head, 0, head.length)) {
      return -1;
    }
    long bytes = FileList.sizeOf(head);
    long there = (long) among.firstMissing(0) * layout.blockBytes();
    return bytes >= 0 && there >= Math.min(bytes, layout.size()) ? bytes : -1;
  }

  private FileList readList(long listBytes) throws FileList.Malformed, IOException {
    byte[] bytes = new byte[(int) Math.min(listBytes, layout.size())];
    if (!FileIo.read(early, 0, bytes, 0, bytes.length)) {
      throw new IOException("the list of files cannot be read");
    }
    return FileList.decode(bytes, layout.size());
  }

  /** Null where it is none. */
  private FileTree readTree(long listBytes) {
    try {
      return new FileTree(readList(listBytes), listBytes);
    } catch (FileList.Malformed | IOException none) {
      return null;
    }
  }

  /** Makes the files once the list is there. */
  private void lookForList() throws StoreException {
    if (!right.contains(0)) {
      return;
    }
    byte[] head = new byte[FileList.HEAD_BYTES];
    if (!FileIo.read(early, 0, head, 0, head.length) || FileList.sizeOf(head) < 0) {
      throw new StoreException(
          Code.BAD_CONTENT_NAME, place.path() + ": the content does not begin with a list of files");
    }
    long listBytes = bytesOfList(right);
    if (listBytes < 0) {
      return;
    }
    FileTree made;
    try {
      made = new FileTree(readList(listBytes), listBytes);
    } catch (FileList.Malformed malformed) {
      throw new StoreException(Code.BAD_CONTENT_NAME, place.path() + ": " + malformed.getMessage());
    } catch (IOException failure) {
      throw place.failure(failure, place.list());
    }
    try {
      // There may be some from the last time, when there was no room for all.
      FileTree.remove(place.part());
      openPart();
    } catch (IOException failure) {
      throw place.failure(failure, place.part()).orLater();
    }
    try {
      makeFiles(made);
      handOver(made);
      tree = made;
      isEarlyKept = true;
    } finally {
      if (tree == null) {
        forgetWritten();
      }
    }
  }

  /** There are no files, or there will be others. */
  private void forgetWritten() {
    notes.lock();
    try {
      written.clear();
    } finally {
      notes.unlock();
    }
  }

  /** None is there yet: where a file system takes two names for one, the second is not to be the file of the first. */
  private void makeFiles(FileTree made) throws StoreException {
    try (FileTree.Opener opener = new FileTree.Opener(root, made)) {
      for (int i = 0; i < made.size(); i++) {
        FileList.Entry entry = made.entry(i);
        if (entry.isDirectory()) {
          Files.createDirectory(place.part().resolve(made.pathOf(i)));
          continue;
        }
        boolean isExecutable = entry.kind() == FileList.Kind.EXECUTABLE;
        FileAttribute<?>[] rights =
            isExecutable
                ? new FileAttribute<?>[] {
                  PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwxrwxrwx"))
                }
                : new FileAttribute<?>[0];
        Set<OpenOption> how = Set.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW);
        try (FileChannel file = opener.open(i, how, rights)) {
          if (entry.size() > 0) {
            FileIo.extend(file, entry.size());
          }
        }
      }
    } catch (IOException failure) {
      throw place.failure(failure, place.part()).orLater();
    }
  }

  /** What has come before goes to the files. */
  private void handOver(FileTree made) throws StoreException {
    byte[] bytes = new byte[COPY_BYTES];
    for (Map.Entry<Long, Long> range : inEarly.all().entrySet()) {
      long end = Math.min(range.getValue(), layout.size());
      for (long at = Math.max(range.getKey(), made.listBytes()); at < end; ) {
        int count = (int) Math.min(COPY_BYTES, end - at);
        if (!FileIo.read(early, at, bytes, 0, count)) {
          throw new StoreException(Code.FILE_FAILED, place.list() + ": what has come cannot be read");
        }
        putToFiles(made, at, bytes, 0, count);
        at += count;
      }
    }
  }

  // --- Content ---

  /** How many of these bytes are in the early file, or go there. */
  private int bytesOfEarly(long start, int count) {
    return tree == null ? count : (int) Math.max(0, Math.min(count, tree.listBytes() - start));
  }

  @Override
  public boolean read(long start, byte[] to, int at, int count) {
    lock.readLock().lock();
    try {
      int inEarlyFile = bytesOfEarly(start, count);
      if (!FileIo.read(early, start, to, at, inEarlyFile)) {
        return false;
      }
      return inEarlyFile == count || readFiles(start + inEarlyFile, to, at + inEarlyFile, count - inEarlyFile);
    } finally {
      lock.readLock().unlock();
    }
  }

  private boolean readFiles(long start, byte[] to, int at, int count) {
    int done = 0;
    try (FileTree.Opener opener = new FileTree.Opener(root, tree)) {
      for (FileTree.Piece piece : tree.piecesOf(start, count)) {
        try (FileChannel file = opener.open(piece.entry(), Set.of(StandardOpenOption.READ))) {
          if (!FileIo.read(file, piece.at(), to, at + done, piece.bytes())) {
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

  @Override
  public void write(long start, byte[] bytes, int at, int count) throws StoreException {
    with(
        lock.readLock(),
        () -> {
          put(start, bytes, at, count);
          return null;
        });
  }

  @Override
  public void writeBlock(long start, byte[] bytes, int count) throws StoreException {
    boolean isDone =
        with(
            lock.readLock(),
            () -> {
              boolean hasFiles = tree != null;
              if (hasFiles && !hasSameList(start, bytes, count)) {
                return false;
              }
              if (hasFiles) {
                putRight(start, bytes, count);
              } else {
                put(start, bytes, 0, count);
              }
              return hasFiles;
            });
    if (isDone) {
      return;
    }
    with(
        lock.writeLock(),
        () -> {
          if (tree != null) {
            // Files were made meanwhile, before this was known to be right.
            if (!hasSameList(start, bytes, count)) {
              changeList();
            }
            putRight(start, bytes, count);
            return null;
          }
          int block = blockAt(start);
          right.add(block);
          try {
            lookForList();
          } catch (StoreException failure) {
            right.remove(block);
            throw failure;
          }
          return null;
        });
  }

  /** Whether what the block has of the list is what the files were made by. */
  private boolean hasSameList(long start, byte[] block, int count) {
    if (start >= tree.listBytes()) {
      return true;
    }
    byte[] list = tree.list().encode();
    int from = (int) start;
    int bytes = Math.min(list.length - from, count);
    return Arrays.equals(list, from, from + bytes, block, 0, bytes);
  }

  /** The directory has become another one since the files were made: nothing is at its place any more. */
  private void changeList() throws StoreException {
    settleState(false);
    try {
      beginAnew();
    } catch (IOException failure) {
      throw place.failure(failure, place.part());
    }
    place.requireRoom(layout, null, place.list());
    throw StoreException.beginningAnew(place.path() + ": the list of files has changed");
  }

  /** A whole block, as far as is known. */
  private void putRight(long start, byte[] bytes, int count) throws StoreException {
    put(start, bytes, 0, count);
    with(notes, () -> right.add(blockAt(start)));
  }

  private int blockAt(long start) {
    return (int) (start / layout.blockBytes());
  }

  private void put(long start, byte[] bytes, int at, int count) throws StoreException {
    int toEarly = bytesOfEarly(start, count);
    try {
      FileIo.write(early, start, bytes, at, toEarly);
    } catch (IOException failure) {
      throw place.failure(failure, place.list()).orLater();
    }
    if (toEarly == count) {
      if (tree == null) {
        with(
            notes,
            () -> {
              inEarly.add(start, start + count);
              return null;
            });
      }
      return;
    }
    try {
      putToFiles(tree, start + toEarly, bytes, at + toEarly, count - toEarly);
    } catch (StoreException failure) {
      // Where there is no room it is worth more than what would be fetched again after a crash.
      if (!failure.mayPass() || !cutEarly()) {
        throw failure;
      }
      putToFiles(tree, start + toEarly, bytes, at + toEarly, count - toEarly);
    }
  }

  private void putToFiles(FileTree to, long start, byte[] bytes, int at, int count) throws StoreException {
    int done = 0;
    try (FileTree.Opener opener = new FileTree.Opener(root, to)) {
      for (FileTree.Piece piece : to.piecesOf(start, count)) {
        try (FileChannel file = opener.open(piece.entry(), Set.of(StandardOpenOption.WRITE))) {
          FileIo.write(file, piece.at(), bytes, at + done, piece.bytes());
        }
        done += piece.bytes();
        with(notes, () -> written.add(piece.entry()));
      }
    } catch (IOException failure) {
      throw place.failure(failure, place.part()).orLater();
    }
  }

  /** Whether that gives room. */
  private boolean cutEarly() {
    if (!isEarlyKept) {
      return false;
    }
    isEarlyKept = false;
    try {
      early.truncate(tree.listBytes());
      return true;
    } catch (IOException failure) {
      return false;
    }
  }

  // --- Its end ---

  private void sync() throws StoreException {
    Set<Integer> files =
        with(
            notes,
            () -> {
              Set<Integer> taken = written;
              written = new HashSet<>();
              return taken;
            });
    if (files.isEmpty()) {
      return;
    }
    try (FileTree.Opener opener = new FileTree.Opener(root, tree)) {
      for (int entry : files) {
        try (FileChannel file = opener.open(entry, Set.of(StandardOpenOption.WRITE))) {
          file.force(false);
        }
      }
    } catch (IOException failure) {
      throw place.failure(failure, place.part());
    }
  }

  @Override
  public void save(ResumeState state) throws StoreException {
    with(
        lock.readLock(),
        () -> {
          try {
            early.force(false);
          } catch (IOException failure) {
            throw place.failure(failure, place.list());
          }
          sync();
          // It was made before the files were, and they may have some of what it tells of.
          if (isEarlyKept && bytesOfList(state.written()) < 0) {
            return null;
          }
          // It was made before the directory became another one, and waited for that.
          if (!with(notes, () -> right.containsAll(state.written()))) {
            return null;
          }
          place.saveState(state);
          cutEarly();
          return null;
        });
  }

  @Override
  void settleState(boolean stays) {
    place.settleState(stays);
  }

  @Override
  public void finish(long size) throws StoreException {
    with(
        lock.writeLock(),
        () -> {
          if (tree == null) {
            throw new StoreException(Code.BAD_CONTENT_NAME, "the content has no list of files");
          }
          checkList();
          sync();
          place.moveHere(place.part());
          isFinished = true;
          place.removeState();
          place.remove(place.list());
          place.sync();
          return null;
        });
  }

  /** What was told of the first blocks may have been something else before the source has sealed it. */
  private void checkList() throws StoreException {
    try {
      if (tree.isSame(readList(tree.listBytes()))) {
        return;
      }
    } catch (FileList.Malformed | IOException other) {
      // It is another one.
    }
    discard();
    throw new StoreException(
        Code.FILE_FAILED, place.path() + ": the list of files has changed while it was received");
  }

  @Override
  public void discard() {
    // What was never opened is somebody else's.
    if (isFinished || root == null) {
      return;
    }
    place.removeState();
    try {
      FileTree.remove(place.part());
    } catch (IOException stays) {
      // Nothing depends on it.
    }
    place.remove(place.list()); // the last: whoever makes another may receive here
  }

  @Override
  public Path path() {
    return place.path();
  }

  @Override
  public void close() {
    FileIo.close(early);
    try {
      closeRoot();
    } catch (IOException gone) {
      // It is closed.
    }
  }
}
