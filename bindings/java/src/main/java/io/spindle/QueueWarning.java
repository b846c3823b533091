package io.spindle;

/**
 * The daemon holds more and more for this client: the queue has passed 50 or 80 percent of the limit at which the client
 * loses messages or its connection. Overtakes whatever waits in that queue.
 *
 * @param percent 50 or 80
 * @param bytes that waited in the daemon
 * @param limitBytes of the daemon's configuration
 */
public record QueueWarning(int percent, long bytes, long limitBytes) implements Event {}
