package io.spindle;

import static java.util.concurrent.TimeUnit.SECONDS;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What is Java's own of the client, with a real daemon. The scenarios of tests/conformance hold it to the rest. */
final class ConnectionTest {
  private static final Duration PATIENCE = Duration.ofSeconds(TestDaemon.PATIENCE_S);

  private TestDaemon daemon;

  @BeforeEach
  void start() throws IOException {
    daemon = TestDaemon.start();
  }

  @AfterEach
  void stop() throws IOException {
    daemon.close();
  }

  private static <T> T get(CompletableFuture<T> future) throws Exception {
    return future.get(TestDaemon.PATIENCE_S, SECONDS);
  }

  private static Code codeOf(CompletableFuture<?> future) {
    Throwable failure = assertThrows(ExecutionException.class, () -> get(future)).getCause();
    return assertInstanceOf(SpindleException.class, failure).code();
  }

  private static Message nextMessage(Connection connection) {
    while (true) {
      Event event = connection.receive(PATIENCE);
      if (event instanceof Message message) {
        return message;
      }
      assertFalse(event == null || event instanceof Disconnected, String.valueOf(event));
    }
  }

  @Test
  void aMessageComesAsItWasSent() throws Exception {
    try (Connection ann = daemon.connect("ann")) {
      GroupView view = get(ann.join("den"));
      assertEquals(List.of(Name.of("#ann#a")), view.members());
      assertEquals(view, ann.receive(PATIENCE));
      SendOptions options = SendOptions.DEFAULT.withType(7).withHeaders(Headers.of("to", "b").with("to", "c"));
      ann.multicast(Service.AGREED, Destinations.of("den", "nobody"), new byte[] {1, 2, 3}, options);
      Message message = nextMessage(ann);
      assertEquals(Service.AGREED, message.service());
      assertEquals(7, message.type());
      assertEquals(Name.of("#ann#a"), message.sender());
      assertEquals(List.of(Name.of("den"), Name.of("nobody")), message.groups());
      assertArrayEquals(new byte[] {1, 2, 3}, message.payload());
      assertEquals("b", message.header("to").orElseThrow());
      assertEquals(2, message.headers().list().size());
      assertTrue(message.position().isPresent());
      assertFalse(message.isRequest());
    }
  }

  @Test
  void aSendBufferOfNothingTakesAMessage() throws Exception {
    try (Connection ann = Spindle.connect(daemon.options("ann").withSendBufferBytes(0))) {
      get(ann.join("den"));
      assertTrue(ann.tryMulticast(Service.AGREED, "den", new byte[] {1}));
      assertArrayEquals(new byte[] {1}, nextMessage(ann).payload());
      get(ann.multicastAsync(Service.AGREED, "den", new byte[] {2}));
      assertArrayEquals(new byte[] {2}, nextMessage(ann).payload());
    }
  }

  @Test
  void connectingForEverEndsWithTheWelcome() throws Exception {
    ConnectOptions patient = daemon.options("ann").withConnectTimeout(Duration.ofSeconds(Long.MAX_VALUE));
    try (Connection ann = Spindle.connect(patient)) {
      assertEquals(Name.of("#ann#a"), ann.privateName());
    }
  }

  @Test
  void whatABufferHasIsSent() throws Exception {
    try (Connection ann = daemon.connect("ann")) {
      get(ann.join("den"));
      Destinations den = Destinations.of("den");
      byte[] all = new byte[600_000]; // more than a frame holds
      for (int i = 0; i < all.length; i++) {
        all[i] = (byte) (i * i >> 5);
      }
      ByteBuffer direct = ByteBuffer.allocateDirect(all.length).put(all);
      for (ByteBuffer buffer : List.of(ByteBuffer.wrap(all, 1, 599_000), ByteBuffer.wrap(all).slice(7, 500), direct)) {
        buffer.position(buffer.position() / 2).limit(buffer.limit() - 1);
        for (SendOptions options : List.of(SendOptions.DEFAULT, SendOptions.DEFAULT.withHeaders(Headers.of("to", "b")))) {
          final ByteBuffer before = buffer.duplicate();
          ann.multicast(Service.AGREED, den, buffer, options);
          byte[] expected = new byte[buffer.remaining()];
          before.get(expected);
          assertArrayEquals(expected, nextMessage(ann).payload());
          assertTrue(ann.tryMulticast(Service.AGREED, den, buffer, options));
          assertArrayEquals(expected, nextMessage(ann).payload());
          assertEquals(expected.length, buffer.remaining());
        }
      }
    }
  }

