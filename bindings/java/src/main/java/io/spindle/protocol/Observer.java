package io.spindle.protocol;

import io.spindle.Answers;
import io.spindle.Code;
import io.spindle.Event;
import io.spindle.Name;
import io.spindle.RequestFailed;
import java.util.List;

/** Told of what becomes of requests, for callers that wait for one of them. It is called within `settle`. */
public interface Observer {
  /** The daemon has refused the request of that number. Whether the caller takes that: it is no event then. */
  boolean refused(int request, RequestFailed failed);

  /** A join is refused for which there was a good reply before. Whether the caller takes that, likewise. */
  default boolean joinRefused(RequestFailed failed) {
    return false;
  }

  void confirmed(int request);

  /** `ask` of that number has ended; the error is null where all answers are there. */
  void answered(long number, Code error, Answers answers);

  /** What was asked of bulk channels under that number is on its way; with an error it is refused. */
  default void channelAnswered(int request, Code error) {}

  /** What the program is to be given in the place of the news, or null. `before`: the index of the event behind it. */
  default Event channelNews(BulkNews news, int before) {
    return null;
  }

  /** The client is no member of the group any more, and has been told so. What is given stands behind that. */
  default List<Event> channelsLeft(Name group) {
    return List.of();
  }

  /** There is a new session: what was asked of channels in the former one is not answered any more. */
  default void sessionBeganAnew() {}

  /** Disconnected is the last event. */
  default void sessionEnded() {}
}
