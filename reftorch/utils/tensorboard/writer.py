"""``SummaryWriter``: what a training loop calls to log numbers, distributions, pictures and texts for TensorBoard.

A writer has a folder, and puts entries into one file in that folder. A thread of the package ``tensorboard`` writes the
file, so a call costs the training little; ``flush()`` and ``close()`` wait until everything is in the file.

Mirrors: torch/utils/tensorboard/writer.py
Leaves out: graphs of models (they need TorchScript), embeddings, meshes, audio, videos, boxes on images, curves of
precision and recall, whole tensors, raw counts; ``FileWriter.reopen``, which calls what the package no longer has.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Mapping
from datetime import datetime
from types import TracebackType
from typing import Any

from tensorboard.compat.proto.event_pb2 import Event, SessionLog
from tensorboard.compat.proto.summary_pb2 import Summary
from tensorboard.summary.writer.event_file_writer import EventFileWriter

from reftorch.utils.tensorboard._utils import figure_to_image
from reftorch.utils.tensorboard.summary import custom_scalars, histogram, hparams, image, scalar, text

__all__ = ["FileWriter", "SummaryWriter"]


def _default_bins() -> list[float]:
    """Limits from -1e20 to 1e20, each a tenth larger than the one before: those of TensorBoard's histograms."""
    positive = [1e-12]
    while positive[-1] * 1.1 < 1e20:
        positive.append(positive[-1] * 1.1)
    return [-limit for limit in reversed(positive)] + [0.0, *positive]


class FileWriter:
    """One file of events in a folder, written by a thread of the package ``tensorboard``.

    Args:
        log_dir: the folder, which is made if it is missing.
        max_queue: the number of entries that may wait before a call waits for the file.
        flush_secs: the time in seconds after which waiting entries are written.
        filename_suffix: the end of the file's name.

    Mirrors torch/utils/tensorboard/writer.py, ``FileWriter``.
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str],
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str = "",
    ) -> None:
        self.event_writer = EventFileWriter(str(log_dir), max_queue, flush_secs, filename_suffix)

    def get_logdir(self) -> str:
        """Return the folder."""
        return self.event_writer.get_logdir()

    def add_event(self, event: Event, step: int | None = None, walltime: float | None = None) -> None:
        """Add an event of step ``step``, at ``walltime`` (seconds since 1970) or now."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)  # a number of numpy, or a tensor, is no number for a protocol buffer
        self.event_writer.add_event(event)

    def add_summary(self, summary: Summary, global_step: int | None = None, walltime: float | None = None) -> None:
        """Add an entry, as an event of its own."""
        self.add_event(Event(summary=summary), global_step, walltime)

    def flush(self) -> None:
        """Wait until all entries are in the file."""
        self.event_writer.flush()

    def close(self) -> None:
        """Write what waits, and close the file."""
        self.event_writer.close()


