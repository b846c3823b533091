package io.spindle.net;

import io.spindle.ConnectOptions;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.concurrent.locks.ReentrantLock;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import javax.net.ssl.SSLException;

/** A stream that is protected by TLS. What was taken for writing may wait here for the socket. */
final class TlsLink implements Link {
  // Of records in either direction: as much as is read, or written, at a time.
  private static final int BUFFER_BYTES = 128 << 10;
  private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

  private final SocketChannel channel;
  private final SSLEngine engine;
  private final int recordBytes; // of the longest record
  private final int contentBytes; // of its content

  // Who reads.
  private final ByteBuffer incoming = ByteBuffer.allocateDirect(BUFFER_BYTES); // ready to be read from
  private ByteBuffer early = NOTHING; // that came with the handshake
  private boolean hasMore; // in `incoming`, for which there was no room

  private final ReentrantLock writeLock = new ReentrantLock(); // guards what follows
  private final ByteBuffer outgoing = ByteBuffer.allocateDirect(BUFFER_BYTES); // likewise
  private volatile boolean hasUnsent;

  private TlsLink(SocketChannel channel, SSLEngine engine) {
    this.channel = channel;
    this.engine = engine;
    this.recordBytes = engine.getSession().getPacketBufferSize();
    this.contentBytes = engine.getSession().getApplicationBufferSize();
    incoming.flip();
    outgoing.flip();
  }

  /** Settles who is at the other end of a channel that does not block. */
  static Link open(SocketChannel channel, ConnectOptions options, long deadline) throws IOException {
    TlsContext context = TlsContext.of(options);
    TlsLink link = new TlsLink(channel, context.makeEngine());
    try (Selector selector = Selector.open()) {
      SelectionKey key = channel.register(selector, 0);
      link.shakeHands(key, deadline);
    } catch (SSLException failure) {
      throw new ProtectionFailed(TlsContext.explain(failure));
    }
    context.check(link.engine);
    return link;
  }

  private static void await(SelectionKey key, int operation, long deadline) throws IOException {
    long millis = Clock.millisUntil(deadline);
    if (millis == 0) {
      throw new SocketTimeoutException();
    }
    key.interestOps(operation);
    key.selector().select(millis == Long.MAX_VALUE ? 0 : millis);
    key.selector().selectedKeys().clear();
    if (!key.isValid()) {
      throw new ProtectionFailed("the connection broke off");
    }
  }

  private void shakeHands(SelectionKey key, long deadline) throws IOException {
    ByteBuffer content = ByteBuffer.allocate(2 * contentBytes);
    engine.beginHandshake();
    while (true) {
      HandshakeStatus status = engine.getHandshakeStatus();
      if (status == HandshakeStatus.NEED_TASK) {
        runTasks();
      } else if (status == HandshakeStatus.NEED_WRAP) {
        wrap(NOTHING);
        while (!flushOutgoing()) {
          await(key, SelectionKey.OP_WRITE, deadline);
        }
      } else if (status == HandshakeStatus.NOT_HANDSHAKING || status == HandshakeStatus.FINISHED) {
        break;
      } else {
        SSLEngineResult result = engine.unwrap(incoming, content);
        if (result.getStatus() == SSLEngineResult.Status.CLOSED) {
          throw new ProtectionFailed("the connection broke off");
        }
        if (result.getStatus() == SSLEngineResult.Status.BUFFER_UNDERFLOW) {
          int count = fill();
          if (count < 0) {
            throw new ProtectionFailed("the connection broke off");
          }
          if (count == 0) {
            await(key, SelectionKey.OP_READ, deadline);
          }
        }
      }
    }
    content.flip();
    early = content;
  }

  private void runTasks() {
    for (Runnable task = engine.getDelegatedTask(); task != null; task = engine.getDelegatedTask()) {
      task.run();
    }
  }

  /** Reads records from the socket. */
  private int fill() throws IOException {
    incoming.compact();
    try {
      return channel.read(incoming);
    } finally {
      incoming.flip();
    }
  }

  @Override
  public SocketChannel channel() {
    return channel;
  }

