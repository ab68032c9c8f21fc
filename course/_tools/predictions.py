"""`predict` and `reveal`: a question that is answered before the output exists, and the comparison afterwards.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: marks and progress; a prediction that fails teaches more than one that holds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from html import escape
from typing import Any

from course._tools.listing import BOX, HEAD, WORD, in_box

CELL = "padding:5px 12px;text-align:left;vertical-align:top;color:#1f2328;background:#fff"
RIGHT, WRONG = "#1a7f37", "#9a3412"
YES, NO = ("yes", "true", "y"), ("no", "false", "n")
RAISES = ("raises", "raise", "error", "an error", "it raises", "exception")


class Prediction:
    """A question, and what the learner said; `said` has only what was answered."""

    def __init__(self, question: str, asked: Mapping[str, Any]) -> None:
        self.question = question
        self.asked = tuple(asked)
        self.said = {name: value for name, value in asked.items() if value is not ... and value != ""}

    def __repr__(self) -> str:
        return f"{self.question}\n{self._what_to_do()}"

    def _what_to_do(self) -> str:
        if not self.said:
            return "Write your answer into this cell, run the cell, and go on. A guess is worth more than no answer."
        said = ", ".join(f"{name}: {_shown(value)}" for name, value in self.said.items())
        left = [name for name in self.asked if name not in self.said]
        return f"You said {said}." + (f" No answer yet for {', '.join(left)}." if left else "")

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        html = (
            f'<div style="{BOX}"><div style="{HEAD};font-size:13px"><b>Predict:</b> {in_box(self.question)}</div>'
            f'<div style="padding:7px 10px;font-size:13px">{escape(self._what_to_do())}</div></div>'
        )
        return {"text/plain": repr(self), "text/html": html}


class Reveal:
    """What came, beside what the learner said."""

    def __init__(
        self,
        prediction: Prediction,
        came: Mapping[str, Any],
        why: Mapping[str, str],
        people: Mapping[str, Mapping[Any, str]],
        all_in_all: str,
    ) -> None:
        self.prediction = prediction
        self.came = came
        self.why = why
        self.people = people
        self.all_in_all = all_in_all

    @property
    def held(self) -> dict[str, bool]:
        """For each answer, whether the answer is what came."""
        return {name: agrees(value, self.came[name]) for name, value in self.prediction.said.items()}

    def _verdict(self) -> str:
        if not self.held:
            return "What came (write your answer above, then look)"
        return f"What came: you had {sum(self.held.values())} of {len(self.came)}"

    def _remarks(self, name: str) -> list[str]:
        """Return the reason for a result, and why many give the learner's answer, or their answers if there is none."""
        remarks = [self.why[name]] if name in self.why else []
        for value, because in self.people.get(name, {}).items():
            if name not in self.prediction.said:
                remarks.append(f"Many say {_shown(value)}: {because}")
            elif agrees(self.prediction.said[name], value):
                remarks.append(f"You said {_shown(value)}, as many do: {because}")
        return remarks

    def __repr__(self) -> str:
        lines = [self._verdict()]
        for name, value in self.came.items():
            said = f"  (you said {_shown(self.prediction.said[name])})" if name in self.prediction.said else ""
            lines.append(f"  {name}: {_shown(value)}{said}")
            lines += [f"      {remark}" for remark in self._remarks(name)]
        lines += [f"  {name}: {text}" for name, text in self._further()]
        return "\n".join([*lines, *([self.all_in_all] if self.all_in_all else [])])

    def _further(self) -> list[tuple[str, str]]:
        """Return the reasons for names that were not asked: the rows of a question with one answer for all of them."""
        return [(name, text) for name, text in self.why.items() if name not in self.came]

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        said = self.prediction.said
        rows = ""
        for name, value in self.came.items():
            colour = RIGHT if self.held.get(name) else WRONG
            columns = [f"<b>{_word(name)}</b>"]
            if said:
                mark = ("✓ " if self.held[name] else "✗ ") if name in said else ""
                columns.append(
                    f'<span style="color:{colour}">{mark}{escape(_shown(said[name])) if name in said else "-"}</span>'
                )
            columns += [_word(_shown(value)), "<br>".join(map(in_box, self._remarks(name)))]
            rows += _row(columns)
        spans = 1 + bool(said)
        for name, text in self._further():
            rows += _row([f"<b>{_word(name)}</b>", *[""] * spans, in_box(text)])
        head = _row(["", *(["you said"] if said else []), "what came", "why"], tag="th")
        last = (
            f'<div style="padding:6px 12px;font-size:13px">{in_box(self.all_in_all)}</div>' if self.all_in_all else ""
        )
        html = (
            f'<details{" open" if said else ""} style="{BOX}"><summary style="{HEAD};font-size:13px;cursor:pointer">'
            f"<b>{escape(self._verdict())}</b></summary>"
            f'<table style="font-size:13px;border-collapse:collapse;margin:0">{head}{rows}</table>{last}</details>'
        )
        return {"text/plain": repr(self), "text/html": html}


