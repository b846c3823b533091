package io.spindle;

import io.spindle.protocol.MemberList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The list of a group's members, kept up to date from the group's views. In a large group most views name only who joined
 * and who left; this class applies them to the list that came before, and holds the result against the digest in the view.
 * One object for each group, given every view of it in order. It is for one thread at a time.
 */
public final class Membership {
  /** What has come of a view. */
  public enum Outcome {
    /** The members are those of the view. */
    CURRENT,
    /** They are not known: call {@link Connection#requestView}. Not said again before the answer has come. */
    ASK,
    /** They are not known yet: the answer is on its way, or was wrong. */
    UNKNOWN,
    /** This client is no member any more. */
    LEFT
  }

  private MemberList list; // null: not known
  private GroupViewId id;
  private boolean isOfNetwork; // the cause of that view
  private List<Name> others = List.of(); // that view's members who are not in its vs set
  private boolean hasAsked;

  /** Nothing is known yet. */
  public Membership() {}

  /**
   * Takes the next view of the group.
   *
   * @param view as it was received
   * @return what has come of it
   */
  public Outcome apply(GroupView view) {
    if (view.form() == ViewForm.FAREWELL) {
      reset();
      return Outcome.LEFT;
    }
    return view.hasMembers() ? takeList(view) : takeChange(view);
  }

  /** Forgets everything: the next change says ASK. For a request that failed. */
  public void reset() {
    list = null;
    id = null;
    isOfNetwork = false;
    others = List.of();
    hasAsked = false;
  }

  /**
   * Whether the members are known.
   *
   * @return whether they are
   */
  public boolean isCurrent() {
    return list != null;
  }

  /**
   * The members.
   *
   * @return private names in the order that all members agree on; none while they are not known
   */
  public List<Name> members() {
    return list == null ? List.of() : list.names();
  }

  /**
   * Who came along.
   *
   * @return after a view with cause NETWORK this client, and the members that came from the former view with it
   */
  public List<Name> vsSet() {
    return isOfNetwork ? MemberList.without(members(), others) : List.of();
  }

  private static List<Name> notAlong(GroupView view) {
    Set<Name> names = new HashSet<>(view.joined());
    names.addAll(view.apart());
    // A client that gets a list because it is new, or back, has joined itself.
    view.myIndex().ifPresent(index -> names.remove(view.members().get(index)));
    return List.copyOf(names);
  }

  private Outcome takeList(GroupView view) {
    MemberList told = new MemberList(view.members());
    hasAsked = false;
    if (told.digest() != view.digest() || told.names().size() != view.memberCount()) {
      list = null;
      return Outcome.UNKNOWN; // to ask at once, and again, would not make it better
    }
    // An answer repeats the members of a view, and not who came along into it.
    boolean isRepeated = view.form() == ViewForm.ANSWER && isCurrent() && id.equals(view.id());
    list = told;
    if (!isRepeated) {
      id = view.id();
      isOfNetwork = view.form() == ViewForm.FULL && view.cause() == ViewCause.NETWORK;
      others = notAlong(view);
    }
    return Outcome.CURRENT;
  }

  private Outcome takeChange(GroupView view) {
    if (isCurrent()
        && list.apply(view.joined(), view.left())
        && list.names().size() == view.memberCount()
        && list.digest() == view.digest()) {
      id = view.id();
      isOfNetwork = view.cause() == ViewCause.NETWORK;
      others = notAlong(view);
      return Outcome.CURRENT;
    }
    list = null;
    if (hasAsked) {
      return Outcome.UNKNOWN;
    }
    hasAsked = true;
    return Outcome.ASK;
  }
}
