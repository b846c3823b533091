package io.spindle.bulk;

import io.spindle.protocol.ByteReader;
import io.spindle.protocol.ContentLayout;
import io.spindle.protocol.Output;

/**
 * What a receiver keeps in a file beside its content, so that it goes on after a restart with what it has. The form is
 * that of C++: who is started again may be in another language.
 *
 * @param root null where the content is not sealed
 * @param written blocks that are at their places, and right by their hashes
 * @param index has the hash of each that is written
 */
public record ResumeState(ContentLayout layout, byte[] root, BlockSet written, BlockIndex index) {
  private static final int VERSION = 1;
  private static final int CRC_BYTES = 4;

  /**
   * u8 version, the layout, u8 whether there is a root, the root, the blocks that are written, those whose hashes are
   * known, their hashes in that order, and the CRC-32C of all that as a u32.
   */
  public byte[] encode() {
    BlockSet known = index.known();
    Output out = new Output(new byte[64 + known.count() * Sha256.BYTES]);
    out.u8(VERSION);
    layout.write(out);
    out.u8(root != null ? 1 : 0);
    if (root != null) {
      out.bytes(root);
    }
    written.write(out);
    known.write(out);
    for (int run = 0; run < known.runs(); run++) {
      out.bytes(index.hashesFrom(known.start(run), known.end(run) - known.start(run)));
    }
    out.u32(BulkFrames.crc(out.bytes, 0, out.size));
    return out.toBytes();
  }

  /** Null where the bytes are not those of a state, as a file has that was not written to its end. */
  public static ResumeState decode(byte[] bytes, int from) {
    int end = bytes.length - CRC_BYTES;
    if (end < from || new ByteReader(bytes, end, bytes.length).u32() != BulkFrames.crc(bytes, from, end - from)) {
      return null;
    }
    ByteReader reader = new ByteReader(bytes, from, end);
    if (reader.u8() != VERSION) {
      return null;
    }
    ContentLayout layout = ContentLayout.read(reader);
    int hasRoot = reader.u8();
    if (hasRoot > 1) {
      return null;
    }
    byte[] root = hasRoot == 1 ? reader.bytes(Sha256.BYTES) : null;
    BlockSet written = BlockSet.read(reader);
    BlockSet known = BlockSet.read(reader);
    if (!reader.isOk()
        || !known.containsAll(written)
        || known.end() > layout.blocks()
        || reader.remaining() != known.count() * Sha256.BYTES) {
      return null;
    }
    BlockIndex index = new BlockIndex();
    for (int run = 0; run < known.runs(); run++) {
      for (int block = known.start(run); block < known.end(run); block++) {
        index.set(block, bytes, reader.skip(Sha256.BYTES));
      }
    }
    return reader.isDone() ? new ResumeState(layout, root, written, index) : null;
  }
}