_latest: Prediction | None = None


def predict(question: str, /, **answers: Any) -> Prediction:
    """Ask the learner for a prediction, before the cell runs that shows what comes.

    Args:
        question: what to predict.
        answers: a name for each part of the answer, with `...` for the learner to replace; or one name for all, as
            `answer=""`.

    Raises:
        ValueError: the question asks for nothing.

    Example::

        >>> predict("which of these share memory with x?", a=True, b=...)
        which of these share memory with x?
        You said a: yes. No answer yet for b.
    """
    global _latest
    if not answers:
        raise ValueError('predict: no answer is asked for; name each part of it, as in predict("...", a=..., b=...)')
    _latest = Prediction(question, answers)
    return _latest


def reveal(
    all_in_all: str = "",
    /,
    *,
    why: Mapping[str, str] | None = None,
    people: Mapping[str, Mapping[Any, str]] | None = None,
    **came: Any,
) -> Reveal:
    """Compare what came with the prediction above. Without an answer the comparison is folded, and so in the book.

    Args:
        all_in_all: one or two closing sentences.
        why: the reason for what came, by the name of the answer. Other names become rows of their own.
        people: why people say something else: for the name of an answer, what they say and why they say it.
        came: what came, computed by the cell, for each name that the prediction asked for. A set, `{"a", "d"}`, is
            answered by its letters or words in any order; an exception by its type's name or by `"raises"`.

    Raises:
        LookupError: there is no prediction above, or it asked for other names.

    Example::

        >>> _ = predict("which of these share memory with x?", a=True, b=False)
        >>> reveal(a=True, b=True, why={"b": "b has other strides over the same storage."})
        What came: you had 1 of 2
          a: yes  (you said yes)
          b: yes  (you said no)
              b has other strides over the same storage.
    """
    if _latest is None:
        raise LookupError("reveal: there is no prediction yet; run the cell with predict(...) first")
    if set(came) != set(_latest.asked):
        raise LookupError(
            f"reveal: the prediction {_latest.question!r} asked for {', '.join(_latest.asked)}, and this cell reveals "
            f"{', '.join(came)}; run the cell with its own predict(...) first"
        )
    return Reveal(_latest, came, why or {}, people or {}, all_in_all)


def agrees(said: Any, came: Any) -> bool:
    """Return whether an answer means what came: `"yes"` means True, `"da"` means {"a", "d"}, 0.54 means 0.5403."""
    if isinstance(said, str):
        text = said.strip().lower()
        if isinstance(came, bool):
            return text in (YES if came else NO)
        if isinstance(came, BaseException):
            return text in (*RAISES, type(came).__name__.lower())
        if isinstance(came, (set, frozenset)):
            return _members(text, came) == {str(each).lower() for each in came}
        return text == _shown(came).lower()
    if isinstance(came, BaseException):
        return type(said) is type(came) or said is type(came)
    if isinstance(came, (set, frozenset)):
        return {str(each).lower() for each in said} == {str(each).lower() for each in came}
    if isinstance(came, bool) or isinstance(said, bool):
        return said is came or (isinstance(said, int) and isinstance(came, int) and said == came)
    if isinstance(came, (int, float)) and isinstance(said, (int, float)):
        return math.isclose(said, came, rel_tol=5e-3, abs_tol=1e-9)
    return _shown(said).lower() == _shown(came).lower()


def _members(text: str, came: set[Any] | frozenset[Any]) -> set[str]:
    if text in ("none", "nothing", "-"):
        return set()
    if all(len(str(each)) == 1 for each in came):
        return set(re.sub(r"\band\b", "", text)) - set(" ,;.")
    return {word.strip() for word in re.split(r",| and ", text) if word.strip()}


def _shown(value: Any) -> str:
    """A value as a learner would say the value: no quotes, no brackets around the shape of a tuple's repr."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, BaseException):
        return f"{type(value).__name__}: {str(value).splitlines()[0]}" if str(value) else type(value).__name__
    if isinstance(value, type):
        return value.__name__
    if isinstance(value, (set, frozenset)):
        return ", ".join(sorted(map(str, value))) or "none"
    if isinstance(value, str):
        return value
    if isinstance(value, (tuple, list)):
        return f"({', '.join(map(str, value))})"
    if isinstance(value, float):
        text = f"{value:.4g}"
        return f"{value:,.0f}" if "e+" in text else text  # 12,345 and not 1.234e+04
    return re.sub(r"\s+", " ", str(value))


def _word(text: str) -> str:
    """A name or a value as HTML."""
    return f'<code style="{WORD}">{escape(text)}</code>'


def _row(columns: list[str], tag: str = "td") -> str:
    return "<tr>" + "".join(f'<{tag} style="{CELL}">{column}</{tag}>' for column in columns) + "</tr>"
