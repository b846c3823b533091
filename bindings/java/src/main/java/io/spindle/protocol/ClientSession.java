package io.spindle.protocol;

import io.spindle.Code;
import io.spindle.Name;
import io.spindle.Reconnected;
import io.spindle.ViewForm;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A client that survives its connections, without sockets, threads and clocks. Decides which server to connect to and
 * when, says hello, and joins the groups of before again; where a session can be resumed nobody but the caller, by one
 * Reconnected, gets to know of a lost connection. A driver does what it says, again and again, after each input:
 *
 * <pre>
 *   takeDial() gives a server: connect to it, then `connected` or `failed`
 *   takeHangUp(): the connection is of no use: close it, and tell nothing more of it
 *   write writer().output(); consume(n)
 *   reader().read(bytes that came); the stream's end: reader().end(reason, text)
 *   settle(now) whenever isSettlingDue(); handleTime(now) at nextDeadline(); take events
 * </pre>
 *
 * <p>Disconnected, the last event, comes when it gives up: `isOver`. Requests are taken from the first welcome on, with
 * or without a connection. Times are nanoseconds since an epoch of the driver's choice, and never go back.
 *
 * <p>Threads: as ClientEngine. `isSettlingDue` and `reader` are for the thread that reads; everything else is for one
 * thread at a time.
 */
public final class ClientSession {
  /** A time that never comes. */
  public static final long NEVER = Long.MAX_VALUE;

  private static final long MS = 1_000_000;
  // The daemon is told of what has come after so many bytes, or after this time.
  private static final long TOLD_BYTES = 64 << 10;
  private static final long TOLD_PERIOD = 200 * MS;
  // So many periods without a sign of the daemon, and the connection counts as lost.
  private static final int SILENT_PERIODS = 3;
  // A former session is gone when its daemon has missed it and has waited for it, and this much later.
  private static final long GONE_PERIOD = 5_000 * MS;
  private static final long ATTEMPT_PERIOD = 5_000 * MS;
  // Sends seeds that are near each other far apart: an odd number near 2^64 divided by the golden ratio.
  private static final long SPREAD = 0x9e3779b97f4a7c15L;

  private enum Phase {
    IDLE,
    DIALLING,
    GREETING,
    OPEN,
    WAITING,
    OVER
  }

  /** Of a daemon that goes: it is asked whether all has entered, and then told goodbye. */
  private enum Leaving {
    NO,
    ASKED,
    TOLD
  }

  /** Where nothing may be sent before the former session is gone. */
  private static final class FencedGroup {
    boolean hasView;
    final Set<Name> names = new HashSet<>(); // of former sessions, as far as they are not known to have left it
  }

  private final SessionOptions options;
  private final ClientEngine engine = new ClientEngine();
  private Phase phase = Phase.IDLE;
  private final BackOff backOff;
  private int server;
  private boolean dials;
  private boolean hangsUp;
  private boolean wasWelcomed;
  private long reconnections;
  private long dialAt = NEVER;
  private long welcomeUntil = NEVER;
  private long lostAt;
  private int refusals; // in a row, that will not change soon
  private Name formerName; // of the session before a lost connection
  private Leaving leaving = Leaving.NO;

  private Hello.SessionKey key; // of the session that can be resumed, or null
  private int lastServer; // where it is
  private boolean isResumable;
  private long toldBytes;
  private long tellAt = NEVER;

  private boolean isReading = true;
  private long lookAt = NEVER;
  private long heardBytes;
  private boolean hasWritten;
  private int silentLooks;

  private final Map<Name, FencedGroup> fence = new HashMap<>();
  /**
   * Sessions that it stands for, by name: the groups that they were in. Those that they had only asked to join tell
   * nothing: they may join after this one.
   */
  private final Map<Name, Set<Name>> former = new HashMap<>();

  private long fenceUntil = NEVER;
  private long resumeTimeout; // of the session, as its daemon has said

  /** A session that `start` begins. */
  public ClientSession(SessionOptions options, Observer observer) {
    this.options = options;
    this.backOff = new BackOff(options.seed());
    engine.observe(observer);
    engine.requests().countFrom(options.seed() * SPREAD);
    if (returns()) {
      writer().expectReturn();
      reader().trackMemberships();
    }
  }

  /** Whether the daemon has ended the connection for something that another connection would not change. */
  private static boolean isFinal(Code reason) {
    return switch (reason) {
      case CONNECTION_LOST, DAEMON_STOPPING, SILENT_PEER, HANDSHAKE_TIMEOUT -> false;
      default -> true;
    };
  }

