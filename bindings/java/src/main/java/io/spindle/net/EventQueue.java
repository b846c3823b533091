package io.spindle.net;

import io.spindle.Disconnected;
import io.spindle.Event;
import io.spindle.FeedEvent;
import io.spindle.protocol.ClientSession;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** The events that a connection has received and nobody has asked for yet. One thread pushes, any number take. */
final class EventQueue {
  // Smaller batches are put together.
  private static final long BATCH_BYTES = 64 << 10;

  private static final class Batch {
    final List<Event> events;
    long bytes;

    Batch(List<Event> events, long bytes) {
      this.events = events;
      this.bytes = bytes;
    }
  }

  private final long limitBytes;
  private final Runnable onRoom; // by who takes, without the lock
  private final Runnable onArrival; // by who pushes, likewise

  private final ReentrantLock lock = new ReentrantLock(); // guards what follows
  private final Condition arrived = lock.newCondition();
  private final ArrayDeque<Batch> batches = new ArrayDeque<>();
  private Batch taken = new Batch(List.of(), 0);
  private int next; // in `taken`
  private final FeedQueue feeds;
  private boolean areFeedsNext; // they take turns with batches
  private boolean hasLast; // of all: feeds go first
  private long bytes; // of `batches` and `taken`
  private volatile boolean isFull;
  private int waiters;
  private boolean isFinished;

  EventQueue(long limitBytes, Runnable onRoom, Runnable onArrival) {
    this.limitBytes = limitBytes;
    this.onRoom = onRoom;
    this.onArrival = onArrival;
    this.feeds = new FeedQueue(limitBytes / 2);
  }

  /**
   * An eighth of the limit, or 64 KiB, or half of a limit that is smaller yet, is free again. Soon, because a daemon takes
   * a client that reads nothing for long for one that hangs; not at once, so that a read is worth its while.
   */
  private long resumeBytes() {
    return limitBytes - Math.max(limitBytes / 8, Math.min(limitBytes / 2, BATCH_BYTES));
  }

  /** Never waits and never fails: it is for the pusher to stop while the queue is full. The list is the queue's then. */
  void push(List<Event> events, long size) {
    if (events.isEmpty()) {
      return;
    }
    lock.lock();
    try {
      hasLast |= events.get(events.size() - 1) instanceof Disconnected;
      Batch last = batches.peekLast();
      if (last != null && last.bytes < BATCH_BYTES) {
        last.events.addAll(events);
        last.bytes += size;
      } else {
        batches.addLast(new Batch(events, size));
      }
      bytes += size;
      if (bytes > limitBytes) {
        isFull = true;
      }
      noteArrival();
    } finally {
      lock.unlock();
    }
    onArrival.run();
  }

  /** Likewise events of feeds, which are in no order with others and never make the queue full. */
  void pushFeeds(List<FeedEvent> events) {
    lock.lock();
    try {
      feeds.push(events);
      noteArrival();
    } finally {
      lock.unlock();
    }
    onArrival.run();
  }

  boolean isFull() {
    return isFull;
  }

  private void noteArrival() {
    if (waiters > 0) {
      arrived.signalAll();
    }
  }

  /** Gives back what was taken and fetches more, if there is more. Whether there is room that there was not. */
  private boolean nextBatch() {
    bytes -= taken.bytes;
    boolean hasRoom = isFull && bytes <= resumeBytes();
    if (hasRoom) {
      isFull = false;
    }
    next = 0;
    taken = new Batch(List.of(), 0);
    boolean feedsGo = !feeds.isEmpty() && (areFeedsNext || hasLast || batches.isEmpty());
    areFeedsNext = !feedsGo;
    if (feedsGo) {
      taken = new Batch(new ArrayList<>(), 0);
      feeds.take(taken.events, BATCH_BYTES);
    } else if (!batches.isEmpty()) {
      taken = batches.removeFirst();
    }
    return hasRoom;
  }

  /** The next event; null where none waits. */
  Event poll() {
    Event event = null;
    boolean hasRoom = false;
    lock.lock();
    try {
      if (next == taken.events.size()) {
        hasRoom = nextBatch();
      }
      if (next < taken.events.size()) {
        event = taken.events.set(next++, null);
        if (next == taken.events.size()) {
          hasRoom |= nextBatch();
        }
        if (event instanceof Disconnected) {
          isFinished = true;
          arrived.signalAll();
        }
      }
    } finally {
      lock.unlock();
    }
    if (hasRoom) {
      onRoom.run();
    }
    return event;
  }

  /** The next event; null once the deadline has passed, or Disconnected was taken. */
  Event take(long deadline) throws InterruptedException {
    while (true) {
      Event event = poll();
      if (event != null) {
        return event;
      }
      lock.lockInterruptibly();
      try {
        waiters++;
        while (!hasEvents()) {
          if (isFinished) {
            return null;
          }
          if (deadline == ClientSession.NEVER) {
            arrived.await();
          } else if (arrived.awaitNanos(deadline - Clock.now()) <= 0 && !hasEvents()) {
            return null;
          }
        }
      } finally {
        waiters--;
        lock.unlock();
      }
    }
  }

  private boolean hasEvents() {
    return next < taken.events.size() || !batches.isEmpty() || !feeds.isEmpty();
  }

  /** Whether Disconnected was taken. */
  boolean isFinished() {
    lock.lock();
    try {
      return isFinished;
    } finally {
      lock.unlock();
    }
  }
}
