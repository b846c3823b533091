package io.spindle.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.spindle.Answers;
import io.spindle.ChannelId;
import io.spindle.Code;
import io.spindle.ContentKind;
import io.spindle.Destinations;
import io.spindle.Event;
import io.spindle.FlushRequest;
import io.spindle.Headers;
import io.spindle.Name;
import io.spindle.NotTaken;
import io.spindle.Reconnected;
import io.spindle.RequestFailed;
import io.spindle.RequestOptions;
import io.spindle.SendOptions;
import io.spindle.Service;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The session of this client and that of C++ do the same: random sequences of frames, cuts, times and requests, which
 * tests/conformance/twins has played to that of C++ and written down, with all that came of them.
 */
final class TwinTest {
  private static final int SEQUENCES = Integer.getInteger("spindle.sequences", 400);
  private static final long FIRST = Long.getLong("spindle.first", 1);

  @Test
  void doesTheSame() throws Exception {
    List<String> command =
        List.of(
            System.getProperty("spindle.build") + "/tests/session_record",
            String.valueOf(FIRST),
            String.valueOf(SEQUENCES));
    Process process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    int steps = 0;
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.US_ASCII))) {
      steps = replay(lines);
    }
    assertEquals(0, process.waitFor());
    assertTrue(steps > SEQUENCES);
  }

  private static int replay(BufferedReader lines) throws IOException {
    int steps = 0;
    String sequence = "";
    Player player = null;
    for (String line = lines.readLine(); line != null; ) {
      if (line.startsWith("sequence ")) {
        sequence = line;
        line = lines.readLine();
        player = new Player(line.split(" "));
        line = lines.readLine();
        continue;
      }
      String step = line;
      List<String> wanted = new ArrayList<>();
      for (line = lines.readLine(); line != null && line.startsWith("= "); line = lines.readLine()) {
        wanted.add(line.substring(2));
      }
      List<String> found = player.perform(step.split(" "));
      if (!wanted.equals(found)) {
        assertEquals(
            String.join("\n", wanted), String.join("\n", found), sequence + ", step " + steps + ": " + shortened(step));
      }
      steps++;
    }
    return steps;
  }

  private static String shortened(String text) {
    return text.length() < 300 ? text : text.substring(0, 300) + "...";
  }

  /** One session, and what comes of what it is given. */
  private static final class Player implements Observer {
    private final ClientSession session;
    private final List<String> told = new ArrayList<>();
    private final List<Integer> confirms = new ArrayList<>(); // numbers
    private ReceivedMessage request;
    private long now;
    private final ByteBuffer[] rooms = {ByteBuffer.allocateDirect(64 << 10), ByteBuffer.allocate(64 << 10)};
    private int reads; // they take turns

    Player(String[] words) {
      session =
          new ClientSession(
              new SessionOptions(
                  "me",
                  words[2].equals("1"),
                  0,
                  Integer.parseInt(words[3]),
                  Long.parseLong(words[4]) * 1_000_000,
                  Long.parseLong(words[5]) * 1_000_000,
                  words[6].equals("1"),
                  Long.parseLong(words[7]) * 1_000_000,
                  false,
                  Long.parseLong(words[8])),
              this);
    }

    List<String> perform(String[] words) {
      told.clear();
      switch (words[1]) {
        case "start":
          now = Long.parseLong(words[2]);
          session.start(now);
          break;
        case "failed":
          session.failed(Long.parseLong(words[2]), Code.of(Integer.parseInt(words[3])), "no way");
          break;
        case "connected":
          session.connected("");
          break;
        case "write":
          write(Integer.parseInt(words[2]));
          break;
        case "read":
          now = Long.parseLong(words[2]);
          read(HexFormat.of().parseHex(words[3]));
          settle();
          break;
        case "cut":
          now = Long.parseLong(words[2]);
          session.reader().end(session.engine().endReason(), "");
          settle();
          break;
        case "time":
          passTime(Long.parseLong(words[2]));
          break;
        case "bye":
          session.writer().bye();
          break;
        case "shut":
          feeds().close(Long.parseLong(words[2]));
          break;
        default:
          Code code = ask(words);
          told.add("code " + (code == null ? 0 : code.number()));
      }
      note();
      return told;
    }

    private Code ask(String[] words) {
      return switch (words[1]) {
        case "join" -> session.writer().join(Name.of(words[2]), words[3].equals("1"));
        case "leave" -> session.leave(Name.of(words[2]));
        case "view" -> session.writer().requestView(Name.of(words[2]));
        case "flow" -> session.writer().requestFlow(Destinations.of(words[2]));
        case "confirm" -> {
          Code code = session.writer().confirm();
          if (code == null) {
            confirms.add(session.writer().lastRequest());
          }
          yield code;
        }
        case "flush_ok" -> session.writer().flushOk(new FlushRequest(name(words[2]), Long.parseLong(words[3])));
        case "send" -> send(words);
        case "answer" -> session.engine().answer(request, "answer".getBytes(StandardCharsets.US_ASCII), SendOptions.DEFAULT);
        case "ask" -> {
          RequestOptions options = RequestOptions.DEFAULT.withAnswers(Integer.parseInt(words[3]));
          if (words[4].equals("1")) {
            options = options.withSelfDiscard();
          }
          yield session.engine().ask(Destinations.of(words[2]), new byte[] {'q'}, options).error();
        }
        case "channel" -> session.writer().askChannel(channelRequest(Integer.parseInt(words[2]), words[3]));
        case "open" -> feeds().open(Name.of(words[2]), 200_000, 0, words[3].equals("1"));
        case "emit" -> {
          byte[] payload = new byte[Integer.parseInt(words[3])];
          Arrays.fill(payload, (byte) 'f');
          yield feeds().send(Long.parseLong(words[2]), payload);
        }
        case "listen" -> feeds().listen(Name.of(words[2]), words[3].equals("1"), 30_000_000);
        case "unlisten" -> feeds().stopListening(Name.of(words[2]));
        default -> throw new IllegalArgumentException(words[1]);
      };
    }

    private Code send(String[] words) {
      byte[] payload = new byte[Integer.parseInt(words[5])];
      Arrays.fill(payload, (byte) Integer.parseInt(words[6]));
      Headers headers = words[10].equals("1") ? Headers.of("key", "value") : Headers.NONE;
      SendOptions options =
          new SendOptions(
              Integer.parseInt(words[7]), words[8].equals("1"), Long.parseLong(words[9]), null, headers);
      Service service = Service.values()[Integer.parseInt(words[2])];
      return session.writer().multicast(service, Destinations.of(words[3], words[4]), payload, options);
    }

    private static BulkRequest channelRequest(int kind, String group) {
      ChannelId id = new ChannelId("a", 1, 2);
      byte[] root = new byte[BulkNews.ROOT_BYTES];
      root[0] = 5;
      root[1] = 6;
      return switch (kind) {
        case 0 -> new BulkRequest.Offer(
            Name.of(group),
            new ContentTerms("disk.img", ContentLayout.of(100_000), ContentKind.BYTES, 0, 10, 60));
        case 1 -> new BulkRequest.Seal(id, 100_000, root);
        case 2 -> new BulkRequest.OutcomeSaid(id, BulkRequest.Outcome.FAILED, 60);
        case 3 -> new BulkRequest.Cancel(id);
        case 4 -> new BulkRequest.SetRate(id, 1_000_000);
        default -> new BulkRequest.TokenRequest();
      };
    }

    private static Name name(String hex) {
      return hex.equals("-") ? Name.of("") : Name.of(HexFormat.of().parseHex(hex));
    }

    private ClientFeeds feeds() {
      return session.engine().feeds();
    }

    private void write(int size) {
      ByteBuffer piece = session.writer().output();
      byte[] bytes = new byte[Math.min(size, piece == null ? 0 : piece.remaining())];
      if (piece != null) {
        piece.get(bytes);
      }
      session.consume(bytes.length);
      told.add("bytes " + HexFormat.of().formatHex(bytes));
    }

    private void read(byte[] bytes) {
      for (int at = 0; at < bytes.length && !session.reader().hasEnded(); ) {
        ByteBuffer room = rooms[reads++ % rooms.length].clear();
        int count = Math.min(room.remaining(), bytes.length - at);
        session.reader().read(room.put(bytes, at, count).flip());
        at += count;
      }
    }

    private void settle() {
      if (session.isSettlingDue()) {
        session.settle(now);
      }
    }

    private void passTime(long to) {
      now = to;
      if (session.nextDeadline() <= now) {
        session.handleTime(now);
      }
      if (feeds().nextDeadline() <= now) {
        feeds().handleTime(now);
      }
      settle();
    }

    private void note() {
      if (session.takeHangUp()) {
        told.add("hang_up");
      }
      int server = session.takeDial();
      if (server >= 0) {
        told.add("dial " + server);
      }
      for (Event event : session.reader().takeEvents()) {
        told.add(EventText.of(event));
        if (event instanceof ReceivedMessage message && message.isRequest()) {
          request = message;
        }
        if (event instanceof Reconnected again && again.unknown().size() % 2 == 1) {
          session.writer().noteToldUnknown(again.unknown().size());
        }
      }
      for (ClientFeeds.OpenedOwn opened : feeds().takeOpened()) {
        told.add("opened " + opened.feed() + " " + (opened.error() == null ? 0 : opened.error().number()));
      }
      feeds().takeEvents().forEach(event -> told.add(EventText.of(event)));
      NotTaken lost = session.writer().notTaken();
      told.add(
          EventText.words(
              "state",
              session.isConnected() ? 1 : 0,
              session.isOver() ? 1 : 0,
              session.writer().outputSize(),
              session.writer().writableSize(),
              lost.messages(),
              lost.exact() ? 1 : 0,
              session.nextDeadline(),
              feeds().nextDeadline()));
    }

    @Override
    public boolean refused(int number, RequestFailed failed) {
      return false;
    }

    @Override
    public void channelAnswered(int number, Code error) {
      told.add("channel " + number + " " + (error == null ? 0 : error.number()));
    }

    @Override
    public Event channelNews(BulkNews news, int before) {
      told.add("news " + before + " " + EventText.of(news));
      return null;
    }

    @Override
    public void confirmed(int number) {
      told.add("confirmed " + number);
    }

    @Override
    public void sessionBeganAnew() {
      for (int number : confirms) {
        Long messages = session.writer().endedConfirm(number);
        if (messages != null) {
          told.add("unconfirmed " + number + " " + messages);
        }
      }
    }

    @Override
    public void answered(long number, Code error, Answers answers) {
      told.add(
          EventText.words(
              "answered",
              Long.toUnsignedString(number),
              error == null ? 0 : error.number(),
              answers.messages().size(),
              EventText.hex(answers.missing())));
    }
  }
}
