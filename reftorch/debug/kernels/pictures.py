"""Pictures of what kernels do: who wrote each element, which memory a warp asks for, which banks it meets.

Mirrors: nothing in PyTorch: its users watch kernels with NVIDIA's tools
Leaves out: more than 32 rows of words in a bank; arrays of more than 64 KiB.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from reftorch.debug.common.svg import INK, MUTED, PAPER, Picture
from reftorch.debug.common.table import counted, shape_text

if TYPE_CHECKING:
    from reftorch.debug.kernels.report import Site

SECTOR, WORD = 32, 4
WRONG, IDLE = "#cf222e", "#eaeef2"


def colour_of(position: int, count: int) -> str:
    """Return a colour for each of `count` lanes or threads. Neighbours have similar colours of different brightness."""
    return f"hsl({round(300 * position / max(1, count - 1))},70%,{72 if position % 2 else 64}%)"


def draw_array(array: dict[str, Any], launch: dict[str, Any], by: str) -> Picture:
    """Draw an array's elements, coloured by their writer. A cross marks an element that no kernel wrote."""
    threads = launch["block"][0] * launch["block"][1] * launch["block"][2]
    blocks = launch["grid"][0] * launch["grid"][1] * launch["grid"][2]
    choices = {
        "lane": (lambda block, thread: thread % 32, 32),
        "warp": (lambda block, thread: thread // 32, -(-threads // 32)),
        "thread": (lambda block, thread: thread, threads),
        "block": (lambda block, thread: block, blocks),
    }
    if by not in choices:
        raise ValueError(f"draw_array: expected by to be one of {', '.join(choices)}, got {by!r}")
    position, count = choices[by]
    shape, cells = array["shape"], array["elements"]
    columns = shape[-1] if shape else 1
    if len(shape) == 1 and columns > 32:  # a long row is folded
        columns = 32
    rows = -(-len(cells) // columns)
    size = 14 if columns <= 40 else 8
    title = f"{array['name']} {shape_text(shape)}: which {by} wrote each element"
    picture = Picture(max(70 + columns * size + 20, 8 * len(title)), 50 + rows * size + 30, title)
    picture.text(10, 22, title, bold=True)
    for i, (block, thread, _loads, stores) in enumerate(cells):
        x, y = 60 + i % columns * size, 40 + i // columns * size
        if block < 0:
            picture.box(x, y, size - 1, size - 1, fill="#f6f8fa", r=1)
            picture.path([(x + 3, y + 3), (x + size - 4, y + size - 4)], line=WRONG, width=1)
        else:
            line = WRONG if stores > 1 else "none"
            picture.box(x, y, size - 1, size - 1, fill=colour_of(position(block, thread), count), line=line, r=1)
    for row in range(0, rows, max(1, rows // 8)):
        picture.text(52, 40 + row * size + size - 3, str(row), size=10, fill=MUTED, anchor="end")
    for column in range(0, columns, max(1, columns // 8)):
        picture.text(60 + column * size + size / 2, 36, str(column), size=9, fill=MUTED, anchor="middle")
    explained = "a red line: not written by a kernel; a red frame: written more than once"
    picture.text(10, 40 + rows * size + 18, explained, size=11, fill=MUTED)
    return picture


def lanes_of(site: Site) -> list[tuple[int, int]]:
    """Return the active lanes of a site's most expensive sample, with their addresses."""

    def cost(sample: dict[str, Any]) -> int:
        unit = SECTOR if site.space == "global" else WORD
        return len({address // unit for address in sample["addresses"] if address is not None})

    addresses = max(site.samples, key=cost)["addresses"]
    return [(lane, address) for lane, address in enumerate(addresses) if address is not None]


def draw_lanes(site: Site) -> Picture:
    """Draw the 32 lanes of an instruction above, and below the sectors of global memory that they ask for."""
    lanes = lanes_of(site)
    used: dict[int, int] = {}  # the first lane that wants each word
    for lane, address in lanes:
        for word in range(address // WORD, (address + site.bytes - 1) // WORD + 1):
            used.setdefault(word, lane)
    sectors = sorted({word * WORD // SECTOR for word in used})
    left, width, gap, per_row = 20, 40, 6, 16
    rows = -(-len(sectors) // per_row)
    total = left * 2 + max(min(per_row, len(sectors)) * (width + gap), 32 * 20)
    title = f"{site.kind} of {site.bytes} bytes by each lane, {site.line.short}: {counted(len(sectors), 'sector')}"
    picture = Picture(total, 150 + rows * 46, title)
    picture.text(left, 22, title, bold=True)
    picture.text(left, 40, site.line.source[:90], mono=True, size=12, fill=MUTED)
    active = dict(lanes)
    for lane in range(32):
        fill = colour_of(lane, 32) if lane in active else IDLE
        picture.box(left + lane * 20, 52, 18, 18, fill=fill, r=2)
        ink = INK if lane in active else MUTED
        picture.text(left + lane * 20 + 9, 65, str(lane), size=9, anchor="middle", fill=ink)
    places: dict[int, tuple[float, float]] = {}
    for i, sector in enumerate(sectors):
        x, y = left + i % per_row * (width + gap), 120 + i // per_row * 46
        picture.box(x, y, width, 22, fill=PAPER, r=2)
        for w in range(SECTOR // WORD):
            word = sector * SECTOR // WORD + w
            if word in used:
                picture.box(x + w * 5, y, 5, 22, fill=colour_of(used[word], 32), line="none", r=0)
            places[word] = (x + w * 5 + 2.5, y)
    if rows <= 2:
        for lane, address in lanes:
            picture.path([(left + lane * 20 + 9, 70), places[address // WORD]], line="#8c959f", width=0.6)
    used_part = 100 * len(used) * WORD // (SECTOR * len(sectors))
    explained = f"each box is a sector of 32 bytes; coloured is what a lane asked for: {used_part} % of what is moved"
    picture.text(left, 124 + rows * 46, explained, size=12, fill=MUTED)
    return picture


def draw_banks(site: Site) -> Picture:
    """Draw the 32 banks of shared memory as columns, each with the words that the lanes want from the bank."""
    words: dict[int, list[int]] = {}
    for lane, address in lanes_of(site):
        words.setdefault(address // WORD, []).append(lane)
    banks: dict[int, list[int]] = {}
    for word in sorted(words):
        banks.setdefault(word % 32, []).append(word)
    deepest = max(map(len, banks.values()))
    shown = min(deepest, 32)
    what = f"{site.kind} of {site.bytes} bytes by each lane, {site.line.short}"
    title = f"{what}: {counted(deepest, 'word')} in the fullest bank"
    picture = Picture(40 + 32 * 22, 100 + shown * 16, title)
    picture.text(20, 22, title, bold=True)
    picture.text(20, 40, site.line.source[:90], mono=True, size=12, fill=MUTED)
    for bank in range(32):
        picture.text(30 + bank * 22, 60, str(bank), size=9, fill=MUTED, anchor="middle")
        for row, word in enumerate(banks.get(bank, [])[:shown]):
            lanes = words[word]
            picture.box(20 + bank * 22, 66 + row * 16, 20, 14, fill=colour_of(lanes[0], 32), r=2)
            label = str(lanes[0]) if len(lanes) == 1 else f"{lanes[0]}+"
            picture.text(30 + bank * 22, 76 + row * 16, label, size=9, anchor="middle")
    explained = "a column is a bank, a box a word with the lane that wants it; a bank gives one word at a time"
    picture.text(20, 86 + shown * 16, explained, size=12, fill=MUTED)
    return picture


def draw_lines(sites: list[Site]) -> Picture:
    """Draw how full the warps are on each line of one kernel."""
    by_line: dict[tuple[str, int], Site] = {}
    for site in sites:  # of the pieces of code of a line, the one that runs most often
        key = (site.line.file, site.line.line)
        if key not in by_line or site.instructions > by_line[key].instructions:
            by_line[key] = site
    title = f"{sites[0].kernel}: how many lanes are active on each line"
    picture = Picture(860, 60 + 24 * len(by_line), title)
    picture.text(20, 22, title, bold=True)
    for i, (_, site) in enumerate(sorted(by_line.items())):
        y = 40 + i * 24
        full = site.use
        fill = "#2da44e" if full > 0.9 else "#bf8700" if full > 0.5 else WRONG
        picture.text(44, y + 13, str(site.line.line), size=11, mono=True, fill=MUTED, anchor="end")
        picture.box(54, y + 2, 160, 14, fill=IDLE, line="none", r=2)
        picture.box(54, y + 2, 160 * full, 14, fill=fill, line="none", r=2)
        picture.text(224, y + 13, f"{32 * full:.1f} lanes", size=11, fill=MUTED)
        picture.text(290, y + 13, f"x {site.instructions}", size=11, fill=MUTED)
        picture.text(350, y + 13, site.line.source[:70], size=12, mono=True)
    return picture
