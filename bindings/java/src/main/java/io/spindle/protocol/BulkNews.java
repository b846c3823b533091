package io.spindle.protocol;

import io.spindle.BulkComplete;
import io.spindle.BulkEnded;
import io.spindle.BulkGone;
import io.spindle.ChannelId;
import io.spindle.Code;
import io.spindle.Name;
import java.util.ArrayList;
import java.util.List;

/** What a daemon tells of bulk channels. */
public sealed interface BulkNews {
  int ROOT_BYTES = 32;
  int TOKEN_BYTES = 16;

  /** `request`: of the client's own offer; 0: somebody else's. `root`: null where it is not sealed yet. */
  record Offered(
      ChannelId channel, int request, boolean isLate, Name group, Name source, ContentTerms terms, byte[] root)
      implements BulkNews {}

  record Sealed(ChannelId channel, long size, byte[] root) implements BulkNews {}

  /** `isMore`: the next frame goes on with its names. */
  record Complete(BulkComplete event, boolean isMore) implements BulkNews {
    /** With the names of a further frame. */
    Complete append(Complete more) {
      BulkComplete a = event;
      BulkComplete b = more.event;
      return new Complete(
          new BulkComplete(
              b.channel(),
              joined(a.done(), b.done()),
              joined(a.failed(), b.failed()),
              joined(a.refused(), b.refused()),
              b.gone()),
          more.isMore);
    }

    private static <T> List<T> joined(List<T> a, List<T> b) {
      List<T> all = new ArrayList<>(a);
      all.addAll(b);
      return List.copyOf(all);
    }
  }

  record Ended(ChannelId channel, BulkEnded.Cause why) implements BulkNews {}

  record Token(int request, long session, byte[] token) implements BulkNews {}

  record Returned(ChannelId channel, BulkGone gone, long present) implements BulkNews {}

  static boolean is(int type) {
    return type >= Frames.BULK_OFFERED && type <= Frames.BULK_RETURNED;
  }

  /** Null where it does not parse. */
  static BulkNews read(int type, ByteReader reader) {
    BulkNews news =
        switch (type) {
          case Frames.BULK_OFFERED -> offered(reader);
          case Frames.BULK_SEALED -> new Sealed(
              Channels.read(reader),
              reader.varintUpTo(ContentLayout.CONTENT_BYTES_MAX),
              reader.bytes(ROOT_BYTES));
          case Frames.BULK_COMPLETE -> complete(reader);
          case Frames.BULK_ENDED -> ended(reader);
          case Frames.BULK_TOKEN -> new Token(reader.varint32(), reader.u64(), reader.bytes(TOKEN_BYTES));
          default -> returned(reader);
        };
    return reader.isDone() ? news : null;
  }

  private static Offered offered(ByteReader reader) {
    final ChannelId channel = Channels.read(reader);
    final int request = reader.varint32();
    final int flags = reader.u8(); // bit 0: late, 1: complete, 2: sealed
    Name group = reader.group();
    Name source = reader.privateName();
    ContentTerms terms = ContentTerms.read(reader);
    byte[] root = (flags & 4) != 0 ? reader.bytes(ROOT_BYTES) : null;
    // Only what is whole has a root, and only that is ever complete.
    if (flags > 7 || (root != null ? !terms.layout().hasSize() : (flags & 2) != 0)) {
      reader.fail();
    }
    return new Offered(channel, request, (flags & 1) != 0, group, source, terms, root);
  }

  private static BulkGone gone(ByteReader reader) {
    return new BulkGone(reader.varint(), reader.varint(), reader.varint(), reader.varint());
  }

  private static Complete complete(ByteReader reader) {
    final ChannelId channel = Channels.read(reader);
    final int flags = reader.u8(); // bit 0: more
    if (flags > 1) {
      reader.fail();
    }
    // Its place in the order.
    reader.varint();
    int size = reader.u8();
    int at = reader.skip(size);
    if (!reader.isOk() || !Names.isDaemon(reader.bytes, at, at + size)) {
      reader.fail();
    }
    reader.u64();
    reader.varint();
    final BulkGone gone = gone(reader);
    List<Name> done = new ArrayList<>();
    List<BulkComplete.Failed> failed = new ArrayList<>();
    List<Name> refused = new ArrayList<>();
    long left = reader.varint();
    int last = BulkRequest.Outcome.DONE.ordinal();
    for (; left != 0 && reader.isOk(); left--) {
      int outcome = reader.u8();
      if (outcome < last || outcome > BulkRequest.Outcome.REFUSED.ordinal()) {
        reader.fail();
      }
      last = outcome;
      int code = outcome == BulkRequest.Outcome.FAILED.ordinal() ? reader.u16() : 0;
      Name name = reader.privateName();
      if (outcome == BulkRequest.Outcome.DONE.ordinal()) {
        done.add(name);
      } else if (outcome == BulkRequest.Outcome.FAILED.ordinal()) {
        failed.add(new BulkComplete.Failed(name, Code.of(code)));
      } else {
        refused.add(name);
      }
    }
    boolean isMore = (flags & 1) != 0;
    return new Complete(
        new BulkComplete(channel, List.copyOf(done), List.copyOf(failed), List.copyOf(refused), gone), isMore);
  }

  private static Ended ended(ByteReader reader) {
    ChannelId channel = Channels.read(reader);
    int why = reader.u8();
    if (why < 1 || why > 4) {
      reader.fail();
    }
    return reader.isOk() ? new Ended(channel, BulkEnded.Cause.values()[why - 1]) : null;
  }

  private static Returned returned(ByteReader reader) {
    ChannelId channel = Channels.read(reader);
    BulkGone gone = gone(reader);
    return new Returned(channel, gone, reader.varintUpTo(gone.missing()));
  }
}
