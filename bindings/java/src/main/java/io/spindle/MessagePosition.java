package io.spindle;

/**
 * Where a message stands in what the daemons have ordered: the same at all receivers, and no other message's. Positions
 * of one view of the daemons compare; every new view begins anew. Two are equal only where the receivers know of the
 * same last change: {@link #isSamePlaceAs} asks for the place alone.
 *
 * @param change the last change of any group before the message, with what identifies the view of the daemons; a
 *     receiver that has missed a change has an earlier one
 * @param order in the order of that view
 * @param index among messages that travelled as one
 */
public record MessagePosition(GroupViewId change, long order, int index) {
  /**
   * Whether it is the same place.
   *
   * @param other another one
   * @return whether it is
   */
  public boolean isSamePlaceAs(MessagePosition other) {
    return change.isOfOneOrderWith(other.change) && order == other.order && index == other.index;
  }

  /**
   * Whether this place is in front of another one of the same view of the daemons.
   *
   * @param other another one
   * @return false also where the views differ
   */
  public boolean isBefore(MessagePosition other) {
    return change.isOfOneOrderWith(other.change)
        && (order != other.order
            ? Long.compareUnsigned(order, other.order) < 0
            : Integer.compareUnsigned(index, other.index) < 0);
  }

  /**
   * Whether the message comes behind a view of a group.
   *
   * @param view of the same view of the daemons
   * @return whether it does
   */
  public boolean isBehind(GroupViewId view) {
    return change.isOfOneOrderWith(view) && Long.compareUnsigned(view.position(), change.position()) <= 0;
  }
}
