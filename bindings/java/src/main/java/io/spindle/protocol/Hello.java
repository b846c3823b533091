package io.spindle.protocol;

import io.spindle.Name;
import java.nio.charset.StandardCharsets;

/** How a connection between a client and its daemon begins: `hello`, and `welcome`. Both end in options. */
final class Hello {
  private static final int SECRET_BYTES = 16;

  /** By which a client takes its session up again. */
  record SessionKey(long session, byte[] secret) {}

  /** The session that a client wants to take up again, and how many frames of the daemon it has got in it. */
  record Resume(SessionKey key, long received) {}

  /**
   * `key`, `timeoutMs`: the session can be taken up by it in that time; `resumed`: so many frames had come, -1: new.
   */
  record Welcome(int version, Name privateName, SessionKey key, long timeoutMs, long resumed) {
    boolean isResumed() {
      return resumed >= 0;
    }
  }

  String name = "";
  int flags;
  String token = ""; // empty: none
  boolean isResumable;
  Resume resume; // null: a new session
  int keepaliveMs; // 0: it promises nothing
  boolean moves;
  boolean wantsChannels;

  byte[] write() {
    Output out = new Output(new byte[128]);
    int head = out.beginFrame(Frames.HELLO);
    out.u32(Frames.HELLO_MAGIC);
    out.u16(Frames.VERSION);
    out.u16(Frames.VERSION);
    out.u8(flags);
    out.name(Name.of(name));
    if (!token.isEmpty()) {
      byte[] bytes = token.getBytes(StandardCharsets.UTF_8);
      beginOption(out, 1, bytes.length);
      out.bytes(bytes);
    }
    if (isResumable) {
      beginOption(out, 2, 0);
    }
    if (resume != null) {
      beginOption(out, 3, 8 + SECRET_BYTES + 8);
      out.u64(resume.key.session);
      out.bytes(resume.key.secret);
      out.u64(resume.received);
    }
    if (keepaliveMs != 0) {
      beginOption(out, 4, 4);
      out.u32(keepaliveMs);
    }
    if (moves) {
      beginOption(out, 5, 0);
    }
    if (wantsChannels) {
      beginOption(out, 6, 0);
    }
    out.endFrame(head);
    return out.toBytes();
  }

  private static void beginOption(Output out, int number, int length) {
    out.u8(number);
    out.u16(length);
  }

  /** Null where it does not parse. */
  static Welcome readWelcome(ByteReader reader) {
    int version = reader.u16();
    Name name = reader.privateName();
    SessionKey key = null;
    long timeoutMs = 0;
    long resumed = -1;
    int last = 0;
    while (reader.isOk() && reader.remaining() != 0) {
      int number = reader.u8();
      int size = reader.u16();
      int from = reader.skip(size);
      if (!reader.isOk() || number <= last) {
        return null;
      }
      ByteReader option = new ByteReader(reader.bytes, from, from + size);
      if (number == 1) {
        key = new SessionKey(option.u64(), option.bytes(SECRET_BYTES));
        timeoutMs = option.u32() & 0xffffffffL;
      } else if (number == 2) {
        resumed = option.u64() & Long.MAX_VALUE;
      } else {
        option.skip(size);
      }
      if (!option.isDone()) {
        return null;
      }
      last = number;
    }
    return reader.isDone() ? new Welcome(version, name, key, timeoutMs, resumed) : null;
  }
}
