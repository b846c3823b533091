"""What is made of results: kinds, summaries, comparison with peers, marks. No system runs."""

import types
import unittest

from spindle_bench.cluster import kinds, marks
from spindle_bench.cluster.measurement import percentile, start_summary, summary
from spindle_bench.cluster.report import add_medians, peers_table, tables


def system(name, services, fans_out=True):
    return types.SimpleNamespace(name=name, services=services, fans_out=fans_out)


SPINDLE = system("spindle", ("fifo", "agreed"))
NATS = system("nats", ("fifo",))
JGROUPS = system("jgroups", ("fifo", "agreed"), fans_out=False)
SYSTEMS = (SPINDLE, NATS, JGROUPS)


def result(name, measure, service, size, values, **details):
    """`values`: of the leading figure, round by round; None where the system failed."""
    columns = ("messages_per_second", "megabytes_per_second", "daemon_seconds_per_million",
               "client_seconds_per_million", "other_processors_busy", "p50_us", "p99_us", "p999_us", "send_lag_p50_us")
    made = {"system": name, "measure": measure, "service": service, "size": size, **details,
            "rounds": [None if value is None else dict.fromkeys(columns, value) for value in values]}
    add_medians([made])
    return made


class Kinds(unittest.TestCase):
    def test_each_system_does_what_it_can(self):
        options = types.SimpleNamespace(measures=["throughput", "fanout"], services=["fifo", "agreed"], sizes=[100],
                                        receivers=[1, 10], peers=["nats"])
        listed = kinds.listed(SYSTEMS, options)
        throughput = {(kind["system"], kind["service"]) for kind in listed if kind["measure"] == "throughput"}
        self.assertEqual(throughput, {("spindle", "fifo"), ("spindle", "agreed"), ("nats", "fifo"),
                                      ("jgroups", "fifo"), ("jgroups", "agreed")})
        fanout = [(kind["system"], kind["receivers"]) for kind in listed if kind["measure"] == "fanout"]
        self.assertEqual(fanout.count(("nats", 10)), 1)
        self.assertNotIn(("jgroups", 10), fanout)

    def test_safe_latency_is_measured_beside_peers(self):
        options = types.SimpleNamespace(measures=["throughput", "latency"], services=["agreed"], sizes=[100],
                                        receivers=[], peers=["nats"])
        strong = system("spindle", ("fifo", "agreed", "safe"))
        measured = [(kind["measure"], kind["service"]) for kind in kinds.listed([strong], options)]
        self.assertEqual(measured, [("throughput", "agreed"), ("latency", "agreed"), ("latency", "safe")])
        options.peers = []
        self.assertNotIn("safe", [kind["service"] for kind in kinds.listed([strong], options)])

    def test_half_is_at_the_same_rate_for_all_that_can_carry_it(self):
        results = [result("spindle", "throughput", "agreed", 100, [90, 100, 110]),
                   result("spindle", "throughput", "fifo", 100, [999]),
                   result("nats", "throughput", "fifo", 100, [60]),
                   result("jgroups", "throughput", "agreed", 100, [20])]
        rates = {(kind["system"], kind["of"]): kind["rate"] for kind in kinds.halves(SYSTEMS, ["spindle"], results)}
        self.assertEqual(rates, {("spindle", "spindle"): 50, ("nats", "spindle"): 50,
                                 ("spindle", "nats"): 30, ("nats", "nats"): 30,
                                 ("spindle", "jgroups"): 10, ("jgroups", "jgroups"): 10})


    def test_rounds_in_which_a_peer_failed_count_for_nothing(self):
        ours = result("spindle", "throughput", "agreed", 100, [80, 100, 120])
        theirs = result("jgroups", "throughput", "agreed", 100, [10, None, 12])
        self.assertEqual(theirs["median"]["messages_per_second"], 11)
        row, = marks.compare([ours, theirs], "spindle", {"jgroups": JGROUPS}, {})
        self.assertAlmostEqual(row.ratio, 100 / 11)
        self.assertEqual((row.lowest, row.highest), (8, 10))
        self.assertIn("10 to 12", tables([ours, theirs], 3))


class Summaries(unittest.TestCase):
    def test_the_slowest_receiver_counts(self):
        usage = {"daemons": 1.0, "clients": 0.5, "machine": 1.75}
        values = summary({"measure": "throughput", "size": 1000},
                         [{"messages": 400, "nanoseconds": 2e9}, {"messages": 300, "nanoseconds": 1e9}], usage)
        self.assertEqual(values["messages_per_second"], 200)
        self.assertEqual(values["daemon_seconds_per_million"], 5000)
        self.assertEqual(values["other_processors_busy"], 0.25)

    def test_fan_out_takes_until_the_slowest_receiver_has_everything(self):
        usage = {"daemons": 1.0, "clients": 0.5, "machine": 1.75}
        result = {"messages": 0, "nanoseconds": 0, "total": 600}
        values = summary({"measure": "fanout", "size": 1000},
                         [{**result, "total_ns": 2e9}, {**result, "total_ns": 4e9}], usage)
        self.assertEqual(values["messages_per_second"], 150)

    def test_percentiles_are_over_all_receivers(self):
        results = [{"messages": 1, "nanoseconds": 1e9, "latency_ns": [[1000, 98]], "send_lag_ns": [[500, 1]]},
                   {"messages": 1, "nanoseconds": 1e9, "latency_ns": [[2000, 1], [9000, 1]], "send_lag_ns": []}]
        values = summary({"measure": "latency", "size": 100}, results, {"daemons": 0, "clients": 0, "machine": 0})
        self.assertEqual((values["p50_us"], values["p99_us"], values["max_us"]), (1, 2, 9))
        self.assertEqual(percentile([(5, 1), (7, 1)], 0.5), 5)

    def test_a_start_is_as_late_as_at_the_last_receiver(self):
        soon, late = [10] * 20, [0] * 4 + [10] * 16
        values = start_summary([{"arrived": arrived, "span_ns": 5e6} for arrived in (soon, late)])
        self.assertEqual((values["full_rate_ms"], values["lost_ms"]), (20, 20))


