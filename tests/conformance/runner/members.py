"""What views say of a group's members, put together and held to what docs/wire-format.md promises of every view."""
from .failure import Failure

MASK = (1 << 64) - 1
PRIME = 0x100000001b3


def digest(members):
    value = 0
    for name in members:
        hashed = 0xcbf29ce484222325
        for byte in name:
            hashed = (hashed ^ byte) * PRIME & MASK
        value = (value * PRIME + hashed) & MASK
    return value


def daemon_of(name):
    return name.split(b"#")[2]


class Members:
    """Of all groups of one client, whose private name is `me`."""

    def __init__(self, me):
        self._me = me
        self._lists = {}
        self._places = {}  # of the last view of each group: of the daemons' view, and in its order

    def of(self, group):
        return self._lists.get(group, [])

    def apply(self, view):
        """Takes a view into account. Fails where it contradicts itself or what came before."""
        group, form, cause = view.bytes("group"), view.text("form"), view.text("cause")
        joined, left, apart = view.all("joined"), view.all("left"), view.all("apart")
        self._check(cause == "network" or not apart, view, "members are apart without a change of the network")
        if form == "farewell":
            self._lists.pop(group, None)
            self._places.pop(group, None)
            return
        self._check_place(group, form, view)
        if form == "change":
            self._change(group, joined, left)
        else:
            self._lists[group] = view.all("member")
            self._check(view.number("index") < len(self._lists[group])
                        and self._lists[group][view.number("index")] == self._me, view, "the index is not mine")
        members = self._lists[group]
        self._check(view.number("count") == len(members), view, f"there are {len(members)} members")
        self._check(view.number("digest") == digest(members), view, f"the digest is {digest(members)}")
        expected = ([name for name in members if name not in joined and name not in apart or name == self._me]
                    if form == "full" and cause == "network" else [])
        self._check(view.all("together") == expected, view, f"together are {expected}")

    def _change(self, group, joined, left):
        members = [name for name in self.of(group) if name not in left]
        for name in joined:
            behind = [at for at, other in enumerate(members) if daemon_of(other) <= daemon_of(name)]
            members.insert(behind[-1] + 1 if behind else 0, name)
        self._lists[group] = members

    def _check_place(self, group, form, view):
        number, _, _, position = view.text("id").split("/")
        place = int(number), int(position)
        before = self._places.get(group)
        grows = before is None or place > before or (form == "answer" and place == before)
        self._check(grows, view, f"its id is not behind {before}")
        self._places[group] = place

    @staticmethod
    def _check(holds, view, what):
        if not holds:
            raise Failure(f"a view of {view.text('group')} contradicts itself: {what}")