  /** Whether a server that refuses a client for that reason will go on doing so. */
  private static boolean isLasting(Code refusal) {
    return switch (refusal) {
      case BAD_ADDRESS,
          BAD_ARGUMENT,
          BAD_CLIENT_NAME,
          VERSION_MISMATCH,
          ACCESS_DENIED,
          IDENTITY_MISMATCH,
          TLS_FAILED,
          TOKEN_UNKNOWN,
          TOKEN_EXPIRED,
          TOKEN_MISSING,
          TOKEN_EXPOSED -> true;
      default -> false;
    };
  }

  /** Where that is too far away to tell, never. */
  public static long later(long now, long span) {
    return span >= NEVER - now ? NEVER : now + span;
  }

  public ClientEngine engine() {
    return engine;
  }

  public RequestWriter writer() {
    return engine.writer();
  }

  public EventReader reader() {
    return engine.reader();
  }

  // --- Connections ---

  public void start(long now) {
    lostAt = now;
    backOff.next(); // the first attempt is this one
    dial(now);
  }

  private void dial(long now) {
    phase = Phase.DIALLING;
    welcomeUntil = later(now, timeForAttempt(now));
    dialAt = NEVER;
    dials = true;
  }

  private long timeForAttempt(long now) {
    if (!wasWelcomed) {
      // A program that starts waits no longer for all of them: each has its share of what is left.
      return (later(lostAt, options.connectTimeout()) - now) / (options.servers() - server);
    }
    long left = later(lostAt, options.reconnectTimeout()) - now;
    if (options.connectTimeout() < left) {
      return options.connectTimeout();
    }
    return Math.min(options.connectTimeout(), Math.max(left / options.servers(), ATTEMPT_PERIOD));
  }

  /** By when the server that `takeDial` gave has to have welcomed the client. */
  public long dialUntil() {
    return welcomeUntil;
  }

  /** The number of the server to connect to; -1: none. */
  public int takeDial() {
    boolean wanted = dials;
    dials = false;
    return wanted ? server : -1;
  }

  public boolean takeHangUp() {
    boolean wanted = hangsUp;
    hangsUp = false;
    return wanted;
  }

  /** The server can be written to. `token` proves to it who the client is; empty: nothing does. */
  public void connected(String token) {
    if (phase != Phase.DIALLING) {
      return;
    }
    phase = Phase.GREETING;
    Hello hello = new Hello();
    hello.name = options.name();
    hello.flags =
        Frames.TELL_TAKEN_BIT
            | (options.isIndependent() ? Frames.INDEPENDENT_FLOWS_BIT : 0)
            | options.slowPolicy() << Frames.SLOW_POLICY_SHIFT;
    hello.token = token;
    hello.isResumable = options.mayResume() && returns();
    hello.keepaliveMs = (int) Math.min(options.keepalive() / MS, Integer.MAX_VALUE);
    hello.moves = returns();
    hello.wantsChannels = options.wantsChannels();
    if (server == lastServer && key != null && writer().isResumable()) {
      hello.resume = new Hello.Resume(key, reader().frames());
    }
    reader().restart(); // whatever came of an earlier connection
    writer().start(hello);
  }

  /** There is no connection to be had. */
  public void failed(long now, Code reason, String text) {
    if (phase != Phase.DIALLING) {
      return;
    }
    tryNext(now, reason, text);
  }

  private void tryNext(long now, Code reason, String text) {
    dials = false; // where nobody has taken it, its time is over
    boolean hasLasted = !returns() || now - lostAt >= options.reconnectTimeout();
    refusals = isLasting(reason) ? refusals + 1 : 0;
    boolean areAllTried = server + 1 == options.servers();
    // A program that starts wants to know that it cannot.
    if (wasWelcomed ? hasLasted || refusals >= options.servers() : areAllTried) {
      giveUp(reason, text);
      return;
    }
    server = (server + 1) % options.servers();
    welcomeUntil = NEVER;
    if (!wasWelcomed) {
      dial(now);
      return;
    }
    phase = Phase.WAITING;
    dialAt = now + backOff.next();
  }

  /** The end, whatever is on its way. */
  public void giveUp(Code reason, String text) {
    if (phase == Phase.OVER) {
      return;
    }
    reader().restart();
    reader().end(reason, text);
    end();
  }

  private void end() {
    phase = Phase.OVER;
    hangsUp = true;
    dials = false;
    dialAt = NEVER;
    welcomeUntil = NEVER;
    lookAt = NEVER;
    tellAt = NEVER;
    fenceUntil = NEVER;
    engine.disconnect();
  }

