package io.spindle.bulk;

import io.spindle.ChannelId;
import io.spindle.Code;
import io.spindle.protocol.ByteReader;
import io.spindle.protocol.Channels;
import io.spindle.protocol.ClientSession;
import io.spindle.protocol.ContentLayout;
import io.spindle.protocol.Output;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The second connection of a client to its daemon, for the content of all its channels. Speaks bulk frames with the
 * daemon: hands what comes to the engines of channels, and writes what these have to say. It owns no socket; one thread
 * at a time uses it.
 *
 * <p>Order of calls: `prepare`, read into it, `handleRead`; then, and whenever `due` has come or an engine may have
 * something, `fill`; and `output` is written, and `consume`d. Times are nanoseconds.
 */
public final class Attachment {
  /** What a receiver lets its daemon send ahead, in bytes. */
  private static final int WINDOW_BYTES = 1 << 20;
  /** What waits to be written at most when symbols are added. */
  private static final int OUTPUT_BYTES_MAX = 256 << 10;
  /** In one round. */
  private static final int READ_BYTES = 256 << 10;

  /** What a client does with a channel: holds its content, receives it, or both. Null: it does not. */
  public record Engines(BulkHolder holder, BulkReceiver receiver) {
    public static final Engines NONE = new Engines(null, null);
  }

  /** Why the connection is to be closed, by the daemon's word or because what came makes no sense. */
  public static final class Ended extends Exception {
    private static final long serialVersionUID = 1;

    private final Code code;

    Ended(Code code, String text) {
      super(text, null, false, false);
      this.code = code;
    }

    public Code code() {
      return code;
    }
  }

  private static final class Channel {
    final int number; // of this side
    final ContentLayout layout;
    Engines engines;
    long granted; // symbols that the daemon may still send
    final RateLimit rate = new RateLimit();

    Channel(int number, ContentLayout layout, Engines engines) {
      this.number = number;
      this.layout = layout;
      this.engines = engines;
    }

    long window() {
      return Math.max(WINDOW_BYTES / layout.symbolBytes(), 4);
    }
  }

  private final Map<ChannelId, Channel> channels = new TreeMap<>();
  private final Map<Integer, ChannelId> theirs = new HashMap<>(); // by the numbers of the daemon
  private boolean isWelcome;
  // What is read into. Bytes from `parsed` to `filled` are an incomplete frame.
  private final byte[] input = new byte[READ_BYTES + BulkFrames.FRAME_BYTES_MAX + Output.HEAD_BYTES];
  private int parsed;
  private int filled;
  private final ByteReader reader = new ByteReader();
  private final Output output = new Output(new byte[OUTPUT_BYTES_MAX + (64 << 10)]);
  private int written; // of `output`

  /** As the daemon has told over the session. */
  public Attachment(long session, byte[] token) {
    BulkFrames.writeAttach(output, session, token);
  }

  /** A channel that is there already goes on with these. */
  public void add(ChannelId id, ContentLayout layout, Engines engines) {
    Channel known = channels.get(id);
    if (known != null) {
      known.engines = engines;
      return;
    }
    Set<Integer> taken = new HashSet<>();
    channels.values().forEach(each -> taken.add(each.number));
    int number = 0;
    while (taken.contains(number)) {
      number++;
    }
    if (number >= BulkFrames.OPEN_CHANNELS_MAX) {
      return;
    }
    channels.put(id, new Channel(number, layout, engines));
    if (engines.receiver != null) {
      engines.receiver.handleAttached();
    }
    if (engines.holder != null) {
      engines.holder.handleAttached();
    }
    BulkFrames.writeOpen(output, number, id, layout);
  }

  public void remove(ChannelId id) {
    Channel channel = channels.remove(id);
    if (channel != null) {
      BulkFrames.writeShut(output, channel.number);
    }
  }

  /** The most that its holder sends, in bytes per second, heads of frames left out; 0: as much as goes. */
  public void setRate(ChannelId id, long bytesPerSecond) {
    Channel channel = channels.get(id);
    if (channel != null) {
      channel.rate.set(bytesPerSecond);
    }
  }

  public boolean isWelcome() {
    return isWelcome;
  }

  // --- Reading ---

