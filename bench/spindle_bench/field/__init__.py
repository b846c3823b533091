"""Slow links between real hosts, which are network namespaces."""
