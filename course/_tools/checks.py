"""`check`: what a check cell of an exercise is written with.

Mirrors: nothing in PyTorch: the course's own.
Leaves out: skipping; a check passes by comparing, fails, or says that its exercise is not done.
"""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any

from course._tools import mytorch, work
from course._tools.exercises import find_exercise
from course._tools.layout import CHECKING, CourseError
from course._tools.real_torch import NoTorch

MIMETYPE = "application/vnd.reftorch.check+json"
# What a check raises in lines of its own where it cannot take the answer: it has another name, or another form.
FORM = (NameError, TypeError, ValueError, KeyError, AttributeError)


class CheckFailed(AssertionError):
    """An exercise's check found something else than it expected."""

    def _render_traceback_(self) -> list[str]:
        """Return what IPython shows below the report: where the learner's code raised, if it did, and the outcome."""
        return [*(_where(self.__cause__) if self.__cause__ else []), str(self).splitlines()[0]]


class NotDone(NotImplementedError):
    """An exercise whose stub is still in place."""

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()


class Report:
    """The outcome of one check: a line for the reader, and the same as data for `reftorch-course check`."""

    def __init__(self, exercise: str, state: str, what: str, came: str = "", expected: str = "") -> None:
        self.data = {"exercise": exercise, "state": state, "what": what, "came": came, "expected": expected}

    def __repr__(self) -> str:
        lines = [f"exercise {self.data['exercise']}: {self.data['state']}: {self.data['what']}"]
        if self.data["came"]:
            lines += [beside("  came:     ", self.data["came"]), beside("  expected: ", self.data["expected"])]
        return "\n".join(lines)

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, Any]:
        return {"text/plain": repr(self), MIMETYPE: self.data}


def beside(label: str, text: str) -> str:
    """Join a label and a text; the further lines of the text are indented below its first one."""
    return label + text.replace("\n", "\n" + " " * len(label))


def _publish(report: Report) -> None:
    from IPython import get_ipython
    from IPython.display import display

    if get_ipython() is None:
        print(report)
    else:
        display(report)


def _note(number: str, state: str) -> None:
    """Keep the outcome of a check that the learner runs in the working copy, for the command that checks the file."""
    if os.environ.get(CHECKING):
        return
    with suppress(CourseError):  # a check of no chapter's exercise, or a folder that cannot be written
        chapter = find_exercise(number)[0]
        if Path.cwd() == chapter.working_copy:
            work.note_in_notebook(chapter, number, state)


def _debrief(number: str) -> None:
    """Show what the exercise says once its check has passed."""
    from IPython import get_ipython
    from IPython.display import Markdown, display

    try:
        text = find_exercise(number)[1].debrief
    except CourseError:  # a check of no chapter's exercise, as in a test
        return
    if text and get_ipython() is not None:
        display(Markdown(text))


def _into_the_package(number: str) -> None:
    """Write an answer that has passed in the learner's notebook into the learner's package, and say so."""
    from IPython import get_ipython

    shell = get_ipython()
    if shell is None or os.environ.get(CHECKING):
        return
    with suppress(CourseError):  # a check of no chapter's exercise
        if Path.cwd() == find_exercise(number)[0].working_copy:
            for said in mytorch.put_running(number, shell.user_ns):
                print(said)


