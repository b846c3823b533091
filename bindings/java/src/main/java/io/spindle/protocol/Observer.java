package io.spindle.protocol;

import io.spindle.Answers;
import io.spindle.Code;
import io.spindle.RequestFailed;

/** Told of what becomes of requests, for callers that wait for one of them. It is called within `settle`. */
public interface Observer {
  /** The daemon has refused the request of that number. Whether the caller takes that: it is no event then. */
  boolean refused(int request, RequestFailed failed);

  void confirmed(int request);

  /** `ask` of that number has ended; the error is null where all answers are there. */
  void answered(long number, Code error, Answers answers);
}
