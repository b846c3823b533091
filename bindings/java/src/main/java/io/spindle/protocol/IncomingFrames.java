package io.spindle.protocol;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/**
 * Cuts the bytes of the daemon into frames, wherever they were cut on their way. After `add`, `next` is called until there is
 * none; of each frame `reader` has the body.
 *
 * <p>Bytes that stand in an array are parsed where they are. Of those outside the heap, where single bytes cost more, small
 * frames are copied to an array, many at once; of a large one with a payload only the front is, and the payload goes straight
 * to where it is wanted: `reader` ends in front of the last `beyond` bytes of the frame.
 */
final class IncomingFrames {
  static final int NONE = -1;
  static final int TOO_LARGE = -2;

  /** From this length on a frame with a payload is large. */
  static final int LARGE_BYTES = 512;

  // What is copied of a large frame: the head, sender and groups of most. Where they are longer all of it is.
  private static final int FRONT_BYTES = 128;
  // What is copied of small ones at once: the more of them come in a row, the more.
  private static final int WINDOW_BYTES_MIN = 512;
  private static final int WINDOW_BYTES_MAX = 8 << 10;
  private static final int CARRIED_BYTES = 64 << 10; // of memory that is kept for a frame that is not whole

  final ByteReader reader = new ByteReader();

  // What was added last, from `pieceAt` on; null: nothing is left of it.
  private ByteBuffer piece;
  private int pieceAt;
  private int pieceEnd;
  private int largeBytes; // of this piece

  // Bytes at hand, from `at` to `end`: of the piece's own array, or copies of those in front of `pieceAt`.
  private byte[] bytes = new byte[0];
  private int at;
  private int end;

  private byte[] window = new byte[WINDOW_BYTES_MAX];
  private int windowBytes = WINDOW_BYTES_MIN; // the next copy
  private byte[] carried = new byte[0]; // of a frame that is not whole
  private int carriedBytes;

  // The frame that `next` gave, where it is large.
  private int frameAt; // in the piece
  private int beyond;

  /**
   * What follows, once `next` has given all frames of what was added before. Until it has given those of this, the buffer
   * stays as it is, but for its order of bytes, which is little endian then.
   */
  void add(ByteBuffer from) {
    piece = from;
    pieceAt = from.position();
    pieceEnd = from.limit();
    if (!from.hasArray()) {
      from.order(ByteOrder.LITTLE_ENDIAN);
    }
    largeBytes = from.hasArray() ? Integer.MAX_VALUE : LARGE_BYTES;
    at = 0;
    end = 0;
  }

  /** What is left is not wanted. */
  void clear() {
    piece = null;
    at = 0;
    end = 0;
    carriedBytes = 0;
  }

  private static boolean hasPayload(int type) {
    return type == Frames.MESSAGE || type == Frames.MESSAGE_MORE;
  }

  /** Type of the next frame; NONE until more is added; TOO_LARGE: there is one that may not be so long. */
  int next() {
    beyond = 0;
    if (end - at >= Output.HEAD_BYTES) {
      int length = Output.frameLength(bytes, at);
      int type = bytes[at + 3] & 0xff;
      if (end - at - Output.HEAD_BYTES >= length && (length < largeBytes || !hasPayload(type))) {
        return give(type, length);
      }
    }
    return nextOfPiece();
  }

  /** A frame of which all is at hand. */
  private int give(int type, int length) {
    if (length > Frames.lengthLimit(type)) {
      return TOO_LARGE;
    }
    int body = at + Output.HEAD_BYTES;
    at = body + length;
    reader.reset(bytes, body, at);
    return type;
  }

