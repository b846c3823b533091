"""What the programs that draw share: matplotlib without a screen, and files that are equal where the results are."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plot  # noqa: E402: the backend comes first

matplotlib.rcParams["svg.hashsalt"] = "spindle"


def save(figure, path):
    """As PNG and as SVG."""
    figure.tight_layout()
    figure.savefig(path.with_suffix(".png"), dpi=110)
    figure.savefig(path.with_suffix(".svg"), metadata={"Date": None})
    plot.close(figure)
