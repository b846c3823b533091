package io.spindle.bulk;

import io.spindle.codes.BlockEncoder;
import io.spindle.codes.EncodingPlan;
import java.util.Arrays;

/**
 * Gets a block, for whoever runs it: a file, and the encoder.
 *
 * @param content all source symbols, the last one filled up; null: it is to be read
 * @param right what is read has to have this hash; null: any
 */
public record LoadJob(
    long number, BlockPlace place, byte[] content, boolean wantsHash, boolean wantsEncoder, byte[] right) {
  /**
   * What has come of it.
   *
   * @param isGood otherwise it could not be read, or has the wrong hash
   * @param content null where it is not good
   * @param hash where it is wanted
   * @param crcs of its source symbols, where the content was read; otherwise null
   * @param encoder where it is wanted
   */
  public record Loaded(LoadJob job, boolean isGood, byte[] content, byte[] hash, int[] crcs, BlockEncoder encoder) {}

  /** On any thread. */
  public Loaded run(ReceiverJob.ReadContent reading) {
    byte[] block = content;
    int[] crcs = null;
    byte[] hash = null;
    if (block == null) {
      block = new byte[place.wholeBytes()];
      boolean isGood = reading.read(place.start(), block, 0, place.bytes());
      if (isGood && (right != null || wantsHash)) {
        hash = Sha256.hash(block, 0, place.bytes());
      }
      if (!isGood || (right != null && !Arrays.equals(hash, right))) {
        return new Loaded(this, false, null, null, null, null);
      }
      crcs = new int[place.symbols()];
      for (int esi = 0; esi < crcs.length; esi++) {
        crcs[esi] = BulkFrames.crc(block, esi * place.symbolBytes(), place.symbolBytes());
      }
    }
    if (wantsHash && hash == null) {
      hash = Sha256.hash(block, 0, place.bytes());
    }
    BlockEncoder encoder = null;
    if (wantsEncoder) {
      encoder = new BlockEncoder(EncodingPlan.of(place.symbols()), block, place.symbolBytes());
    }
    return new Loaded(this, true, block, hash, crcs, encoder);
  }
}
