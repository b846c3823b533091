package io.spindle.net;

import io.spindle.BulkSource;
import io.spindle.ChannelId;
import io.spindle.Code;
import io.spindle.ContentKind;
import io.spindle.OfferOptions;
import io.spindle.bulk.BlockIndex;
import io.spindle.protocol.ContentLayout;
import io.spindle.protocol.ContentTerms;
import io.spindle.store.BulkStore;
import io.spindle.store.KeptHashes;
import io.spindle.store.SourceBytes;
import io.spindle.store.SourceDirectory;
import io.spindle.store.SourceFile;
import io.spindle.store.StoreException;
import io.spindle.store.StreamSource;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;

/** What a content that is offered is read from, and what is known of it: opened by a worker, which may take its time. */
final class OpenedSource {
  private final Path hashDirectory; // null: no hashes are kept
  private BulkStore store;
  private StreamSource stream;
  private KeptHashes hashes;
  private BlockIndex known;

  OpenedSource(Path hashDirectory) {
    this.hashDirectory = hashDirectory;
  }

  /** Once. Where it fails `close` is to be called all the same. */
  ContentTerms open(BulkSource source, OfferOptions how) throws StoreException {
    checkName(source.name());
    Instant began = Instant.now();
    String name = source.name();
    ContentKind kind = ContentKind.FILE;
    long size;
    if (source instanceof BulkSource.Stream given) {
      stream = StreamSource.open(given.content(), given.spool());
      store = stream;
      size = ContentLayout.SIZE_UNKNOWN;
    } else if (source instanceof BulkSource.Bytes bytes) {
      store = new SourceBytes(bytes.content());
      size = bytes.content().length;
      kind = ContentKind.BYTES;
    } else if (source instanceof BulkSource.Directory directory) {
      SourceDirectory opened = SourceDirectory.open(directory.path(), directory.leftOut());
      store = opened;
      size = opened.size();
      kind = ContentKind.DIRECTORY;
      name = name.isEmpty() ? opened.name() : name;
    } else {
      Path path = ((BulkSource.File) source).path();
      SourceFile opened = SourceFile.open(path);
      store = opened;
      size = opened.size();
      name = name.isEmpty() ? path.getFileName().toString() : name;
    }
    checkName(name);
    ContentLayout layout = ContentLayout.of(size);
    if (layout == null) {
      throw new StoreException(Code.LIMIT_EXCEEDED, "the content is too large");
    }
    hashes = KeptHashes.of(store, layout, hashDirectory, began);
    known = hashes == null ? null : hashes.load();
    int linger = (int) Math.min(how.linger().toSeconds(), 0xffffffffL);
    return new ContentTerms(name, layout, kind, how.bytesPerSecond(), how.weight(), linger);
  }

  private static void checkName(String name) throws StoreException {
    boolean canBe =
        StandardCharsets.UTF_8.newEncoder().canEncode(name)
            && name.getBytes(StandardCharsets.UTF_8).length <= ContentTerms.NAME_BYTES_MAX;
    if (!canBe) {
      throw new StoreException(Code.BAD_ARGUMENT, "the name of a content is UTF-8 of up to 255 bytes");
    }
  }

  /** What is offered by a channel that there is now, which closes it later. */
  SourceTransfer.Offer offer(ChannelId channel, ContentTerms terms) {
    return new SourceTransfer.Offer(channel, terms.layout(), store, terms.bytesPerSecond(), stream, hashes, known);
  }

  /** There is no channel. */
  void close() {
    if (store != null) {
      store.close();
    }
  }
}
