import io.spindle.Answers;
import io.spindle.BulkOffered;
import io.spindle.BulkReceived;
import io.spindle.ChannelId;
import io.spindle.ConnectOptions;
import io.spindle.Connection;
import io.spindle.Destinations;
import io.spindle.Event;
import io.spindle.Feed;
import io.spindle.FeedOptions;
import io.spindle.FlushRequest;
import io.spindle.Headers;
import io.spindle.JoinOptions;
import io.spindle.ListenOptions;
import io.spindle.Message;
import io.spindle.Name;
import io.spindle.NotTaken;
import io.spindle.NotTakenException;
import io.spindle.RequestException;
import io.spindle.RequestOptions;
import io.spindle.SendOptions;
import io.spindle.Service;
import io.spindle.SlowPolicy;
import io.spindle.Spindle;
import io.spindle.SpindleException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;

/** The driver of the Java client: makes the calls that the runner asks for and tells how they end. */
final class Main {
  private static final String[] FEATURES = {
    "flows", "timeouts", "confirm", "drain", "headers", "writable", "resumption", "synchrony", "request", "cancellation",
    "feeds", "bulk"
  };
  private static final PrintStream OUT = new PrintStream(System.out, true, StandardCharsets.US_ASCII);

  private volatile Connection connection;
  private final Map<Long, Feed> feeds = new ConcurrentHashMap<>();
  private final Contents contents = new Contents();
  private volatile Message request; // the last one that came
  private volatile FlushRequest flushRequest; // likewise
  private final Map<String, Thread> aside = new ConcurrentHashMap<>();

  private static Answer failed(SpindleException error) {
    return new Answer("failed").add("code", error.code().identifier()).add("text", error.getMessage());
  }

  private static Answer lost(NotTaken lost) {
    return new Answer("ok").add("not_taken", lost.messages()).add("exact", lost.exact() ? "yes" : "no");
  }

  /** A future's value. An interrupt cancels it. */
  private static <T> T await(CompletableFuture<T> future) {
    try {
      return future.get();
    } catch (InterruptedException | CancellationException interrupt) {
      future.cancel(false);
      throw new SpindleException(io.spindle.Code.CANCELLED);
    } catch (ExecutionException failure) {
      throw (SpindleException) failure.getCause();
    }
  }

  private static Destinations groups(Call call) {
    return Destinations.of(call.all("group").stream().map(Name::of).toList());
  }

  private static Name group(Call call) {
    return Name.of(call.bytes("group"));
  }

  private static Service service(Call call) {
    return Service.valueOf(call.text("service").toUpperCase(Locale.ROOT));
  }

  private static Headers headers(Call call) {
    List<Headers.Header> headers = new ArrayList<>();
    List<byte[]> keys = call.all("header");
    for (int i = 0; i < keys.size(); i++) {
      headers.add(new Headers.Header(Name.of(keys.get(i)), call.all("header_value").get(i)));
    }
    return Headers.of(headers);
  }

  private Answer perform(Call call) {
    return switch (call.verb) {
      case "connect" -> connect(call);
      case "join" -> join(call);
      case "leave" -> done(() -> connection.leave(group(call)));
      case "ask" -> done(() -> connection.requestView(group(call)));
      case "flow" -> done(() -> connection.requestFlow(groups(call)));
      case "flush_ok" -> done(() -> connection.flushOk(flushRequest));
      case "writable" -> done(() -> await(connection.writable(groups(call), call.timeout())));
      case "send" -> send(call);
      case "request" -> request(call);
      case "answer" -> done(() -> connection.reply(request, call.payload(0)));
      case "confirm" -> confirm(call);
      case "drain" -> lost(connection.drain(call.timeout()));
      case "close" -> lost(connection.disconnect());
      case "receive" -> receive(call);
      case "offer" -> offer(call);
      case "accept" -> done(() -> accept(call));
      case "refuse" -> done(() -> connection.bulk().refuse(contents.channel(call)));
      case "withdraw" -> done(() -> connection.bulk().cancel(contents.channel(call)));
      case "rate" -> done(() -> connection.bulk().setRate(contents.channel(call), call.integer("rate")));
      case "listen" -> done(() -> connection.listen(group(call), listenOptions(call)));
      case "unlisten" -> done(() -> connection.stopListening(group(call)));
      case "feed" -> feed(call);
      case "emit" -> emit(call);
      case "shut" -> done(() -> feeds.remove(call.integer("feed")).close());
      case "cancel" -> done(() -> aside.get(call.text("call")).interrupt());
      default -> new Answer("unusable").add("text", "unknown verb: " + call.verb);
    };
  }

  private static Answer done(Runnable work) {
    work.run();
    return new Answer("ok");
  }

  private Answer connect(Call call) {
    ConnectOptions options =
        ConnectOptions.at(
                call.all("address").stream()
                    .map(each -> new String(each, StandardCharsets.UTF_8))
                    .toArray(String[]::new))
            .withName(call.text("name"))
            .withReconnectTimeout(call.has("reconnect") ? Duration.ofMinutes(1) : Duration.ZERO)
            .withResume(call.has("resume"))
            .withIndependentFlows(call.text("flows").equals("independent"));
    if (call.has("policy")) {
      options = options.withSlowPolicy(SlowPolicy.valueOf(call.text("policy").toUpperCase(Locale.ROOT)));
    }
    if (call.has("receive_buffer")) {
      options = options.withReceiveBufferBytes(call.integer("receive_buffer"));
    }
    if (call.has("send_buffer")) {
      options = options.withSendBufferBytes((int) call.integer("send_buffer"));
    }
    if (call.has("connect_timeout_ms")) {
      options = options.withConnectTimeout(call.milliseconds("connect_timeout_ms"));
    }
    if (call.has("disconnect_timeout_ms")) {
      options = options.withDisconnectTimeout(call.milliseconds("disconnect_timeout_ms"));
    }
    if (call.has("keepalive_ms")) {
      options = options.withKeepalive(call.milliseconds("keepalive_ms"));
    }
    if (call.has("bulk")) {
      options = options.withBulk();
    }
    feeds.clear();
    connection = Spindle.connect(options);
    return new Answer("ok").add("name", connection.privateName());
  }

