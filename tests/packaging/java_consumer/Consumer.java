import io.spindle.ConnectOptions;
import io.spindle.Connection;
import io.spindle.Event;
import io.spindle.Message;
import io.spindle.Service;
import io.spindle.Spindle;
import java.nio.file.Path;

/** Says hello to itself: Consumer ADDRESS [BUNDLE]. */
final class Consumer {
  private Consumer() {}

  public static void main(String[] arguments) throws Exception {
    ConnectOptions options = ConnectOptions.at(arguments[0]);
    if (arguments.length > 1) {
      options = options.withTlsBundle(Path.of(arguments[1]));
    }
    try (Connection connection = Spindle.connect(options)) {
      connection.multicast(Service.AGREED, connection.privateName(), "hello".getBytes());
      Event event = connection.receive();
      System.out.println(event instanceof Message message ? message.text() : event);
    }
  }
}