class check:
    """Check one exercise. When the check passes, a notebook shows the debrief of the exercise too.

    Args:
        exercise: the exercise's number.
        what: what is checked, in a few words; shown whatever the outcome.

    Raises:
        NotDone: the exercise's stub was reached.
        CheckFailed: a comparison did not hold, the learner's code raised, or nothing was compared.

    Example::

        >>> with check("03.1", "the sum of two numbers") as c:
        ...     c.equal("1 + 1", came=1 + 1, expected=2)
        exercise 03.1: passed: the sum of two numbers
    """

    def __init__(self, exercise: str, what: str) -> None:
        self.exercise = exercise
        self.what = what
        self.compared: list[str] = []
        self._case = ""
        self._names: dict[str, Any] = {}
        self._before: dict[str, Any] = {}

    def __enter__(self) -> check:
        frame = sys._getframe(1)
        if frame.f_locals is frame.f_globals:  # a cell, and no function, whose variables end with it
            self._names, self._before = frame.f_globals, dict(frame.f_globals)
        return self

    def _forget(self) -> None:
        """Take what the block has assigned out of the notebook: among these variables are right answers."""
        for name in [name for name, value in self._names.items() if self._before.get(name, self) is not value]:
            if name in self._before:
                self._names[name] = self._before[name]
            else:
                del self._names[name]
        self._names, self._before = {}, {}

    def _fail(self, what: str, came: str, expected: str) -> None:
        report = Report(self.exercise, "failed", what, came, expected)
        _note(self.exercise, "failed")
        _publish(report)
        raise CheckFailed(repr(report))

    def case(self, what: str) -> str:
        """Begin a case, and return its name. Where the learner's code raises, the report names the case."""
        self._case = what
        return what

    def answers(self, what: str, *, came: Mapping[Any, Any], truth: Mapping[Any, Any], look: str) -> None:
        """Hold the answers to a question of reading. A failure says how many are right, and shows no right answer.

        It names the keys of `came` that were not asked for, as a misspelled one, and those that have no answer.

        Args:
            what: what was asked.
            came: the learner's answers.
            truth: what the running program says, under the same keys.
            look: where to look.
        """
        self.compared.append(what)
        right = sum(key in came and _same(came[key], true) for key, true in truth.items())
        if right < len(truth):
            told = [f"{right} of {len(truth)} right"]
            unknown, absent = came.keys() - truth.keys(), truth.keys() - came.keys()
            for words, keys in (("not asked for", unknown), ("no answer for", absent)):
                told += [f"{words}: {', '.join(sorted(map(str, keys)))}"] if keys else []
            self._fail(what, "; ".join(told), f"{len(truth)} of {len(truth)} right. {look}")

    def equal(self, what: str, *, came: Any, expected: Any) -> None:
        """Hold that `came == expected`, and that both are of one type."""
        self.compared.append(what)
        if not _same(came, expected):
            self._fail(what, repr(came), repr(expected))

    def close(self, what: str, *, came: Any, expected: Any, rtol: float = 1e-5, atol: float = 1e-6) -> None:
        """Hold that two tensors have one shape, one dtype, and values within the tolerances."""
        self.compared.append(what)
        if not hasattr(came, "dtype") or not hasattr(came, "shape"):
            self._fail(what, repr(came), f"a tensor, {expected!r}")
        if tuple(came.shape) != tuple(expected.shape):
            self._fail(f"{what}: shape", str(tuple(came.shape)), str(tuple(expected.shape)))
        if came.dtype != expected.dtype:
            self._fail(f"{what}: dtype", str(came.dtype), str(expected.dtype))
        ours, theirs = came.detach().flatten().tolist(), expected.detach().flatten().tolist()
        if not all(_within(a, b, rtol, atol) for a, b in zip(ours, theirs, strict=True)):
            self._fail(what, repr(came), repr(expected))

    def true(self, what: str, condition: bool, *, came: str, expected: str) -> None:
        """Hold a condition that is not a comparison; `came` and `expected` say it in words."""
        self.compared.append(what)
        if not condition:
            self._fail(what, came, expected)

    def raises(self, what: str, kind: type[BaseException], match: str, call: Any, *args: Any) -> None:
        """Hold that `call(*args)` raises `kind` with `match` in its message."""
        self.compared.append(what)
        expected = f"{kind.__name__} with {match!r} in its message"
        try:
            result = call(*args)
        except NotImplementedError as error:
            if _is_stub(error, self.exercise):
                raise
            self._fail(what, f"{type(error).__name__}: {error}", expected)
        except Exception as error:
            if not isinstance(error, kind) or match not in str(error):
                self._fail(what, f"{type(error).__name__}: {error}", expected)
        else:
            self._fail(what, f"no error, and the result {result!r}", expected)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, frames: TracebackType | None
    ) -> bool:
        self._forget()
        if error is None and not self.compared:
            self._fail(self.what, "a check that compared nothing", "at least one comparison")
        if error is None:
            _note(self.exercise, "passed")
            _publish(Report(self.exercise, "passed", self.what))
            _debrief(self.exercise)
            _into_the_package(self.exercise)
            return False
        if isinstance(error, CheckFailed):
            return False
        if isinstance(error, NotImplementedError) and _is_stub(error, self.exercise):
            report = Report(self.exercise, "not done", self.what)
            _publish(report)
            raise NotDone(repr(report)) from None
        if isinstance(error, NoTorch):
            _publish(Report(self.exercise, "not done", f"{self.what}: {error}"))
            raise NotDone(str(error)) from None
        if isinstance(error, Exception):
            files = {frame.f_code.co_filename for frame, _ in traceback.walk_tb(frames)}
            in_the_check = len(files) == 1 and isinstance(error, FORM)
            expected = f"an answer like its stub: {_form(self.exercise)}" if in_the_check else "no error from your code"
            what = f"{self.what}, after this held: {self.compared[-1]}" if self.compared else self.what
            what = f"{self.what}, in this case: {self._case}" if self._case else what
            report = Report(self.exercise, "failed", what, f"{type(error).__name__}: {error}", expected)
            _publish(report)
            raise CheckFailed(repr(report)) from error
        return False


def _same(came: Any, expected: Any) -> bool:
    return type(came) is type(expected) and came == expected


def _within(a: float, b: float, rtol: float, atol: float) -> bool:
    return a == b or (a != a and b != b) or abs(a - b) <= atol + rtol * abs(b)


def _form(exercise: str) -> str:
    """Return the first line of an exercise's stub: its name, its arguments and its result."""
    first, second = find_exercise(exercise)[1].answers[0].source.splitlines()[:2]
    return f"{first}\n{second}" if first.endswith('"""') else first  # a text in C++ begins on its second line


def _where(error: BaseException) -> list[str]:
    """Return the traceback of the learner's code; nothing if the check, or the library that it called, raised."""
    frames = error.__traceback__
    checks = frames and frames.tb_frame.f_code.co_filename
    while frames is not None and _is_ours(frames.tb_frame.f_code.co_filename, checks):
        frames = frames.tb_next
    if frames is None:
        return []
    text = "".join(traceback.format_exception(type(error), error, frames))
    return re.sub(r'File "[^"]*\bipykernel_[^"]*"', "your cell", text).splitlines()


def _is_ours(file: str, checks: str | None) -> bool:
    """Return whether the code of this file name is the check's cell or a module: the name of a cell is not a file."""
    return file == checks or file.startswith("<frozen") or Path(file).exists()


def _is_stub(error: NotImplementedError, exercise: str) -> bool:
    return f"exercise {exercise}" in str(error)