class Marks(unittest.TestCase):
    def compare(self, results, absent=()):
        rows = marks.compare(results, "spindle", ["nats", "jgroups"], dict.fromkeys(absent, "not here"))
        return {(row.measure, row.service, row.peer): row for row in rows}

    def test_a_ratio_is_that_of_the_medians_and_must_reach_its_mark(self):
        rows = self.compare([result("spindle", "throughput", "fifo", 100, [300, 220, 200]),
                             result("nats", "throughput", "fifo", 100, [100, 50, 200])])
        row = rows["throughput", "fifo", "nats"]
        self.assertEqual((row.ours, row.theirs, row.ratio, row.lowest, row.highest), (220, 100, 2.2, 1, 4.4))
        self.assertTrue(row.good)
        rows = self.compare([result("spindle", "throughput", "fifo", 100, [219]),
                             result("nats", "throughput", "fifo", 100, [100])])
        self.assertEqual(marks.unreached(rows.values()), [rows["throughput", "fifo", "nats"]])

    def test_agreed_is_compared_with_what_a_system_without_order_has(self):
        rows = self.compare([result("spindle", "latency", "agreed", 100, [300]),
                             result("nats", "latency", "fifo", 100, [300]),
                             result("jgroups", "latency", "agreed", 100, [200]),
                             result("jgroups", "latency", "fifo", 100, [100])])
        self.assertFalse(rows["latency", "agreed", "nats"].good)
        self.assertEqual(rows["latency", "agreed", "nats"].detail, "it fifo")
        self.assertEqual(rows["latency", "agreed", "jgroups"].theirs, 200)
        self.assertIsNone(rows["latency", "agreed", "jgroups"].good)

    def test_safe_is_held_to_what_spread_takes_for_agreed(self):
        for p50, good in ((289, True), (291, False)):
            rows = self.compare([result("spindle", "latency", "safe", 100, [p50]),
                                 result("nats", "latency", "fifo", 100, [228])])
            row = rows["latency", "safe", "nats"]
            self.assertEqual((row.must, row.good, row.detail), ("< 1.27", good, "it fifo"))

    def test_fifo_is_not_compared_with_more(self):
        rows = self.compare([result("spindle", "throughput", "fifo", 100, [300]),
                             result("jgroups", "throughput", "agreed", 100, [100])])
        self.assertEqual(rows, {})

    def test_fan_out_is_compared_at_the_same_number_of_receivers(self):
        results = [result("spindle", "fanout", "fifo", 1000, [19], receivers=100),
                   result("nats", "fanout", "fifo", 1000, [1], receivers=1),
                   result("nats", "fanout", "fifo", 1000, [10], receivers=100)]
        row = self.compare(results)["fanout", "fifo", "nats"]
        self.assertEqual((row.ratio, row.must, row.good), (1.9, ">= 2", False))

    def test_half_wants_a_lower_p99_and_the_rate_carried(self):
        results = [result("spindle", "half", "agreed", 100, [10], rate=5, of="nats"),
                   result("nats", "half", "fifo", 100, [20], rate=5, of="nats"),
                   result("jgroups", "half", "agreed", 100, [20], rate=50, of="jgroups")]
        rows = self.compare(results)
        self.assertTrue(rows["half", "agreed", "nats"].good)
        self.assertFalse(rows["half", "agreed", "jgroups"].good)

    def test_who_is_absent_is_not_beaten(self):
        rows = self.compare([result("spindle", "throughput", "agreed", 100, [300])], absent=["corosync"])
        self.assertTrue(rows["throughput", "agreed", "corosync"].absent)
        self.assertEqual(len(marks.unreached(rows.values())), 1)
        self.assertIn("absent", peers_table(rows.values()))

    def compare_with_plain(self, measure, size, ours, plain):
        rows = marks.compare([result("spindle", measure, "fifo", size, ours),
                              result(marks.PLAIN, measure, "fifo", size, plain)], "spindle", [marks.PLAIN], {})
        self.assertEqual(len(rows), 1)
        return rows[0]

    def test_tls_keeps_its_share_of_what_a_plain_cluster_carries(self):
        for size, ours, good in ((100, 75, True), (100, 74, False), (1000, 60, True), (1000, 59, False),
                                 (10000, 50, True), (10000, 49, False)):
            self.assertIs(self.compare_with_plain("throughput", size, [ours], [100]).good, good)
        self.assertIsNone(self.compare_with_plain("throughput", 500, [1], [100]).good)

    def test_tls_adds_so_much_latency_and_no_more(self):
        row = self.compare_with_plain("latency", 100, [130, 131, 120], [100, 100, 101])
        self.assertEqual((row.ratio, row.lowest, row.highest, row.must, row.good), (30, 19, 31, "<= +30", True))
        self.assertFalse(self.compare_with_plain("latency", 100, [131], [100]).good)

    def test_tables_show_every_kind(self):
        text = tables([result("spindle", "throughput", "fifo", 100, [300]),
                       result("nats", "fanout", "fifo", 1000, [10], receivers=100),
                       result("nats", "half", "fifo", 100, [20], rate=5, of="nats")], 3)
        for word in ("Throughput", "Fan-out", "receivers", "Half of the peak", "half of"):
            self.assertIn(word, text)


if __name__ == "__main__":
    unittest.main()