  /** With a timeout the form that waits. */
  private Answer join(Call call) {
    JoinOptions options = new JoinOptions(call.has("synchronous"), call.has("auto_flush"), call.timeout());
    if (call.has("timeout_ms")) {
      await(connection.join(group(call), options));
    } else {
      connection.requestJoin(group(call), options);
    }
    return new Answer("ok");
  }

  private Answer send(Call call) {
    long sent = 0;
    SendOptions options =
        new SendOptions((int) call.integer("type"), call.has("self_discard"), 0, call.timeout(), headers(call));
    Destinations to = groups(call);
    Service service = service(call);
    try {
      for (; sent < call.integer("count"); sent++) {
        SendOptions own = options.withTicket(call.integer("ticket") + sent);
        byte[] payload = call.payload(sent);
        if (!call.has("try")) {
          connection.multicast(service, to, payload, own);
        } else if (!connection.tryMulticast(service, to, payload, own)) {
          return new Answer("failed").add("code", "would_block").add("sent", sent);
        }
      }
    } catch (SpindleException error) {
      return failed(error).add("sent", sent);
    }
    return new Answer("ok").add("sent", sent);
  }

  private static Answer add(Answer answer, Answers answers) {
    for (Message message : answers.messages()) {
      answer.add("sender", message.sender()).addContent(message.payload());
    }
    return answer;
  }

  private Answer request(Call call) {
    RequestOptions options =
        new RequestOptions(
            (int) call.integer("answers"),
            service(call),
            (int) call.integer("type"),
            call.has("self_discard"),
            call.timeout(),
            headers(call));
    try {
      return add(new Answer("ok"), await(connection.request(groups(call), call.payload(0), options)));
    } catch (RequestException error) {
      return add(failed(error), error.answers());
    }
  }

  private Answer confirm(Call call) {
    try {
      await(connection.confirm(call.timeout()));
      return lost(new NotTaken(0, true));
    } catch (NotTakenException error) {
      return lost(error.notTaken());
    }
  }

  private Answer receive(Call call) {
    Event event = connection.receive(call.timeout());
    if (event instanceof Message message && message.isRequest()) {
      request = message;
    } else if (event instanceof FlushRequest flush) {
      flushRequest = flush;
    }
    if (event instanceof BulkOffered offered) {
      contents.note(offered.channel());
    } else if (event instanceof BulkReceived received) {
      return Events.describe(received, contents.contentOf(received));
    }
    return event == null ? new Answer("failed").add("code", "timed_out") : Events.describe(event);
  }

  private Answer offer(Call call) {
    ChannelId channel =
        await(connection.bulk().offer(group(call), Contents.source(call), Contents.offerOptions(call)));
    contents.note(channel);
    return new Answer("ok").add("channel", channel.toString());
  }

  private void accept(Call call) {
    connection.bulk().accept(contents.channel(call), contents.sink(call), Contents.acceptOptions(call));
  }

  private static ListenOptions listenOptions(Call call) {
    ListenOptions options =
        call.text("delivery").equals("immediate") ? ListenOptions.IMMEDIATE : ListenOptions.DEFAULT;
    return call.has("deadline_ms") ? options.withDeadline(call.milliseconds("deadline_ms")) : options;
  }

  private Answer feed(Call call) {
    FeedOptions options = FeedOptions.DEFAULT.withBytesPerSecond(call.integer("rate"));
    if (call.has("repair_ms")) {
      options = options.withRepairFor(call.milliseconds("repair_ms"));
    }
    if (call.has("drop_oldest")) {
      options = options.withDropOldest();
    }
    if (call.has("timeout_ms")) {
      options = options.withTimeout(call.timeout());
    }
    Feed opened = await(connection.openFeed(group(call), options));
    feeds.put(opened.id(), opened);
    return new Answer("ok").add("feed", opened.id());
  }

  private Answer emit(Call call) {
    long sent = 0;
    try {
      for (; sent < call.integer("count"); sent++) {
        if (!feeds.get(call.integer("feed")).trySend(call.payload(sent))) {
          return new Answer("failed").add("code", "would_block").add("sent", sent);
        }
      }
    } catch (SpindleException error) {
      return failed(error).add("sent", sent);
    }
    return new Answer("ok").add("sent", sent);
  }

  private void answer(Call call) {
    Answer answer;
    try {
      answer = perform(call);
    } catch (SpindleException error) {
      answer = failed(error);
    }
    OUT.println(call.number + " " + answer);
  }

  public static void main(String[] arguments) throws IOException {
    Answer greeting = new Answer("driver").add("protocol", 1).add("language", "Java");
    for (String feature : FEATURES) {
      greeting.add("feature", feature);
    }
    OUT.println(greeting);
    Main driver = new Main();
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.US_ASCII));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      Call call = new Call(line);
      if (call.has("aside")) {
        Thread thread = new Thread(() -> driver.answer(call));
        thread.setDaemon(true);
        driver.aside.put(call.number, thread);
        thread.start();
      } else {
        driver.answer(call);
      }
    }
    System.exit(0);
  }
}
