package io.spindle;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Flow;
import java.util.function.Consumer;

/**
 * The connection of a program to its Spindle daemon: {@link Spindle#connect} makes it. It has one thread of its own for
 * reading and writing. All functions may be called by any number of threads, virtual ones among them, at once.
 *
 * <p>What fails is thrown as {@link SpindleException}, or ends a future with it. A call that waits ends with CANCELLED
 * where its thread is interrupted, whose interrupt status stays set; what it waited for has not happened then, but for
 * events, of which none is lost. A future that is cancelled is waited for no longer.
 *
 * <p>What depends on a future without an executor of its own runs in the connection's thread: it should be brief, and
 * calls that wait throw WOULD_BLOCK there.
 */
public interface Connection extends AutoCloseable, Iterable<Event> {
  /**
   * "#name#daemon": others can multicast to it. It may change where a new session begins.
   *
   * @return the private name
   */
  Name privateName();

  /**
   * Whether requests can be made: neither side has ended the connection.
   *
   * @return whether it is open
   */
  boolean isOpen();

  // Groups.

  /**
   * Joins a group. The future ends with the view that shows it, or with what the daemon refuses it with. That view is
   * an event, too, in its place. Where the future is not waited for any more, in time or at all, the request stands,
   * and what comes of it is an event.
   *
   * @param group 1 to 255 bytes, not starting with '#'
   * @param options how
   * @return the view
   */
  CompletableFuture<GroupView> join(Name group, JoinOptions options);

  /**
   * Joins a group.
   *
   * @param group 1 to 255 bytes, not starting with '#'
   * @return the view
   * @see #join(Name, JoinOptions)
   */
  default CompletableFuture<GroupView> join(Name group) {
    return join(group, JoinOptions.DEFAULT);
  }

  /**
   * Joins a group.
   *
   * @param group 1 to 255 bytes, not starting with '#'
   * @param options how
   * @return the view
   * @see #join(Name, JoinOptions)
   */
  default CompletableFuture<GroupView> join(String group, JoinOptions options) {
    return join(Name.of(group), options);
  }

  /**
   * Joins a group.
   *
   * @param group 1 to 255 bytes, not starting with '#'
   * @return the view
   * @see #join(Name, JoinOptions)
   */
  default CompletableFuture<GroupView> join(String group) {
    return join(Name.of(group), JoinOptions.DEFAULT);
  }

  /**
   * Asks to join, and waits for nothing but room to ask. {@link GroupView}, or {@link RequestFailed}, is an event.
   *
   * @param group 1 to 255 bytes, not starting with '#'
   * @param options how; the timeout has no meaning
   * @throws SpindleException BAD_GROUP_NAME, NOT_CONNECTED, TIMED_OUT
   */
  void requestJoin(Name group, JoinOptions options);

  /**
   * Asks to leave. The last view of the group, of form FAREWELL, is an event.
   *
   * @param group the group
   * @throws SpindleException BAD_GROUP_NAME, NOT_CONNECTED, TIMED_OUT
   */
  void leave(Name group);

  /**
   * Asks to leave.
   *
   * @param group the group
   * @see #leave(Name)
   */
  default void leave(String group) {
    leave(Name.of(group));
  }

  /**
   * Asks for all members of a group that this client is in: {@link GroupView} of form ANSWER.
   *
   * @param group the group
   * @throws SpindleException BAD_GROUP_NAME, NOT_CONNECTED, TIMED_OUT
   */
  void requestView(Name group);

  /**
   * Asks for all members of a group.
   *
   * @param group the group
   * @see #requestView(Name)
   */
  default void requestView(String group) {
    requestView(Name.of(group));
  }

  /**
   * Asks how the flow to these destinations fares: {@link FlowState}.
   *
   * @param groups the destinations
   * @throws SpindleException TOO_MANY_GROUPS, BAD_GROUP_NAME, NOT_CONNECTED, TIMED_OUT
   */
  void requestFlow(Destinations groups);

