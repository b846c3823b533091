package io.spindle;

import java.nio.file.Path;
import java.util.Optional;

/**
 * A content that was accepted is here, whole and right, or cannot be received. Comes once for each {@link Bulk#accept},
 * unless {@link BulkEnded} comes first.
 *
 * @param channel which
 * @param code empty: it is here; others are told why not, too
 * @param text says more of the code, for people
 * @param path of the file or directory, where it went into one
 * @param content where it was received in memory; otherwise empty
 */
public record BulkReceived(ChannelId channel, Optional<Code> code, String text, Optional<Path> path, byte[] content)
    implements BulkEvent {}
