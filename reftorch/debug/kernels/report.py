"""What the watcher of kernels saw: faults in words, and costs by line of source.

Mirrors: nothing in PyTorch, whose users read the reports of compute-sanitizer and Nsight Compute
Leaves out: durations, bandwidth, occupancy, caches and tensor cores, which a simulator cannot show truthfully.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from reftorch.debug.common.table import Report, Table, counted
from reftorch.debug.kernels.places import Place, is_guard, kernel_name, look_up, shared_offset, with_shared_name

UNWRITTEN = "a read of memory that nobody has written"
NOTHING = "nothing found: no race, nothing outside of an array, no read of unwritten memory, no incomplete barrier"
NOWHERE = Place("", "", 0)
ORDER = {"block": 0, "load": 1, "store": 2, "atomic": 3, "barrier": 4}


@dataclass
class Problem:
    """A fault of one kind at one place, with the threads and the address of its first occurrence.

    Attributes:
        what: the kind of fault, for example ``"out of bounds"``.
        count: how often it occurred.
        kernel: the kernel's name.
        line: the line of source; ``line.short`` is ``"x.cu:12"``.
        other_line: of a race, the line of the earlier access.
        place: the address in words: ``"out[3]"``, or which byte of which array.
        thread, other_thread: the threads, or the operations of two streams.
        note: why, or what should have been.
    """

    what: str
    count: int
    kernel: str
    line: Place
    other_line: Place
    place: str
    thread: str
    other_thread: str
    note: str

    def __str__(self) -> str:
        where = ", ".join(
            filter(None, [self.place, self.thread + (f" after {self.other_thread}" * bool(self.other_thread))])
        )
        lines = [f"{self.what}, {counted(self.count, 'time')}" + (f" in {self.kernel}" if self.kernel else "")]
        lines += [f"  {text}" for text in (where, self.note) if text]
        for label, line in (("here", self.line), ("before", self.other_line)):
            if line.line:
                lines.append(f"  {label:6} {line.short}  {line.source}".rstrip())
        return "\n".join(lines)


@dataclass
class Site:
    """The instructions of warps at one place: what kind, how many, and what they cost.

    Attributes:
        kind: ``"load"``, ``"store"``, ``"atomic"``, ``"barrier"``, or ``"block"`` for a piece of code without branches.
        space: ``"global"`` or ``"shared"`` memory.
        bytes: of each lane's access.
        instructions, lanes: how often a warp came here, and with how many lanes in all.
        sectors, least_sectors: pieces of 32 bytes of global memory that were asked for, and how few could have been.
        passes, least_passes: how often the banks of shared memory were asked, and how few times could have been.
        same_address: of atomic operations, the lanes that wait for each other, because they use one address.
    """

    kernel: str
    line: Place
    kind: str
    space: str
    bytes: int
    instructions: int = 0
    lanes: int = 0
    fewest_lanes: int = 0
    sectors: int = 0
    least_sectors: int = 0
    passes: int = 0
    least_passes: int = 0
    same_address: int = 0
    samples: list[dict[str, Any]] = field(default_factory=list, repr=False)

    @property
    def is_access(self) -> bool:
        return self.kind in ("load", "store", "atomic")

    @property
    def cost(self) -> str:
        """The cost of one instruction, in words."""
        n = max(1, self.instructions)
        if self.kind in ("block", "barrier"):
            return f"as few as {self.fewest_lanes} of 32 lanes" if self.fewest_lanes < 32 else ""
        if self.space == "global":
            text = f"{self.sectors / n:.1f} sectors, {self.least_sectors / n:.1f} needed"
        else:
            text = f"{self.passes / n:.1f} passes, {self.least_passes / n:.1f} needed"
        return text + (f", {self.same_address / n:.1f} lanes collide" if self.kind == "atomic" else "")

    @property
    def use(self) -> float:
        """The part of what was moved, or of the lanes, that was needed: 1 is best."""
        if self.is_access and self.space == "global":
            return self.least_sectors / max(1, self.sectors)
        if self.is_access:
            return self.least_passes / max(1, self.passes)
        return self.lanes / max(1, self.instructions) / 32


def is_of_a_guard(site: dict[str, Any]) -> bool:
    """Whether a raw site accesses a variable in shared memory that the compiler has added."""
    samples, place = site["samples"], site["places"][0]
    if site["space"] != "shared" or not samples or place is None:
        return False
    return is_guard(next((each for each in samples[0]["addresses"] if each is not None), None), place[0])


class KernelReport(Report):
    """The result of watching, from the watcher's own report.

    Attributes:
        problems: the faults, a list of :class:`Problem`.
        findings: the faults as text.
        sites: the places of the kernels, a list of :class:`Site`.
        launches: a dict for each launch: kernel, grid, block, and whether its code was instrumented.
        arrays: a dict for each named array, with the writer and the number of loads and stores of each element.
    """

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.sites: list[Site] = []
        self.launches: list[dict[str, Any]] = []
        self.arrays: list[dict[str, Any]] = []

    def read(self, raw: dict[str, Any]) -> None:
        """Take over the watcher's own report."""
        raw_sites = raw["sites"]
        known = look_up(tuple(place) for site in raw_sites if site for place in site["places"] if place)
        stacks = [
            [each for place in site["places"] if place for each in known[tuple(place)]] if site else []
            for site in raw_sites
        ]
        own = [[place for place in stack if place.is_of_the_kernel] for stack in stacks]
        lines = [stack[0] if stack else NOWHERE for stack in own]
        kernels = [kernel_name(stack[-1].function) if stack else "" for stack in own]
        self.sites = [
            Site(kernels[i], lines[i], **{key: site[key] for key in Site.__dataclass_fields__ if key in site})
            for i, site in enumerate(raw_sites)
            if site and site["instructions"] and lines[i].line and not is_of_a_guard(site)
        ]
        self.launches = [launch | {"kernel": kernel_name(launch["kernel"])} for launch in raw["launches"]]
        self.arrays = raw["arrays"]
        groups: dict[tuple, Problem] = {}
        for p in raw["problems"]:
            here, there = p["site"], p["other_site"]
            places = raw_sites[here]["places"] if here else []
            place = p["place"]
            if places and places[0]:
                library = places[0][0]
                if is_guard(shared_offset(place), library):
                    continue
                place = with_shared_name(place, library)
            kernel = kernels[here] or kernel_name(p["kernel"])
            problem = Problem(
                p["what"], 0, kernel, lines[here], lines[there], place, p["thread"], p["other_thread"], p["note"]
            )
            # Several instructions of one line are one problem for a reader, and so are the races of one pair of lines.
            what = re.sub(r"a race: .*?(?= by two| on two|$)", "a race", p["what"])
            same = groups.setdefault((what, kernel, lines[here][1:], lines[there][1:]), problem)
            same.count += p["count"]
        self.problems = without_consequences(list(groups.values()))

    @property
    def findings(self) -> str:
        """The problems in words, one after the other; a sentence if there are none."""
        if not self.problems and not any(launch["instrumented"] for launch in self.launches):
            return "no kernel was watched"
        return "\n".join(map(str, self.problems)) or NOTHING

    @property
    def notes(self) -> list[str]:
        """What was not watched."""
        unseen = sorted({launch["kernel"] for launch in self.launches if not launch["instrumented"]})
        return (
            [f"not watched, because they were compiled without instrumentation: {', '.join(unseen)}"] if unseen else []
        )

    def costs(self, kernel: str = "") -> list[Table]:
        """Return a table for each kernel whose name contains `kernel`: what its lines cost."""
        rows: dict[str, list[Site]] = defaultdict(list)
        for site in self.sites:
            if kernel in site.kernel and site.kind != "barrier":
                rows[site.kernel].append(site)
        return [cost_table(name, sites) for name, sites in rows.items()]

    def tables(self) -> list[Table]:
        return self.costs()

    def __str__(self) -> str:
        problems = "\n".join(map(str, self.problems)) or "no problems"
        return "\n\n".join(filter(None, [problems, super().__str__(), *self.notes]))

    def _repr_html_(self) -> str:
        caption = counted(len(self.problems), "problem") if self.problems else "no problems"
        rows = [[line] for problem in self.problems for line in str(problem).splitlines()]
        marked = {i for i, row in enumerate(rows) if not row[0].startswith(" ")}
        return Table([""], rows, caption, self.notes, marked)._repr_html_() + super()._repr_html_()


