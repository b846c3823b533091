package io.spindle.bulk;

import io.spindle.ChannelId;
import io.spindle.protocol.ByteReader;
import io.spindle.protocol.Channels;
import io.spindle.protocol.ContentLayout;
import io.spindle.protocol.Output;
import java.util.zip.CRC32C;

/**
 * The frames of a client's bulk connection, an attachment. The first one is `attach`, and the answer `welcome`. After
 * that each side names the channels that it speaks of by numbers of its own: `open` comes before anything else of a
 * number, and `shut` lets it be opened anew. docs/wire-format.md has them all.
 */
final class BulkFrames {
  static final int OPEN = 1;
  static final int SHUT = 2;
  static final int SYMBOL = 3;
  static final int INDEX = 4;
  static final int NEED = 5;
  static final int GRANT = 6;
  static final int RELEASE = 7;
  static final int MARK = 8;
  static final int ASK_INDEX = 9;
  static final int ATTACH = 65;
  static final int WELCOME = 66;
  static final int CLOSE = 67;

  /** What a frame has behind its head at most. */
  static final int FRAME_BYTES_MAX = 128 << 10;
  static final int VERSION = 1;
  static final int OPEN_CHANNELS_MAX = 1024;
  static final int ESI_MAX = (1 << 24) - 1;
  /** Hashes that one `index` has at most when it is written. */
  static final int HASHES_PER_INDEX_MAX = 2048;
  static final long GRANT_MAX = 0xffffffffL;
  /** The stream of all content in order. */
  static final int LIVE_STREAM = 0;

  private BulkFrames() {}

  static int crc(byte[] bytes, int from, int count) {
    CRC32C crc = new CRC32C();
    crc.update(bytes, from, count);
    return (int) crc.getValue();
  }

  // Each appends a whole frame.

  static void writeAttach(Output out, long session, byte[] token) {
    int head = out.beginFrame(ATTACH);
    out.u16(VERSION);
    out.u16(VERSION);
    out.u64(session);
    out.bytes(token);
    out.endFrame(head);
  }

  static void writeOpen(Output out, int number, ChannelId channel, ContentLayout layout) {
    int head = out.beginFrame(OPEN);
    out.varint(number);
    Channels.write(out, channel);
    layout.write(out);
    out.endFrame(head);
  }

  static void writeShut(Output out, int number) {
    int head = out.beginFrame(SHUT);
    out.varint(number);
    out.endFrame(head);
  }

  /** At most HASHES_PER_INDEX_MAX hashes. */
  static void writeIndex(Output out, int number, IndexPart index) {
    int head = out.beginFrame(INDEX);
    out.varint(number);
    out.varint(index.first());
    out.bytes(index.hashes(), index.at(), index.count() * Sha256.BYTES);
    out.endFrame(head);
  }

  static void writeNeed(Output out, int number, Need need) {
    int head = out.beginFrame(NEED);
    out.varint(number);
    out.u8(LIVE_STREAM);
    need.write(out);
    out.endFrame(head);
  }

  static void writeGrant(Output out, int number, long symbols) {
    int head = out.beginFrame(GRANT);
    out.varint(number);
    out.u8(LIVE_STREAM);
    out.varint(symbols);
    out.endFrame(head);
  }

  static void writeRelease(Output out, int number, int stream) {
    int head = out.beginFrame(RELEASE);
    out.varint(number);
    out.u8(stream);
    out.endFrame(head);
  }

  static void writeAskIndex(Output out, int number) {
    int head = out.beginFrame(ASK_INDEX);
    out.varint(number);
    out.endFrame(head);
  }

  static void writeSymbol(Output out, int number, Symbol symbol) {
    int head = out.beginFrame(SYMBOL);
    out.varint(number);
    out.u8(0); // the generation is for daemons
    out.u8(symbol.stream());
    out.varint(symbol.block());
    out.u8(symbol.esi());
    out.u16(symbol.esi() >>> 8);
    out.u32(symbol.crc());
    out.bytes(symbol.bytes(), symbol.at(), symbol.size());
    out.endFrame(head);
  }

  // Parts of those that are read. What they give refers to the reader's bytes; the reader fails where they are
  // malformed.

  static int readNumber(ByteReader reader) {
    return (int) reader.varintUpTo(OPEN_CHANNELS_MAX - 1);
  }

  /**
   * A symbol, behind the number of its channel.
   *
   * @param crc CRC-32C of its bytes
   */
  record Symbol(int stream, int block, int esi, int crc, byte[] bytes, int at, int size) {
    static Symbol read(ByteReader reader) {
      reader.u8(); // generation
      int stream = reader.u8();
      int block = (int) reader.varintUpTo(ContentLayout.BLOCKS_MAX - 1);
      int esi = reader.u8() | reader.u16() << 8;
      int crc = reader.u32();
      int size = reader.remaining();
      int at = reader.skip(size);
      if (Integer.bitCount(size) != 1
          || size < ContentLayout.SYMBOL_BYTES_MIN
          || size > ContentLayout.SYMBOL_BYTES_MAX) {
        reader.fail();
      }
      return new Symbol(stream, block, esi, crc, reader.bytes, at, size);
    }
  }

  /** Hashes of neighbouring blocks. */
  record IndexPart(int first, byte[] hashes, int at, int count) {
    static IndexPart of(int first, byte[] hashes) {
      return new IndexPart(first, hashes, 0, hashes.length / Sha256.BYTES);
    }

    static IndexPart read(ByteReader reader) {
      int first = (int) reader.varintUpTo(ContentLayout.BLOCKS_MAX - 1);
      int size = reader.remaining();
      int at = reader.skip(size);
      int count = size / Sha256.BYTES;
      if (size == 0 || size % Sha256.BYTES != 0 || count > ContentLayout.BLOCKS_MAX - first) {
        reader.fail();
      }
      return new IndexPart(first, reader.bytes, at, count);
    }
  }
}
