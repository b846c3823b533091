"""The process that draws: what has matplotlib."""

import json
import pathlib
import sys

from . import bindings, bulk, feeds, lms, loop, mesh, peers, scale, scenarios, transfers

KINDS = {"bindings": bindings.draw, "bulk": bulk.draw, "feeds": feeds.draw, "lms": lms.draw, "loop": loop.draw,
         "mesh": mesh.draw, "peers": peers.draw, "scale": scale.draw, "scenarios": scenarios.draw,
         "transfers": transfers.draw}

if __name__ == "__main__":
    KINDS[sys.argv[1]](pathlib.Path(sys.argv[2]), json.load(sys.stdin))
