package io.spindle;

/**
 * Identifies a view of a group; equal at all members that see the view, and never used for another one.
 *
 * @param viewNumber of the view of the daemons
 * @param coordinator of the view of the daemons
 * @param incarnation of the coordinator: which of its lives; 64 bits without a sign
 * @param position in the order of that view
 */
public record GroupViewId(long viewNumber, String coordinator, long incarnation, long position) {
  /**
   * Whether both are of the same view of the daemons, so that their positions compare.
   *
   * @param other another one
   * @return whether they are
   */
  public boolean isOfOneOrderWith(GroupViewId other) {
    return viewNumber == other.viewNumber
        && incarnation == other.incarnation
        && coordinator.equals(other.coordinator);
  }
}
