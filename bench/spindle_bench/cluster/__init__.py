"""Throughput and latency of a cluster, and of other systems that do the same work."""
