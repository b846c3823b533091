"""Figures of rows, held to marks, and what becomes of them."""

import dataclasses
import typing

from .console import say
from .marks import Bound, Range, verdict
from .results import describe_machine, write_json
from .tables import align_left


@dataclasses.dataclass
class Figure:
    row: str
    what: str
    value: typing.Optional[float]  # nothing: it could not be had here
    form: str = "{:.3g}"
    must: typing.Union[Bound, Range, None] = None
    note: str = ""

    @property
    def good(self):
        return None if self.must is None else self.value is not None and self.must.holds(self.value)

    def cells(self):
        return [self.row, self.what, "-" if self.value is None else self.form.format(self.value),
                str(self.must) if self.must else "", self.note]


def conclude(name, host, figures, arguments, **more):
    """Prints them, and writes them with `more` where `arguments` say so; the status of the command."""
    print(describe_machine(host) + "\n")
    print(align_left([["row", "what", "figure", "must", "", ""]] +
                     [[*figure.cells()[:4], verdict(figure.good), figure.note] for figure in figures]))
    if arguments.json:
        write_json(arguments.json, {"machine": host, **more,
                                    "figures": [{**vars(figure), "good": figure.good} for figure in figures]})
    missed = [figure for figure in figures if figure.good is False]
    for figure in missed:
        say(f"{name}: {figure.row}: {figure.what}: missed")
    return 1 if arguments.check and missed else 0