  @Test
  void anInterruptDoesNotHarmTheConnection() throws Exception {
    try (Connection ann = daemon.connect("ann")) {
      get(ann.join("den"));
      Thread.currentThread().interrupt();
      // NIO closes sockets that block under a thread that is interrupted: these do not block.
      for (int i = 0; i < 100; i++) {
        ann.multicast(Service.AGREED, "den", new byte[1000]);
      }
      assertTrue(Thread.interrupted());
      for (int i = 0; i < 100; i++) {
        assertEquals(1000, nextMessage(ann).payload().length);
      }
    }
  }

  @Test
  void whoWaitsIsInterrupted() throws Exception {
    try (Connection ann = daemon.connect("ann")) {
      CompletableFuture<Code> ended = new CompletableFuture<>();
      Thread waiting =
          new Thread(
              () -> {
                try {
                  ann.receive();
                } catch (SpindleException error) {
                  ended.complete(Thread.currentThread().isInterrupted() ? error.code() : null);
                }
              });
      waiting.start();
      waiting.interrupt();
      assertEquals(Code.CANCELLED, get(ended));
      assertTrue(ann.isOpen());
      assertNull(ann.receive(Duration.ZERO));
    }
  }

  @Test
  void refusalsEndFutures() throws Exception {
    try (Connection ann = daemon.connect("ann")) {
      get(ann.join("den"));
      assertEquals(Code.ALREADY_A_MEMBER, codeOf(ann.join("den")));
      assertEquals(Code.BAD_GROUP_NAME, codeOf(ann.join("#den")));
      assertEquals(Code.TOO_MANY_GROUPS, codeOf(ann.multicastAsync(Service.FIFO, Destinations.of(List.of()), new byte[0],
          SendOptions.DEFAULT)));
      assertEquals(Code.NAME_IN_USE, assertThrows(SpindleException.class, () -> daemon.connect("ann")).code());
      assertEquals(Code.BAD_CLIENT_NAME, assertThrows(SpindleException.class, () -> daemon.connect("a b")).code());
      assertInstanceOf(GroupView.class, ann.receive(PATIENCE));
      assertNull(ann.receive(Duration.ZERO), "what futures are told is no event");
    }
  }

  @Test
  void requestsGiveAnswers() throws Exception {
    try (Connection ann = daemon.connect("ann");
        Connection bob = daemon.connect("bob")) {
      get(ann.join("den"));
      get(bob.join("den"));
      Thread server =
          new Thread(
              () -> {
                for (Event event : bob) {
                  if (event instanceof Message message && message.isRequest()) {
                    bob.reply(message, ("answer to " + message.text()).getBytes());
                  }
                }
              });
      server.start();
      Answers answers = get(ann.request("den", "q".getBytes(), PATIENCE));
      assertEquals("answer to q", answers.messages().get(0).text());
      RequestOptions all =
          RequestOptions.DEFAULT.withAnswers(RequestOptions.ALL_MEMBERS).withTimeout(Duration.ofSeconds(6));
      CompletableFuture<Answers> some = ann.request(Destinations.of("den"), "q".getBytes(), all);
      Throwable failure = assertThrows(ExecutionException.class, () -> get(some)).getCause();
      RequestException error = assertInstanceOf(RequestException.class, failure);
      assertEquals(Code.TIMED_OUT, error.code());
      assertEquals(1, error.answers().messages().size());
      assertEquals(List.of(Name.of("#ann#a")), error.answers().missing());
      bob.disconnect();
      server.join();
    }
  }

