"""The words of one statement, taken one by one."""
import re

from . import words
from .scenario import Offered, Private, ScenarioError, Sequence

NAME = re.compile(r"[a-z][a-z0-9]*")
COUNT = re.compile(r"[0-9]+")
SIZE = re.compile(r"([0-9]+)([km]?)")
RANGE = re.compile(r"(.*)\[([0-9]+)\.\.([0-9]+)\]")
SEQUENCE = re.compile(r"([a-z][a-z0-9]*):(?:(last)|([0-9]+)(\.\.([0-9]+)?)?)")

CONTENT = re.compile(r"([a-z][a-z0-9]*)/([1-9][0-9]*)")


def group_name(word):
    return b"" if word == '""' else words.decode(word)


class Statement:
    def __init__(self, file, line, text, clients):
        self.file, self.line, self.text = file, line, text
        self._clients = clients  # that have been declared so far
        self._words = re.findall(r"[^\s,]+(?:,[^\s,]+)*|,", text)
        self._at = 0

    def error(self, message):
        return ScenarioError(f"{self.file}:{self.line}: {message}, in: {self.text}")

    # Words as they are.

    def peek(self):
        return self._words[self._at] if self._at < len(self._words) else None

    def take(self, what):
        word = self.peek()
        if word is None:
            raise self.error(f"{what} is missing at the end")
        self._at += 1
        return word

    def accept(self, *expected):
        """Takes these words if they are the next ones."""
        if self._words[self._at:self._at + len(expected)] != list(expected):
            return False
        self._at += len(expected)
        return True

    def expect(self, word):
        if not self.accept(word):
            raise self.error(f"{word!r} is expected, not {self.peek() or 'the end'!r}")

    def end(self):
        if self.peek() is not None:
            raise self.error(f"{self.peek()!r} is not understood here")

    def subjects(self):
        """What stands before the first colon; nobody where there is none."""
        ends = [at for at, word in enumerate(self._words) if word.endswith(":")]
        if not ends:
            return ()
        names = [word.rstrip(":") for word in self._words[:ends[0] + 1]]
        self._at = ends[0] + 1
        return tuple(self.known_client(name) for name in names)

    # Words with a meaning.

    def choice(self, what, values):
        word = self.take(what)
        if word not in values:
            raise self.error(f"{word!r} is not {what}: {', '.join(sorted(values))}")
        return word

    def name(self, what):
        word = self.take(what)
        if not NAME.fullmatch(word):
            raise self.error(f"{word!r} is no name for {what}: a small letter, then small letters and digits")
        return word

    def known_client(self, name):
        if name not in self._clients:
            raise self.error(f"there is no client {name!r} yet")
        return name

    def client(self):
        return self.known_client(self.take("a client"))

    def clients(self, stop=()):
        found = []
        while self.peek() is not None and self.peek() not in stop:
            found.append(self.client())
        return found

    def count(self, what):
        word = self.take(what)
        if not COUNT.fullmatch(word):
            raise self.error(f"{what} is a number, not {word!r}")
        return int(word)

    def size(self):
        match = SIZE.fullmatch(self.take("a size"))
        if not match:
            raise self.error("a size is a number of bytes, with k or m for KiB or MiB")
        return int(match.group(1)) << {"": 0, "k": 10, "m": 20}[match.group(2)]

    def milliseconds(self):
        count = self.count("a time")
        self.expect("ms")
        return count

    def names(self, stop=()):
        """Groups, percent-encoded, and clients, which stand for their private names. g[1..3] is g1 g2 g3."""
        found = []
        while self.peek() is not None and self.peek() not in stop:
            word = self.take("a group")
            span = RANGE.fullmatch(word)
            if span:
                numbers = range(int(span.group(2)), int(span.group(3)) + 1)
                found += [words.decode(span.group(1)) + str(number).encode() for number in numbers]
            else:
                found.append(Private(word) if word in self._clients else group_name(word))
        if not found:
            raise self.error("a group is missing")
        return found

    def group(self):
        word = self.take("a group")
        if word in self._clients:
            raise self.error(f"{word} is a client, and a group is expected")
        return group_name(word)

    def content(self):
        """x/2: the second one that x has offered."""
        match = CONTENT.fullmatch(self.take("a content"))
        if not match:
            raise self.error("contents are x/1, counted from 1")
        return Offered(self.known_client(match.group(1)), int(match.group(2)))

    def sequence(self):
        """x:3, x:1..3, x:1.. up to the last that x has sent, or that one, x:last."""
        match = SEQUENCE.fullmatch(self.take("a message"))
        if not match:
            raise self.error("messages are x:1, x:1..3, x:1.. or x:last")
        if match.group(2):
            return Sequence(self.known_client(match.group(1)), None, None)
        first = int(match.group(3))
        last = first if not match.group(4) else int(match.group(5)) if match.group(5) else None
        if first == 0 or (last is not None and last < first):
            raise self.error("messages are counted from 1 up")
        return Sequence(self.known_client(match.group(1)), first, last)