  /** The reader has come to its end. */
  private void loseConnection(long now) {
    final Code reason = reader().endReason();
    final boolean wasOpen = phase == Phase.OPEN;
    hangsUp = true;
    lookAt = NEVER;
    tellAt = NEVER;
    reader().takeNews();
    if (!wasOpen) {
      writer().cut();
      tryNext(now, reason, reader().endText());
      return;
    }
    boolean wasLeaving = leaving != Leaving.NO;
    leaving = Leaving.NO;
    boolean isFinalHere = isFinal(reason) && !(wasLeaving && reason == Code.CLOSED_BY_CLIENT);
    boolean isDone = writer().saidBye() && !writer().holdsMessages();
    if (!returns() || isDone || isFinalHere) {
      end();
      return;
    }
    writer().cut();
    lostAt = now;
    formerName = reader().privateName();
    if (fence.isEmpty()) {
      former.clear();
    }
    Set<Name> groups = new HashSet<>(reader().memberships());
    // That it is not in a group that it has asked to leave does not say that it is gone.
    groups.removeIf(writer()::isLeaving);
    former.put(formerName, groups);
    lastServer = server;
    backOff.reset();
    refusals = 0;
    // A daemon that stops is not there to come back to.
    if (wasLeaving) {
      key = null;
    }
    if (wasLeaving || reason == Code.DAEMON_STOPPING) {
      server = (server + 1) % options.servers();
    }
    phase = Phase.WAITING;
    dialAt = now + backOff.next();
  }

  // --- What comes of a connection ---

  /** Something has come that the daemon is to be told of in a while. */
  private boolean isTellingToBeTimed() {
    return isResumable && tellAt == NEVER && reader().hasUntoldFrames();
  }

  private boolean isTellingDue() {
    return isResumable && reader().bytes() - toldBytes >= TOLD_BYTES && reader().hasUntoldFrames();
  }

  public boolean isSettlingDue() {
    return reader().hasNews() || isTellingToBeTimed() || isTellingDue();
  }

  public void settle(long now) {
    if (phase != Phase.GREETING && phase != Phase.OPEN) {
      return; // of a connection that is over
    }
    engine.settle(now, welcome -> handleWelcome(now, welcome));
    watchFence();
    if (reader().hasEnded()) {
      loseConnection(now);
      return;
    }
    if (reader().daemonGoes()) {
      leaveDaemon();
    }
    if (isTellingDue()) {
      tellReceived();
    } else if (isTellingToBeTimed()) {
      tellAt = now + TOLD_PERIOD;
    }
  }

  /** The daemon goes: has all that was sent enter, and says goodbye then. */
  private void leaveDaemon() {
    if (!returns()) {
      return;
    }
    if (leaving == Leaving.NO && !writer().saidBye()) {
      writer().part();
      leaving = Leaving.ASKED;
    }
    if (leaving == Leaving.ASKED && writer().hasAllEntered()) {
      writer().endSession();
      leaving = Leaving.TOLD;
    }
  }

  private int handleWelcome(long now, EventReader.News.PlacedWelcome placed) {
    Hello.Welcome welcome = placed.welcome();
    phase = Phase.OPEN;
    welcomeUntil = NEVER;
    backOff.reset();
    refusals = 0;
    int added = 0;
    if (wasWelcomed) {
      Reconnected event = comeBack(now, welcome);
      if (event == null) {
        return 0;
      }
      reader().insertEvent(placed.before(), event);
      reconnections++;
      added = 1;
    } else {
      writer().open();
    }
    wasWelcomed = true;
    key = welcome.key();
    isResumable = key != null;
    resumeTimeout = welcome.timeoutMs() * MS;
    lastServer = server;
    if (!welcome.isResumed()) {
      writer().setResumable(isResumable);
    }
    toldBytes = reader().bytes();
    if (options.keepalive() != 0) {
      lookAt = later(now, options.keepalive());
    }
    heardBytes = reader().bytes();
    silentLooks = 0;
    return added;
  }

