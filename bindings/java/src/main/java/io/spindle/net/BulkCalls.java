package io.spindle.net;

import io.spindle.AcceptOptions;
import io.spindle.Bulk;
import io.spindle.BulkEnded;
import io.spindle.BulkOffered;
import io.spindle.BulkOptions;
import io.spindle.BulkProgress;
import io.spindle.BulkReceived;
import io.spindle.BulkReturned;
import io.spindle.BulkSink;
import io.spindle.BulkSource;
import io.spindle.ChannelId;
import io.spindle.Code;
import io.spindle.ContentKind;
import io.spindle.Event;
import io.spindle.Name;
import io.spindle.OfferOptions;
import io.spindle.SpindleException;
import io.spindle.protocol.BulkNews;
import io.spindle.protocol.BulkRequest;
import io.spindle.protocol.ClientSession;
import io.spindle.protocol.ContentLayout;
import io.spindle.protocol.ContentTerms;
import io.spindle.protocol.Names;
import io.spindle.store.BulkStore;
import io.spindle.store.KeptHashes;
import io.spindle.store.StoreException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Bulk channels: the program's calls, and what the session tells. Its functions that are no calls are given the lock.
 */
final class BulkCalls implements Bulk, BulkIo.Session {
  private static final int WORKERS_MAX = 64;
  // Of a new session in which the daemon is heard: what it has not told of again by then is over.
  private static final long RETOLD_WITHIN = 60_000 * BulkTransfer.MS;

  /** An offer that the daemon has not answered yet. */
  private static final class Pending {
    final CompletableFuture<ChannelId> future = new CompletableFuture<>();
    final OpenedSource opened;
    final long until;

    Pending(OpenedSource opened, long until) {
      this.opened = opened;
      this.until = until;
    }
  }

  /** A channel that has not ended. */
  private static final class Known {
    final boolean isOwn;
    final Name group;
    final String name;
    final ContentKind kind;
    ContentLayout layout;
    byte[] root; // null: not sealed
    boolean isTaken; // accepted or refused
    boolean isUntold; // the daemon has not told of it again in a new session
    StoreException failure; // why this client has cancelled it by itself; null: it has not
    CompletableFuture<BulkReceived> future; // of who has accepted it, until it has ended

    Known(BulkNews.Offered offered) {
      isOwn = offered.request() != 0;
      group = offered.group();
      name = offered.terms().name();
      kind = offered.terms().kind();
      layout = offered.terms().layout();
      root = offered.root();
    }
  }

  private final ConnectionState state;
  private final ReentrantLock lock; // guards what follows
  private final LinkWriter link;
  private final EventQueue events;
  private final Path hashDirectory; // null: none are kept
  private final BulkIo io;
  private final Set<Pending> offers = new LinkedHashSet<>();
  private final Map<Integer, Pending> asked = new HashMap<>(); // by the number of the request
  private final Map<ChannelId, Known> known = new HashMap<>();
  private int tokenRequest;
  private boolean isSessionOver;
  private boolean isBroken; // by a mistake of this library, or for want of memory

  /** The connection was made with `options`. */
  BulkCalls(ConnectionState state, LinkWriter link, EventQueue events, BulkOptions options, ThreadFactory threads)
      throws IOException {
    this.state = state;
    this.lock = state.lock();
    this.link = link;
    this.events = events;
    Path users = options.hashDirectory() != null ? options.hashDirectory() : KeptHashes.usersDirectory();
    hashDirectory = options.keepHashes() ? users : null;
    long timeout = Clock.nanos(state.options().connectTimeout());
    io = new BulkIo(this, new Dialler(state.options(), threads), threads, timeout, RETOLD_WITHIN);
    state.setChannels(this);
  }

  static void check(BulkOptions options) {
    if (options.workers() < 1 || options.workers() > WORKERS_MAX) {
      throw new SpindleException(Code.BAD_ARGUMENT, "there are 1 to 64 workers");
    }
  }

  /** Throws where there can be no more threads: none is left then. */
  void start() {
    io.start(state.options().bulk().workers());
  }

  /** It has not been started. */
  void discard() {
    io.discard();
  }

  /** Without the lock. */
  void awaitEnd() {
    io.awaitEnd();
  }

  // --- Calls ---

