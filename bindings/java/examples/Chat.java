import io.spindle.Code;
import io.spindle.Connection;
import io.spindle.Disconnected;
import io.spindle.Event;
import io.spindle.GroupView;
import io.spindle.Message;
import io.spindle.Name;
import io.spindle.NotTaken;
import io.spindle.Reconnected;
import io.spindle.RequestFailed;
import io.spindle.Service;
import io.spindle.Spindle;
import io.spindle.SpindleException;
import io.spindle.ViewCause;
import io.spindle.ViewForm;
import java.io.BufferedReader;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A room to talk in: everybody sees the same lines in the same order, and who comes and goes. */
final class Chat {
  private static final String HELP =
      """
      chat [--connect ADDRESS] [--name NAME] ROOM

      Sends the lines of standard input to all who are in ROOM, and shows what they say.

        /to NAME TEXT   says TEXT to one of them alone; NAME is as others are shown, such as #ann#alpha
        /who            shows who is in the room

      The end of the input leaves the room, when everything that was said is on its way.
      """;

  private final Connection connection;
  private final String room;

  private Chat(Connection connection, String room) {
    this.connection = connection;
    this.room = room;
  }

  private static void showNames(List<Name> names, String what) {
    names.forEach(name -> Options.show("* " + name + what));
  }

  private void showAll() {
    for (Event event : connection) {
      show(event);
    }
  }

  private void show(Event event) {
    if (event instanceof Message message) {
      boolean isToAll = message.group().toString().equals(room);
      Options.show(message.sender() + (isToAll ? ": " : " to you alone: ") + message.text());
    } else if (event instanceof GroupView view && view.form() == ViewForm.ANSWER) {
      showNames(view.members(), " is here");
    } else if (event instanceof GroupView view) {
      showNames(view.joined(), " has come");
      showNames(view.left(), view.cause() == ViewCause.NETWORK ? " is out of reach" : " has gone");
    } else if (event instanceof RequestFailed failed) {
      Options.show("* refused: " + failed.code().text());
    } else if (event instanceof Reconnected again && !again.resumed()) {
      Options.show("* connected again, as " + again.privateName());
      if (!again.unknown().isEmpty()) {
        Options.show("* perhaps nobody has got your last " + again.unknown().size() + " lines");
      }
    } else if (event instanceof Disconnected end) {
      Options.show("* the connection has ended: " + end.text());
    }
  }

  private void say(String line) {
    if (line.equals("/who")) {
      connection.requestView(room);
    } else if (line.startsWith("/to ")) {
      String[] words = line.split(" ", 3);
      if (words.length < 3) {
        throw new SpindleException(Code.BAD_ARGUMENT);
      }
      connection.multicast(Service.AGREED, words[1], Options.bytes(words[2]));
    } else {
      connection.multicast(Service.AGREED, room, Options.bytes(line));
    }
  }

  public static void main(String[] arguments) throws Exception {
    Options options = new Options(HELP, arguments, Map.of());
    NotTaken lost = new NotTaken(0, true);
    try (Connection connection = Spindle.connect(options.connect())) {
      Chat chat = new Chat(connection, options.words.get(0));
      Thread shower = new Thread(chat::showAll);
      shower.start();
      connection.join(chat.room).get(5, TimeUnit.SECONDS);
      BufferedReader input = Options.input();
      for (String line = Options.line(input); line != null; line = Options.line(input)) {
        try {
          chat.say(line);
        } catch (SpindleException error) {
          Options.show("* not sent: " + error.getMessage());
        }
      }
      lost = connection.drain(Duration.ofSeconds(10));
      shower.join();
    } catch (SpindleException error) {
      System.err.println("chat: " + error.getMessage());
      System.exit(1);
    }
    if (!lost.isNothing()) {
      System.err.println("chat: the last " + lost.messages() + " messages were not taken");
      System.exit(1);
    }
  }
}
