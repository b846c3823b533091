package io.spindle.bulk;

import io.spindle.codes.BlockDecoder;
import java.util.Arrays;
import java.util.List;

/**
 * What a receiver has others do: whatever takes long, or touches a file. A job owns all that it needs, so that it can
 * run on any thread; whoever runs it hands it, or its result, back to the receiver.
 */
public sealed interface ReceiverJob {
  /** Fills bytes of an array with what lies there in the content, and says whether it could. */
  interface ReadContent {
    boolean read(long start, byte[] to, int at, int count);
  }

  record HeldSymbol(int esi, byte[] bytes) {}

  /**
   * Source symbols that go to their places in the content, which need not be there for good: `Decode` asks for them.
   *
   * @param order of the block, which may begin anew meanwhile
   * @param content has others at their places in the block, or null
   * @param placed these
   */
  record Store(long order, BlockPlace place, List<HeldSymbol> symbols, byte[] content, BlockSet placed)
      implements ReceiverJob {
    long bytes() {
      return (long) (symbols.size() + placed.count()) * place.symbolBytes();
    }

    /** One that it has. */
    public int firstEsi() {
      return placed.isEmpty() ? symbols.get(0).esi() : placed.start(0);
    }
  }

  /**
   * Puts a block together.
   *
   * @param number which job of the receiver it is
   * @param stored source symbols that are at their places in the content
   * @param content has room for the block,
   * @param placed and source symbols at their places there
   */
  record Decode(long number, BlockPlace place, List<HeldSymbol> held, BlockSet stored, byte[] content, BlockSet placed)
      implements ReceiverJob {
    public Decoded run(ReadContent reading) {
      if (!readStored(reading)) {
        return new Decoded(this, Decoded.Outcome.UNREADABLE, null);
      }
      if (!putTogether() && !decode()) {
        return new Decoded(this, Decoded.Outcome.NOT_ENOUGH, null);
      }
      return new Decoded(this, Decoded.Outcome.DECODED, Sha256.hash(content, 0, place.bytes()));
    }

    /** Reads what was stored to its place. */
    private boolean readStored(ReadContent reading) {
      for (int run = 0; run < stored.runs(); run++) {
        int first = stored.start(run);
        int count = stored.end(run) - first;
        int bytes = place.bytesOf(first, count);
        int at = first * place.symbolBytes();
        Arrays.fill(content, at + bytes, at + count * place.symbolBytes(), (byte) 0);
        if (!reading.read(place.startOf(first), content, at, bytes)) {
          return false;
        }
      }
      return true;
    }

    /** Whether all source symbols are there; then those that are held are put to their places. */
    private boolean putTogether() {
      int source = stored.count() + placed.count();
      for (HeldSymbol symbol : held) {
        source += symbol.esi < place.symbols() ? 1 : 0;
      }
      if (source < place.symbols()) {
        return false;
      }
      for (HeldSymbol symbol : held) {
        if (symbol.esi < place.symbols()) {
          System.arraycopy(symbol.bytes, 0, content, symbol.esi * place.symbolBytes(), place.symbolBytes());
        }
      }
      return true;
    }

    private boolean decode() {
      BlockDecoder decoder = new BlockDecoder(place.symbols(), place.symbolBytes());
      for (BlockSet inPlace : List.of(stored, placed)) {
        for (int run = 0; run < inPlace.runs(); run++) {
          for (int esi = inPlace.start(run); esi < inPlace.end(run); esi++) {
            decoder.add(esi, content, esi * place.symbolBytes());
          }
        }
      }
      for (HeldSymbol symbol : held) {
        decoder.add(symbol.esi, symbol.bytes, 0);
      }
      return decoder.decode(content);
    }
  }

  /**
   * What has come of a job.
   *
   * @param hash of the block, where it is decoded: whether it is right is for the receiver to see
   */
  record Decoded(Decode job, Outcome outcome, byte[] hash) {
    public enum Outcome {
      DECODED,
      /** It takes more symbols. */
      NOT_ENOUGH,
      /** What was stored cannot be read. */
      UNREADABLE
    }

    public boolean isUnreadable() {
      return outcome == Outcome.UNREADABLE;
    }
  }

  /** A block that is right goes to its place: `place.bytes()` of the content. */
  record Write(long number, BlockPlace place, byte[] content) implements ReceiverJob {}
}