  private int nextOfPiece() {
    if (piece == null) {
      return NONE;
    }
    if (carriedBytes != 0) {
      return nextOfCarried();
    }
    pieceAt -= end - at; // copies, of which not all were used
    at = 0;
    end = 0;
    int there = pieceEnd - pieceAt;
    if (there < Output.HEAD_BYTES) {
      return carry(there, Output.HEAD_BYTES);
    }
    int head = piece.hasArray() ? headAt(piece.array(), piece.arrayOffset() + pieceAt) : piece.getInt(pieceAt);
    int length = head & 0xffffff;
    int type = head >>> 24;
    if (length > Frames.lengthLimit(type)) {
      return TOO_LARGE;
    }
    int size = Output.HEAD_BYTES + length;
    if (there < size) {
      return carry(there, size);
    }
    if (piece.hasArray()) {
      bytes = piece.array();
      at = piece.arrayOffset() + pieceAt;
      end = piece.arrayOffset() + pieceEnd;
      pieceAt = pieceEnd;
      return give(type, length);
    }
    if (length >= largeBytes && hasPayload(type)) {
      piece.get(pieceAt, window, 0, FRONT_BYTES);
      reader.reset(window, Output.HEAD_BYTES, FRONT_BYTES);
      frameAt = pieceAt;
      beyond = size - FRONT_BYTES;
      pieceAt += size;
      windowBytes = WINDOW_BYTES_MIN;
      return type;
    }
    copy(Math.max(size, Math.min(there, windowBytes)));
    windowBytes = Math.min(2 * windowBytes, WINDOW_BYTES_MAX);
    return give(type, length);
  }

  private static int headAt(byte[] bytes, int at) {
    return Output.frameLength(bytes, at) | bytes[at + 3] << 24;
  }

  /** So many bytes of the piece are at hand then. */
  private void copy(int count) {
    if (window.length < count) {
      window = new byte[count];
    }
    piece.get(pieceAt, window, 0, count);
    bytes = window;
    at = 0;
    end = count;
    pieceAt += count;
  }

  /** What there is of a frame is kept until the rest comes. `size`: of the frame, as far as that is known. */
  private int carry(int count, int size) {
    if (count != 0) {
      take(count, size);
    }
    piece = null;
    return NONE;
  }

  /** Memory grows as bytes arrive, never ahead of them. */
  private void take(int count, int size) {
    if (carried.length - carriedBytes < count) {
      int room = Math.min(Math.max(size, CARRIED_BYTES), 2 * (carriedBytes + count));
      carried = Arrays.copyOf(carried, Math.max(room, carriedBytes + count));
    }
    piece.get(pieceAt, carried, carriedBytes, count);
    carriedBytes += count;
    pieceAt += count;
  }

  private int nextOfCarried() {
    if (carriedBytes < Output.HEAD_BYTES) {
      take(Math.min(Output.HEAD_BYTES - carriedBytes, pieceEnd - pieceAt), Output.HEAD_BYTES);
      if (carriedBytes < Output.HEAD_BYTES) {
        piece = null;
        return NONE;
      }
    }
    int head = headAt(carried, 0);
    int length = head & 0xffffff;
    int type = head >>> 24;
    if (length > Frames.lengthLimit(type)) {
      return TOO_LARGE;
    }
    int size = Output.HEAD_BYTES + length;
    take(Math.min(size - carriedBytes, pieceEnd - pieceAt), size);
    if (carriedBytes < size) {
      piece = null;
      return NONE;
    }
    carriedBytes = 0;
    reader.reset(carried, Output.HEAD_BYTES, size);
    if (carried.length > CARRIED_BYTES) {
      carried = new byte[0]; // but for the reader
    }
    return type;
  }

  /** Bytes of the frame that are not read yet. */
  int remaining() {
    return reader.remaining() + beyond;
  }

  /** All bytes of the frame that are not read yet. */
  byte[] rest() {
    if (beyond == 0) {
      return Arrays.copyOfRange(reader.bytes, reader.at, reader.end);
    }
    byte[] rest = new byte[remaining()];
    piece.get(frameAt + reader.at, rest, 0, rest.length);
    return rest;
  }

  /** The same, into an array from an index on. */
  void rest(byte[] to, int index) {
    if (beyond == 0) {
      System.arraycopy(reader.bytes, reader.at, to, index, reader.remaining());
    } else {
      piece.get(frameAt + reader.at, to, index, remaining());
    }
  }

  /** Has the reader begin again, with all of the frame. False where it has had all. */
  boolean readWhole() {
    if (beyond == 0) {
      return false;
    }
    pieceAt = frameAt;
    copy(reader.end + beyond);
    at = end;
    reader.reset(window, Output.HEAD_BYTES, end);
    beyond = 0;
    return true;
  }
}
