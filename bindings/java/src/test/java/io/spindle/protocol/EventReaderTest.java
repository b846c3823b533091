package io.spindle.protocol;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.spindle.Event;
import io.spindle.Message;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

final class EventReaderTest {
  // Of docs/wire-format.md.
  private static final String WELCOME = "0d 00 00 10 01 00 0a 23 61 6e 6e 23 61 6c 70 68 61";
  private static final String ORDER_VIEW = "11 00 00 22 ac 02 05 61 6c 70 68 61 07 00 00 00 00 00 00 00 0c";
  private static final String MESSAGE =
      "1a 00 00 12 0c 07 00 02 e8 07 00 01 0a 23 61 6e 6e 23 61 6c 70 68 61 04 6e 65 77 73 68 69";

  private static byte[] bytes(String hex) {
    return HexFormat.of().parseHex(hex.replace(" ", ""));
  }

  private static void read(EventReader reader, byte[] bytes) {
    reader.read(ByteBuffer.wrap(bytes));
  }

  private static EventReader opened() {
    EventReader reader = new EventReader();
    read(reader, bytes(WELCOME + ORDER_VIEW));
    reader.takeNews();
    return reader;
  }

  @Test
  void theExampleIsRead() {
    EventReader reader = opened();
    byte[] message = bytes(MESSAGE);
    for (byte each : message) { // one by one
      read(reader, new byte[] {each});
    }
    read(reader, message);
    List<Event> events = reader.takeEvents();
    Message first = (Message) events.get(0);
    Message second = (Message) events.get(1);
    assertEquals("hi", first.text());
    assertEquals(1000, first.position().orElseThrow().order());
    assertEquals("alpha", first.position().orElseThrow().change().coordinator());
    assertSame(first.sender(), second.sender(), "names are made once");
    assertSame(first.groups(), second.groups());
  }

  /** What is made for a message is the message, and its payload. */
  @Test
  void twoObjectsAreMade() {
    assumeTrue(
        ManagementFactory.getThreadMXBean() instanceof com.sun.management.ThreadMXBean,
        "this JVM does not tell what is made");
    com.sun.management.ThreadMXBean threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
    int count = 4000;
    byte[] message = bytes(MESSAGE);
    byte[] many = new byte[count * message.length];
    for (int i = 0; i < count; i++) {
      System.arraycopy(message, 0, many, i * message.length, message.length);
    }
    EventReader reader = opened();
    read(reader, many);
    reader.takeEvents(); // its lists have their size now
    long id = Thread.currentThread().getId();
    long before = threads.getThreadAllocatedBytes(id);
    read(reader, many);
    long made = threads.getThreadAllocatedBytes(id) - before;
    assertEquals(count, reader.takeEvents().size());
    // 56 bytes of a message at most, 24 of an array of two bytes, and its place in the list, which may grow meanwhile.
    assertTrue(made < count * 100L, made + " bytes for " + count + " messages");
  }
}