  @Override
  public CompletableFuture<ChannelId> offer(Name group, BulkSource source, OfferOptions how) {
    if (!Names.isGroup(group)) {
      return ConnectionState.failed(Code.BAD_GROUP_NAME);
    }
    boolean canBe =
        how.weight() >= 1
            && how.weight() <= ContentTerms.WEIGHT_MAX
            && how.bytesPerSecond() >= 0
            && !how.linger().isNegative();
    if (!canBe) {
      return ConnectionState.failed(Code.BAD_ARGUMENT);
    }
    Pending pending = new Pending(new OpenedSource(hashDirectory), Clock.after(how.timeout()));
    lock.lock();
    try {
      if (!state.canSend() || !io.work(() -> openAndAsk(pending, group, source, how))) {
        return ConnectionState.failed(Code.NOT_CONNECTED);
      }
      offers.add(pending);
    } finally {
      lock.unlock();
    }
    io.wake(); // it has to know of the deadline
    return pending.future;
  }

  /** On a worker. */
  private void openAndAsk(Pending pending, Name group, BulkSource source, OfferOptions how) {
    try {
      if (state.locked(() -> isSessionOver)) {
        return; // it has ended with NOT_CONNECTED
      }
      ContentTerms terms = pending.opened.open(source, how);
      ask(pending, new BulkRequest.Offer(group, terms));
    } catch (StoreException failure) {
      fail(pending, new SpindleException(failure.code(), failure.getMessage()));
    } catch (RuntimeException | Error bug) {
      Code code = bug instanceof OutOfMemoryError ? Code.OUT_OF_MEMORY : Code.INTERNAL_ERROR;
      fail(pending, new SpindleException(code, bug.toString()));
    }
  }

  private void ask(Pending pending, BulkRequest.Offer offer) {
    lock.lock();
    try {
      Code code = Code.NOT_CONNECTED;
      if (pending.future.isDone()) {
        code = Code.CANCELLED; // nobody waits for it
      } else if (state.canSend()) {
        code = state.session().writer().askChannel(offer);
      }
      if (code == null) {
        asked.put(state.session().writer().lastRequest(), pending);
        link.flush();
      } else {
        fail(pending, new SpindleException(code));
      }
    } finally {
      lock.unlock();
    }
  }

  private void fail(Pending pending, SpindleException why) {
    lock.lock();
    try {
      offers.remove(pending);
      complete(() -> pending.future.completeExceptionally(why));
    } finally {
      lock.unlock();
    }
    pending.opened.close();
  }

  /** The connection's thread runs it. */
  private void complete(Runnable end) {
    state.calls().addDone(end);
    state.wakeThread();
  }

  @Override
  public CompletableFuture<BulkReceived> accept(ChannelId channel, BulkSink sink, AcceptOptions how) {
    lock.lock();
    try {
      Known found = find(channel);
      if (found.isOwn || found.isTaken) {
        throw new SpindleException(Code.BAD_ARGUMENT);
      }
      BulkStore store = SinkStore.of(sink, found.name, found.kind, found.layout, how);
      found.isTaken = true;
      found.future = new CompletableFuture<>();
      boolean serves = how.serve() && SinkStore.canServe(sink);
      var acceptance = new ReceiverTransfer.Acceptance(channel, found.layout, found.root, store, serves);
      io.runSoon(() -> io.accept(acceptance));
      return found.future;
    } finally {
      lock.unlock();
    }
  }

  private Known find(ChannelId channel) {
    if (!state.canSend() || isBroken) {
      throw new SpindleException(isBroken ? Code.INTERNAL_ERROR : Code.NOT_CONNECTED);
    }
    Known found = known.get(channel);
    if (found == null) {
      throw new SpindleException(Code.UNKNOWN_CHANNEL);
    }
    return found;
  }

  @Override
  public void refuse(ChannelId channel) {
    lock.lock();
    try {
      Known found = find(channel);
      if (found.isOwn || found.isTaken) {
        throw new SpindleException(Code.BAD_ARGUMENT);
      }
      found.isTaken = true;
    } finally {
      lock.unlock();
    }
    askOrThrow(new BulkRequest.OutcomeSaid(channel, BulkRequest.Outcome.REFUSED, 0));
  }

  private void checkOwn(ChannelId channel) {
    state.locked(
        () -> {
          if (!find(channel).isOwn) {
            throw new SpindleException(Code.BAD_ARGUMENT);
          }
          return null;
        });
  }

  @Override
  public void cancel(ChannelId channel) {
    checkOwn(channel);
    askOrThrow(new BulkRequest.Cancel(channel));
  }