class SummaryWriter:
    """Logs for TensorBoard, in one folder.

    Args:
        log_dir: the folder; ``runs/`` with the date, the time and the name of the machine if it is not given. Folders
            side by side (``runs/one``, ``runs/two``) are compared with each other.
        comment: the end of the folder's name, if ``log_dir`` is not given.
        purge_step: a training that is resumed at this step hides what an earlier run has logged from this step on.
        max_queue: the number of entries that may wait before a call waits for the file.
        flush_secs: the time in seconds after which waiting entries are written.
        filename_suffix: the end of the names of the files.

    Example:
        >>> import tempfile
        >>> from reftorch.utils.tensorboard import SummaryWriter
        >>> with tempfile.TemporaryDirectory() as folder, SummaryWriter(folder) as writer:
        ...     for step in range(3):
        ...         writer.add_scalar("loss/train", 1 / (step + 1), step)

    Mirrors torch/utils/tensorboard/writer.py, ``SummaryWriter``.
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str] | None = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str = "",
    ) -> None:
        if not log_dir:
            log_dir = os.path.join("runs", f"{datetime.now():%b%d_%H-%M-%S}_{socket.gethostname()}{comment}")
        self.log_dir = log_dir
        self.purge_step = purge_step
        self.max_queue = max_queue
        self.flush_secs = flush_secs
        self.filename_suffix = filename_suffix
        self.file_writer: FileWriter | None = None
        self.all_writers: dict[str, FileWriter] | None = None
        self.default_bins = _default_bins()
        self._get_file_writer()

    def _new_file(self, folder: str | os.PathLike[str]) -> FileWriter:
        return FileWriter(folder, self.max_queue, self.flush_secs, self.filename_suffix)

    def _get_file_writer(self) -> FileWriter:
        """Return the writer of the folder itself; a new one after ``close()``."""
        if self.all_writers is None or self.file_writer is None:
            self.file_writer = self._new_file(self.log_dir)
            self.all_writers = {self.file_writer.get_logdir(): self.file_writer}
            if self.purge_step is not None:
                self.file_writer.add_event(Event(step=self.purge_step, file_version="brain.Event:2"))
                start = SessionLog(status=SessionLog.START)
                self.file_writer.add_event(Event(step=self.purge_step, session_log=start))
                self.purge_step = None
        return self.file_writer

    def get_logdir(self) -> str | os.PathLike[str]:
        """Return the folder."""
        return self.log_dir

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """Log one number; see :func:`~reftorch.utils.tensorboard.summary.scalar`.

        Mirrors torch/utils/tensorboard/writer.py, ``SummaryWriter.add_scalar``.
        """
        entry = scalar(tag, scalar_value, new_style=new_style, double_precision=double_precision)
        self._get_file_writer().add_summary(entry, global_step, walltime)

    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: Mapping[str, Any],
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Log several numbers for one chart. Each of them has a folder of its own, because a run has one value a step.

        Mirrors torch/utils/tensorboard/writer.py, ``SummaryWriter.add_scalars``.
        """
        walltime = time.time() if walltime is None else walltime
        folder = self._get_file_writer().get_logdir()
        assert self.all_writers is not None
        for tag, value in tag_scalar_dict.items():
            place = f"{folder}/{main_tag.replace('/', '_')}_{tag}"
            if place not in self.all_writers:
                self.all_writers[place] = self._new_file(place)
            self.all_writers[place].add_summary(scalar(main_tag, value), global_step, walltime)

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: int | None = None,
        bins: Any = "tensorflow",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """Log a distribution. ``bins`` is "tensorflow" for TensorBoard's own limits, or what numpy.histogram takes.

        Mirrors torch/utils/tensorboard/writer.py, ``SummaryWriter.add_histogram``.
        """
        if isinstance(bins, str) and bins == "tensorflow":
            bins = self.default_bins
        self._get_file_writer().add_summary(histogram(tag, values, bins, max_bins), global_step, walltime)

    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """Log a picture; see :func:`~reftorch.utils.tensorboard.summary.image`.

        Mirrors torch/utils/tensorboard/writer.py, ``SummaryWriter.add_image``.
        """
        self._get_file_writer().add_summary(image(tag, img_tensor, dataformats=dataformats), global_step, walltime)

    def add_images(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """Log several pictures as one grid.

        Mirrors torch/utils/tensorboard/writer.py, ``SummaryWriter.add_images``.
        """
        self.add_image(tag, img_tensor, global_step, walltime, dataformats)

    def add_figure(
        self,
        tag: str,
        figure: Any,
        global_step: int | None = None,
        close: bool = True,
        walltime: float | None = None,
    ) -> None:
        """Log a figure of matplotlib, or a list of figures; ``close`` closes them afterwards.

        Mirrors torch/utils/tensorboard/writer.py, ``SummaryWriter.add_figure``.
        """
        form = "NCHW" if isinstance(figure, list) else "CHW"
        self.add_image(tag, figure_to_image(figure, close), global_step, walltime, form)

    def add_text(
        self, tag: str, text_string: str, global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """Log a text, which TensorBoard reads as Markdown.

        Mirrors torch/utils/tensorboard/writer.py, ``SummaryWriter.add_text``.
        """
        self._get_file_writer().add_summary(text(tag, text_string), global_step, walltime)

    def add_custom_scalars(self, layout: Mapping[str, Mapping[str, Any]]) -> None:
        """Say which scalars share a chart; see :func:`~reftorch.utils.tensorboard.summary.custom_scalars`.

        Mirrors torch/utils/tensorboard/writer.py, ``SummaryWriter.add_custom_scalars``.
        """
        self._get_file_writer().add_summary(custom_scalars(layout))

    def add_hparams(
        self,
        hparam_dict: dict[str, Any],
        metric_dict: dict[str, Any],
        hparam_domain_discrete: dict[str, list[Any]] | None = None,
        run_name: str | None = None,
        global_step: int | None = None,
    ) -> None:
        """Log the hyperparameters of a run and what came of them, in a folder of its own below this one.

        Mirrors torch/utils/tensorboard/writer.py, ``SummaryWriter.add_hparams``.
        """
        entries = hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        folder = os.path.join(self._get_file_writer().get_logdir(), run_name or str(time.time()))
        with SummaryWriter(folder) as run:
            for entry in entries:
                run._get_file_writer().add_summary(entry, global_step)
            for tag, value in metric_dict.items():
                run.add_scalar(tag, value, global_step)

    def flush(self) -> None:
        """Wait until everything that was logged is in the files."""
        for writer in (self.all_writers or {}).values():
            writer.flush()

    def close(self) -> None:
        """Write what waits, and close the files. A later call of ``add_...`` opens new files."""
        for writer in (self.all_writers or {}).values():
            writer.close()
        self.file_writer = self.all_writers = None

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, where: TracebackType | None
    ) -> None:
        self.close()
