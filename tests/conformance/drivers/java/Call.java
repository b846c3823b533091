import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A line from the runner: the number of the call, its verb, and its values. ../../README.md has the protocol. */
final class Call {
  private record Value(String key, byte[] value) {}

  private static final int BLOCK_BYTES = 65_521;

  final String number;
  final String verb;
  private final List<Value> values = new ArrayList<>();

  Call(String line) {
    String[] words = line.split(" ");
    number = words[0];
    verb = words[1];
    for (int i = 2; i < words.length; i++) {
      int equals = words[i].indexOf('=');
      values.add(new Value(words[i].substring(0, equals), decode(words[i].substring(equals + 1))));
    }
  }

  private static byte[] decode(String text) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (int i = 0; i < text.length(); i++) {
      if (text.charAt(i) == '%') {
        bytes.write(Integer.parseInt(text.substring(i + 1, i + 3), 16));
        i += 2;
      } else {
        bytes.write(text.charAt(i));
      }
    }
    return bytes.toByteArray();
  }

  List<byte[]> all(String key) {
    return values.stream().filter(each -> each.key.equals(key)).map(Value::value).toList();
  }

  boolean has(String key) {
    return !all(key).isEmpty();
  }

  /** The first value; empty without one. */
  byte[] bytes(String key) {
    return has(key) ? all(key).get(0) : new byte[0];
  }

  String text(String key) {
    return new String(bytes(key), StandardCharsets.UTF_8);
  }

  long integer(String key) {
    return has(key) ? Long.parseUnsignedLong(text(key)) : 0;
  }

  Duration milliseconds(String key) {
    return Duration.ofMillis(integer(key));
  }

  /** Null where nothing is said. */
  Duration timeout() {
    return has("timeout_ms") ? milliseconds("timeout_ms") : null;
  }

  /** The payload of the seed and size of this call, and so many seeds further. */
  byte[] payload(long index) {
    int size = (int) integer("size");
    byte[] payload = new byte[size];
    long state = integer("seed") + index;
    for (int i = 0; i < Math.min(size, BLOCK_BYTES); i++) {
      if (i % 8 == 0) {
        state = state * 6364136223846793005L + 1442695040888963407L;
      }
      payload[i] = (byte) (state >>> (8 * (i % 8)));
    }
    for (int at = BLOCK_BYTES; at < size; at += BLOCK_BYTES) {
      System.arraycopy(payload, 0, payload, at, Math.min(BLOCK_BYTES, size - at));
    }
    return payload;
  }
}
