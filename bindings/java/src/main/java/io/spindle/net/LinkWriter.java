package io.spindle.net;

import io.spindle.protocol.ClientSession;
import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * The link to the daemon, and who writes to it what the session has for it: the caller that has sent something, or the
 * connection's thread. One thread at a time does, without the lock, which all callers of these functions hold.
 */
final class LinkWriter {
  // A caller that comes back sooner than this, in the mean, does nothing but send: its messages are left to gather for the
  // connection's thread. Any other message is written by its caller at once.
  private static final long BURST_GAP = 2_000; // ns
  // In a burst the clock, which costs as much as a small message, is read for each so many messages.
  private static final int SENDS_PER_LOOK_MAX = 8;

  /** Told when some of the output was written, or cannot be. */
  interface Listener {
    void written(boolean hasFailed);
  }

  private final ConnectionState state;
  private final ClientSession session;
  private Listener listener = hasFailed -> {};
  private Link link; // null: none
  private boolean isBlocked; // the socket has taken less than it was offered
  private boolean isBusy; // somebody writes
  private boolean hasEndedOutput;
  private long lookedAt; // when the clock was last read for a send
  private int sendsSinceLook;
  private int sendsPerLook = 1; // more in a burst

  LinkWriter(ConnectionState state) {
    this.state = state;
    this.session = state.session();
  }

  void tell(Listener to) {
    listener = to;
  }

  // --- The link ---

  Link link() {
    return link;
  }

  /** There is a connection. */
  void begin(Link to) {
    link = to;
    state.setWriteFailed(false);
    isBlocked = false;
    hasEndedOutput = false;
  }

  /** The connection is of no use any more. Whoever writes is let finish: what it has written is known then. */
  void end() {
    if (link == null) {
      return;
    }
    letFinish();
    link.close();
    link = null;
    isBlocked = false;
    state.setWriteFailed(false);
  }

  /** At once, whoever uses it. */
  void abandon() {
    if (link != null) {
      link.close();
      link = null;
    }
  }

  /** Nothing is read or written any more, and it is known what was written. */
  void letFinish() {
    if (link != null) {
      link.shutDown();
      awaitWriter();
    }
  }

  /** Until nobody writes. */
  void awaitWriter() {
    state.awaitUninterruptibly(() -> !isBusy);
  }

  // --- By whoever sends ---

  /** Has the output written: by whoever writes at the moment, by the connection's thread, or by the caller. */
  void flush() {
    if (isBusy) {
      return; // that thread looks for more when it is done
    }
    boolean isBurst = isBurst();
    if (!canWrite()) {
      return; // the socket is full, or there is none, and the thread waits for it
    }
    if (isBurst) {
      if (!state.isOwnThread()) {
        state.wakeThread();
      }
      return;
    }
    writeSome();
    lookedAt = Clock.now();
    if (state.hasOutput() || (link != null && link.hasUnsent())) {
      state.wakeThread();
    }
  }

  /** Whether whoever sends now does nothing else. */
  private boolean isBurst() {
    if (++sendsSinceLook < sendsPerLook) {
      return true;
    }
    long now = Clock.now();
    boolean isBurst = now - lookedAt < sendsPerLook * BURST_GAP;
    sendsPerLook = isBurst ? Math.min(2 * sendsPerLook, SENDS_PER_LOOK_MAX) : 1;
    sendsSinceLook = 0;
    lookedAt = now;
    return isBurst;
  }

  private boolean canWrite() {
    return link != null && !state.hasWriteFailed() && !isBlocked && !isBusy;
  }

  /** Writes what the socket takes, without the lock: all that has gathered goes in one piece. */
  void writeSome() {
    ByteBuffer piece = session.writer().output(); // stays where it is
    if (piece == null) {
      return;
    }
    isBusy = true;
    sendsPerLook = 1; // who sends next may come after a while
    final Link to = link;
    final int start = piece.position();
    boolean hasFailed = true;
    state.lock().unlock();
    try {
      to.write(piece);
      hasFailed = false;
    } catch (IOException failure) {
      // Who reads finds out why.
    } finally {
      state.lock().lock();
      isBusy = false;
      // What was taken before a failure may have come.
      noteWritten(to, piece.position() - start, piece.hasRemaining(), hasFailed);
    }
  }

  private void noteWritten(Link to, int sent, boolean isMoreLeft, boolean hasFailed) {
    isBlocked = isMoreLeft && !hasFailed;
    session.consume(sent);
    if (hasFailed) {
      noteFailure(to);
    }
    state.tellChanged();
    listener.written(hasFailed);
  }

  /** The reason may still be waiting to be read: the thread goes on reading up to the end. */
  private void noteFailure(Link to) {
    state.setWriteFailed(true);
    isBlocked = false;
    if (!session.returns()) {
      session.writer().dropOutput();
    }
    to.stopWriting();
  }

  // --- By the connection's thread ---

  /** Whether there is something to write that the socket takes. */
  boolean hasWork() {
    return canWrite() && state.hasOutput();
  }

  /** Whether the socket is waited for until it can be written to. */
  boolean wantsSocket() {
    return link != null && !state.hasWriteFailed() && (isBlocked || link.hasUnsent()) && !isBusy;
  }

  /** The socket can be written to. */
  void goOn() {
    if (isBusy) {
      return;
    }
    try {
      link.flush();
    } catch (IOException failure) {
      noteWritten(link, 0, false, true);
      return;
    }
    if (isBlocked && !link.hasUnsent()) {
      isBlocked = false;
      writeSome();
    }
  }

  /** Once all is written after a bye, tells the daemon so by ending this direction of the stream. */
  void endOutput() {
    if (!state.isClosing() || hasEndedOutput || isBusy || link == null) {
      return;
    }
    // What is held goes out later, the bye with it.
    if (!session.isConnected() || session.writer().outputSize() != 0 || link.hasUnsent()) {
      return;
    }
    hasEndedOutput = true;
    link.finishWriting();
  }
}