  @Override
  public int read(ByteBuffer into) throws IOException {
    final int start = into.position();
    hasMore = false;
    if (early.hasRemaining()) {
      into.put(early);
    }
    try {
      return read(into, start);
    } catch (SSLException failure) {
      throw new ProtectionFailed(TlsContext.explain(failure));
    }
  }

  private int read(ByteBuffer into, int start) throws IOException {
    while (true) {
      if (into.remaining() < contentBytes) {
        hasMore = incoming.hasRemaining();
        return into.position() - start;
      }
      SSLEngineResult result = engine.unwrap(incoming, into);
      if (result.getHandshakeStatus() == HandshakeStatus.NEED_TASK) {
        runTasks();
      } else if (result.getHandshakeStatus() == HandshakeStatus.NEED_WRAP) {
        answer(); // another key, or its goodbye
      }
      switch (result.getStatus()) {
        case OK:
          break;
        case CLOSED:
          return into.position() == start ? -1 : into.position() - start;
        default:
          int count;
          try {
            count = fill();
          } catch (IOException failure) {
            if (into.position() == start) {
              throw failure;
            }
            return into.position() - start; // that has come before; the next time finds the failure
          }
          if (count == 0 || (count < 0 && into.position() != start)) {
            return into.position() - start;
          }
          if (count < 0) {
            return -1;
          }
      }
    }
  }

  private void answer() throws IOException {
    writeLock.lock();
    try {
      while (engine.getHandshakeStatus() == HandshakeStatus.NEED_WRAP && outgoing.remaining() < BUFFER_BYTES / 2) {
        wrap(NOTHING);
        if (engine.isOutboundDone()) {
          break;
        }
      }
      flushAnswer();
    } finally {
      writeLock.unlock();
    }
  }

  private void flushAnswer() {
    try {
      flushOutgoing();
    } catch (IOException failure) {
      // Who writes finds out. What has come can be read all the same.
    }
  }

  @Override
  public boolean readsDirectly() {
    return false; // ciphers copy what is not in an array
  }

  @Override
  public boolean mayHaveMore() {
    return hasMore;
  }

  @Override
  public int write(ByteBuffer from) throws IOException {
    final int start = from.position();
    writeLock.lock();
    try {
      while (flushOutgoing() && from.hasRemaining()) {
        while (from.hasRemaining() && BUFFER_BYTES - outgoing.remaining() >= recordBytes) {
          wrap(from);
        }
      }
      return from.position() - start;
    } catch (SSLException failure) {
      throw new ProtectionFailed(TlsContext.explain(failure));
    } finally {
      writeLock.unlock();
    }
  }

  /** One record behind those that wait. */
  private void wrap(ByteBuffer from) throws SSLException {
    outgoing.compact();
    try {
      SSLEngineResult result = engine.wrap(from, outgoing);
      if (result.getHandshakeStatus() == HandshakeStatus.NEED_TASK) {
        runTasks();
      }
      if (result.getStatus() == SSLEngineResult.Status.CLOSED && from.hasRemaining()) {
        throw new SSLException("the connection is closed");
      }
    } finally {
      outgoing.flip();
      hasUnsent = outgoing.hasRemaining();
    }
  }

  /** Whether nothing waits any more. */
  private boolean flushOutgoing() throws IOException {
    while (outgoing.hasRemaining()) {
      if (channel.write(outgoing) == 0) {
        break;
      }
    }
    hasUnsent = outgoing.hasRemaining();
    return !hasUnsent;
  }

  @Override
  public boolean hasUnsent() {
    return hasUnsent;
  }

  @Override
  public void flush() throws IOException {
    writeLock.lock();
    try {
      flushOutgoing();
    } finally {
      writeLock.unlock();
    }
  }

  /** Says goodbye; the other direction stays. */
  @Override
  public void finishWriting() {
    writeLock.lock();
    try {
      engine.closeOutbound();
      wrap(NOTHING);
      flushOutgoing();
    } catch (IOException gone) {
      // Who reads finds out.
    } finally {
      writeLock.unlock();
    }
  }

  @Override
  public void stopWriting() {
    PlainLink.stopWriting(channel);
  }

  @Override
  public void shutDown() {
    PlainLink.shutDown(channel);
  }

  @Override
  public void close() {
    PlainLink.close(channel);
  }
}
