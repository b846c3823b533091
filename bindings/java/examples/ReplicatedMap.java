import io.spindle.Code;
import io.spindle.Connection;
import io.spindle.Disconnected;
import io.spindle.Destinations;
import io.spindle.Event;
import io.spindle.GroupView;
import io.spindle.Message;
import io.spindle.Name;
import io.spindle.SendOptions;
import io.spindle.Service;
import io.spindle.Spindle;
import io.spindle.SpindleException;
import io.spindle.Transitional;
import io.spindle.ViewCause;
import io.spindle.ViewForm;
import java.io.BufferedReader;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A map of which several programs have the same copy, as long as a majority of them is together. Updates are agreed
 * messages, so all replicas apply the same ones in the same order. After a transitional signal they are tentative, until the
 * view that follows says whether a majority has them. Where members meet that were not together, one of each side sends its
 * state, and all go on with the newest.
 */
final class ReplicatedMap {
  private static final String HELP =
      """
      replicated_map [--connect ADDRESS] [--name NAME] [--replicas N] GROUP

      One of N replicas (3) of a map. Commands are the lines of standard input:

        set KEY VALUE   changes the map at all replicas; KEY is one word
        remove KEY
        list            shows this replica's map

      Changes wait until a majority of the replicas is together.
      """;

  private static final int UPDATE = 0; // "set KEY VALUE" or "remove KEY"
  private static final int STATE = 1; // see `sendState`

  /** A map, and how many updates were applied to it. */
  private static final class State {
    long version;
    final TreeMap<String, String> values = new TreeMap<>();

    State(long version) {
      this.version = version;
    }

    State copy() {
      State made = new State(version);
      made.values.putAll(values);
      return made;
    }

    void apply(String update) {
      String[] words = update.split(" ", 3);
      if (words[0].equals("set") && words.length > 1) {
        values.put(words[1], words.length > 2 ? words[2] : "");
      } else if (words[0].equals("remove") && words.length > 1) {
        values.remove(words[1]);
      }
      version++;
    }
  }

  private final Connection connection;
  private final Destinations group;
  private final int replicas;
  private final ReentrantLock lock = new ReentrantLock(); // guards what follows
  private final Condition news = lock.newCondition();
  private State state = new State(0);
  private State beforeSignal; // what holds if the view that follows has no majority
  private int members;
  private int awaited; // members whose state has not come yet
  private String exchange = ""; // the view that states are exchanged for
  private State newest = state; // of those that have come
  private String update; // that is not done yet
  private boolean isUnderWay;
  private boolean hasEnded;

  private ReplicatedMap(Connection connection, String group, int replicas) {
    this.connection = connection;
    this.group = Destinations.of(group);
    this.replicas = replicas;
  }

  /** Waits until the update is done. */
  private void update(String text) throws InterruptedException {
    lock.lock();
    try {
      update = text;
      sendUpdate();
      while (update != null && !hasEnded) {
        news.await();
      }
      if (hasEnded) {
        throw new SpindleException(Code.NOT_CONNECTED);
      }
    } finally {
      lock.unlock();
    }
  }

  private void list() {
    lock.lock();
    try {
      state.values.forEach((key, value) -> Options.show(key + " = " + value));
    } finally {
      lock.unlock();
    }
  }

  private void handleAll() {
    for (Event event : connection) {
      lock.lock();
      try {
        handle(event);
        news.signalAll();
      } finally {
        lock.unlock();
      }
    }
  }

  private void handle(Event event) {
    if (event instanceof Message message && message.type() == STATE) {
      handleState(message);
    } else if (event instanceof Message message) {
      handleUpdate(message);
    } else if (event instanceof GroupView view && view.form() == ViewForm.FULL) {
      handleView(view);
    } else if (event instanceof Transitional && beforeSignal == null) {
      beforeSignal = state.copy(); // who is separated from here may not get what follows
    } else if (event instanceof Disconnected end) {
      Options.show("the connection has ended: " + end.text());
      hasEnded = true;
    }
  }

  private boolean hasMajority() {
    return members > replicas / 2;
  }

  /** The same at all who get a message at its place in the order, so that all apply it or all pass over it. */
  private boolean isServing() {
    return hasMajority() && awaited == 0;
  }

