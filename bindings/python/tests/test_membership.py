"""The members of a group, from its views."""
import dataclasses
import random
import unittest

from support import PATIENCE_S, WithDaemon

import spindle
from spindle import GroupView, GroupViewId, Membership, ViewCause, ViewForm
from spindle import MembershipOutcome as Outcome


def digest_of(members):
    """As docs/wire-format.md has it."""
    digest = 0
    for each in members:
        value = 0xCBF29CE484222325
        for byte in each.encode("utf-8", "surrogateescape"):
            value = (value ^ byte) * 0x100000001B3 % (1 << 64)
        digest = (digest * 0x100000001B3 + value) % (1 << 64)
    return digest


def full(position, members, form=ViewForm.FULL, **fields):
    view = GroupView(group="g", id=GroupViewId(1, "d", 3, position), cause=ViewCause.JOIN, form=form,
                     member_count=len(members), synchronous=False, digest=digest_of(members), joined=(), left=(),
                     apart=(), members=tuple(members), vs_set=(), my_index=None)
    return dataclasses.replace(view, **fields)


def change(position, members, joined=(), left=(), **fields):
    """After which the members are `members`."""
    view = full(position, members, ViewForm.CHANGE, joined=tuple(joined), left=tuple(left), **fields)
    return dataclasses.replace(view, members=())


class Views(unittest.TestCase):
    def setUp(self):
        self.group = Membership()

    def apply(self, expected, view):
        self.assertIs(expected, self.group.apply(view))

    def test_changes_are_applied(self):
        self.assertFalse(self.group.is_current)
        self.assertIn("not known", repr(self.group))
        self.apply(Outcome.CURRENT, full(1, ["#a#x", "#b#y"]))
        self.assertEqual(("#a#x", "#b#y"), self.group.members)
        self.apply(Outcome.CURRENT, change(2, ["#a#x", "#c#x", "#b#y"], ["#c#x"]))
        self.assertEqual(("#a#x", "#c#x", "#b#y"), self.group.members)
        self.assertEqual((1, 1, None), tuple(self.group.index_of(each) for each in ("#c#x", b"#c#x", "#d#x")))
        self.apply(Outcome.CURRENT, change(3, ["#c#x", "#b#y"], left=["#a#x"], cause=ViewCause.LEAVE))
        self.assertEqual(("#c#x", "#b#y"), self.group.members)
        self.assertEqual((), self.group.vs_set)
        self.assertIn("of 2", repr(self.group))

    def test_the_digest_is_that_of_the_worked_example(self):
        self.apply(Outcome.CURRENT, full(1, ["#ann#alpha"], digest=0x619978FE7BB38ACE))
        self.apply(Outcome.CURRENT, change(2, ["#ann#alpha", "#bob#beta"], ["#bob#beta"], digest=0x632DEE09A30C4AF2))

    def test_a_change_of_the_network_tells_who_came_along(self):
        self.apply(Outcome.CURRENT, full(1, ["#b#x", "#a#y", "#d#y", "#c#z"]))
        self.apply(Outcome.CURRENT, change(2, ["#b#x", "#e#x", "#a#y", "#d#y"], ["#e#x"], ["#c#z"],
                                           cause=ViewCause.NETWORK, apart=("#d#y",)))
        self.assertEqual(("#b#x", "#e#x", "#a#y", "#d#y"), self.group.members)
        self.assertEqual(("#b#x", "#a#y"), self.group.vs_set)
        self.apply(Outcome.CURRENT, full(2, self.group.members, ViewForm.ANSWER))
        self.assertEqual(("#b#x", "#a#y"), self.group.vs_set, "an answer takes nothing away")

    def test_a_member_is_in_its_vs_set_also_where_it_is_new(self):
        self.apply(Outcome.CURRENT, full(1, ["#a#x", "#b#x", "#c#x"], cause=ViewCause.NETWORK,
                                         joined=("#b#x", "#c#x"), apart=("#a#x",), my_index=1))
        self.assertEqual(("#b#x",), self.group.vs_set)

    def test_a_change_without_a_list_asks_once(self):
        self.apply(Outcome.ASK, change(5, ["#a#x", "#b#x"], ["#b#x"]))
        self.apply(Outcome.UNKNOWN, change(6, ["#a#x", "#b#x", "#c#x"], ["#c#x"]))
        self.assertEqual((), self.group.members)
        self.apply(Outcome.CURRENT, full(6, ["#a#x", "#b#x", "#c#x"], ViewForm.ANSWER))
        self.assertEqual(3, len(self.group.members))
        self.apply(Outcome.CURRENT, change(7, ["#a#x", "#b#x"], left=["#c#x"]))

    def test_a_mismatch_is_found_and_repaired(self):
        good = change(2, ["#a#x", "#b#x", "#c#x"], ["#c#x"])
        for wrong in ({"digest": good.digest ^ 1}, {"member_count": 4}, {"joined": ("#d#x",)},
                      {"left": ("#nobody#x",)}):
            with self.subTest(wrong):
                self.group.reset()
                self.apply(Outcome.CURRENT, full(1, ["#a#x", "#b#x"]))
                self.apply(Outcome.ASK, dataclasses.replace(good, **wrong))
                self.assertFalse(self.group.is_current)
                self.apply(Outcome.CURRENT, full(2, ["#a#x", "#b#x", "#c#x"], ViewForm.ANSWER))
                self.assertEqual(3, len(self.group.members))

    def test_a_wrong_answer_is_not_believed_and_not_asked_for_in_a_loop(self):
        self.apply(Outcome.ASK, change(1, ["#a#x", "#b#x"], ["#b#x"]))
        self.apply(Outcome.UNKNOWN, full(1, ["#a#x", "#b#x"], ViewForm.ANSWER, digest=7))
        self.apply(Outcome.ASK, change(2, ["#a#x"], left=["#b#x"]))  # a new occasion

    def test_a_request_that_failed_can_be_made_again(self):
        self.apply(Outcome.ASK, change(1, ["#a#x", "#b#x"], ["#b#x"]))
        self.group.reset()
        self.apply(Outcome.ASK, change(2, ["#a#x"], left=["#b#x"]))

    def test_it_ends_with_the_farewell(self):
        self.apply(Outcome.CURRENT, full(1, ["#a#x", "#b#x"]))
        self.apply(Outcome.LEFT, full(2, [], ViewForm.FAREWELL, cause=ViewCause.LEAVE, left=("#a#x",)))
        self.assertFalse(self.group.is_current)
        self.apply(Outcome.CURRENT, full(5, ["#b#x", "#a#x"]))

    def test_it_goes_like_a_dumb_model(self):
        chance = random.Random(7)
        model = []
        self.apply(Outcome.CURRENT, full(0, model))
        for turn in range(1, 300):
            left = chance.sample(model, chance.randrange(5)) if len(model) > 20 else []
            joined = [f"#c{turn}.{each}#d{chance.randrange(5)}" for each in range(chance.randrange(4))]
            model = sorted([each for each in model if each not in left] + joined, key=lambda each: each[-1])
            self.apply(Outcome.CURRENT, change(turn, model, joined, left))
            self.assertEqual(tuple(model), self.group.members)


