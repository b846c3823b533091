package io.spindle.net;

import io.spindle.Event;
import java.util.Objects;
import java.util.concurrent.Flow;
import java.util.function.Consumer;

/** A subscriber that takes all events there are, and gives them to a handler. */
final class HandlerSubscriber implements Flow.Subscriber<Event>, Flow.Subscription {
  private final Consumer<? super Event> handler;
  private final Thread maker = Thread.currentThread();
  private volatile Flow.Subscription subscription; // null: it has not begun
  private volatile boolean isCancelled;
  private Throwable refusal; // as far as `maker` was told of one

  private HandlerSubscriber(Consumer<? super Event> handler) {
    this.handler = handler;
  }

  static Flow.Subscription subscribe(Flow.Publisher<Event> events, Consumer<? super Event> handler) {
    HandlerSubscriber made = new HandlerSubscriber(Objects.requireNonNull(handler));
    events.subscribe(made);
    if (made.refusal != null) {
      throw new IllegalStateException(made.refusal.getMessage());
    }
    return made;
  }

  @Override
  public void onSubscribe(Flow.Subscription begun) {
    subscription = begun;
    if (isCancelled) {
      begun.cancel();
    } else {
      begun.request(Long.MAX_VALUE);
    }
  }

  @Override
  public void onNext(Event event) {
    handler.accept(event);
  }

  @Override
  public void onError(Throwable failure) {
    if (Thread.currentThread() == maker) {
      refusal = failure;
    }
  }

  @Override
  public void onComplete() {}

  /** All are asked for. */
  @Override
  public void request(long count) {}

  @Override
  public void cancel() {
    isCancelled = true;
    Flow.Subscription begun = subscription;
    if (begun != null) {
      begun.cancel();
    }
  }
}