  /** Where to read to. */
  public ByteBuffer prepare() {
    System.arraycopy(input, parsed, input, 0, filled - parsed);
    filled -= parsed;
    parsed = 0;
    return ByteBuffer.wrap(input, filled, READ_BYTES);
  }

  /** `count` bytes of it were filled. */
  public void handleRead(long now, int count) throws Ended {
    filled += count;
    while (filled - parsed >= Output.HEAD_BYTES) {
      int length = Output.frameLength(input, parsed);
      if (length > BulkFrames.FRAME_BYTES_MAX) {
        throw new Ended(Code.FRAME_TOO_LARGE, "the daemon sent a bulk frame that is too large");
      }
      if (filled - parsed < Output.HEAD_BYTES + length) {
        return;
      }
      int type = input[parsed + 3] & 0xff;
      int body = parsed + Output.HEAD_BYTES;
      parsed = body + length;
      reader.reset(input, body, parsed);
      handleFrame(now, type);
    }
  }

  private void check(boolean isGood) throws Ended {
    if (!isGood) {
      throw new Ended(Code.MALFORMED_FRAME, "the daemon sent a malformed bulk frame");
    }
  }

  private void handleFrame(long now, int type) throws Ended {
    switch (type) {
      case BulkFrames.WELCOME -> {
        int version = reader.u16();
        check(reader.isDone());
        if (version != BulkFrames.VERSION) {
          throw new Ended(Code.VERSION_MISMATCH, Code.VERSION_MISMATCH.text());
        }
        isWelcome = true;
      }
      case BulkFrames.CLOSE -> {
        int code = reader.u16();
        String text = reader.text(reader.remaining());
        check(reader.isDone());
        throw new Ended(Code.of(code), text);
      }
      case BulkFrames.OPEN -> {
        int number = BulkFrames.readNumber(reader);
        ChannelId id = Channels.read(reader);
        ContentLayout.read(reader);
        check(reader.isDone());
        theirs.put(number, id);
      }
      case BulkFrames.SHUT -> {
        int number = BulkFrames.readNumber(reader);
        check(reader.isDone());
        theirs.remove(number);
      }
      case BulkFrames.SYMBOL,
          BulkFrames.INDEX,
          BulkFrames.NEED,
          BulkFrames.GRANT,
          BulkFrames.RELEASE,
          BulkFrames.MARK,
          BulkFrames.ASK_INDEX -> handleOfChannel(now, type);
      default -> throw new Ended(
          Code.UNEXPECTED_FRAME, "the daemon sent a bulk frame of a type that it does not send");
    }
  }

  private void handleOfChannel(long now, int type) throws Ended {
    int number = BulkFrames.readNumber(reader);
    ChannelId id = theirs.get(number);
    // It may have been removed here while this was on its way: it is read all the same.
    Channel channel = id == null ? null : channels.get(id);
    BulkHolder holder = channel == null ? null : channel.engines.holder;
    BulkReceiver receiver = channel == null ? null : channel.engines.receiver;
    switch (type) {
      case BulkFrames.SYMBOL -> {
        BulkFrames.Symbol symbol = BulkFrames.Symbol.read(reader);
        checkOpen(id);
        if (channel != null && channel.granted > 0) {
          channel.granted--;
        }
        if (receiver != null) {
          receiver.handleSymbol(now, symbol);
        }
      }
      case BulkFrames.INDEX -> {
        BulkFrames.IndexPart index = BulkFrames.IndexPart.read(reader);
        checkOpen(id);
        if (receiver != null) {
          receiver.handleIndex(now, index);
        }
      }
      case BulkFrames.NEED -> {
        int stream = reader.u8();
        Need need = Need.read(reader);
        checkOpen(id);
        if (holder != null) {
          holder.handleNeed(stream, need);
        }
      }
      case BulkFrames.GRANT -> {
        int stream = reader.u8();
        long symbols = reader.varintUpTo(BulkFrames.GRANT_MAX);
        check(symbols != 0);
        checkOpen(id);
        if (holder != null) {
          holder.handleGrant(stream, symbols);
        }
      }
      case BulkFrames.RELEASE -> {
        int stream = reader.u8();
        checkOpen(id);
        if (holder != null) {
          holder.handleRelease(stream);
        }
      }
      case BulkFrames.MARK -> {
        long mark = reader.varint();
        reader.varintUpTo(ContentLayout.BLOCKS_MAX);
        check(mark != 0);
        checkOpen(id);
        if (receiver != null) {
          receiver.handleMark(mark);
        }
      }
      default -> {
        checkOpen(id);
        if (holder != null) {
          holder.handleIndexAsked();
        }
        if (receiver != null) {
          receiver.handleIndexAsked();
        }
      }
    }
  }