  /** Also where there is no room for a while; what waits has a bound then. */
  @Test
  void sendsThatDoNotWaitKeepTheirOrderAndABound() throws Exception {
    int count = 2000; // of 1,000 bytes: more than the buffers of a socket
    try (Connection ann = Spindle.connect(daemon.options("ann").withSendBufferBytes(8192))) {
      get(ann.join("den"));
      daemon.signal("STOP");
      List<CompletableFuture<Void>> sends = new ArrayList<>();
      int refused = 0;
      for (int i = 0; i < count; i++) {
        CompletableFuture<Void> sent = sendNumbered(ann, i);
        if (sent.isCompletedExceptionally()) {
          assertEquals(Code.WOULD_BLOCK, codeOf(sent));
          refused++;
          daemon.signal("CONT");
          get(ann.writable(Destinations.of("den"), PATIENCE));
          sent = sendNumbered(ann, i);
        }
        sends.add(sent);
      }
      assertTrue(refused > 0);
      for (int i = 0; i < count; i++) {
        byte[] payload = nextMessage(ann).payload();
        assertEquals(i, (payload[0] & 0xff) | (payload[1] & 0xff) << 8);
      }
      for (CompletableFuture<Void> each : sends) {
        get(each);
      }
      get(ann.confirm(PATIENCE));
    } finally {
      daemon.signal("CONT");
    }
  }

  private static CompletableFuture<Void> sendNumbered(Connection connection, int number) {
    byte[] payload = new byte[1000];
    payload[0] = (byte) number;
    payload[1] = (byte) (number >> 8);
    return connection.multicastAsync(Service.FIFO, "den", payload);
  }

  /** Of a group that another member does not let have its next view. */
  @Test
  void whatIsNotSentHoldsUpNothingMore() throws Exception {
    try (TestDaemon patient =
            TestDaemon.start(TestDaemon.newFolder(), "127.0.0.1:0", "[session]\nflush_timeout_ms = 600000");
        Connection ann = Spindle.connect(patient.options("ann").withKeepalive(Duration.ZERO));
        Connection bob = patient.connect("bob");
        Connection eve = patient.connect("eve")) {
      JoinOptions synchronous = JoinOptions.DEFAULT.withSynchrony(false);
      get(bob.join(Name.of("den"), JoinOptions.DEFAULT.withSynchrony(true)));
      CompletableFuture<GroupView> joined = ann.join(Name.of("den"), synchronous);
      while (!joined.isDone()) {
        bob.receive(Duration.ofMillis(1)); // which answers
      }
      eve.requestJoin(Name.of("den"), synchronous);
      Event event = ann.receive(PATIENCE);
      while (!(event instanceof FlushRequest)) {
        event = ann.receive(PATIENCE);
      }
      ann.flushOk((FlushRequest) event);

      Destinations den = Destinations.of("den");
      assertEquals(Code.TIMED_OUT, codeOf(ann.writable(den, Duration.ofMillis(1))), "there is the view to wait for");
      CompletableFuture<Void> late =
          ann.multicastAsync(Service.AGREED, den, new byte[1], SendOptions.DEFAULT.withTimeout(Duration.ofMillis(100)));
      CompletableFuture<Void> behind = ann.multicastAsync(Service.AGREED, "news", new byte[1]);
      assertEquals(Code.TIMED_OUT, codeOf(late));
      get(behind);

      CompletableFuture<Void> cancelled = ann.multicastAsync(Service.AGREED, "den", new byte[1]);
      assertFalse(ann.tryMulticast(Service.AGREED, "news", new byte[1]));
      final CompletableFuture<Void> writable = ann.writable(Destinations.of("news"), PATIENCE);
      assertFalse(writable.isDone(), "it is not worth trying");
      behind = ann.multicastAsync(Service.AGREED, "news", new byte[1]);
      Thread waiting = new Thread(() -> ann.multicast(Service.AGREED, "news", new byte[1]));
      waiting.start();
      assertFalse(behind.isDone());
      cancelled.cancel(false);
      get(behind);
      get(writable);
      waiting.join(PATIENCE.toMillis());
      assertFalse(waiting.isAlive());
    }
  }