  private void multicast(int type, String text) {
    try {
      connection.multicast(Service.AGREED, group, Options.bytes(text), SendOptions.DEFAULT.withType(type));
    } catch (SpindleException error) {
      if (error.code() != Code.NOT_CONNECTED) { // of which an event tells
        throw error;
      }
    }
  }

  private void sendUpdate() {
    if (update != null && !isUnderWay && isServing()) {
      isUnderWay = true;
      multicast(UPDATE, update);
    }
  }

  private void handleUpdate(Message message) {
    boolean isMine = message.sender().equals(connection.privateName());
    if (isMine) {
      isUnderWay = false; // and it is sent again where it was passed over
    }
    if (!isServing()) {
      return;
    }
    state.apply(message.text());
    Options.show(message.text() + (beforeSignal != null ? " (tentative)" : ""));
    if (isMine) {
      update = null;
    }
  }

  private void handleView(GroupView view) {
    members = view.memberCount();
    if (beforeSignal != null && view.cause() == ViewCause.NETWORK) {
      if (!hasMajority()) {
        state = beforeSignal;
      }
      beforeSignal = null;
    }
    exchangeStates(view);
    if (awaited == 0) {
      goOn();
    }
  }

  private void goOn() {
    Options.show(
        (hasMajority() ? "serving" : "waiting") + " with " + members + " of " + replicas + ", version " + state.version);
    sendUpdate();
  }

  /** Where members meet that were not together, or while states are on their way already: then each sends its own. */
  private void exchangeStates(GroupView view) {
    Name me = connection.privateName();
    List<Name> side = sideOf(view, me);
    if (side.size() == view.memberCount() && awaited == 0) {
      return;
    }
    if (awaited != 0) {
      side = List.of(me);
    }
    awaited = view.memberCount();
    exchange = view.id().viewNumber() + "." + view.id().position();
    newest = state.copy();
    if (side.get(0).equals(me)) {
      sendState(side.size());
    }
  }

  /** Who has the same state as this replica. */
  private static List<Name> sideOf(GroupView view, Name me) {
    if (view.cause() == ViewCause.NETWORK) {
      return view.vsSet();
    }
    if (view.joined().contains(me)) {
      return List.of(me);
    }
    return view.members().stream().filter(name -> !view.joined().contains(name)).toList();
  }

  /** "EXCHANGE MEMBERS VERSION", where MEMBERS is how many have this state; then a line "KEY VALUE" for each key. */
  private void sendState(int having) {
    StringBuilder text = new StringBuilder(exchange + " " + having + " " + state.version + "\n");
    state.values.forEach((key, value) -> text.append(key).append(' ').append(value).append('\n'));
    multicast(STATE, text.toString());
  }

  private void handleState(Message message) {
    String[] lines = message.text().split("\n");
    String[] head = lines[0].split(" ");
    if (awaited == 0 || !head[0].equals(exchange)) {
      return;
    }
    if (Long.parseLong(head[2]) > newest.version) {
      newest = new State(Long.parseLong(head[2]));
      for (int i = 1; i < lines.length; i++) {
        int space = lines[i].indexOf(' ');
        newest.values.put(lines[i].substring(0, space), lines[i].substring(space + 1));
      }
    }
    awaited -= Math.min(awaited, Integer.parseInt(head[1]));
    if (awaited == 0) {
      state = newest;
      goOn();
    }
  }

  public static void main(String[] arguments) throws Exception {
    Options options = new Options(HELP, arguments, Map.of("replicas", "3"));
    // What it sent last may have been applied or not when the connection is lost. So it ends, and begins with the state of
    // the others when it is started again.
    try (Connection connection = Spindle.connect(options.connect().withReconnectTimeout(Duration.ZERO))) {
      ReplicatedMap replica = new ReplicatedMap(connection, options.words.get(0), options.number("replicas"));
      Thread handler = new Thread(replica::handleAll);
      handler.start();
      connection.join(options.words.get(0)).get(5, TimeUnit.SECONDS);
      BufferedReader input = Options.input();
      for (String line = Options.line(input); line != null; line = Options.line(input)) {
        if (line.equals("list")) {
          replica.list();
        } else if (line.startsWith("set ") || line.startsWith("remove ")) {
          replica.update(line);
        } else {
          Options.show("commands are set KEY VALUE, remove KEY, list");
        }
      }
      connection.disconnect();
      handler.join();
    } catch (SpindleException error) {
      System.err.println("replicated_map: " + error.getMessage());
      System.exit(1);
    }
  }
}
