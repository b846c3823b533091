"""The list of a group's members, kept up to date from the group's views."""
import enum
from collections.abc import Iterable
from operator import itemgetter
from typing import NamedTuple, Optional

from ._events import GroupView, GroupViewId, ViewCause, ViewForm
from ._types import Name

_FACTOR = 0x100000001B3  # of FNV-1a, and of the digest
_64_BITS = (1 << 64) - 1


class MembershipOutcome(enum.Enum):
    """What has come of a view that was applied."""

    CURRENT = "current"  # the members are those of the view
    ASK = "ask"  # they are not known: call request_view(). Not said again before the answer has come
    UNKNOWN = "unknown"  # they are not known yet: the answer is on its way, or was wrong
    LEFT = "left"  # this client is no member any more


class Membership:
    """For programs that want to know all members of a group at any time. In a large group most views name only who
    joined and who left; this class applies them to the list that came before, and holds the result against the digest
    in the view. One object for each group, given every view of it in order:

        if group.apply(view) is spindle.MembershipOutcome.ASK:
            await connection.request_view(view.group)
        print(*group.members)

    A program that applies the views from its join on is never told to ask, unless a daemon is at fault. It is for one
    thread at a time."""

    def __init__(self) -> None:
        self.reset()

    def apply(self, view: GroupView) -> MembershipOutcome:
        """Takes the next view of the group."""
        if view.form is ViewForm.FAREWELL:
            self.reset()
            return MembershipOutcome.LEFT
        if view.form in (ViewForm.FULL, ViewForm.ANSWER):
            return self._take_list(view)
        return self._take_change(view)

    def reset(self) -> None:
        """Forgets everything: the next change says ASK. For a request that failed."""
        self._entries: Optional[list[_Entry]] = None  # None: they are not known
        self._members: tuple[str, ...] = ()
        self._id: Optional[GroupViewId] = None  # of the view that the list is of
        self._is_of_network = False  # the cause of that view
        self._others: frozenset[str] = frozenset()  # that view's members who are not in its vs set
        self._has_asked = False

    @property
    def is_current(self) -> bool:
        """Whether the members are known."""
        return self._entries is not None

    @property
    def members(self) -> tuple[str, ...]:
        """Private names in the order that all members agree on; none while they are not known."""
        return self._members

    def index_of(self, name: Name) -> Optional[int]:
        """The place of a member in `members`, found by going through them."""
        text = name if isinstance(name, str) else str(name, "utf-8", "surrogateescape")
        return self._members.index(text) if text in self._members else None

    @property
    def vs_set(self) -> tuple[str, ...]:
        """After a view with cause NETWORK: this client, and the members that came from the former view with it.
        Otherwise none."""
        if not self._is_of_network:
            return ()
        return tuple(each for each in self._members if each not in self._others)

    def _take_list(self, view: GroupView) -> MembershipOutcome:
        entries = _entries_of(view.members)
        self._has_asked = False
        if not _is_of(entries, view):
            self._forget()
            return MembershipOutcome.UNKNOWN  # to ask at once, and again, would not make it better
        # An answer repeats the members of a view, and not who came along into it.
        is_repeated = view.form is ViewForm.ANSWER and self.is_current and self._id == view.id
        self._entries, self._members = entries, tuple(view.members)
        if not is_repeated:
            self._note(view, view.form is ViewForm.FULL and view.cause is ViewCause.NETWORK)
        return MembershipOutcome.CURRENT

    def _take_change(self, view: GroupView) -> MembershipOutcome:
        entries = None if self._entries is None else _changed(self._entries, view)
        if entries is not None and _is_of(entries, view):
            self._entries, self._members = entries, tuple(each.name for each in entries)
            self._note(view, view.cause is ViewCause.NETWORK)
            return MembershipOutcome.CURRENT
        self._forget()
        if self._has_asked:
            return MembershipOutcome.UNKNOWN
        self._has_asked = True
        return MembershipOutcome.ASK

    def _note(self, view: GroupView, is_of_network: bool) -> None:
        self._id = view.id
        self._is_of_network = is_of_network
        # A client that gets a list because it is new, or back, has joined itself.
        itself = () if view.my_index is None else (view.members[view.my_index],)
        self._others = frozenset((*view.joined, *view.apart)).difference(itself)

    def _forget(self) -> None:
        self._entries, self._members = None, ()

    def __repr__(self) -> str:
        return f"<spindle.Membership {f'of {len(self._members)}' if self.is_current else 'that is not known'}>"


class _Entry(NamedTuple):
    daemon: bytes
    name: str
    hash: int


_by_daemon = itemgetter(0)


def _entries_of(names: Iterable[str]) -> list[_Entry]:
    entries = []
    for name in names:
        text = name.encode("utf-8", "surrogateescape")
        value = 0xCBF29CE484222325
        for byte in text:
            value = (value ^ byte) * _FACTOR & _64_BITS
        entries.append(_Entry(text.rpartition(b"#")[2], name, value))
    return entries


def _changed(entries: list[_Entry], view: GroupView) -> Optional[list[_Entry]]:
    """Those who left are taken out, and those who joined come behind the last member of their daemon, and of those
    before it. None where one that left was not there."""
    left = set(view.left)
    rest = [each for each in entries if each.name not in left]
    if len(rest) + len(view.left) != len(entries):
        return None
    if view.joined:
        rest += _entries_of(view.joined)
        rest.sort(key=_by_daemon)  # keeps the order of those of one daemon
    return rest


def _is_of(entries: list[_Entry], view: GroupView) -> bool:
    """Whether they are the members of the view: docs/wire-format.md has the digest."""
    digest = 0
    for each in entries:
        digest = (digest * _FACTOR + each.hash) & _64_BITS
    return len(entries) == view.member_count and digest == view.digest