  @Test
  void aSubscriberGetsWhatItAsksFor() throws Exception {
    BlockingQueue<Object> got = new LinkedBlockingQueue<>();
    CompletableFuture<Flow.Subscription> subscribed = new CompletableFuture<>();
    Flow.Subscriber<Event> subscriber =
        new Flow.Subscriber<>() {
          @Override
          public void onSubscribe(Flow.Subscription subscription) {
            subscribed.complete(subscription);
          }

          @Override
          public void onNext(Event event) {
            got.add(event);
          }

          @Override
          public void onError(Throwable failure) {
            got.add(failure);
          }

          @Override
          public void onComplete() {
            got.add("complete");
          }
        };
    try (Connection ann = daemon.connect("ann")) {
      ann.events().subscribe(subscriber);
      Flow.Subscription subscription = get(subscribed);
      get(ann.join("den"));
      for (int i = 0; i < 5; i++) {
        ann.multicast(Service.AGREED, "den", new byte[i]);
      }
      get(ann.confirm(PATIENCE));
      assertTrue(got.isEmpty(), "it has asked for nothing");
      subscription.request(3);
      assertInstanceOf(GroupView.class, got.poll(TestDaemon.PATIENCE_S, SECONDS));
      assertEquals(0, ((Message) got.poll(TestDaemon.PATIENCE_S, SECONDS)).payload().length);
      assertEquals(1, ((Message) got.poll(TestDaemon.PATIENCE_S, SECONDS)).payload().length);
      CountDownLatch refused = new CountDownLatch(1);
      ann.events().subscribe(new Refused(refused));
      assertTrue(refused.await(TestDaemon.PATIENCE_S, SECONDS));
      subscription.request(Long.MAX_VALUE);
      for (int i = 2; i < 5; i++) {
        assertEquals(i, ((Message) got.poll(TestDaemon.PATIENCE_S, SECONDS)).payload().length);
      }
      ann.disconnect();
      assertInstanceOf(Disconnected.class, got.poll(TestDaemon.PATIENCE_S, SECONDS));
      assertEquals("complete", got.poll(TestDaemon.PATIENCE_S, SECONDS));
    }
  }

  /** By the connection's own thread, which outlives a subscriber that fails. */
  @Test
  void theConnectionsThreadCallsASubscriber() throws Exception {
    ConnectOptions options = daemon.options("ann").withExecutor(Runnable::run);
    try (Connection ann = Spindle.connect(options)) {
      get(ann.join("den"));
      CompletableFuture<Thread> failed = new CompletableFuture<>();
      ann.onEvent(
          event -> {
            if (event instanceof Message) {
              failed.complete(Thread.currentThread());
              throw new IllegalStateException("on purpose");
            }
          });
      ann.multicast(Service.AGREED, "den", new byte[1]);
      Thread own = get(failed);
      assertEquals("spindle", own.getName());
      BlockingQueue<Integer> sizes = new LinkedBlockingQueue<>();
      CompletableFuture<Code> refused = new CompletableFuture<>();
      Consumer<Event> handler =
          event -> {
            byte[] payload = event instanceof Message message ? message.payload() : new byte[0];
            assertEquals(own, Thread.currentThread());
            if (payload.length == 2) {
              ann.multicast(Service.AGREED, "den", new byte[3]); // it may send
              try {
                ann.receive(); // and not wait
              } catch (SpindleException error) {
                refused.complete(error.code());
              }
            }
            sizes.add(payload.length);
          };
      Flow.Subscription subscription = subscribeNext(ann, handler);
      ann.multicast(Service.AGREED, "den", new byte[2]);
      assertEquals(2, sizes.poll(TestDaemon.PATIENCE_S, SECONDS));
      assertEquals(3, sizes.poll(TestDaemon.PATIENCE_S, SECONDS));
      assertEquals(Code.WOULD_BLOCK, get(refused));
      assertThrows(IllegalStateException.class, () -> ann.onEvent(handler)); // there is one
      subscription.cancel();
      ann.multicast(Service.AGREED, "den", new byte[4]);
      assertEquals(4, nextMessage(ann).payload().length);
    }
  }