  /**
   * Answers a request to flush a synchronous group: from here to the next view of the group this client sends nothing
   * to it. {@link #multicast} waits for that view then. Where the request is over nothing happens.
   *
   * @param request that has been received
   * @throws SpindleException BAD_ARGUMENT for what is none of this connection, NOT_CONNECTED
   */
  void flushOk(FlushRequest request);

  // Sending.

  /**
   * Sends a message of up to 16 MiB, headers included; the client need not be a member. Waits while the send buffer is
   * full, with independent flows also while the flow is. A thread's messages enter the network in the order of its
   * calls, with independent flows those to the same destinations do.
   *
   * @param service what is promised for it
   * @param groups where it goes
   * @param payload is copied
   * @param options how
   * @throws SpindleException MESSAGE_TOO_LARGE, TOO_MANY_GROUPS, BAD_GROUP_NAME, BAD_ARGUMENT, BAD_HEADERS,
   *     NOT_CONNECTED, TIMED_OUT, CANCELLED
   */
  void multicast(Service service, Destinations groups, byte[] payload, SendOptions options);

  /**
   * Sends a message.
   *
   * @param service what is promised for it
   * @param groups where it goes
   * @param payload is copied
   * @see #multicast(Service, Destinations, byte[], SendOptions)
   */
  default void multicast(Service service, Destinations groups, byte[] payload) {
    multicast(service, groups, payload, SendOptions.DEFAULT);
  }

  /**
   * Sends a message to one group, or to one client.
   *
   * @param service what is promised for it
   * @param group where it goes
   * @param payload is copied
   * @see #multicast(Service, Destinations, byte[], SendOptions)
   */
  default void multicast(Service service, Name group, byte[] payload) {
    multicast(service, Destinations.of(group), payload, SendOptions.DEFAULT);
  }

  /**
   * Sends a message to one group, or to one client.
   *
   * @param service what is promised for it
   * @param group where it goes
   * @param payload is copied
   * @see #multicast(Service, Destinations, byte[], SendOptions)
   */
  default void multicast(Service service, String group, byte[] payload) {
    multicast(service, Destinations.of(group), payload, SendOptions.DEFAULT);
  }

  /**
   * Sends what a buffer has from its position to its limit, which stay where they are.
   *
   * @param service what is promised for it
   * @param groups where it goes
   * @param payload is copied
   * @param options how
   * @see #multicast(Service, Destinations, byte[], SendOptions)
   */
  void multicast(Service service, Destinations groups, ByteBuffer payload, SendOptions options);

  /**
   * The same without waiting. With independent flows one flow may have no room while another goes on.
   *
   * @param service what is promised for it
   * @param groups where it goes
   * @param payload is copied
   * @param options how
   * @return false where there is no room, and nothing was sent: {@link #writable} waits for some; with independent
   *     flows {@link FlowReady} comes, too
   * @throws SpindleException as of multicast, and FLUSHING where {@link #flushOk} says so
   */
  boolean tryMulticast(Service service, Destinations groups, byte[] payload, SendOptions options);

  /**
   * Sends a message where there is room.
   *
   * @param service what is promised for it
   * @param groups where it goes
   * @param payload is copied
   * @return false where there is no room
   * @see #tryMulticast(Service, Destinations, byte[], SendOptions)
   */
  default boolean tryMulticast(Service service, Destinations groups, byte[] payload) {
    return tryMulticast(service, groups, payload, SendOptions.DEFAULT);
  }

  /**
   * Sends a message where there is room.
   *
   * @param service what is promised for it
   * @param group where it goes
   * @param payload is copied
   * @return false where there is no room
   * @see #tryMulticast(Service, Destinations, byte[], SendOptions)
   */
  default boolean tryMulticast(Service service, String group, byte[] payload) {
    return tryMulticast(service, Destinations.of(group), payload, SendOptions.DEFAULT);
  }

  /**
   * Sends what a buffer has from its position to its limit, where there is room.
   *
   * @param service what is promised for it
   * @param groups where it goes
   * @param payload is copied; its position and its limit stay where they are
   * @param options how
   * @return false where there is no room
   * @see #tryMulticast(Service, Destinations, byte[], SendOptions)
   */
  boolean tryMulticast(Service service, Destinations groups, ByteBuffer payload, SendOptions options);

