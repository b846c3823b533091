package io.spindle.protocol;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Map;
import java.util.TreeMap;

/**
 * The frames of a client on their way to its daemon. They are appended to a tail; whoever writes takes what has gathered
 * there in one piece. On each connection the handshake goes first, and nothing else before `open`.
 *
 * <p>Of a client that may come back on another connection it keeps what was written until the daemon has it. After `cut` it
 * can go on behind what the daemon has got (`resume`), or tell what may have come from what cannot have (`startAnew`).
 *
 * <p>Threads: one may write what `next` gave while others append.
 */
final class OutgoingFrames {
  /** No longer kept where more would have to be: a program that gets nothing does not see what its daemon has got. */
  static final int KEPT_BYTES_MAX = 64 << 20;

  // A small buffer is added to the one that was kept before it, where that is not large yet.
  private static final int MERGED_BYTES = 2 << 10;
  private static final int MERGED_BYTES_MAX = 16 << 10;
  // Memory of more than this is not kept for what comes.
  private static final int SPARE_BYTES_MAX = 4 << 20;
  private static final int SPARE_OF_KEPT_BYTES_MAX = 1 << 20;
  private static final int SPARES_BYTES_MAX = 4 << 20;

  /** A frame, or a message with all of its frames. */
  interface Visit {
    /** `from` to `to`: all of it; the first frame has a head, and ends at `firstEnd`. */
    void unit(int type, byte[] bytes, int from, int firstEnd, int to);
  }

  private static final class Buffer extends Output {
    int frames;
    boolean hasDefinitions;
    // Of it so much, in whole frames, was written before.
    int doneBytes;
    int doneFrames;

    Buffer() {}

    Buffer(byte[] bytes) {
      super(bytes);
    }
  }

  private byte[] handshake = new byte[0];
  private int handshakeWritten;
  private boolean isOpen;
  private boolean isHolding;
  private boolean keeps;
  private boolean remembers;

  private final Map<Integer, byte[]> definitions = new TreeMap<>(); // frames, by handle, of what is kept no longer
  private long first; // how many frames were written before those in `kept`
  private long acknowledged; // frames
  private final ArrayDeque<Buffer> kept = new ArrayDeque<>(); // written, and perhaps not there
  private int keptBytes;
  private final ArrayDeque<byte[]> spares = new ArrayDeque<>(); // memory of buffers that are kept no longer
  private int sparesBytes;
  private Buffer inFlight = new Buffer();
  private int written; // bytes of it
  private final ArrayDeque<Buffer> again = new ArrayDeque<>(); // to be written, before the tail
  private int againBytes;
  private Buffer tail = new Buffer();

  private static int frameSize(byte[] bytes, int at) {
    return Output.HEAD_BYTES + Output.frameLength(bytes, at);
  }

  private static void forEachUnit(byte[] bytes, int size, Visit visit) {
    int at = 0;
    while (at < size) {
      int firstEnd = at + frameSize(bytes, at);
      int end = firstEnd;
      while (end < size && bytes[end + 3] == Frames.SEND_MORE) {
        end += frameSize(bytes, end);
      }
      visit.unit(bytes[at + 3], bytes, at, firstEnd, end);
      at = end;
    }
  }

  /** A connection begins, with these frames, which do not count. */
  void begin(byte[] frames) {
    handshake = frames;
    handshakeWritten = 0;
    isOpen = false;
  }

  /** The daemon has answered. */
  void open() {
    isOpen = true;
  }

  /** Where frames are appended, a message with all of its frames at once. Each is noted then. */
  Output out() {
    return tail;
  }

  void noteFrame(int type) {
    tail.frames++;
    tail.hasDefinitions |= type == Frames.DEFINE;
  }

  /** Frames that were written once, of whatever type. */
  void append(byte[] bytes, int from, int to) {
    tail.bytes(bytes, from, to - from);
    for (int at = from; at < to; at += frameSize(bytes, at)) {
      noteFrame(bytes[at + 3]);
    }
  }

  /** A frame that does not wait for `release`. */
  void appendAhead(byte[] frame) {
    if (!isHolding) {
      append(frame, 0, frame.length);
      return;
    }
    Buffer buffer = new Buffer(frame);
    buffer.size = frame.length;
    buffer.frames = 1;
    againBytes += frame.length;
    again.addLast(buffer);
  }