  @Override
  public void setRate(ChannelId channel, long bytesPerSecond) {
    ConnectionState.check(bytesPerSecond < 0 ? Code.BAD_ARGUMENT : null);
    checkOwn(channel);
    io.runSoon(() -> io.setRate(channel, bytesPerSecond));
    askOrThrow(new BulkRequest.SetRate(channel, bytesPerSecond));
  }

  private void askOrThrow(BulkRequest request) {
    ConnectionState.check(ask(request) ? null : Code.NOT_CONNECTED);
  }

  // --- What the session tells ---

  Event take(BulkNews news) {
    if (news instanceof BulkNews.Offered offered) {
      return take(offered);
    } else if (news instanceof BulkNews.Sealed sealed) {
      take(sealed);
      return null;
    } else if (news instanceof BulkNews.Complete complete) {
      return complete.event();
    } else if (news instanceof BulkNews.Ended ended) {
      return take(ended);
    } else if (news instanceof BulkNews.Returned returned) {
      return new BulkReturned(returned.channel(), returned.gone(), returned.present());
    }
    tokenRequest = 0;
    io.runSoon(() -> io.takeToken((BulkNews.Token) news));
    return null;
  }

  private Event take(BulkNews.Offered offered) {
    ChannelId channel = offered.channel();
    Known before = known.get(channel);
    if (before != null) {
      // A new session: what was accepted in the former one goes on.
      before.isUntold = false;
      io.runSoon(() -> io.offeredAgain(channel));
      if (offered.root() != null && before.root == null) {
        take(new BulkNews.Sealed(channel, offered.terms().layout().size(), offered.root()));
      }
      return null;
    }
    known.put(channel, new Known(offered));
    if (offered.request() != 0) {
      takeOwn(offered);
      return null;
    }
    ContentTerms terms = offered.terms();
    OptionalLong size = terms.layout().hasSize() ? OptionalLong.of(terms.layout().size()) : OptionalLong.empty();
    return new BulkOffered(
        channel, offered.group(), offered.source(), terms.name(), terms.kind(), size, offered.isLate());
  }

  private void takeOwn(BulkNews.Offered offered) {
    Pending pending = asked.remove(offered.request());
    if (pending == null) {
      return;
    }
    offers.remove(pending);
    var offer = pending.opened.offer(offered.channel(), offered.terms());
    io.runSoon(() -> io.offer(offer));
    complete(
        () -> {
          if (!pending.future.complete(offered.channel())) {
            // Nobody has waited for so long.
            ask(new BulkRequest.Cancel(offered.channel()));
          }
        });
  }

  private void take(BulkNews.Sealed sealed) {
    Known found = known.get(sealed.channel());
    if (found == null) {
      return;
    }
    found.root = sealed.root();
    ContentLayout layout = found.layout.sealed(sealed.size());
    found.layout = layout != null ? layout : found.layout;
    io.runSoon(() -> io.seal(sealed));
  }

  private Event take(BulkNews.Ended ended) {
    Known found = known.remove(ended.channel());
    if (found == null) {
      return null;
    }
    // A content that its source has taken back is of no use to anybody.
    end(ended.channel(), found, ended.why() == BulkEnded.Cause.CANCELLED);
    Optional<StoreException> failure = Optional.ofNullable(found.failure);
    return new BulkEnded(
        ended.channel(),
        ended.why(),
        failure.map(StoreException::code),
        failure.map(StoreException::getMessage).orElse(""));
  }

  /** The client is no member of the group any more. What it has offered itself goes on. */
  List<Event> left(Name group) {
    List<Event> events = new ArrayList<>();
    for (var each = known.entrySet().iterator(); each.hasNext(); ) {
      var entry = each.next();
      if (!entry.getValue().isOwn && entry.getValue().group.equals(group)) {
        each.remove();
        end(entry.getKey(), entry.getValue(), false);
        events.add(new BulkEnded(entry.getKey(), BulkEnded.Cause.LEFT, Optional.empty(), ""));
      }
    }
    return events;
  }

  private void end(ChannelId channel, Known found, boolean discards) {
    io.runSoon(() -> io.end(channel, discards));
    if (found.future != null) {
      var why = new SpindleException(Code.UNKNOWN_CHANNEL);
      complete(() -> found.future.completeExceptionally(why));
    }
  }

  void answered(int request, Code error) {
    if (error == null) {
      return;
    }
    if (request == tokenRequest) {
      tokenRequest = 0;
      io.runSoon(io::tokenRefused);
    }
    Pending pending = asked.remove(request);
    if (pending != null) {
      fail(pending, new SpindleException(error));
    }
  }