  /**
   * Sends a message as soon as there is room, in the order of calls. The future ends when the library has taken it. One
   * that is cancelled before has sent nothing. As much may wait as the send buffer has bytes: beyond that the future ends
   * with WOULD_BLOCK at once, and {@link #writable} says when to go on.
   *
   * @param service what is promised for it
   * @param groups where it goes
   * @param payload is not copied before the future has ended
   * @param options how
   * @return ends as multicast does
   */
  CompletableFuture<Void> multicastAsync(Service service, Destinations groups, byte[] payload, SendOptions options);

  /**
   * Sends a message as soon as there is room.
   *
   * @param service what is promised for it
   * @param group where it goes
   * @param payload is not copied before the future has ended
   * @return ends as multicast does
   * @see #multicastAsync(Service, Destinations, byte[], SendOptions)
   */
  default CompletableFuture<Void> multicastAsync(Service service, String group, byte[] payload) {
    return multicastAsync(service, Destinations.of(group), payload, SendOptions.DEFAULT);
  }

  /**
   * Ends when it is worth trying to send to these destinations, where there was no room or tryMulticast said FLUSHING.
   *
   * @param groups where a message is to go
   * @param timeout bounds waiting
   * @return ends with NOT_CONNECTED or TIMED_OUT otherwise
   */
  CompletableFuture<Void> writable(Destinations groups, Duration timeout);

  /**
   * Ends once the network has taken all messages that were sent before, or where some of these become unknown
   * ({@link Reconnected}).
   *
   * @param timeout bounds waiting
   * @return ends with {@link NotTakenException} where it has not
   */
  CompletableFuture<Void> confirm(Duration timeout);

  /**
   * Sends a request, as soon as there is room, as {@link #multicastAsync} does. The future ends with as many answers as the options say; no answer is an
   * event.
   *
   * @param groups where it goes
   * @param payload of the request
   * @param options how, and what is waited for
   * @return ends with {@link RequestException}, TIMED_OUT or CONNECTION_LOST, where fewer have come, and with
   *     NOT_A_MEMBER where all members were asked and the client is none
   */
  CompletableFuture<Answers> request(Destinations groups, byte[] payload, RequestOptions options);

  /**
   * Sends a request for one answer.
   *
   * @param group where it goes
   * @param payload of the request
   * @param timeout bounds waiting
   * @return the answer
   * @see #request(Destinations, byte[], RequestOptions)
   */
  default CompletableFuture<Answers> request(String group, byte[] payload, Duration timeout) {
    return request(Destinations.of(group), payload, RequestOptions.DEFAULT.withTimeout(timeout));
  }

  /**
   * Answers a request, to its sender alone, in the service fifo. Each receiver's first answer counts. Waits as
   * multicast.
   *
   * @param request for which {@link Message#isRequest} holds
   * @param payload is copied
   * @param options how
   * @throws SpindleException as of multicast, and BAD_ARGUMENT for a message that is no request
   */
  void reply(Message request, byte[] payload, SendOptions options);

  /**
   * Answers a request.
   *
   * @param request for which {@link Message#isRequest} holds
   * @param payload is copied
   * @see #reply(Message, byte[], SendOptions)
   */
  default void reply(Message request, byte[] payload) {
    reply(request, payload, SendOptions.DEFAULT);
  }

  // Feeds.

  /**
   * Opens a feed to a group that this client may send to. The client itself need not be a member.
   *
   * @param group the group
   * @param options how
   * @return ends with BAD_GROUP_NAME, BAD_ARGUMENT, ACCESS_DENIED, TOO_MANY_FEEDS, NOT_CONNECTED, TIMED_OUT otherwise
   */
  CompletableFuture<Feed> openFeed(Name group, FeedOptions options);

  /**
   * Opens a feed.
   *
   * @param group the group
   * @return the feed
   * @see #openFeed(Name, FeedOptions)
   */
  default CompletableFuture<Feed> openFeed(String group) {
    return openFeed(Name.of(group), FeedOptions.DEFAULT);
  }

