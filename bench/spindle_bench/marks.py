"""What figures must be."""

import dataclasses
import operator

RELATIONS = {">=": operator.ge, "<=": operator.le, "<": operator.lt}


@dataclasses.dataclass(frozen=True)
class Bound:
    relation: str
    value: float
    form: str = "{:g}"

    def __str__(self):
        return f"{self.relation} {self.form.format(self.value)}"

    def holds(self, figure):
        return RELATIONS[self.relation](figure, self.value)


@dataclasses.dataclass(frozen=True)
class Range:
    low: float
    high: float
    form: str = "{:g}"

    def __str__(self):
        return f"{self.form.format(self.low)} to {self.form.format(self.high)}"

    def holds(self, figure):
        return self.low <= figure <= self.high


def at_least(value, form="{:g}"):
    return Bound(">=", value, form)


def at_most(value, form="{:g}"):
    return Bound("<=", value, form)


def below(value, form="{:g}"):
    return Bound("<", value, form)


def within(low, high, form="{:g}"):
    return Range(low, high, form)


def verdict(good):
    """`good`: None where nothing is asked."""
    return "" if good is None else "ok" if good else "FALLS SHORT"
