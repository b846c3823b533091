package io.spindle.net;

import io.spindle.Disconnected;
import io.spindle.Event;
import java.util.Objects;
import java.util.concurrent.Flow;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** The events of a connection for one subscriber at a time, as many as it asks for. */
final class EventPublisher implements Flow.Publisher<Event> {
  /** What the program's executor is to run. */
  interface Work extends Runnable {
    /** The executor has failed to. Nothing is done where it has run it, and that has failed. */
    void refused(Throwable failure);
  }

  private final Supplier<Event> poll; // the next event; null: none waits
  private final Supplier<Boolean> isOver;
  private final Consumer<Work> executor; // hands work to that of the program; never fails
  private final AtomicReference<Delivery> current = new AtomicReference<>();

  EventPublisher(Supplier<Event> poll, Supplier<Boolean> isOver, Consumer<Work> executor) {
    this.poll = poll;
    this.isOver = isOver;
    this.executor = executor;
  }

  boolean hasSubscriber() {
    return current.get() != null;
  }

  /** An event has come, or there are no more. */
  void wake() {
    Delivery delivery = current.get();
    if (delivery != null) {
      delivery.wake();
    }
  }

  @Override
  public void subscribe(Flow.Subscriber<? super Event> subscriber) {
    Objects.requireNonNull(subscriber);
    Delivery delivery = new Delivery(subscriber);
    if (!current.compareAndSet(null, delivery)) {
      delivery.refuse();
      return;
    }
    delivery.wake();
  }

  private final class Delivery implements Flow.Subscription, Work {
    private final Flow.Subscriber<? super Event> subscriber;
    private final AtomicLong wanted = new AtomicLong();
    private final AtomicInteger wakes = new AtomicInteger(); // since it began to run
    private volatile boolean isCancelled;
    private volatile boolean isBadRequest;
    private boolean hasBegun;

    Delivery(Flow.Subscriber<? super Event> subscriber) {
      this.subscriber = subscriber;
    }

    void refuse() {
      isCancelled = true;
      subscriber.onSubscribe(this);
      subscriber.onError(new IllegalStateException("the connection's events have a subscriber"));
    }

    @Override
    public void request(long count) {
      if (count <= 0) {
        isBadRequest = true;
      } else {
        wanted.accumulateAndGet(count, (had, more) -> had + more < 0 ? Long.MAX_VALUE : had + more);
      }
      wake();
    }

    @Override
    public void cancel() {
      isCancelled = true;
      current.compareAndSet(this, null);
    }

    void wake() {
      if (!isCancelled && wakes.getAndIncrement() == 0) {
        executor.accept(this);
      }
    }

    /** Of one thread at a time: who finds `wakes` at zero. */
    @Override
    public void run() {
      int seen;
      do {
        seen = wakes.get();
        try {
          deliver();
        } catch (RuntimeException | Error failure) {
          cancel(); // the subscriber is at fault, and is told nothing more
          throw failure;
        }
      } while (wakes.addAndGet(-seen) != 0);
    }

    /** No other thread runs it: `wakes` stays as it is, and it is handed over no more. */
    @Override
    public void refused(Throwable failure) {
      if (!isCancelled) {
        cancel();
        begin();
        subscriber.onError(failure);
      }
    }

    private void begin() {
      if (!hasBegun) {
        hasBegun = true;
        subscriber.onSubscribe(this);
      }
    }

    private void deliver() {
      begin();
      if (isBadRequest && !isCancelled) {
        cancel();
        subscriber.onError(new IllegalArgumentException("a subscriber asks for one event at least"));
        return;
      }
      while (!isCancelled && wanted.get() > 0) {
        Event event = poll.get();
        if (event == null) {
          break;
        }
        wanted.decrementAndGet();
        subscriber.onNext(event);
        if (event instanceof Disconnected) {
          complete();
          return;
        }
      }
      if (!isCancelled && isOver.get()) {
        complete();
      }
    }

    private void complete() {
      if (!isCancelled) {
        cancel();
        subscriber.onComplete();
      }
    }
  }
}
