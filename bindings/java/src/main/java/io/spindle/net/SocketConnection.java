package io.spindle.net;

import io.spindle.Answers;
import io.spindle.Bulk;
import io.spindle.BulkOptions;
import io.spindle.Code;
import io.spindle.ConnectOptions;
import io.spindle.Connection;
import io.spindle.Destinations;
import io.spindle.Disconnected;
import io.spindle.Event;
import io.spindle.Feed;
import io.spindle.FeedOptions;
import io.spindle.FlushRequest;
import io.spindle.GroupView;
import io.spindle.JoinOptions;
import io.spindle.ListenOptions;
import io.spindle.Message;
import io.spindle.Name;
import io.spindle.NotTaken;
import io.spindle.RequestOptions;
import io.spindle.SendOptions;
import io.spindle.Service;
import io.spindle.SpindleException;
import io.spindle.protocol.ClientSession;
import io.spindle.protocol.Names;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.Flow;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * A connection: makes its parts, which do what is asked, and begins and ends it. What is sent goes through
 * MessageSender (or GroupRequests, or FeedCalls) into the session, and from there through LinkWriter to the daemon.
 * What the daemon sends ConnectionThread reads; EventDelivery brings it from the session to the queue, and
 * EventReceiver to the program.
 */
public final class SocketConnection implements Connection {
  private final ConnectionState state;
  private final ReentrantLock lock;
  private final EventQueue events;
  private final MessageSender sender;
  private final GroupRequests groups;
  private final FeedCalls feeds;
  private final BulkCalls channels; // null: the program hears of none
  private final EventReceiver receiver;
  private final Thread thread;

  private SocketConnection(ConnectOptions options) throws IOException {
    ThreadFactory given = options.threadFactory();
    ThreadFactory threads = given != null ? given : SocketConnection::daemonThread;
    Executor executor = options.executor() != null ? options.executor() : ForkJoinPool.commonPool();
    Selector selector = Selector.open();
    state = new ConnectionState(options, selector);
    lock = state.lock();
    events = new EventQueue(options.receiveBufferBytes(), selector::wakeup, this::noteArrival);
    LinkWriter writer = new LinkWriter(state);
    sender = new MessageSender(state, writer, events);
    writer.tell(sender::noteWritten);
    groups = new GroupRequests(state, writer, sender);
    feeds = new FeedCalls(state, writer, events);
    BulkOptions bulk = options.bulk();
    channels = bulk == null ? null : new BulkCalls(state, writer, events, bulk, threads);
    receiver = new EventReceiver(state, events, groups, executor);
    EventDelivery delivery = new EventDelivery(state, writer, sender, feeds, events);
    LinkKeeper keeper = new LinkKeeper(state, writer, delivery, threads);
    thread = threads.newThread(new ConnectionThread(state, writer, keeper, delivery, sender, feeds, events)::run);
    state.setThread(thread);
  }

  private static Thread daemonThread(Runnable work) {
    Thread made = new Thread(work, "spindle");
    made.setDaemon(true);
    return made;
  }

  private void noteArrival() {
    receiver.noteArrival();
  }

  // --- Its beginning ---

  /** Connects, and waits for the daemon's welcome. */
  public static Connection open(ConnectOptions options) {
    if (!options.name().isEmpty() && !Names.isClient(Name.of(options.name()))) {
      throw new SpindleException(Code.BAD_CLIENT_NAME);
    }
    options.addresses().forEach(Address::parse);
    if (options.bulk() != null) {
      BulkCalls.check(options.bulk());
    }
    SocketConnection connection;
    try {
      connection = new SocketConnection(options);
    } catch (IOException failure) {
      throw new SpindleException(Code.CONNECT_FAILED, "no selector is to be had: " + failure.getMessage());
    }
    connection.connect();
    return connection;
  }

  private void connect() {
    lock.lock();
    try {
      state.beginConnecting();
      thread.start();
      if (channels != null) {
        channels.start();
      }
      state.waitFor(ClientSession.NEVER, () -> state.hasEnded() || state.wasWelcomed());
      if (!state.hasEnded()) {
        return;
      }
    } catch (RuntimeException | Error failure) { // such as an interrupt, or that there can be no more threads
      state.stopConnecting();
      if (thread == null || !thread.isAlive()) {
        discard();
      }
      throw failure;
    } finally {
      lock.unlock();
    }
    for (Event event = events.poll(); event != null; event = events.poll()) {
      if (event instanceof Disconnected end) {
        throw new SpindleException(end.code(), end.text());
      }
    }
  }

  /** Its thread does not run. */
  private void discard() {
    if (channels != null) {
      channels.discard();
    }
    try {
      state.selector().close();
    } catch (IOException gone) {
      // It is closed.
    }
  }

  @Override
  public Name privateName() {
    return state.privateName();
  }

  @Override
  public boolean isOpen() {
    return state.locked(state::canSend);
  }

  // --- Groups ---