  /** Of a pool that is full, such as one that is shut down. */
  @Test
  void anExecutorThatRefusesEndsTheSubscriber() throws Exception {
    AtomicBoolean refuses = new AtomicBoolean();
    Executor executor =
        work -> {
          if (refuses.get()) {
            throw new RejectedExecutionException("on purpose");
          }
          work.run();
        };
    try (Connection ann = Spindle.connect(daemon.options("ann").withExecutor(executor))) {
      get(ann.join("den"));
      CountDownLatch isTold = new CountDownLatch(1);
      ann.events().subscribe(new Refused(isTold));
      refuses.set(true);
      ann.multicast(Service.AGREED, "den", new byte[1]);
      assertTrue(isTold.await(TestDaemon.PATIENCE_S, SECONDS));
      refuses.set(false);
      BlockingQueue<Event> got = new LinkedBlockingQueue<>();
      ann.onEvent(got::add);
      assertInstanceOf(GroupView.class, got.poll(TestDaemon.PATIENCE_S, SECONDS));
      assertInstanceOf(Message.class, got.poll(TestDaemon.PATIENCE_S, SECONDS));
    }
  }

  /** A subscriber that fails is gone a moment after what it has told before that. */
  private static Flow.Subscription subscribeNext(Connection connection, Consumer<Event> handler)
      throws InterruptedException {
    long end = System.nanoTime() + SECONDS.toNanos(TestDaemon.PATIENCE_S);
    while (true) {
      try {
        return connection.onEvent(handler);
      } catch (IllegalStateException isThere) {
        if (System.nanoTime() > end) {
          throw isThere;
        }
        Thread.sleep(1);
      }
    }
  }

  /** A subscriber that takes nothing, and is told of an error. */
  private record Refused(CountDownLatch refused) implements Flow.Subscriber<Event> {
    @Override
    public void onSubscribe(Flow.Subscription subscription) {}

    @Override
    public void onNext(Event event) {}

    @Override
    public void onError(Throwable failure) {
      refused.countDown();
    }

    @Override
    public void onComplete() {}
  }

  @Test
  void theEndEndsEverything() throws Exception {
    Connection ann = Spindle.connect(daemon.options("ann").withReconnectTimeout(Duration.ZERO));
    CompletableFuture<Answers> asked = ann.request("nobody", new byte[0], null);
    daemon.kill();
    assertEquals(Code.CONNECTION_LOST, codeOf(asked));
    List<Event> events = new ArrayList<>();
    ann.forEach(events::add);
    assertEquals(1, events.size());
    assertEquals(Code.CONNECTION_LOST, assertInstanceOf(Disconnected.class, events.get(0)).code());
    assertFalse(ann.isOpen());
    assertEquals(Code.NOT_CONNECTED, assertThrows(SpindleException.class, ann::receive).code());
    assertEquals(Code.NOT_CONNECTED, codeOf(ann.join("den")));
    assertEquals(
        Code.NOT_CONNECTED,
        assertThrows(SpindleException.class, () -> ann.multicast(Service.FIFO, "den", new byte[0])).code());
    ann.close();
    ann.close();
  }

