import io.spindle.Code;
import io.spindle.Connection;
import io.spindle.Destinations;
import io.spindle.Disconnected;
import io.spindle.Event;
import io.spindle.GroupView;
import io.spindle.Message;
import io.spindle.Name;
import io.spindle.Reconnected;
import io.spindle.SendOptions;
import io.spindle.Service;
import io.spindle.Spindle;
import io.spindle.SpindleException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Jobs that a group of workers shares out without anybody in charge, and that are taken over when a worker leaves. A job is
 * an agreed message to the group, so all workers know the same jobs in the same order, and by one rule find the same worker
 * for each. An answer goes to who has asked, by its private name, and with the same message to the group, which forgets the
 * job then.
 */
final class WorkQueue {
  private static final String HELP =
      """
      work_queue [--connect ADDRESS] [--name NAME] [--seconds S] work GROUP
      work_queue [--connect ADDRESS] [--name NAME] ask GROUP NUMBER...

      The first is a worker of GROUP, which splits numbers into their prime factors, each in S seconds (0) more than that
      takes, until it is ended. The second asks the workers for those of each NUMBER, and ends when all have come.
      """;

  private static final SendOptions JOB = SendOptions.DEFAULT; // "ID NUMBER", to the group; the ID is the asker's
  // "ASKER ID NUMBER = FACTOR * FACTOR ...", to the asker and to the group
  private static final SendOptions ANSWER = SendOptions.DEFAULT.withType(1);

  private static final class Job {
    final Name asker;
    final String id;
    final long number;
    List<Name> candidates; // the members that know it, in an order that is the same at all of them
    Name worker; // who of these does it

    Job(Name asker, String id, long number, List<Name> candidates) {
      this.asker = asker;
      this.id = id;
      this.number = number;
      this.candidates = candidates;
      assign();
    }

    /** By the number alone: who knows the job and its candidates finds the same worker. */
    void assign() {
      if (!candidates.isEmpty()) {
        worker = candidates.get((int) Long.remainderUnsigned(number, candidates.size()));
      }
    }

    String key() {
      return asker + " " + id;
    }
  }

  private final Connection connection;
  private final String group;
  private final Duration pause;
  private List<Name> members = List.of();
  private final List<Job> jobs = new ArrayList<>();
  private final Set<String> done = new HashSet<>(); // whose answers have not come back

  private WorkQueue(Connection connection, String group, Duration pause) {
    this.connection = connection;
    this.group = group;
    this.pause = pause;
  }

  private static String factorize(long number) {
    List<String> factors = new ArrayList<>();
    long rest = number;
    for (long factor = 2; rest > 1; factor++) {
      if (factor * factor > rest) {
        factor = rest;
      }
      for (; rest % factor == 0; rest /= factor) {
        factors.add(String.valueOf(factor));
      }
    }
    return number + " = " + String.join(" * ", factors);
  }

  /** Until the connection ends. */
  private void work() throws Exception {
    connection.join(group).get(5, TimeUnit.SECONDS);
    while (true) {
      // What has come is looked at before each job: somebody may have left.
      Job job = myJob();
      Event event = job == null ? connection.receive() : connection.receive(Duration.ZERO);
      if (event == null) {
        perform(job);
      } else if (event instanceof Disconnected end) {
        Options.show("the connection has ended: " + end.text());
        return;
      } else {
        handle(event);
      }
    }
  }

  private Job myJob() {
    Name me = connection.privateName();
    return jobs.stream().filter(job -> me.equals(job.worker) && !done.contains(job.key())).findFirst().orElse(null);
  }

  private void handle(Event event) {
    if (event instanceof Message message && message.type() == JOB.type()) {
      String[] words = message.text().split(" ");
      jobs.add(new Job(message.sender(), words[0], Long.parseLong(words[1]), members));
    } else if (event instanceof Message message) {
      String[] words = message.text().split(" ");
      String key = words[0] + " " + words[1];
      jobs.removeIf(job -> job.key().equals(key));
      done.remove(key);
    } else if (event instanceof GroupView view && view.hasMembers()) {
      takeView(view);
    } else if (event instanceof Reconnected again && !again.resumed()) {
      members = List.of();
      jobs.clear(); // the others have given them to each other
      done.clear();
    }
  }

  /** Who comes has not seen the jobs that there are; those of who has gone are given to others that have. */
  private void takeView(GroupView view) {
    members = view.members();
    Options.show(members.size() + " workers");
    for (Job job : jobs) {
      job.candidates = job.candidates.stream().filter(members::contains).toList();
      if (!members.contains(job.worker)) {
        Options.show("job " + job.number + " of " + job.worker + " is given to others");
        job.assign();
      }
    }
  }

  private void perform(Job job) throws InterruptedException {
    Options.show("doing " + job.number);
    Thread.sleep(pause.toMillis());
    byte[] answer = Options.bytes(job.key() + " " + factorize(job.number));
    connection.multicast(Service.AGREED, Destinations.of(job.asker, Name.of(group)), answer, ANSWER);
    done.add(job.key());
  }

  /** Asks for all numbers at once, and shows answers in the order in which they come. */
  private void ask(List<String> numbers) {
    Map<String, String> waiting = new LinkedHashMap<>();
    numbers.forEach(number -> waiting.put(String.valueOf(waiting.size() + 1), number));
    send(waiting);
    while (!waiting.isEmpty()) {
      Event event = connection.receive();
      if (event instanceof Reconnected again && !again.resumed()) {
        send(waiting); // answers went to the name that asked, which is nobody's now
      } else if (event instanceof Message message && message.type() == ANSWER.type()) {
        String[] words = message.text().split(" ", 3);
        if (waiting.remove(words[1]) != null) {
          Options.show(words[2]);
        }
      }
    }
  }

  private void send(Map<String, String> waiting) {
    waiting.forEach(
        (id, number) ->
            connection.multicast(Service.AGREED, Destinations.of(group), Options.bytes(id + " " + number), JOB));
  }

  public static void main(String[] arguments) throws Exception {
    Options options = new Options(HELP, arguments, Map.of("seconds", "0"));
    List<String> words = options.words;
    try (Connection connection = Spindle.connect(options.connect())) {
      if (words.size() < 2) {
        throw new SpindleException(Code.BAD_ARGUMENT, "say --help");
      }
      Duration pause = Duration.ofMillis((long) (1000 * Double.parseDouble(options.get("seconds"))));
      WorkQueue queue = new WorkQueue(connection, words.get(1), pause);
      if (words.get(0).equals("work")) {
        queue.work();
        System.exit(1);
      }
      queue.ask(words.subList(2, words.size()));
    } catch (SpindleException error) {
      System.err.println("work_queue: " + error.getMessage());
      System.exit(1);
    }
  }
}