  /** What was appended goes out; what is appended from now on waits for `release`. */
  void hold() {
    isHolding = true;
    if (tail.size == 0) {
      return;
    }
    againBytes += tail.size;
    again.addLast(tail);
    tail = new Buffer();
  }

  boolean isHolding() {
    return isHolding;
  }

  void release() {
    isHolding = false;
  }

  /** Bytes that are still to be written. */
  int size() {
    return handshake.length - handshakeWritten + inFlight.size - written + againBytes + tail.size;
  }

  /** Of these, those for which nothing has to happen before. */
  int writableSize() {
    if (!isOpen) {
      return handshake.length - handshakeWritten;
    }
    return isHolding ? size() - tail.size : size();
  }

  /**
   * What is written next, as far as it is in one piece; null where there is nothing. It stays where it is, whatever is
   * appended, until it is consumed.
   */
  ByteBuffer next() {
    if (handshakeWritten < handshake.length) {
      return ByteBuffer.wrap(handshake, handshakeWritten, handshake.length - handshakeWritten);
    }
    if (!isOpen) {
      return null;
    }
    if (inFlight.size == 0) {
      if (!again.isEmpty()) {
        inFlight = again.removeFirst();
        written = inFlight.doneBytes;
        againBytes -= inFlight.size - written;
      } else if (!isHolding && tail.size != 0) {
        Buffer former = inFlight;
        inFlight = tail;
        written = inFlight.doneBytes;
        tail = new Buffer(former.bytes.length <= SPARE_BYTES_MAX ? former.bytes : new byte[0]);
      }
    }
    return written == inFlight.size ? null : ByteBuffer.wrap(inFlight.bytes, written, inFlight.size - written);
  }

  void consume(int bytes) {
    if (handshakeWritten < handshake.length) {
      handshakeWritten += bytes;
      return;
    }
    written += bytes;
    if (written < inFlight.size) {
      return;
    }
    finish();
    written = 0;
  }

  /** All of what is in flight is written. Its memory stays where it is not kept. */
  private void finish() {
    Buffer buffer = inFlight;
    buffer.doneBytes = 0;
    buffer.doneFrames = 0;
    if (keeps && keptBytes + buffer.size > KEPT_BYTES_MAX) {
      setKeeping(false);
    }
    byte[] spare = buffer.bytes;
    if (!keeps) {
      forget(buffer);
    } else {
      keptBytes += buffer.size;
      Buffer last = kept.peekLast();
      if (last != null && buffer.size <= MERGED_BYTES && last.size < MERGED_BYTES_MAX) {
        last.bytes(buffer.bytes, 0, buffer.size);
        last.frames += buffer.frames;
        last.hasDefinitions |= buffer.hasDefinitions;
      } else {
        kept.addLast(buffer);
        spare = takeSpare(buffer.size);
      }
    }
    inFlight = new Buffer(spare);
    if (keeps) {
      acknowledge(acknowledged);
    }
  }

  /** Without one, memory for as much as was written last: it does not grow piece by piece. */
  private byte[] takeSpare(int size) {
    byte[] spare = spares.pollLast();
    if (spare == null) {
      return new byte[Math.min(size, SPARE_OF_KEPT_BYTES_MAX)];
    }
    sparesBytes -= spare.length;
    return spare;
  }

  private void giveBack(byte[] bytes) {
    if (bytes.length > SPARE_OF_KEPT_BYTES_MAX || sparesBytes + bytes.length > SPARES_BYTES_MAX) {
      return;
    }
    sparesBytes += bytes.length;
    spares.addLast(bytes);
  }

  private void forget(Buffer buffer) {
    first += buffer.frames;
    if (!remembers || !buffer.hasDefinitions) {
      return;
    }
    forEachUnit(
        buffer.bytes,
        buffer.size,
        (type, bytes, from, firstEnd, to) -> {
          if (type == Frames.DEFINE) {
            definitions.put(handleOf(bytes, from, firstEnd), Arrays.copyOfRange(bytes, from, to));
          }
        });
  }

  /** Of a frame with its head that begins with a handle. */
  static int handleOf(byte[] bytes, int from, int to) {
    return (int) new ByteReader(bytes, from + Output.HEAD_BYTES, to).varint();
  }

