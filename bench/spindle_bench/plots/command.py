"""Draws what was measured before, as PNG and as SVG. Takes matplotlib."""

import json
import pathlib

from ..console import make_parser
from . import draw


def main(name):
    parser = make_parser(name, __doc__, build=False, plots=True)
    kinds = parser.add_subparsers(dest="kind", required=True, metavar="KIND")
    peers = kinds.add_parser("peers", help="what tools/bench cluster --peers has measured")
    languages = kinds.add_parser("bindings", help="what tools/bench bindings --peers has measured")
    transfers = kinds.add_parser("transfers", help="the courses of transfers that tools/bench bulk has measured")
    for each in (peers, languages, transfers):
        each.add_argument("results", metavar="RESULTS", type=pathlib.Path, help="what its --json has written")
        each.add_argument("target", metavar="FILE", help="the picture")
    for kind, command in (("scale", "scale"), ("scenarios", "scenarios, grid or changes"), ("bulk", "scenarios bulk"),
                          ("feeds", "scenarios feeds"), ("lms", "scenarios lms"), ("mesh", "scenarios mesh")):
        some = kinds.add_parser(kind, help=f"what tools/bench {command} has measured")
        some.add_argument("target", metavar="FOLDER", help="with the results; the pictures go there, too")
    arguments = parser.parse_args()
    report = json.loads(arguments.results.read_text()) if "results" in arguments else None
    if arguments.kind == "transfers":
        report = report["courses"]
    return 0 if draw(arguments.kind, arguments.target, report) else 1