  /** The frame has parsed to its end, and is of a channel that was opened. */
  private void checkOpen(ChannelId id) throws Ended {
    check(reader.isDone());
    if (id == null) {
      throw new Ended(Code.UNEXPECTED_FRAME, "a bulk channel was not opened under its number");
    }
  }

  // --- Writing ---

  private boolean isFull() {
    return output.size - written >= OUTPUT_BYTES_MAX;
  }

  /** Writes what engines have to say, until as much waits as may. */
  public void fill(long now) {
    for (Channel channel : channels.values()) {
      if (channel.engines.receiver != null) {
        fill(now, channel, channel.engines.receiver);
      }
    }
    // In turns, so that no channel has to wait for all of another.
    boolean isMore = true;
    while (isMore && !isFull()) {
      isMore = false;
      for (Channel channel : channels.values()) {
        isMore |= channel.engines.holder != null && writeSymbol(now, channel, channel.engines.holder);
      }
    }
  }

  private void fill(long now, Channel channel, BulkReceiver receiver) {
    Need need = receiver.takeNeed(now);
    if (need != null) {
      BulkFrames.writeNeed(output, channel.number, need);
    }
    if (receiver.takeIndexWish(now)) {
      BulkFrames.writeAskIndex(output, channel.number);
    }
    while (!isFull()) {
      BulkFrames.IndexPart part = receiver.takeIndex();
      if (part == null) {
        break;
      }
      BulkFrames.writeIndex(output, channel.number, part);
    }
    long window = Math.min(channel.window(), receiver.room());
    if (!receiver.isDone() && channel.granted <= window / 2 && channel.granted < window) {
      long more = window - channel.granted;
      channel.granted += more;
      BulkFrames.writeGrant(output, channel.number, more);
    }
  }

  /** Symbols of its holder; whether there was one. */
  private boolean writeSymbol(long now, Channel channel, BulkHolder holder) {
    for (BulkFrames.IndexPart part = holder.takeIndex(); part != null; part = holder.takeIndex()) {
      BulkFrames.writeIndex(output, channel.number, part);
    }
    BulkFrames.Symbol symbol = channel.rate.maySend(now) ? holder.nextSymbol() : null;
    if (symbol != null) {
      channel.rate.noteSent(now, symbol.size());
      BulkFrames.writeSymbol(output, channel.number, symbol);
    }
    for (int over = holder.takeFinished(); over >= 0; over = holder.takeFinished()) {
      BulkFrames.writeRelease(output, channel.number, over);
    }
    return symbol != null;
  }

  /** Null where there is nothing to be written. */
  public ByteBuffer output() {
    return written == output.size ? null : ByteBuffer.wrap(output.bytes, written, output.size - written);
  }

  /** The first `count` bytes of it were written. */
  public void consume(int count) {
    written += count;
    if (written == output.size) {
      output.size = 0;
      written = 0;
    } else if (written >= OUTPUT_BYTES_MAX) {
      // A socket that never takes all would otherwise let it grow for ever.
      byte[] rest = Arrays.copyOfRange(output.bytes, written, output.size);
      System.arraycopy(rest, 0, output.bytes, 0, rest.length);
      output.size = rest.length;
      written = 0;
    }
  }

  /** When `fill` may have something without anything coming; NEVER: not before. */
  public long due() {
    long due = ClientSession.NEVER;
    for (Channel channel : channels.values()) {
      if (channel.engines.receiver != null) {
        due = Math.min(due, channel.engines.receiver.needDue());
      }
      if (channel.engines.holder != null) {
        due = Math.min(due, channel.rate.due());
      }
    }
    return due;
  }
}
