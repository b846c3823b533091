package io.spindle;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/**
 * What travels beside a payload: keys with values, in their order. A key has 1 to 255 bytes and no '$' in front; it may
 * come several times. All keys and values of a message take 4 KiB at most, each header counting three bytes more.
 */
public final class Headers implements Iterable<Headers.Header> {
  /** Without any. */
  public static final Headers NONE = new Headers(List.of());

  private final List<Header> all;

  private Headers(List<Header> all) {
    this.all = all;
  }

  /**
   * One of them.
   *
   * @param key its name
   * @param value of any bytes, not copied
   */
  public record Header(Name key, byte[] value) {
    /**
     * The value as text of UTF-8.
     *
     * @return the text
     */
    public String text() {
      return new String(value, StandardCharsets.UTF_8);
    }
  }

  /**
   * One header of text.
   *
   * @param key its name
   * @param value is encoded as UTF-8
   * @return the header
   */
  public static Headers of(String key, String value) {
    return NONE.with(key, value);
  }

  /**
   * Headers of a list.
   *
   * @param headers in their order
   * @return the headers
   */
  public static Headers of(List<Header> headers) {
    return headers.isEmpty() ? NONE : new Headers(List.copyOf(headers));
  }

  /**
   * These, and one of text behind them.
   *
   * @param key its name
   * @param value is encoded as UTF-8
   * @return the headers
   */
  public Headers with(String key, String value) {
    return with(Name.of(key), value.getBytes(StandardCharsets.UTF_8));
  }

  /**
   * These, and another one behind them.
   *
   * @param key its name
   * @param value of any bytes, not copied
   * @return the headers
   */
  public Headers with(Name key, byte[] value) {
    List<Header> more = new ArrayList<>(all);
    more.add(new Header(key, value));
    return new Headers(List.copyOf(more));
  }

  /**
   * The first value of a key.
   *
   * @param key its name
   * @return nothing where there is none
   */
  public Optional<byte[]> value(Name key) {
    return all.stream().filter(each -> each.key.equals(key)).map(Header::value).findFirst();
  }

  /**
   * The first value of a key as text of UTF-8.
   *
   * @param key its name
   * @return nothing where there is none
   */
  public Optional<String> text(String key) {
    return value(Name.of(key)).map(value -> new String(value, StandardCharsets.UTF_8));
  }

  /**
   * Whether there is none.
   *
   * @return whether there is none
   */
  public boolean isEmpty() {
    return all.isEmpty();
  }

  /**
   * All of them in their order.
   *
   * @return an unmodifiable list
   */
  public List<Header> list() {
    return all;
  }

  @Override
  public Iterator<Header> iterator() {
    return all.iterator();
  }

  @Override
  public String toString() {
    StringBuilder text = new StringBuilder("{");
    for (Header each : all) {
      text.append(text.length() == 1 ? "" : ", ").append(each.key).append('=').append(each.text());
    }
    return text.append('}').toString();
  }
}
