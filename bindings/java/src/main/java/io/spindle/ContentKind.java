package io.spindle;

/** What a content is at its source. */
public enum ContentKind {
  /** Bytes of a program. */
  BYTES,
  /** A file, or a stream. */
  FILE,
  /** A directory with all that is in it. */
  DIRECTORY
}
