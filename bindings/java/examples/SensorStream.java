import io.spindle.ConnectOptions;
import io.spindle.Connection;
import io.spindle.Destinations;
import io.spindle.Disconnected;
import io.spindle.Event;
import io.spindle.FlowReady;
import io.spindle.Gap;
import io.spindle.Message;
import io.spindle.Reconnected;
import io.spindle.SendOptions;
import io.spindle.Service;
import io.spindle.SlowPolicy;
import io.spindle.Spindle;
import io.spindle.SpindleException;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Readings of sensors, of which the newest counts. Each sensor is a group, and with independent flows each has a line of its
 * own: where the receivers of one are slow, the others are not held up. A reading that may not enter is replaced by the next
 * one of its sensor. Who watches has asked to lose messages rather than slow down who measures, and is told how many it has
 * lost.
 */
final class SensorStream {
  private static final String HELP =
      """
      sensor_stream [OPTION VALUE]... publish SENSOR...
      sensor_stream [OPTION VALUE]... watch SENSOR...

      The first publishes readings of each SENSOR. The second shows those that come, and when their publisher has ended how
      many have come and how many were lost.

        --connect ADDRESS  of the daemon
        --name NAME        of this client
        --count N          readings of each sensor (100)
        --pause-ms M       between two readings (0); with watch, the time that it takes over each (0)
        --bytes B          of a reading (64)
        --show N           every Nth reading only (1)
      """;

  private static final SendOptions READING = SendOptions.DEFAULT; // "NUMBER VALUE", filled up with spaces
  private static final SendOptions END = SendOptions.DEFAULT.withType(1); // "SENT", how many readings there were

  private static final class Sensor {
    byte[] waiting; // the newest reading, where it could not enter
    long sent;
    long replaced;
    long received;
    long lost;
  }

  private final Connection connection;
  private final Map<String, Sensor> sensors = new LinkedHashMap<>();

  private SensorStream(Connection connection) {
    this.connection = connection;
  }

  private static void check(Event event) {
    if (event instanceof Disconnected end) {
      throw new SpindleException(end.code(), end.text());
    }
  }

  // --- Who publishes ---

  private void publish(List<String> names, int count, long pauseMs, int size) {
    names.forEach(name -> sensors.put(name, new Sensor()));
    long until = System.nanoTime();
    for (int number = 1; number <= count; number++) {
      byte[] reading = Arrays.copyOf(Options.bytes(number + " " + (20 + number % 7)), size);
      for (int i = reading.length - 1; i >= 0 && reading[i] == 0; i--) {
        reading[i] = ' ';
      }
      sensors.forEach(
          (name, sensor) -> {
            sensor.replaced += sensor.waiting != null ? 1 : 0;
            sensor.waiting = reading;
            offer(name, sensor);
          });
      until += pauseMs * 1_000_000;
      handleUntil(until);
    }
    while (sensors.values().stream().anyMatch(sensor -> sensor.waiting != null)) {
      handle(connection.receive());
    }
    // The oldest messages are lost where some are, so these are not.
    sensors.forEach(
        (name, sensor) -> {
          byte[] sent = Options.bytes(String.valueOf(sensor.sent));
          connection.multicast(Service.FIFO, Destinations.of(name), sent, END);
          Options.show(name + ": " + sensor.sent + " sent, " + sensor.replaced + " replaced by newer ones");
        });
  }

  /** Handles events until that time. */
  private void handleUntil(long until) {
    while (true) {
      Event event = connection.receive(Duration.ofNanos(Math.max(0, until - System.nanoTime())));
      if (event == null) {
        return;
      }
      handle(event);
    }
  }

  private void handle(Event event) {
    check(event);
    if (event instanceof FlowReady ready) {
      String name = ready.groups().names().get(0).toString();
      offer(name, sensors.get(name));
    }
  }

  private void offer(String name, Sensor sensor) {
    if (sensor.waiting == null) {
      return;
    }
    // Or FlowReady comes.
    if (connection.tryMulticast(Service.FIFO, Destinations.of(name), sensor.waiting, READING)) {
      sensor.waiting = null;
      sensor.sent++;
    }
  }

  // --- Who watches ---

  /** Until all sensors have ended. */
  private void watch(List<String> names, long pauseMs, int every) throws Exception {
    for (String name : names) {
      connection.join(name).get(5, TimeUnit.SECONDS);
      sensors.put(name, new Sensor());
    }
    while (!sensors.isEmpty()) {
      Event event = connection.receive();
      check(event);
      if (event instanceof Message message) {
        String name = message.group().toString();
        Sensor sensor = sensors.get(name);
        if (sensor == null) {
          continue;
        } else if (message.type() == END.type()) {
          sensors.remove(name);
          Options.show(
              name + " has ended: " + message.text() + " sent, " + sensor.received + " received, " + sensor.lost + " lost");
        } else {
          if (sensor.received++ % every == 0) {
            Options.show(name + ": " + message.text().stripTrailing());
          }
          Thread.sleep(pauseMs); // it is slow
        }
      } else if (event instanceof Gap gap) {
        gap.names()
            .forEach(
                each ->
                    sensors.computeIfPresent(
                        each.name().toString(),
                        (name, sensor) -> {
                          sensor.lost += each.messages();
                          return sensor;
                        }));
        Options.show(gap.messages() + " readings are lost");
      } else if (event instanceof Reconnected again && !again.resumed()) {
        Options.show("connected again: readings of meanwhile are lost");
      }
    }
  }

  public static void main(String[] arguments) throws Exception {
    Map<String, String> defaults = Map.of("count", "100", "pause-ms", "0", "bytes", "64", "show", "1");
    Options options = new Options(HELP, arguments, defaults);
    boolean watches = options.words.get(0).equals("watch");
    List<String> names = options.words.subList(1, options.words.size());
    // What is shown is not much older than what is sent.
    ConnectOptions how =
        watches
            ? options.connect().withSlowPolicy(SlowPolicy.DROP).withReceiveBufferBytes(64 << 10)
            : options.connect().withIndependentFlows(true);
    try (Connection connection = Spindle.connect(how)) {
      SensorStream stream = new SensorStream(connection);
      if (watches) {
        stream.watch(names, options.number("pause-ms"), options.number("show"));
      } else {
        stream.publish(names, options.number("count"), options.number("pause-ms"), options.number("bytes"));
        System.exit(connection.drain(Duration.ofSeconds(10)).isNothing() ? 0 : 1);
      }
    } catch (SpindleException error) {
      System.err.println("sensor_stream: " + error.getMessage());
      System.exit(1);
    }
  }
}
