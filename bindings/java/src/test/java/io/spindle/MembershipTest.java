package io.spindle;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.spindle.Membership.Outcome;
import io.spindle.protocol.MemberList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalInt;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class MembershipTest {
  private static final ViewCause JOIN = ViewCause.JOIN;
  private static final ViewCause NETWORK = ViewCause.NETWORK;

  private final Membership group = new Membership();

  private static List<Name> names(String... texts) {
    return Arrays.stream(texts).map(Name::of).toList();
  }

  /** Of {@code lists}: who joined, who left, who is apart, the members. */
  private static GroupView view(
      long position,
      ViewCause cause,
      ViewForm form,
      int count,
      long digest,
      List<List<Name>> lists,
      OptionalInt myIndex) {
    return new GroupView(Name.of("g"), new GroupViewId(1, "d", 3, position), cause, form, count, false, digest,
        lists.get(0), lists.get(1), lists.get(2), lists.get(3), List.of(), myIndex);
  }

  private static GroupView full(long position, ViewForm form, List<Name> members) {
    long digest = new MemberList(members).digest();
    return view(position, JOIN, form, members.size(), digest, List.of(List.of(), List.of(), List.of(), members),
        OptionalInt.empty());
  }

  private static GroupView full(long position, String... members) {
    return full(position, ViewForm.FULL, names(members));
  }

  /** After which the members are {@code members}. */
  private static GroupView change(
      long position, ViewCause cause, List<Name> members, List<Name> joined, List<Name> left, List<Name> apart) {
    return view(position, cause, ViewForm.CHANGE, members.size(), new MemberList(members).digest(),
        List.of(joined, left, apart, List.of()), OptionalInt.empty());
  }

  private static GroupView joins(long position, List<Name> members, String joined) {
    return change(position, JOIN, members, names(joined), List.of(), List.of());
  }

  private static GroupView leaves(long position, List<Name> members, String left) {
    return change(position, ViewCause.LEAVE, members, List.of(), names(left), List.of());
  }

  private void apply(Outcome expected, GroupView view) {
    assertEquals(expected, group.apply(view));
  }

  @Test
  void changesAreApplied() {
    assertFalse(group.isCurrent());
    apply(Outcome.CURRENT, full(1, "#a#x", "#b#y"));
    assertEquals(names("#a#x", "#b#y"), group.members());
    apply(Outcome.CURRENT, joins(2, names("#a#x", "#c#x", "#b#y"), "#c#x"));
    assertEquals(names("#a#x", "#c#x", "#b#y"), group.members());
    apply(Outcome.CURRENT, leaves(3, names("#c#x", "#b#y"), "#a#x"));
    assertEquals(names("#c#x", "#b#y"), group.members());
    assertEquals(List.of(), group.vsSet());
  }

  @Test
  void theDigestIsThatOfTheWorkedExample() {
    assertEquals(0x619978fe7bb38aceL, new MemberList(names("#ann#alpha")).digest());
    assertEquals(0x632dee09a30c4af2L, new MemberList(names("#ann#alpha", "#bob#beta")).digest());
  }

  @Test
  void aChangeOfTheNetworkTellsWhoCameAlong() {
    apply(Outcome.CURRENT, full(1, "#b#x", "#a#y", "#d#y", "#c#z"));
    List<Name> members = names("#b#x", "#e#x", "#a#y", "#d#y");
    apply(Outcome.CURRENT, change(2, NETWORK, members, names("#e#x"), names("#c#z"), names("#d#y")));
    assertEquals(members, group.members());
    assertEquals(names("#b#x", "#a#y"), group.vsSet());
    apply(Outcome.CURRENT, full(2, ViewForm.ANSWER, members));
    assertEquals(names("#b#x", "#a#y"), group.vsSet(), "an answer takes nothing away");
  }

  @Test
  void aMemberIsInItsVsSetAlsoWhereItIsNew() {
    List<Name> members = names("#a#x", "#b#x", "#c#x");
    apply(Outcome.CURRENT, view(1, NETWORK, ViewForm.FULL, 3, new MemberList(members).digest(),
        List.of(names("#b#x", "#c#x"), List.of(), names("#a#x"), members), OptionalInt.of(1)));
    assertEquals(names("#b#x"), group.vsSet());
  }

  @Test
  void aChangeWithoutAListAsksOnce() {
    apply(Outcome.ASK, joins(5, names("#a#x", "#b#x"), "#b#x"));
    apply(Outcome.UNKNOWN, joins(6, names("#a#x", "#b#x", "#c#x"), "#c#x"));
    assertEquals(List.of(), group.members());
    apply(Outcome.CURRENT, full(6, ViewForm.ANSWER, names("#a#x", "#b#x", "#c#x")));
    assertEquals(3, group.members().size());
    apply(Outcome.CURRENT, leaves(7, names("#a#x", "#b#x"), "#c#x"));
  }

  @Test
  void aMismatchIsFoundAndRepaired() {
    List<Name> members = names("#a#x", "#b#x", "#c#x");
    long digest = new MemberList(members).digest();
    List<Name> none = List.of();
    List<Name> joined = names("#c#x");
    List<GroupView> wrong = List.of(
        view(2, JOIN, ViewForm.CHANGE, 3, digest ^ 1, List.of(joined, none, none, none), OptionalInt.empty()),
        view(2, JOIN, ViewForm.CHANGE, 4, digest, List.of(joined, none, none, none), OptionalInt.empty()),
        joins(2, members, "#d#x"),
        change(2, JOIN, members, joined, names("#nobody#x"), none));
    for (GroupView each : wrong) {
      group.reset();
      apply(Outcome.CURRENT, full(1, "#a#x", "#b#x"));
      apply(Outcome.ASK, each);
      assertFalse(group.isCurrent());
      apply(Outcome.CURRENT, full(2, ViewForm.ANSWER, members));
      assertEquals(3, group.members().size());
    }
  }

  @Test
  void aWrongAnswerIsNotBelievedAndNotAskedForInALoop() {
    apply(Outcome.ASK, joins(1, names("#a#x", "#b#x"), "#b#x"));
    List<List<Name>> lists = List.of(List.of(), List.of(), List.of(), names("#a#x", "#b#x"));
    apply(Outcome.UNKNOWN, view(1, JOIN, ViewForm.ANSWER, 2, 7, lists, OptionalInt.empty()));
    apply(Outcome.ASK, leaves(2, names("#a#x"), "#b#x")); // a new occasion
  }

  @Test
  void aRequestThatFailedCanBeMadeAgain() {
    apply(Outcome.ASK, joins(1, names("#a#x", "#b#x"), "#b#x"));
    group.reset();
    apply(Outcome.ASK, leaves(2, names("#a#x"), "#b#x"));
  }

  @Test
  void itEndsWithTheFarewell() {
    apply(Outcome.CURRENT, full(1, "#a#x", "#b#x"));
    apply(Outcome.LEFT, full(2, ViewForm.FAREWELL, List.of()));
    assertFalse(group.isCurrent());
    apply(Outcome.CURRENT, full(5, "#b#x", "#a#x"));
  }

  @Test
  void itGoesLikeADumbModel() {
    Random chance = new Random(7);
    List<Name> model = new ArrayList<>();
    apply(Outcome.CURRENT, full(0));
    for (int turn = 1; turn < 300; turn++) {
      List<Name> left = new ArrayList<>();
      for (int count = model.size() > 20 ? chance.nextInt(5) : 0; count > 0; count--) {
        left.add(model.remove(chance.nextInt(model.size())));
      }
      List<Name> joined = new ArrayList<>();
      for (int count = chance.nextInt(4); count > 0; count--) {
        joined.add(Name.of("#c" + turn + "." + count + "#d" + chance.nextInt(5)));
      }
      model.addAll(joined);
      model.sort(Comparator.comparing(each -> each.byteAt(each.size() - 1)));
      apply(Outcome.CURRENT, change(turn, JOIN, List.copyOf(model), joined, left, List.of()));
      assertEquals(model, group.members());
    }
  }
}