class LargeGroups(WithDaemon):
    def make_settings(self, folder):
        return [("session.full_view_members", 1)]

    async def test_are_followed(self):
        first = await self.connect("ann")
        group = Membership()
        await first.join("g")
        others = [await self.connect(f"c{number}") for number in range(3)]
        for each in others:
            await each.join("g")
        await others[1].close()
        forms = []
        while group.members != ("#ann#a", "#c0#a", "#c2#a"):
            view = await first.receive(timeout=PATIENCE_S)
            self.assertIsInstance(view, spindle.GroupView)
            self.assertIs(Outcome.CURRENT, group.apply(view))
            forms.append(view.form)
        self.assertEqual([ViewForm.FULL] + [ViewForm.CHANGE] * 4, forms)

    async def test_are_asked_for_in_the_middle(self):
        first = await self.connect("ann")
        await first.join("g")
        await (await self.connect("bob")).join("g")
        group = Membership()
        outcomes = []
        while not group.is_current:
            view = await first.receive(timeout=PATIENCE_S)
            if view.form is not ViewForm.FULL:
                outcomes.append(group.apply(view))
            if outcomes == [Outcome.ASK]:
                await first.request_view("g")
        self.assertEqual([Outcome.ASK, Outcome.CURRENT], outcomes)
        self.assertEqual(("#ann#a", "#bob#a"), group.members)
