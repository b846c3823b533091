"""What all rows of the measurement share: where, and how often."""

import dataclasses
import pathlib


@dataclasses.dataclass
class Setting:
    build: pathlib.Path
    folder: pathlib.Path
    rounds: int
    seconds: float         # of each stream
    peers: bool            # whether other systems are measured, too
    receivers: list
    losses: list           # in %
    rounds_measured: list = dataclasses.field(default_factory=list)  # of streams, each with its outcome
    versions: dict = dataclasses.field(default_factory=dict)  # of the systems that were measured

    def delay_line(self):
        return self.build / "bench" / "delay_line"