  /** Null where the daemon is wrong. */
  private Reconnected comeBack(long now, Hello.Welcome welcome) {
    Name name = reader().privateName();
    if (welcome.isResumed()) {
      if (!writer().resume(welcome.resumed())) {
        reader().end(Code.UNEXPECTED_FRAME, "the daemon resumed a session at a place where it was not");
        return null;
      }
      return new Reconnected(true, formerName, name, List.of(), false);
    }
    former.remove(name); // a daemon ends the session that had it before
    boolean isFenced = buildFence();
    List<Long> unknown = writer().startAnew(isFenced);
    engine.beginAnew();
    writer().open();
    // Its name may be that of another client by then, who is no reason to wait.
    fenceUntil =
        isFenced ? later(later(now, resumeTimeout + GONE_PERIOD), silence()) : NEVER;
    return new Reconnected(false, formerName, name, List.copyOf(unknown), isFenced);
  }

  public Code leave(Name group) {
    Code error = writer().leave(group);
    if (error == null && !fence.isEmpty()) {
      narrowFence();
    }
    return error;
  }

  public void consume(int bytes) {
    hasWritten |= bytes != 0;
    writer().consume(bytes);
  }

  // --- The fence ---

  /** Whether there is anything to wait for. */
  private boolean buildFence() {
    fence.clear();
    former.forEach(
        (name, groups) -> {
          for (Name group : groups) {
            if (writer().groups().contains(group)) {
              fence.computeIfAbsent(group, each -> new FencedGroup()).names.add(name);
            }
          }
        });
    return !fence.isEmpty();
  }

  /** What the reader has seen meanwhile: for `settle`, as is all that touches the reader. */
  private void watchFence() {
    for (EventReader.SeenView view : reader().takeSeenViews()) {
      FencedGroup group = fence.get(view.group());
      if (group == null) {
        continue;
      }
      group.hasView = true;
      boolean isList = view.form() == ViewForm.FULL || view.form() == ViewForm.ANSWER;
      Set<Name> names = new HashSet<>(view.names());
      group.names.removeIf(name -> names.contains(name) != isList);
    }
    if (!fence.isEmpty()) {
      narrowFence();
    }
    reader().watchViews(!fence.isEmpty());
  }

  /** Groups that there is nothing to wait for in any more are no part of it. */
  private void narrowFence() {
    fence
        .entrySet()
        .removeIf(
            each ->
                (each.getValue().hasView && each.getValue().names.isEmpty())
                    || !writer().groups().contains(each.getKey()));
    if (fence.isEmpty()) {
      openFence();
    }
  }

  private void openFence() {
    fence.clear();
    fenceUntil = NEVER;
    if (leaving == Leaving.NO) {
      writer().release();
    }
  }

  // --- Time ---

  private void tellReceived() {
    writer().tellReceived(reader().frames());
    reader().noteTold();
    toldBytes = reader().bytes();
    tellAt = NEVER;
  }

  /** After so long without a sign of it the daemon counts as lost. */
  private long silence() {
    return options.keepalive() > NEVER / SILENT_PERIODS ? NEVER : SILENT_PERIODS * options.keepalive();
  }

  private void lookForSilence(long now) {
    lookAt = later(now, options.keepalive());
    boolean hasHeard = heardBytes != reader().bytes();
    heardBytes = reader().bytes();
    boolean didWrite = hasWritten;
    hasWritten = false;
    silentLooks = hasHeard || !isReading ? 0 : silentLooks + 1;
    if (silentLooks > SILENT_PERIODS) {
      reader().end(Code.SILENT_PEER, "nothing was heard from the daemon");
      loseConnection(now);
      return;
    }
    if (!hasHeard || !didWrite) {
      writer().showLife();
    }
  }

  public void handleTime(long now) {
    if (dialAt <= now) {
      dial(now);
    }
    if (welcomeUntil <= now) {
      hangsUp = true;
      writer().cut();
      tryNext(now, Code.TIMED_OUT, "the daemon did not welcome the client in time");
    }
    if (lookAt <= now) {
      lookForSilence(now);
    }
    if (tellAt <= now) {
      tellReceived();
    }
    if (fenceUntil <= now) {
      openFence();
    }
  }

  public long nextDeadline() {
    return Math.min(Math.min(Math.min(dialAt, welcomeUntil), Math.min(lookAt, tellAt)), fenceUntil);
  }

  /** Whether bytes of the daemon are taken: where the driver does not read, silence means nothing. */
  public void setReading(boolean on) {
    isReading = on;
  }

  /** Whether the loss of a connection is not the end. */
  public boolean returns() {
    return options.reconnectTimeout() != 0;
  }

  /** Whether there is a connection, and a welcome has come on it. */
  public boolean isConnected() {
    return phase == Phase.OPEN;
  }

  public boolean isOver() {
    return phase == Phase.OVER;
  }

  /** How often it was connected again. */
  public long reconnections() {
    return reconnections;
  }
}
