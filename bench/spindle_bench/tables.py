"""Tables of text."""


def align(rows, left=2):
    """Columns of equal width, the first `left` of them by their left edges, the others by their right ones."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    lines = []
    for row in rows:
        cells = [cell.ljust(width) if column < left else cell.rjust(width)
                 for column, (cell, width) in enumerate(zip(row, widths))]
        lines.append("  ".join(cells).rstrip())
    return "\n".join(lines)


def align_left(rows):
    return align(rows, left=len(rows[0]))
