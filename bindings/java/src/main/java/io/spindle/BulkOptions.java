package io.spindle;

import java.nio.file.Path;

/**
 * How the content of bulk channels is worked on: {@link ConnectOptions#withBulk(BulkOptions)}.
 *
 * @param workers threads that read, write, hash, encode and decode, 1 to 64
 * @param keepHashes whether the hashes of files and directories that are offered are kept, so that one that is offered
 *     again, and is what it was, need not be read and hashed again before it is complete
 * @param hashDirectory for these, which is made; null: spindle/hashes in XDG_CACHE_HOME, or else in ~/.cache
 */
public record BulkOptions(int workers, boolean keepHashes, Path hashDirectory) {
  /** Two workers, and hashes in the user's cache. */
  public static final BulkOptions DEFAULT = new BulkOptions(2, true, null);

  /**
   * These, with another number of {@link #workers}.
   *
   * @param value instead of what was there
   * @return the options
   */
  public BulkOptions withWorkers(int value) {
    return new BulkOptions(value, keepHashes, hashDirectory);
  }

  /**
   * These, with another {@link #keepHashes}.
   *
   * @param value instead of what was there
   * @return the options
   */
  public BulkOptions withKeepHashes(boolean value) {
    return new BulkOptions(workers, value, hashDirectory);
  }

  /**
   * These, with another {@link #hashDirectory}.
   *
   * @param value instead of what was there
   * @return the options
   */
  public BulkOptions withHashDirectory(Path value) {
    return new BulkOptions(workers, keepHashes, value);
  }
}