  /**
   * Has this client hear the feeds of a group, those that are open and those that will be, as long as it is a member:
   * joining is another matter. Waits for nothing; where the daemon refuses {@link RequestFailed} says so. Somebody has
   * to receive events, or the oldest packets are dropped.
   *
   * @param group the group
   * @param options how
   * @throws SpindleException BAD_GROUP_NAME, BAD_ARGUMENT, NOT_CONNECTED
   */
  void listen(Name group, ListenOptions options);

  /**
   * Has this client hear the feeds of a group.
   *
   * @param group the group
   * @see #listen(Name, ListenOptions)
   */
  default void listen(String group) {
    listen(Name.of(group), ListenOptions.DEFAULT);
  }

  /**
   * Nothing more is told of the feeds of that group.
   *
   * @param group the group
   * @throws SpindleException BAD_GROUP_NAME, NOT_CONNECTED
   */
  void stopListening(Name group);

  /**
   * The bulk channels of this connection, which has to be made with {@link ConnectOptions#withBulk()}.
   *
   * @return by which contents are offered and received
   * @throws SpindleException BAD_ARGUMENT where it was made without
   */
  Bulk bulk();

  // Events. Each goes to one who asks.

  /**
   * Waits for the next event.
   *
   * @return the event
   * @throws SpindleException NOT_CONNECTED once {@link Disconnected}, the last event, has been given; CANCELLED
   */
  Event receive();

  /**
   * Waits for the next event for a time.
   *
   * @param timeout bounds waiting; zero does not wait
   * @return null where none has come in time
   * @throws SpindleException as the other form
   */
  Event receive(Duration timeout);

  /**
   * All events up to {@link Disconnected}, the last one, as {@link #receive()} gives them.
   *
   * @return has one more where Disconnected has not been given
   */
  @Override
  default Iterator<Event> iterator() {
    return new Iterator<>() {
      private Event next;
      private boolean isOver;

      @Override
      public boolean hasNext() {
        if (next == null && !isOver) {
          try {
            next = receive();
          } catch (SpindleException end) {
            if (end.code() != Code.NOT_CONNECTED) {
              throw end;
            }
            isOver = true;
          }
        }
        return next != null;
      }

      @Override
      public Event next() {
        if (!hasNext()) {
          throw new NoSuchElementException();
        }
        Event given = next;
        next = null;
        return given;
      }
    };
  }

  /**
   * The events for a subscriber, which says with {@code request(n)} how many it takes: what it does not ask for waits
   * as events that nobody receives do, and holds up the daemon in the end. It is called by {@link
   * ConnectOptions#executor}, by one thread at a time; {@code onComplete} follows {@link Disconnected}. Where the
   * executor refuses to run it the connection's thread calls {@code onError} with what the executor has thrown. There is
   * one subscriber at a time: once it has cancelled, or has ended, there can be another.
   *
   * @return a publisher of this connection's events
   */
  Flow.Publisher<Event> events();

  /**
   * Has a handler called with each event, as a subscriber of {@link #events} that asks for all: by
   * {@link ConnectOptions#executor}, one at a time. A handler that throws is called no more, nor is one that the executor
   * refuses to run.
   *
   * @param handler is given the events
   * @return {@code cancel()} ends it
   * @throws IllegalStateException where there is a subscriber
   */
  Flow.Subscription onEvent(Consumer<? super Event> handler);

  // The end.

  /**
   * Ends the connection: what was sent before is written, the daemon is told, and its last word awaited, for
   * {@link ConnectOptions#disconnectTimeout} at most. Events that came before can be received, and then Disconnected.
   *
   * @return how many messages did not enter the network
   */
  NotTaken disconnect();

  /**
   * Goes without losing anything: leaves all groups, waits for their last views, and disconnects once the network has
   * taken all that was sent. A thread that is interrupted disconnects at once.
   *
   * @param timeout bounds all of it
   * @return how many messages did not enter the network
   */
  NotTaken drain(Duration timeout);

  /** As {@link #disconnect}. */
  @Override
  void close();
}