  void sessionBeganAnew() {
    for (Pending pending : List.copyOf(asked.values())) {
      fail(pending, new SpindleException(Code.CONNECTION_LOST));
    }
    asked.clear();
    tokenRequest = 0;
    known.values().removeIf(each -> each.isOwn);
    known.values().forEach(each -> each.isUntold = true);
    io.runSoon(io::sessionBeganAnew);
  }

  /** Nothing more is told: what is under way ends. */
  void sessionEnded() {
    if (isSessionOver) {
      return;
    }
    isSessionOver = true;
    for (Pending pending : List.copyOf(offers)) {
      fail(pending, new SpindleException(Code.NOT_CONNECTED));
    }
    asked.clear();
    for (Known each : known.values()) {
      if (each.future != null) {
        complete(() -> each.future.completeExceptionally(new SpindleException(Code.NOT_CONNECTED)));
      }
    }
    known.clear();
    io.stop();
  }

  // --- For the bulk thread ---

  @Override
  public boolean ask(BulkRequest request) {
    lock.lock();
    try {
      boolean isAsked = append(request);
      if (isAsked) {
        flush();
      }
      return isAsked;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public boolean isTold() {
    return state.locked(() -> state.session().isConnected() && state.takesEvents(events));
  }

  @Override
  public void endUntold() {
    lock.lock();
    try {
      for (var each = known.entrySet().iterator(); each.hasNext(); ) {
        var entry = each.next();
        if (entry.getValue().isUntold) {
          each.remove();
          end(entry.getKey(), entry.getValue(), false);
          push(new BulkEnded(entry.getKey(), BulkEnded.Cause.ABANDONED, Optional.empty(), ""));
        }
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void give(Event event) {
    // Who does not take events gets the latest progress later.
    if (event instanceof BulkProgress && events.isFull()) {
      return;
    }
    lock.lock();
    try {
      push(event);
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void askAndGive(BulkRequest request, Event event) {
    lock.lock();
    try {
      boolean isAsked = append(request);
      push(event);
      if (isAsked) {
        flush();
      }
    } finally {
      lock.unlock();
    }
  }

  // With the lock, as the two that follow: false where nobody can be asked.
  private boolean append(BulkRequest request) {
    if (!state.canSend() || state.session().writer().askChannel(request) != null) {
      return false;
    }
    if (request instanceof BulkRequest.TokenRequest) {
      tokenRequest = state.session().writer().lastRequest();
    }
    return true;
  }

  private void flush() {
    link.flush();
    state.wakeThread();
  }

  private void push(Event event) {
    if (state.hasEnded() || state.isClosing()) {
      return;
    }
    BulkReceived received = event instanceof BulkReceived some ? some : null;
    List<Event> batch = new ArrayList<>();
    batch.add(event);
    events.push(batch, 128 + (received == null ? 0 : received.content().length));
    Known found = received == null ? null : known.get(received.channel());
    if (found != null && found.future != null) {
      CompletableFuture<BulkReceived> future = found.future;
      found.future = null;
      complete(() -> complete(future, received));
    }
  }

  private static void complete(CompletableFuture<BulkReceived> future, BulkReceived received) {
    if (received.code().isEmpty()) {
      future.complete(received);
    } else {
      future.completeExceptionally(new SpindleException(received.code().get(), received.text()));
    }
  }

  @Override
  public void noteFailure(ChannelId channel, StoreException failure) {
    lock.lock();
    try {
      Known found = known.get(channel);
      if (found != null) {
        found.failure = failure;
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void noteBroken(Code code, String text) {
    lock.lock();
    try {
      isBroken = true;
      for (Known each : known.values()) {
        CompletableFuture<BulkReceived> future = each.future;
        if (future != null) {
          complete(() -> future.completeExceptionally(new SpindleException(code, text)));
        }
      }
      for (Pending pending : List.copyOf(offers)) {
        fail(pending, new SpindleException(code, text));
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public String address() {
    return state.locked(state::address);
  }

  @Override
  public long expire(long now) {
    long next = ClientSession.NEVER;
    lock.lock();
    try {
      for (Iterator<Pending> each = offers.iterator(); each.hasNext(); ) {
        Pending pending = each.next();
        if (pending.until > now) {
          next = Math.min(next, pending.until);
        } else {
          // It may be taken later all the same, and is taken back then.
          each.remove();
          complete(() -> pending.future.completeExceptionally(new SpindleException(Code.TIMED_OUT)));
        }
      }
    } finally {
      lock.unlock();
    }
    return next;
  }
}