  /** Nothing more will be written. */
  void drop() {
    handshake = new byte[0];
    handshakeWritten = 0;
    inFlight = new Buffer();
    tail = new Buffer();
    written = 0;
    againBytes = 0;
    again.clear();
  }

  // A client that may come back.

  /** What it defines is remembered, for `startAnew`. */
  void expectAnew() {
    remembers = true;
  }

  /** Whether what is written is kept, for `resume`. What was kept before is not any more. */
  void setKeeping(boolean on) {
    keeps = on;
    kept.forEach(this::forget);
    kept.clear();
    keptBytes = 0;
  }

  boolean isKeeping() {
    return keeps;
  }

  /** The daemon has got so many frames. */
  void acknowledge(long frames) {
    acknowledged = Math.max(acknowledged, frames);
    while (!kept.isEmpty() && first + kept.peekFirst().frames <= acknowledged) {
      Buffer buffer = kept.removeFirst();
      forget(buffer);
      keptBytes -= buffer.size;
      giveBack(buffer.bytes);
    }
  }

  /** The connection is gone. */
  void cut() {
    handshake = new byte[0];
    handshakeWritten = 0;
    isOpen = false;
    if (inFlight.size == 0) {
      return;
    }
    int end = inFlight.doneBytes;
    while (end < inFlight.size) {
      int size = frameSize(inFlight.bytes, end);
      if (end + size > written) {
        break;
      }
      end += size;
      inFlight.doneFrames++;
    }
    inFlight.doneBytes = end;
    againBytes += inFlight.size - end;
    again.addFirst(inFlight);
    inFlight = new Buffer();
    written = 0;
  }

  /**
   * It goes on behind the first `frames`, on a connection where `open` follows. False where so many were never written, or
   * fewer than were acknowledged.
   */
  boolean resume(long frames) {
    long all = first + (again.isEmpty() ? 0 : again.peekFirst().doneFrames);
    for (Buffer buffer : kept) {
      all += buffer.frames;
    }
    if (frames < acknowledged || frames < first || frames > all) {
      return false;
    }
    acknowledge(frames);
    // What is written once more: what is kept, and the front of what is to be written.
    if (!again.isEmpty()) {
      againBytes += again.peekFirst().doneBytes;
      again.peekFirst().doneBytes = 0;
      again.peekFirst().doneFrames = 0;
    }
    while (!kept.isEmpty()) {
      againBytes += kept.peekLast().size;
      again.addFirst(kept.removeLast());
    }
    keptBytes = 0;
    if (again.isEmpty()) {
      return true;
    }
    Buffer front = again.peekFirst();
    while (first + front.doneFrames < frames) {
      front.doneBytes += frameSize(front.bytes, front.doneBytes);
      front.doneFrames++;
    }
    againBytes -= front.doneBytes;
    return true;
  }

  /**
   * Another session begins, where frames count from zero: calls `written` for what may have come in the former one and for
   * what it has defined, and `unsent` for what cannot have come, in the order of frames. Nothing is left of all that then.
   */
  void startAnew(Visit written, Visit unsent) {
    for (byte[] frame : definitions.values()) {
      written.unit(Frames.DEFINE, frame, 0, frame.length, frame.length);
    }
    definitions.clear();
    ArrayDeque<Buffer> formerKept = new ArrayDeque<>(kept);
    ArrayDeque<Buffer> formerAgain = new ArrayDeque<>(again);
    final Buffer formerTail = tail;
    kept.clear();
    again.clear();
    tail = new Buffer();
    first = 0;
    acknowledged = 0;
    againBytes = 0;
    keptBytes = 0;
    isHolding = false;
    for (Buffer buffer : formerKept) {
      forEachUnit(buffer.bytes, buffer.size, written);
    }
    for (Buffer buffer : formerAgain) {
      Visit visit =
          (type, bytes, from, firstEnd, to) ->
              (to <= buffer.doneBytes ? written : unsent).unit(type, bytes, from, firstEnd, to);
      forEachUnit(buffer.bytes, buffer.size, visit);
    }
    forEachUnit(formerTail.bytes, formerTail.size, unsent);
  }
}
