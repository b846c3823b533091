import io.spindle.Name;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;

/** A line to the runner, without its number: a word, and what is added to it. */
final class Answer {
  private final StringBuilder line;

  Answer(String word) {
    line = new StringBuilder(word);
  }

  Answer add(String key, byte[] value) {
    line.append(' ').append(key).append('=');
    for (byte octet : value) {
      char c = (char) (octet & 0xff);
      boolean isPlain = c < 0x80 && (Character.isLetterOrDigit(c) || "-._~/".indexOf(c) >= 0);
      line.append(isPlain ? String.valueOf(c) : String.format("%%%02X", (int) c));
    }
    return this;
  }

  Answer add(String key, String value) {
    return add(key, value.getBytes(StandardCharsets.UTF_8));
  }

  /** 64 bits without a sign. */
  Answer add(String key, long value) {
    return add(key, Long.toUnsignedString(value));
  }

  Answer add(String key, Name name) {
    return add(key, name.toBytes());
  }

  Answer addAll(String key, Iterable<Name> names) {
    names.forEach(name -> add(key, name));
    return this;
  }

  /** Its size, and CRC-32 as in zlib. */
  Answer addContent(byte[] bytes) {
    CRC32 digest = new CRC32();
    digest.update(bytes);
    return add("size", bytes.length).add("digest", digest.getValue());
  }

  @Override
  public String toString() {
    return line.toString();
  }
}
