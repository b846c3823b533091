"""docs/conformance.md: which scenarios hold for which language."""
import itertools

HEAD = """# Conformance

Each language's client library is held to the same scenarios, with real daemons, by `tests/conformance/run`
(`tests/conformance/README.md`). `tests/conformance/run --write-page` writes this page, and the test run fails where it
is out of date.

- **yes**: the scenario holds in the test run.
- **needs** something: the library, or the daemon, does not have it; the scenario is skipped.
- **fails**: it is listed in `tests/conformance/known_failures.txt`.
"""


def write(scenarios, columns):
    """`columns`: by language, what stands in it by the name of a scenario."""
    languages = list(columns)
    lines = [HEAD]
    for room, group in itertools.groupby(scenarios, key=lambda scenario: scenario.name.split(".")[0]):
        lines += [f"## {room.capitalize()}", "", "| scenario | what holds | " + " | ".join(languages) + " |",
                  "| --- | --- |" + " --- |" * len(languages)]
        for scenario in group:
            cells = " | ".join(columns[language][scenario.name] for language in languages)
            lines.append(f"| {scenario.name.split('.')[1]} | {scenario.sentence} | {cells} |")
        lines.append("")
    return "\n".join(lines)


def cell(missing, is_known_failure):
    """What stands in the table for a scenario of one language."""
    if missing:
        return "needs " + ", ".join(missing)
    return "fails" if is_known_failure else "yes"