  @Override
  public CompletableFuture<GroupView> join(Name group, JoinOptions how) {
    return groups.join(group, how);
  }

  @Override
  public void requestJoin(Name group, JoinOptions how) {
    groups.requestJoin(group, how);
  }

  @Override
  public void leave(Name group) {
    groups.leave(group);
  }

  @Override
  public void requestView(Name group) {
    groups.requestView(group);
  }

  @Override
  public void requestFlow(Destinations to) {
    groups.requestFlow(to);
  }

  @Override
  public void flushOk(FlushRequest request) {
    groups.flushOk(request);
  }

  // --- Messages ---

  @Override
  public void multicast(Service service, Destinations to, byte[] payload, SendOptions how) {
    sender.multicast(service, to, payload, 0, payload.length, how);
  }

  @Override
  public void multicast(Service service, Destinations to, ByteBuffer payload, SendOptions how) {
    if (payload.hasArray()) {
      int from = payload.arrayOffset() + payload.position();
      sender.multicast(service, to, payload.array(), from, payload.remaining(), how);
    } else {
      multicast(service, to, bytesOf(payload), how);
    }
  }

  private static byte[] bytesOf(ByteBuffer buffer) {
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(buffer.position(), bytes);
    return bytes;
  }

  @Override
  public boolean tryMulticast(Service service, Destinations to, byte[] payload, SendOptions how) {
    return sender.tryMulticast(service, to, payload, 0, payload.length, how);
  }

  @Override
  public boolean tryMulticast(Service service, Destinations to, ByteBuffer payload, SendOptions how) {
    if (!payload.hasArray()) {
      return tryMulticast(service, to, bytesOf(payload), how);
    }
    int from = payload.arrayOffset() + payload.position();
    return sender.tryMulticast(service, to, payload.array(), from, payload.remaining(), how);
  }

  @Override
  public CompletableFuture<Void> multicastAsync(Service service, Destinations to, byte[] payload, SendOptions how) {
    return sender.multicastAsync(service, to, payload, how);
  }

  @Override
  public CompletableFuture<Void> writable(Destinations to, Duration timeout) {
    return sender.writable(to, timeout);
  }

  @Override
  public CompletableFuture<Void> confirm(Duration timeout) {
    return sender.confirm(timeout);
  }

  @Override
  public CompletableFuture<Answers> request(Destinations to, byte[] payload, RequestOptions how) {
    return sender.request(to, payload, how);
  }

  @Override
  public void reply(Message request, byte[] payload, SendOptions how) {
    sender.reply(request, payload, how);
  }

  // --- Feeds ---

  @Override
  public CompletableFuture<Feed> openFeed(Name group, FeedOptions how) {
    return feeds.open(group, how);
  }

  @Override
  public void listen(Name group, ListenOptions how) {
    feeds.listen(group, how);
  }

  @Override
  public void stopListening(Name group) {
    feeds.stopListening(group);
  }

  // --- Bulk channels ---

  @Override
  public Bulk bulk() {
    if (channels == null) {
      throw new SpindleException(Code.BAD_ARGUMENT, "the connection was made without bulk channels");
    }
    return channels;
  }

  // --- Events ---

  @Override
  public Event receive() {
    return receiver.receive();
  }

  @Override
  public Event receive(Duration timeout) {
    return receiver.receive(timeout);
  }

  @Override
  public Flow.Publisher<Event> events() {
    return receiver.publisher();
  }

  @Override
  public Flow.Subscription onEvent(Consumer<? super Event> handler) {
    return HandlerSubscriber.subscribe(receiver.publisher(), handler);
  }

  // --- Its end ---

  @Override
  public void close() {
    disconnect();
  }

  @Override
  public NotTaken disconnect() {
    return disconnect(Clock.after(state.options().disconnectTimeout()));
  }

  private NotTaken disconnect(long deadline) {
    NotTaken lost;
    lock.lock();
    try {
      state.beginClosing(deadline);
      state.awaitUninterruptibly(() -> state.hasEnded() || state.isOwnThread());
      lost = state.session().writer().notTaken();
    } finally {
      lock.unlock();
    }
    if (channels != null && !state.isOwnThread()) {
      channels.awaitEnd();
    }
    return lost;
  }

  @Override
  public NotTaken drain(Duration timeout) {
    long deadline = Clock.after(timeout);
    boolean isCancelled = false;
    lock.lock();
    try {
      if (!state.isOwnThread()) {
        state.beginDraining();
      }
      groups.leaveAll(deadline);
      if (!state.isOwnThread()) {
        state.waitFor(deadline, () -> state.joined().isEmpty() || !state.canSend());
        state.beginClosing(deadline);
        state.waitFor(ClientSession.NEVER, state::hasEnded);
      }
    } catch (SpindleException interrupted) {
      isCancelled = true;
      state.hurry();
    } finally {
      lock.unlock();
    }
    return disconnect(isCancelled ? Clock.now() : deadline);
  }

  @Override
  public String toString() {
    return "Connection[" + state.privateName() + "]";
  }
}
