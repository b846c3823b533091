import io.spindle.AcceptOptions;
import io.spindle.BulkReceived;
import io.spindle.BulkSink;
import io.spindle.BulkSource;
import io.spindle.ChannelId;
import io.spindle.OfferOptions;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What the driver offers and receives by bulk channels: channels by the names that the runner knows them by, and
 * streams.
 */
final class Contents {
  private final Map<String, ChannelId> channels = new ConcurrentHashMap<>();
  private final Map<String, ByteArrayOutputStream> streams = new ConcurrentHashMap<>();

  void note(ChannelId channel) {
    channels.put(channel.toString(), channel);
  }

  ChannelId channel(Call call) {
    return channels.get(call.text("channel"));
  }

  /** Bytes that are no UTF-8 become text that has none. */
  private static String name(byte[] bytes) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException none) {
      return "\ud800";
    }
  }

  static BulkSource source(Call call) {
    BulkSource source =
        switch (call.text("kind")) {
          case "file" -> BulkSource.file(Path.of(call.text("path")));
          case "directory" -> BulkSource.directory(Path.of(call.text("path")));
          case "bytes" -> BulkSource.bytes(call.payload(0));
          default -> new BulkSource.Stream(
              new ByteArrayInputStream(call.payload(0)), "", call.has("spool") ? Path.of(call.text("spool")) : null);
        };
    return call.has("name") ? source.named(name(call.bytes("name"))) : source;
  }

  static OfferOptions offerOptions(Call call) {
    OfferOptions options = OfferOptions.DEFAULT.withBytesPerSecond(call.integer("rate"));
    if (call.has("weight")) {
      options = options.withWeight((int) call.integer("weight"));
    }
    return call.has("linger_ms") ? options.withLinger(call.milliseconds("linger_ms")) : options;
  }

  BulkSink sink(Call call) {
    switch (call.text("sink")) {
      case "file":
        return BulkSink.file(Path.of(call.text("path")));
      case "directory":
        return BulkSink.directory(Path.of(call.text("path")));
      case "memory":
        return BulkSink.memory(call.integer("bytes_max"));
      default:
        ByteArrayOutputStream collected = new ByteArrayOutputStream();
        streams.put(call.text("channel"), collected);
        return BulkSink.stream(collected);
    }
  }

  static AcceptOptions acceptOptions(Call call) {
    return new AcceptOptions(call.has("replace"), !call.has("not_serving"));
  }

  /** Where it went into a stream, as if it had been received in memory. */
  byte[] contentOf(BulkReceived received) {
    ByteArrayOutputStream stream = streams.get(received.channel().toString());
    return stream == null ? received.content() : stream.toByteArray();
  }
}
