package io.spindle;

/**
 * The connection has ended: the last event, and there is exactly one.
 *
 * @param code why
 * @param text in words; where the daemon closed the connection, in its words
 * @param notTaken what has not entered the network
 */
public record Disconnected(Code code, String text, NotTaken notTaken) implements Event {}
