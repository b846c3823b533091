package io.spindle.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.spindle.Code;
import io.spindle.Destinations;
import io.spindle.protocol.ClientSession;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Calls that wait. */
final class PendingCallsTest {
  private static final Destinations DEN = Destinations.of("den");

  private final PendingCalls calls = new PendingCalls(null); // none of these calls asks an engine
  private final List<Integer> sent = new ArrayList<>();

  private CompletableFuture<Void> send(int number) {
    CompletableFuture<Void> future = new CompletableFuture<>();
    calls.addSend(
        DEN,
        () -> {
          sent.add(number);
          return (Code) null;
        },
        100,
        ClientSession.NEVER,
        future,
        true);
    return future;
  }

  /** There is room between a program's cancelling and its taking the lock. */
  @Test
  void whatWasCancelledIsNotSent() {
    CompletableFuture<Void> first = send(1);
    final CompletableFuture<Void> second = send(2);
    assertTrue(first.cancel(false));
    calls.noteRoom(groups -> true, false);
    assertEquals(List.of(2), sent);
    calls.takeDone().forEach(Runnable::run);
    assertTrue(second.isDone());
    assertFalse(calls.wantsRoom());
    assertEquals(0, calls.sendBytes());
  }

  /** Nor does it hold up what is behind it. */
  @Test
  void whatWasCancelledWaitsForNoRoom() {
    send(1).cancel(false);
    calls.noteRoom(groups -> false, false);
    assertFalse(calls.wantsRoom());
    assertFalse(calls.hasSendsBefore(DEN, false));
  }
}