def without_consequences(problems: list[Problem]) -> list[Problem]:
    """Return the problems without reads of unwritten memory that a race explains: the write came too late."""
    racing = {(problem.kernel, line[1:]) for problem in problems if problem.what.startswith("a race")
              for line in (problem.line, problem.other_line)}  # fmt: skip
    return [
        problem for problem in problems if problem.what != UNWRITTEN or (problem.kernel, problem.line[1:]) not in racing
    ]


def cost_table(kernel: str, sites: list[Site]) -> Table:
    """Return the costs of one kernel by line. Of a line's pieces of code, the one that runs most often is shown."""
    shown: dict[tuple, Site] = {}
    for site in sites:
        key = (
            site.line.file,
            site.line.line,
            ORDER[site.kind],
            site.space,
            site.line if site.kind == "block" else id(site),
        )
        if key not in shown or site.instructions > shown[key].instructions:
            shown[key] = site
    rows = []
    for _, site in sorted(shown.items(), key=lambda item: item[0][:4]):
        what = "runs" if site.kind == "block" else f"{site.kind} {site.space} {site.bytes}"
        lanes = f"{site.lanes / site.instructions:.1f}"
        used = f"{100 * site.use:.0f} %"
        rows.append((site.line.short, what, site.instructions, lanes, site.cost, used, site.line.source[:70]))
    return Table(["line", "what", "times", "lanes", "cost of each", "use", "source"], rows, kernel)
