"""Failures that are known: lines with a language, a scenario and the reason. One that passes fails the run."""
import pathlib

from .scenario import ScenarioError


def read(path):
    """Reasons by language and scenario."""
    found = {}
    for number, line in enumerate(pathlib.Path(path).read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        language, name, reason = (line.split(None, 2) + ["", ""])[:3]
        if not reason:
            raise ScenarioError(f"{path}:{number}: a known failure is a language, a scenario and a reason")
        found[language, name] = reason
    return found


def judge(trouble, reason):
    """The verdict on a run, and what is said of it."""
    if reason and trouble:
        return "known", reason
    if reason:
        return "FAILED", "known_failures.txt says that it fails, and it passes: take it out"
    return ("FAILED", trouble) if trouble else ("ok", "")
