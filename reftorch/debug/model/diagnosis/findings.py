"""The report of a diagnosis: findings, and the list of checks with their results.

Mirrors: nothing in PyTorch, where people go through such lists by hand.
Left out: pictures; see draw_activations.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from reftorch.debug.common.table import Report, Table, counted


class NotRun(Exception):
    """Ends a check that does not apply to this model; the text says why."""


@dataclass(frozen=True)
class Finding:
    """One problem: the check that found it, the place in the model or the source, the facts, and what to do."""

    where: str
    what: str
    advice: str
    check: str = ""

    def table(self) -> Table:
        return Table(["", ""], [("where", self.where), ("fact", self.what), ("do", self.advice)], f"{self.check}:")


@dataclass(frozen=True)
class LearningRate:
    """One row of the learning-rate scan: the loss of the batch before the first and after the last step."""

    rate: float
    before: float
    after: float


@dataclass(repr=False)
class Diagnosis(Report):
    """The result of :func:`diagnose`: ``findings``, and ``checks``, the names of all checks with their results.

    ``learning_rates`` holds the rows of the learning-rate scan, if the scan ran.
    """

    findings: list[Finding] = field(default_factory=list)
    checks: dict[str, str] = field(default_factory=dict)
    learning_rates: list[LearningRate] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether at least one check ran, and nothing was found."""
        return self.ran > 0 and not self.findings

    @property
    def ran(self) -> int:
        """The number of checks that ran."""
        return sum(not result.startswith("not run") for result in self.checks.values())

    def tables(self) -> list[Table]:
        found = counted(len(self.findings), "finding") if self.findings else "nothing"
        caption = f"diagnosis: {found} in {counted(self.ran, 'check')}" if self.ran else "diagnosis: no check ran"
        places = {finding.check for finding in self.findings}
        marked = {i for i, name in enumerate(self.checks) if name in places}
        tables = [Table(["check", "result"], list(self.checks.items()), caption, marked=marked)]
        tables += [finding.table() for finding in self.findings]
        if self.learning_rates:
            rows = [(row.rate, row.before, row.after) for row in self.learning_rates]
            tables.append(Table(["learning rate", "loss before", "loss after"], rows, "learning-rate scan:"))
        return tables