  /** By a mistake, or because what the program has for exceptions that nobody has caught throws one. */
  @Test
  void whatWaitsEndsWhereTheConnectionsThreadDies() throws Exception {
    ConnectOptions options =
        daemon
            .options("ann")
            .withThreadFactory(
                work -> {
                  Thread thread = new Thread(work);
                  thread.setDaemon(true);
                  thread.setUncaughtExceptionHandler(
                      (where, failure) -> {
                        throw new IllegalStateException("on purpose");
                      });
                  return thread;
                })
            .withExecutor(
                work -> {
                  throw new RejectedExecutionException("on purpose");
                });
    Connection ann = Spindle.connect(options);
    daemon.signal("STOP");
    CompletableFuture<Answers> asked = ann.request("nobody", new byte[0], null);
    CompletableFuture<Feed> opened = ann.openFeed("den");
    CompletableFuture<GroupView> joined = ann.join("den");
    ann.onEvent(event -> {});
    assertEquals(Code.INTERNAL_ERROR, codeOf(asked));
    assertEquals(Code.INTERNAL_ERROR, codeOf(opened));
    assertEquals(Code.INTERNAL_ERROR, codeOf(joined));
    assertEquals(Code.INTERNAL_ERROR, assertInstanceOf(Disconnected.class, ann.receive(PATIENCE)).code());
    ann.close();
  }

  @Test
  void connectingMayTakeAsLongAsItDoes() {
    for (Duration timeout : new Duration[] {null, Duration.ofSeconds(Long.MAX_VALUE)}) {
      try (Connection ann = Spindle.connect(daemon.options("ann").withConnectTimeout(timeout))) {
        assertEquals(Name.of("#ann#a"), ann.privateName(), "it is not connected yet");
      }
    }
  }

  /** The first so many threads of a connection with bulk channels can be had, and one not. */
  @Test
  void whereThereAreNoMoreThreadsNothingIsLeft() throws Exception {
    for (int count = 0; count < 4; count++) {
      List<Thread> made = new ArrayList<>();
      int[] left = {count};
      ConnectOptions options =
          daemon
              .options("ann")
              .withBulk()
              .withThreadFactory(
                  work -> {
                    Thread thread =
                        new Thread(work) {
                          @Override
                          public void start() {
                            if (left[0]-- == 0) {
                              throw new OutOfMemoryError("unable to create native thread");
                            }
                            super.start();
                          }
                        };
                    synchronized (made) {
                      made.add(thread);
                    }
                    return thread;
                  });
      assertThrows(OutOfMemoryError.class, () -> Spindle.connect(options));
      List<Thread> all;
      synchronized (made) {
        all = List.copyOf(made);
      }
      for (Thread each : all) {
        each.join(TestDaemon.PATIENCE_S * 1000);
        assertFalse(each.isAlive(), "with " + count);
      }
    }
    daemon.connect("ann").close();
  }

  @Test
  void whatDependsOnAFutureMayNotWait() throws Exception {
    try (Connection ann = daemon.connect("ann");
        Connection bob = daemon.connect("bob")) {
      CompletableFuture<Answers> asked = ann.request("#bob#a", new byte[0], PATIENCE);
      CompletableFuture<Code> told =
          asked.thenApply(answers -> assertThrows(SpindleException.class, () -> ann.receive(PATIENCE)).code());
      bob.reply(nextMessage(bob), new byte[0]);
      assertEquals(Code.WOULD_BLOCK, get(told));
    }
  }

  @Test
  void threadsAreThoseOfTheFactory() throws Exception {
    List<Thread> made = new ArrayList<>();
    ConnectOptions options =
        daemon
            .options("ann")
            .withThreadFactory(
                work -> {
                  Thread thread = new Thread(work);
                  synchronized (made) {
                    made.add(thread);
                  }
                  return thread;
                });
    Connection ann = Spindle.connect(options);
    get(ann.join("den"));
    ann.close();
    for (Thread each : made) {
      each.join(TestDaemon.PATIENCE_S * 1000);
      assertFalse(each.isAlive());
    }
    assertEquals(2, made.size());
  }
}
