"""`summary`: what the learner knows at the end of a lesson, and the answer to the lesson's question.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: the map of symbols, which comes after the summary.
"""

from __future__ import annotations

from typing import Any

from course._tools.listing import BOX, HEAD, in_box

FEWEST, MOST = 3, 6


class Summary:
    """Some lines, and the answer."""

    def __init__(self, known: tuple[str, ...], answer: str) -> None:
        self.known = known
        self.answer = answer

    def __repr__(self) -> str:
        lines = [f"- {line}" for line in self.known]
        return "\n".join(["What you know now", *lines, f"The answer to the question: {self.answer}"])

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        lines = "".join(f'<li style="margin:4px 0;color:#1f2328">{in_box(line)}</li>' for line in self.known)
        html = (
            f'<div style="{BOX};border-color:#0550ae"><div style="{HEAD};font-size:14px"><b>What you know now</b></div>'
            f'<ul style="margin:6px 0;padding:0 12px 0 30px;font-size:14px;line-height:1.45">{lines}</ul>'
            '<div style="padding:8px 12px;border-top:1px solid #d8dee4;background:#f0f6ff;color:#1f2328;'
            f'font-size:14px;line-height:1.45"><b>The answer to the question.</b> {in_box(self.answer)}</div></div>'
        )
        return {"text/plain": repr(self), "text/html": html}


def summary(*known: str, answer: str) -> Summary:
    """The summary of a lesson.

    Args:
        known: three to six sentences, five as a rule; text between backquotes is set as code.
        answer: the answer to the question that the lesson opened with, in one or two sentences.

    Raises:
        ValueError: there are fewer or more sentences.

    Example::

        >>> summary("Views share memory.", "Strides say how.", "A copy has its own.", answer="`reshape` may copy.")
        What you know now
        - Views share memory.
        - Strides say how.
        - A copy has its own.
        The answer to the question: `reshape` may copy.
    """
    if not FEWEST <= len(known) <= MOST:
        raise ValueError(f"summary: {len(known)} sentences; a summary has {FEWEST} to {MOST}, five as a rule")
    return Summary(known, answer)
