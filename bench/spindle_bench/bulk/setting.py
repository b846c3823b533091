"""What all rows of the measurement share: where, how large, how often."""

import dataclasses
import pathlib
import statistics

from ..console import say


@dataclasses.dataclass
class Setting:
    build: pathlib.Path
    folder: pathlib.Path
    size: int      # of the content, where a row is not better off with a share of it
    rounds: int
    peers: bool    # whether other programs are measured, too
    courses: list = dataclasses.field(default_factory=list)  # of transfers, as plots want them

    def share(self, part):
        """A smaller content, of whole blocks as far as there are any."""
        return max(1 << 20, int(self.size * part))


def repeated(setting, what, measure):
    """What `measure` gives, so often as there are rounds."""
    rounds = []
    for index in range(setting.rounds):
        say(f"bulk: {what}: round {index + 1} of {setting.rounds}")
        rounds.append(measure())
    return rounds


def median_of(rounds, key):
    return statistics.median(key(each) for each in rounds)
