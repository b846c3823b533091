package io.spindle.net;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Threads that do what takes long, or touches a file. How many jobs there are at a time is bounded by whoever makes
 * them.
 */
final class BulkWorkers {
  private final ReentrantLock lock = new ReentrantLock(); // guards what follows
  private final Condition news = lock.newCondition();
  private final Deque<Runnable> jobs = new ArrayDeque<>();
  private boolean isStopped;

  private final List<Thread> threads = new ArrayList<>();

  void start(int count, ThreadFactory factory) {
    for (int i = 0; i < count; i++) {
      Thread thread = factory.newThread(this::run);
      threads.add(thread);
      thread.start();
    }
  }

  /** It throws nothing. False where there will be nobody to do it. */
  boolean add(Runnable job) {
    lock.lock();
    try {
      if (!isStopped) {
        jobs.add(job);
        news.signal();
      }
      return !isStopped;
    } finally {
      lock.unlock();
    }
  }

  /** Returns when all jobs are over. */
  void stop() {
    lock.lock();
    try {
      isStopped = true;
      news.signalAll();
    } finally {
      lock.unlock();
    }
    for (Thread thread : threads) {
      while (thread.isAlive()) {
        try {
          thread.join();
        } catch (InterruptedException interrupt) {
          // Of a thread of this library's own, by nobody's right.
        }
      }
    }
  }

  boolean isOwnThread() {
    return threads.contains(Thread.currentThread());
  }

  private void run() {
    while (true) {
      Runnable job;
      lock.lock();
      try {
        while (!isStopped && jobs.isEmpty()) {
          news.awaitUninterruptibly();
        }
        job = jobs.poll();
        if (job == null) {
          return; // it is stopped
        }
      } finally {
        lock.unlock();
      }
      job.run();
      Thread.interrupted(); // it is nobody's to interrupt, and would close files
    }
  }
}
