package io.spindle.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.spindle.Event;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Flow;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

final class EventPublisherTest {
  private final List<String> told = new ArrayList<>();
  private boolean refuses;
  private final EventPublisher publisher = new EventPublisher(() -> null, () -> false, this::hand);

  private void hand(EventPublisher.Work work) {
    if (refuses) {
      work.refused(new RejectedExecutionException());
    } else {
      work.run();
    }
  }

  private final class Recorder implements Flow.Subscriber<Event> {
    @Override
    public void onSubscribe(Flow.Subscription subscription) {
      told.add("begun");
      subscription.request(1);
    }

    @Override
    public void onNext(Event event) {
      told.add("event");
    }

    @Override
    public void onError(Throwable failure) {
      told.add(failure.getClass().getSimpleName());
    }

    @Override
    public void onComplete() {
      told.add("complete");
    }
  }

  @Test
  void whoCannotBeCalledIsToldAndMakesWay() {
    publisher.subscribe(new Recorder());
    assertEquals(List.of("begun"), told);
    refuses = true;
    publisher.wake();
    assertEquals(List.of("begun", "RejectedExecutionException"), told);
    publisher.wake();
    assertEquals(2, told.size());
    assertFalse(publisher.hasSubscriber());
    refuses = false;
    publisher.subscribe(new Recorder());
    assertEquals("begun", told.get(2));
    assertTrue(publisher.hasSubscriber());
  }

  @Test
  void whoCannotBeCalledAtAllIsToldInOrder() {
    refuses = true;
    publisher.subscribe(new Recorder());
    assertEquals(List.of("begun", "RejectedExecutionException"), told);
  }
}
