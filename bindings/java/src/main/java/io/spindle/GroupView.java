package io.spindle;

import java.util.List;
import java.util.OptionalInt;

/**
 * The members of a group have changed, or, with form ANSWER, are told again. Every member sees a change between the same
 * two ordered messages. Who wants the list of a large group always keeps a {@link Membership}. Names of members are
 * private names.
 *
 * @param group the group
 * @param id of the view
 * @param cause why there is a new one
 * @param form what it says of the members
 * @param memberCount with this view
 * @param synchronous whether the group is, from this view on
 * @param digest of the members in their order, 64 bits
 * @param joined who is new since the former view
 * @param left who left, disconnected, or, with cause NETWORK, is out of reach
 * @param apart cause NETWORK: the members that are not new and did not come from the former view with this client
 * @param members all, in an order that all members agree on; empty unless {@link #hasMembers}
 * @param vsSet cause NETWORK, form FULL: this client, and the members that neither joined nor are apart
 * @param myIndex this client's place in {@code members}
 */
public record GroupView(
    Name group,
    GroupViewId id,
    ViewCause cause,
    ViewForm form,
    int memberCount,
    boolean synchronous,
    long digest,
    List<Name> joined,
    List<Name> left,
    List<Name> apart,
    List<Name> members,
    List<Name> vsSet,
    OptionalInt myIndex)
    implements Event {
  /**
   * Whether it lists all members.
   *
   * @return whether the form does
   */
  public boolean hasMembers() {
    return form == ViewForm.FULL || form == ViewForm.ANSWER;
  }
}
