"""What makes a scenario fail, and how long the runner waits before that."""

# A wait that takes this long has failed. Nothing but failures takes this long, however busy the machine is.
PATIENCE_S = 30


class Failure(Exception):
    """What happened is not what the scenario says."""
