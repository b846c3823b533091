"""matplotlib without a screen, and files that are equal where the results are."""

import io

import matplotlib
from PIL import Image

matplotlib.use("Agg")
import matplotlib.pyplot as plot  # noqa: E402: the backend comes first

matplotlib.rcParams["svg.hashsalt"] = "spindle"

# Enough for lines and their edges; a picture has to be small.
COLOURS = 64
DOTS_PER_INCH = 100


def save(figure, path):
    """As PNG and as SVG."""
    figure.tight_layout()
    pixels = io.BytesIO()
    figure.savefig(pixels, format="png", dpi=DOTS_PER_INCH)
    reduce(pixels).save(path.with_suffix(".png"), optimize=True)
    figure.savefig(path.with_suffix(".svg"), metadata={"Date": None})
    plot.close(figure)


def reduce(file):
    """The picture in the file, with a limited palette."""
    return Image.open(file).convert("RGB").quantize(COLOURS, dither=0)
