"""What all rows of the measurement share: where, how large, how often; and their figures."""

import dataclasses
import pathlib
import statistics
import typing

from ..console import say
from ..marks import Bound


@dataclasses.dataclass
class Setting:
    build: pathlib.Path
    folder: pathlib.Path
    size: int      # of the content, where a row is not better off with a share of it
    rounds: int
    peers: bool    # whether other programs are measured, too

    def share(self, part):
        """A smaller content, of whole blocks as far as there are any."""
        return max(1 << 20, int(self.size * part))


@dataclasses.dataclass
class Figure:
    row: str
    what: str
    value: typing.Optional[float]  # nothing: it could not be had here
    form: str = "{:.3g}"
    must: typing.Optional[Bound] = None
    note: str = ""

    @property
    def good(self):
        return None if self.must is None else self.value is not None and self.must.holds(self.value)

    def cells(self):
        return [self.row, self.what, "-" if self.value is None else self.form.format(self.value),
                str(self.must) if self.must else "", self.note]


def repeated(setting, what, measure):
    """What `measure` gives, so often as there are rounds."""
    rounds = []
    for index in range(setting.rounds):
        say(f"bulk: {what}: round {index + 1} of {setting.rounds}")
        rounds.append(measure())
    return rounds


def median_of(rounds, key):
    return statistics.median(key(each) for each in rounds)
