"""Networks with bottlenecks, in the simulator and in a fluid model."""
