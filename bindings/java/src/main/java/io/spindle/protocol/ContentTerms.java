package io.spindle.protocol;

import io.spindle.ContentKind;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * What is offered, and how it is to be sent.
 *
 * @param name of up to NAME_BYTES_MAX bytes of UTF-8; may be empty
 * @param bytesPerSecond the most that the source is to send; 0: as much as goes
 * @param weight 1 to WEIGHT_MAX: a share of what a connection carries
 * @param lingerSeconds how long the channel stays once it is complete, 32 bits without a sign
 */
public record ContentTerms(
    String name, ContentLayout layout, ContentKind kind, long bytesPerSecond, int weight, int lingerSeconds) {
  public static final int NAME_BYTES_MAX = 255;
  public static final int WEIGHT_MAX = 100;
  private static final ContentKind[] KINDS = ContentKind.values();

  void write(Output out) {
    byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
    out.u8(bytes.length);
    out.bytes(bytes);
    layout.write(out);
    out.u8(kind.ordinal());
    out.varint(bytesPerSecond);
    out.u8(weight);
    out.varint32(lingerSeconds);
  }

  /** The reader fails where it cannot be. */
  static ContentTerms read(ByteReader reader) {
    String name = readText(reader, reader.u8());
    ContentLayout layout = ContentLayout.read(reader);
    int kind = reader.u8();
    if (kind >= KINDS.length) {
      reader.fail();
    }
    ContentTerms terms =
        new ContentTerms(
            name, layout, KINDS[reader.isOk() ? kind : 0], reader.varint(), reader.u8(), reader.varint32());
    if (terms.weight == 0 || terms.weight > WEIGHT_MAX) {
      reader.fail();
    }
    return terms;
  }

  private static String readText(ByteReader reader, int size) {
    String text = utf8(reader.bytes(size));
    if (text == null) {
      reader.fail();
    }
    return text == null ? "" : text;
  }

  /** Null where that is no UTF-8. */
  public static String utf8(byte[] bytes) {
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString();
    } catch (CharacterCodingException none) {
      return null;
    }
  }
}
