package io.spindle;

import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;

/**
 * Bulk channels: large contents from one client to the members of a group. {@link Connection#bulk} gives it, where the
 * connection was made with {@link ConnectOptions#withBulk()}. What becomes of contents are events of that connection:
 * {@link BulkEvent}.
 *
 * <p>The content goes over a second connection to the daemon, of the same kind, which is made when it is needed first,
 * and again where it is lost. A thread reads and writes it, and workers do what takes long. In memory is a bounded part
 * of each content: some blocks of 8 MiB of one that is sent, and at most some 110 MiB of one that is received.
 *
 * <p>All functions may be called by several threads at once, and in the connection's thread. Futures end in that
 * thread.
 */
public interface Bulk {
  /**
   * Offers a content to the members of a group. The client itself need not be a member, and gets no {@link BulkOffered}
   * of its own. What follows are {@link BulkProgress}, {@link BulkComplete} and {@link BulkEnded}. What is sent once
   * the future has ended stands behind the offer; a future that is cancelled takes the offer back.
   *
   * @param group 1 to 255 bytes, not starting with '#'
   * @param source what
   * @param options how
   * @return ends when the daemon has taken the offer; otherwise with FILE_FAILED, BAD_GROUP_NAME, BAD_ARGUMENT for a
   *     name or weight that cannot be, BAD_CONTENT_NAME, LIMIT_EXCEEDED, TOO_MANY_CHANNELS, ACCESS_DENIED,
   *     NOT_CONNECTED, CONNECTION_LOST or TIMED_OUT
   */
  CompletableFuture<ChannelId> offer(Name group, BulkSource source, OfferOptions options);

  /**
   * Offers a content.
   *
   * @param group 1 to 255 bytes, not starting with '#'
   * @param source what
   * @return the channel
   * @see #offer(Name, BulkSource, OfferOptions)
   */
  default CompletableFuture<ChannelId> offer(String group, BulkSource source) {
    return offer(Name.of(group), source, OfferOptions.DEFAULT);
  }

  /**
   * Offers a file, by the last part of its path.
   *
   * @param group 1 to 255 bytes, not starting with '#'
   * @param path where it is
   * @return the channel
   * @see #offer(Name, BulkSource, OfferOptions)
   */
  default CompletableFuture<ChannelId> offerFile(String group, Path path) {
    return offer(group, BulkSource.file(path));
  }

  /**
   * Receives what was offered. Where there is no room from the beginning it says NO_SPACE at once. Where there is none
   * later this client asks for nothing, tries every 5 s for 10 minutes, and says so then; the part stays.
   *
   * @param channel of a {@link BulkOffered}
   * @param sink where it goes
   * @param options how
   * @return ends with the {@link BulkReceived} that is an event, too, when the content is here; with its code where it
   *     cannot be received, UNKNOWN_CHANNEL where the channel ends before, and NOT_CONNECTED where the connection does.
   *     To cancel it changes nothing else
   * @throws SpindleException UNKNOWN_CHANNEL; BAD_ARGUMENT for what this client offers itself, or has accepted or
   *     refused already; BAD_CONTENT_NAME and LIMIT_EXCEEDED as the sink says, after which the channel may be accepted
   *     otherwise, or refused; NOT_CONNECTED
   */
  CompletableFuture<BulkReceived> accept(ChannelId channel, BulkSink sink, AcceptOptions options);

  /**
   * Receives what was offered.
   *
   * @param channel of a {@link BulkOffered}
   * @param sink where it goes
   * @return what has come of it
   * @see #accept(ChannelId, BulkSink, AcceptOptions)
   */
  default CompletableFuture<BulkReceived> accept(ChannelId channel, BulkSink sink) {
    return accept(channel, sink, AcceptOptions.DEFAULT);
  }

  /**
   * Receives what was offered into a directory, by the name that the source has offered.
   *
   * @param channel of a {@link BulkOffered}
   * @param directory which is there
   * @return what has come of it
   * @see #accept(ChannelId, BulkSink, AcceptOptions)
   */
  default CompletableFuture<BulkReceived> receiveTo(ChannelId channel, Path directory) {
    return accept(channel, BulkSink.directory(directory));
  }

  /**
   * Tells all that this client will not receive it. Who neither accepts nor refuses is waited for.
   *
   * @param channel of a {@link BulkOffered}
   * @throws SpindleException UNKNOWN_CHANNEL, BAD_ARGUMENT as for accept, NOT_CONNECTED
   */
  void refuse(ChannelId channel);

  /**
   * Ends a channel that this client has offered.
   *
   * @param channel its own
   * @throws SpindleException UNKNOWN_CHANNEL, BAD_ARGUMENT for somebody else's, NOT_CONNECTED
   */
  void cancel(ChannelId channel);

  /**
   * Changes {@link OfferOptions#bytesPerSecond}.
   *
   * @param channel its own
   * @param bytesPerSecond 0: as much as goes
   * @throws SpindleException as of cancel
   */
  void setRate(ChannelId channel, long bytesPerSecond);
}
