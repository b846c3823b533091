package io.spindle.protocol;

/**
 * What a session is made with. Times are nanoseconds.
 *
 * @param name empty: the daemon chooses
 * @param isIndependent whether each set of destinations is a flow of its own
 * @param slowPolicy its number on the wire
 * @param servers how many there are
 * @param connectTimeout how long a server may take to welcome the client
 * @param reconnectTimeout how long a client that has lost its connection tries to get another one; 0: the loss is the
 *     end
 * @param mayResume whether it asks for a session that can be resumed
 * @param keepalive how often it makes sure that the daemon is there, and shows that itself is; 0: never
 * @param wantsChannels whether it is to hear of bulk channels
 * @param seed of what it draws
 */
public record SessionOptions(
    String name,
    boolean isIndependent,
    int slowPolicy,
    int servers,
    long connectTimeout,
    long reconnectTimeout,
    boolean mayResume,
    long keepalive,
    boolean wantsChannels,
    long seed) {}
