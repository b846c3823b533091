package io.spindle.net;

import io.spindle.Disconnected;
import io.spindle.Event;
import io.spindle.FeedEvent;
import io.spindle.protocol.ClientSession;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/** The events that a connection has received and nobody has asked for yet. One thread pushes, any number take. */
final class EventQueue {
  // Smaller batches are put together.
  private static final long BATCH_BYTES = 64 << 10;

  private static final class Batch {
    final List<Event> events; // no more come once some are taken
    long bytes;
    final AtomicInteger taken = new AtomicInteger();

    Batch(List<Event> events, long bytes) {
      this.events = events;
      this.bytes = bytes;
    }

    /** The index of an event that is the caller's then; -1: there are no more. For any thread, without the lock. */
    int takeNext() {
      int size = events.size();
      int index = taken.get() < size ? taken.getAndIncrement() : size;
      return index < size ? index : -1;
    }

    boolean hasNext() {
      return taken.get() < events.size();
    }
  }

  private static final Batch NONE = new Batch(List.of(), 0);

  private final long limitBytes;
  private final Runnable onRoom; // by who takes, without the lock
  private final Runnable onArrival; // by who pushes, likewise

  private final ReentrantLock lock = new ReentrantLock(); // guards what follows
  private final Condition arrived = lock.newCondition();
  private final ArrayDeque<Batch> batches = new ArrayDeque<>();
  private volatile Batch current = NONE; // is taken from; set with the lock
  private final FeedQueue feeds;
  private boolean areFeedsNext; // they take turns with batches
  private boolean hasLast; // of all: feeds go first
  private long bytes; // of `batches` and `current`
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
    bytes -= current.bytes;
    boolean hasRoom = isFull && bytes <= resumeBytes();
    if (hasRoom) {
      isFull = false;
    }
    boolean feedsGo = !feeds.isEmpty() && (areFeedsNext || hasLast || batches.isEmpty());
    areFeedsNext = !feedsGo;
    if (feedsGo) {
      Batch ofFeeds = new Batch(new ArrayList<>(), 0);
      feeds.take(ofFeeds.events, BATCH_BYTES);
      current = ofFeeds;
    } else {
      current = batches.isEmpty() ? NONE : batches.removeFirst();
    }
    return hasRoom;
  }

  /** The next event; null where none waits. Most are taken without the lock. */
  Event poll() {
    Batch from = current;
    int index = from.takeNext();
    while (index < 0) {
      if (!goOn()) {
        return null;
      }
      from = current;
      index = from.takeNext();
    }
    Event event = from.events.set(index, null);
    if (event instanceof Disconnected) {
      finish();
    }
    if (index == from.events.size() - 1) {
      goOn(); // what it held is free
    }
    return event;
  }

  /** Fetches more where all of the current batch is taken. Whether there is more. */
  private boolean goOn() {
    boolean hasRoom;
    boolean hasMore;
    lock.lock();
    try {
      hasRoom = !current.hasNext() && nextBatch();
      hasMore = current.hasNext();
    } finally {
      lock.unlock();
    }
    if (hasRoom) {
      onRoom.run();
    }
    return hasMore;
  }

  private void finish() {
    lock.lock();
    try {
      isFinished = true;
      arrived.signalAll();
    } finally {
      lock.unlock();
    }
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
    return current.hasNext() || !batches.isEmpty() || !feeds.isEmpty();
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
