package io.spindle.protocol;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.spindle.Code;
import io.spindle.Event;
import io.spindle.Headers;
import io.spindle.Message;
import io.spindle.Name;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Frames are the same wherever their bytes are cut, and whether these come in an array or from outside the heap. */
final class IncomingFramesTest {
  private static final int PIECE_BYTES = 64 << 10;
  // Of docs/wire-format.md.
  private static final byte[] WELCOME =
      HexFormat.of().parseHex("0d0000100100" + "0a23616e6e23616c706861" + "11000022ac0205616c7068610700000000000000" + "0c");

  /** A message with a payload whose bytes are numbered, in as many frames as it takes. */
  private static void write(Output out, int groups, byte[] headers, int payload) {
    byte[] content = new byte[headers.length + payload];
    System.arraycopy(headers, 0, content, 0, headers.length);
    for (int i = 0; i < payload; i++) {
      content[headers.length + i] = (byte) (i * 31 + payload);
    }
    int at = Math.min(content.length, Frames.CHUNK_BYTES_MAX);
    int head = out.beginFrame(Frames.MESSAGE);
    out.u8(4 | Frames.PLACE_BIT | (headers.length != 0 ? Frames.HEADERS_BIT : 0));
    out.u16(payload & 0xffff);
    out.varint(content.length);
    out.varint(1000 + payload);
    out.varint(0);
    out.varint(groups);
    out.name(Name.of("#ann#alpha"));
    for (int i = 0; i < groups; i++) {
      out.name(Name.of("news" + i));
    }
    out.bytes(content, 0, at);
    out.endFrame(head);
    while (at < content.length) {
      int size = Math.min(content.length - at, Frames.CHUNK_BYTES_MAX);
      int more = out.beginFrame(Frames.MESSAGE_MORE);
      out.bytes(content, at, size);
      out.endFrame(more);
      at += size;
    }
  }

  private static byte[] headers(int size) {
    if (size == 0) {
      return new byte[0];
    }
    return HeaderBlock.write(null, Headers.NONE.with(Name.of("key"), new byte[size]));
  }

  private static byte[] draw(Random random) {
    Output out = new Output();
    out.bytes(WELCOME);
    for (int i = 2 + random.nextInt(30); i > 0; i--) {
      int most = List.of(20, 200, 1000, 5000, 100_000).get(random.nextInt(i % 10 == 0 ? 5 : 4));
      // Those with long names or headers have more in front of the payload than is copied of a large frame.
      int groups = random.nextInt(5) == 0 ? 40 : 1 + random.nextInt(2);
      write(out, groups, headers(random.nextInt(4) == 0 ? 1 + random.nextInt(300) : 0), random.nextInt(most));
      if (random.nextInt(3) == 0) {
        int pong = out.beginFrame(Frames.PONG);
        out.u64(i);
        out.endFrame(pong);
      }
    }
    return out.toBytes();
  }

  private static List<String> outcome(EventReader reader) {
    List<String> outcome = new ArrayList<>();
    for (Event event : reader.takeEvents()) {
      String text = EventText.of(event);
      outcome.add(text.length() < 60 ? text : text.substring(0, 60) + "... " + text.length() + " " + text.hashCode());
    }
    outcome.add(reader.hasEnded() ? reader.endReason() + " " + reader.endText() : reader.frames() + " frames");
    return outcome;
  }

  private static List<String> read(byte[] bytes, ByteBuffer room, Random cuts) {
    EventReader reader = new EventReader();
    for (int at = 0; at < bytes.length; ) {
      int count = Math.min(bytes.length - at, room.capacity());
      if (cuts != null && cuts.nextInt(3) != 0) {
        count = 1 + cuts.nextInt(Math.min(count, cuts.nextBoolean() ? 3000 : 20));
      }
      // What was there before must not be needed any more.
      room.clear();
      while (room.hasRemaining()) {
        room.put((byte) 0xee);
      }
      int from = cuts == null ? 0 : cuts.nextInt(room.capacity() - count + 1);
      room.limit(from + count).position(from).put(bytes, at, count).position(from);
      reader.read(room);
      assertEquals(0, room.remaining());
      at += count;
    }
    return outcome(reader);
  }

  private static void compare(byte[] bytes, String what) {
    List<String> whole = read(bytes, ByteBuffer.allocate(bytes.length), null);
    Random cuts = new Random(bytes.length);
    ByteBuffer slice = ByteBuffer.allocate(PIECE_BYTES + 7).slice(7, PIECE_BYTES);
    for (ByteBuffer room : List.of(ByteBuffer.allocateDirect(PIECE_BYTES), slice)) {
      assertEquals(whole, read(bytes, room, null), what);
      assertEquals(whole, read(bytes, room, cuts), what + ", cut");
    }
  }

  @Test
  void cutsAndMemoryMakeNoDifference() {
    for (int seed = 1; seed <= 60; seed++) {
      Random random = new Random(seed);
      byte[] bytes = draw(random);
      compare(bytes, "seed " + seed);
      for (int i = 0; i < 20; i++) {
        byte[] bad = bytes.clone();
        bad[WELCOME.length + random.nextInt(bad.length - WELCOME.length)] = (byte) random.nextInt(256);
        compare(bad, "seed " + seed + ", bad " + i);
      }
    }
  }

  @Test
  void payloadsAreThoseThatWereSent() {
    for (int size : List.of(0, 1, 400, 511, 512, 600, 1000, 32_767, 32_768, 32_769, 100_000, Frames.MESSAGE_BYTES_MAX)) {
      for (boolean isDirect : List.of(false, true)) {
        Output out = new Output();
        out.bytes(WELCOME);
        write(out, 1, new byte[0], size);
        ByteBuffer room = isDirect ? ByteBuffer.allocateDirect(PIECE_BYTES) : ByteBuffer.allocate(PIECE_BYTES);
        EventReader reader = new EventReader();
        for (int at = 0; at < out.size; at += room.limit()) {
          room.clear();
          room.put(out.bytes, at, Math.min(out.size - at, PIECE_BYTES)).flip();
          reader.read(room);
        }
        byte[] sent = new byte[size];
        for (int i = 0; i < size; i++) {
          sent[i] = (byte) (i * 31 + size);
        }
        List<Event> events = reader.takeEvents();
        assertEquals(1, events.size(), size + " bytes");
        assertArrayEquals(sent, ((Message) events.get(0)).payload(), size + " bytes");
      }
    }
  }

  /** What is too long is not waited for: its head says so. */
  @Test
  void aFrameThatIsTooLargeEndsTheConnectionWithItsHead() {
    for (ByteBuffer room : List.of(ByteBuffer.allocate(100), ByteBuffer.allocateDirect(100))) {
      for (int first : List.of(1, 4)) { // bytes of the head that come first
        EventReader reader = new EventReader();
        reader.read(room.clear().put(WELCOME).flip());
        byte[] head = {-1, -1, -1, Frames.MESSAGE};
        reader.read(room.clear().put(head, 0, first).flip());
        assertEquals(first == 4, reader.hasEnded());
        reader.read(room.clear().put(head, first, head.length - first).flip());
        assertTrue(reader.hasEnded());
        assertEquals(Code.FRAME_TOO_LARGE, reader.endReason());
      }
    }
  }
}
