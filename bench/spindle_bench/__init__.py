"""Spindle's benchmarks, as far as they are in Python; `tools/bench` is the way in.

    cluster     three daemons and their clients; other systems beside them; admission on and off
    bulk        files to many receivers, and other programs that do the same
    feeds       streams of a fixed rate to many receivers, and other systems that carry them
    scale       what grows with daemons, groups, members and clients
    field       slow links between hosts, beside TCP
    sim         the programs of bench/sim, and a fluid model of what they show
    counts      instructions per message
    plots       what draws all that

Modules of the package itself are what these share: console, processes, spindled, namespaces, marks, tables, results.
"""
