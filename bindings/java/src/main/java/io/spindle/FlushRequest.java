package io.spindle;

/**
 * The members of a synchronous group have changed, and this client is to make way for the view that says so: it sends
 * what it still has to send in the last view, and then calls {@link Connection#flushOk}. Who does not answer in time
 * leaves the group, and is told so by {@link RequestFailed} with FLUSH_TIMEOUT.
 *
 * @param group the group
 * @param number tells it from the connection's other ones, and grows
 */
public record FlushRequest(Name group, long number) implements Event {}
