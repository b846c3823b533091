"""Reads files of scenarios. README.md has the language."""
import pathlib
import re

from . import client_verbs, world_verbs
from .scenario import Scenario, ScenarioError, Step
from .statement import Statement

HEADING = re.compile(r"\[([a-z][a-z0-9_]*)\] (\S.*)")


def read_files(folder):
    found = []
    for path in sorted(pathlib.Path(folder).glob("*.txt")):
        found += read_text(path.read_text(encoding="utf-8"), path.name)
    return found


def read_text(text, file):
    """The scenarios of a text; their names begin with that of the file."""
    found = []
    for line, words in logical_lines(text):
        heading = HEADING.fullmatch(words)
        if heading:
            name = f"{pathlib.Path(file).stem}.{heading.group(1)}"
            if any(each.name == name for each in found):
                raise ScenarioError(f"{file}:{line}: there are two scenarios {name}")
            found.append(Scenario(name, heading.group(2), file, line))
            clients = set()
        elif words.startswith("["):
            raise ScenarioError(f"{file}:{line}: a heading is [name] and a sentence")
        elif not found:
            raise ScenarioError(f"{file}:{line}: a scenario begins with [name] and a sentence")
        elif words.startswith("needs:"):
            add_needs(found[-1], words, line)
        else:
            found[-1].steps += [step for part in words.split(";") if part.strip()
                                for step in read_statement(file, line, part.strip(), clients)]
    for each in found:
        if not each.steps:
            raise ScenarioError(f"{file}:{each.line}: {each.name} has no statements")
    return found


def logical_lines(text):
    """Lines that say something, with their numbers. One that is indented goes on with the one before."""
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line[0].isspace() and found:
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
        else:
            found.append((number, line.strip()))
    return found


def add_needs(scenario, words, line):
    if scenario.steps:
        raise ScenarioError(f"{scenario.file}:{line}: needs stand before all statements")
    scenario.needs += words[len("needs:"):].split()


def read_statement(file, line, text, clients):
    statement = Statement(file, line, text, clients)
    subjects = () if statement.peek() in world_verbs.VERBS else statement.subjects()
    table = client_verbs.VERBS if subjects else world_verbs.VERBS
    verb = statement.choice("a verb of clients" if subjects else "a verb", table)
    arguments = table[verb](statement)
    statement.end()
    if verb == "client":
        clients |= {each["client"] for each in arguments["clients"]}
    return [Step(file, line, text, subjects, "gets" if verb == "get" else verb, arguments)]
