"""What a scenario consists of, once it is read."""
import dataclasses
import typing


class ScenarioError(Exception):
    """A scenario that cannot be read; the text names file and line."""


@dataclasses.dataclass(frozen=True)
class Private:
    """The private name of a client of the scenario. Other names are bytes."""
    client: str


@dataclasses.dataclass(frozen=True)
class Sequence:
    """Messages of one client by their numbers; without a last one up to what it has sent by then, and without a first
    one that one alone."""
    sender: str
    first: typing.Optional[int]
    last: typing.Optional[int]


@dataclasses.dataclass(frozen=True)
class Offered:
    """A content that a client has offered, by its number."""
    source: str
    number: int


@dataclasses.dataclass(frozen=True)
class Step:
    """One statement. `arguments` are what its verb takes."""
    file: str
    line: int
    text: str
    subjects: tuple
    verb: str
    arguments: dict

    def where(self):
        return f"{self.file}:{self.line}: {self.text}"


@dataclasses.dataclass
class Scenario:
    name: str
    sentence: str
    file: str
    line: int
    needs: list = dataclasses.field(default_factory=list)
    steps: list = dataclasses.field(default_factory=list)

    def verbs_on(self, client):
        return {step.verb for step in self.steps if step.arguments.get("client") == client}
