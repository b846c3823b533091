package io.spindle;

import java.util.List;

/**
 * The connection was lost, and the program is connected again. Stands between what came before and what comes after.
 *
 * <p>Where the session was resumed nothing was lost or doubled either way, and the client was a member of its groups all
 * the while. Otherwise this is a new session: what was delivered to the groups in between is lost here; the groups of
 * before are being joined again, and their views follow; and messages that the former daemon cannot have got are sent
 * now. Those that it may have let in or not are named: they are not sent again.
 *
 * @param resumed whether it is the same session
 * @param formerName the private name of before
 * @param privateName now
 * @param unknown {@link SendOptions#ticket} of each message that may have been sent or not
 * @param fenced new session: what is sent now enters the network only when each group that is joined again has a view
 *     without the former name
 */
public record Reconnected(boolean resumed, Name formerName, Name privateName, List<Long> unknown, boolean fenced)
    implements Event {}
