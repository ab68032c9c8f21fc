"""One function for each kind of entry: it takes what a program has measured, and returns TensorBoard's ``Summary``.

A ``Summary`` is a protocol buffer: a record with a tag (a name) and a value. What TensorBoard draws from the value is
decided by the field that is set (``simple_value``, ``histo``, ``image``), or by the name of a plugin in the metadata.

Mirrors: torch/utils/tensorboard/summary.py
Leaves out: audio, meshes, videos, boxes on images, curves of precision and recall, whole tensors, raw counts.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.hparams import api_pb2, metadata, plugin_data_pb2
from tensorboard.plugins.text.plugin_data_pb2 import TextPluginData

from reftorch._tensor import Tensor
from reftorch.utils.tensorboard._convert_np import make_np
from reftorch.utils.tensorboard._utils import convert_to_HWC

__all__ = ["custom_scalars", "histogram", "hparams", "image", "make_histogram", "make_image", "scalar", "text"]


def scalar(
    name: str,
    tensor: Any,
    collections: None = None,
    new_style: bool = False,
    double_precision: bool = False,
) -> Summary:
    """Return an entry of one number.

    Args:
        name: the tag. A ``/`` in it makes groups: ``loss/train`` and ``loss/test`` are drawn under *loss*.
        tensor: a number, an array or a tensor with one element.
        collections: not used, as in PyTorch.
        new_style: whether the number is in the field for tensors, which TensorBoard loads faster.
        double_precision: with ``new_style``, whether float64 is kept; otherwise the number is float32.

    Raises:
        AssertionError: ``tensor`` has more than one element.

    Mirrors torch/utils/tensorboard/summary.py, ``scalar``.
    """
    array = make_np(tensor).squeeze()
    if array.ndim != 0:
        raise AssertionError(
            f"Tensor should contain one element (0 dimensions). Was given size: {array.size} and {array.ndim} "
            "dimensions. Hint: take the mean, or use add_histogram"
        )
    number = float(array)
    if not new_style:
        return Summary(value=[Summary.Value(tag=name, simple_value=number)])
    proto = (
        TensorProto(double_val=[number], dtype="DT_DOUBLE")
        if double_precision
        else TensorProto(float_val=[number], dtype="DT_FLOAT")
    )
    return Summary(value=[Summary.Value(tag=name, tensor=proto, metadata=_of_plugin("scalars"))])


def histogram(name: str, values: Any, bins: Any, max_bins: int | None = None) -> Summary:
    """Return an entry with the distribution of ``values``: how many of them lie in each bin.

    Args:
        name: the tag.
        values: an array or tensor of any shape.
        bins: the limits of the bins, or what else :func:`numpy.histogram` takes.
        max_bins: with more bins than this, neighbours are joined.

    Raises:
        ValueError: ``values`` is empty, or no value lies in a bin.

    Mirrors torch/utils/tensorboard/summary.py, ``histogram``.
    """
    return Summary(value=[Summary.Value(tag=name, histo=make_histogram(make_np(values).astype(float), bins, max_bins))])


def make_histogram(values: np.ndarray, bins: Any, max_bins: int | None = None) -> HistogramProto:
    """Count the values in each bin, and leave out the empty bins at both ends.

    TensorBoard stores the right limit of each bin only. One empty bin therefore comes first: its right limit is the
    left limit of the first bin that has a value.

    Mirrors torch/utils/tensorboard/summary.py, ``make_histogram``.
    """
    if values.size == 0:
        raise ValueError("The input has no element.")
    values = values.reshape(-1)
    counts, limits = np.histogram(values, bins=bins)
    if max_bins is not None and len(counts) > max_bins:
        counts, limits = _joined(counts, limits, len(counts) // max_bins)
    filled = np.flatnonzero(counts)
    if filled.size == 0:
        raise ValueError("The histogram is empty: no value lies in a bin. Hint: are the values finite?")
    first, last = int(filled[0]), int(filled[-1])
    return HistogramProto(
        min=values.min(),
        max=values.max(),
        num=len(values),
        sum=values.sum(),
        sum_squares=values.dot(values),
        bucket_limit=limits[first : last + 2].tolist(),
        bucket=[0, *counts[first : last + 1].tolist()],
    )


def _joined(counts: np.ndarray, limits: np.ndarray, step: int) -> tuple[np.ndarray, np.ndarray]:
    """Join ``step`` neighbouring bins to one; the last bin may be made of fewer."""
    starts = np.arange(0, len(counts), step)
    return np.add.reduceat(counts, starts), np.append(limits[starts], limits[-1])


def image(tag: str, tensor: Any, rescale: float = 1, dataformats: str = "NCHW") -> Summary:
    """Return an entry with one picture, as PNG; several pictures become a grid of at most eight columns.

    Args:
        tag: the tag.
        tensor: floats from 0 to 1 or uint8 from 0 to 255; what is outside is clipped.
        rescale: the factor for height and width.
        dataformats: the meaning of each dimension: ``N`` pictures, ``C`` channels (1 or 3; 4 without ``N``),
            ``H`` rows, ``W`` columns.

    Raises:
        AssertionError: ``dataformats`` names a dimension twice, or not each dimension of ``tensor``.

    Mirrors torch/utils/tensorboard/summary.py, ``image``.
    """
    picture = convert_to_HWC(make_np(tensor), dataformats)
    factor = 1 if picture.dtype == np.uint8 else 255
    pixels = (picture.astype(np.float32) * factor).clip(0, 255).astype(np.uint8)
    return Summary(value=[Summary.Value(tag=tag, image=make_image(pixels, rescale=rescale))])


def make_image(tensor: np.ndarray, rescale: float = 1) -> Summary.Image:
    """Encode rows, columns and channels of uint8 as PNG.

    Mirrors torch/utils/tensorboard/summary.py, ``make_image``.
    """
    from PIL import Image

    height, width, channels = tensor.shape
    scaled = (int(width * rescale), int(height * rescale))
    output = io.BytesIO()
    Image.fromarray(tensor).resize(scaled, Image.Resampling.LANCZOS).save(output, format="PNG")
    return Summary.Image(height=height, width=width, colorspace=channels, encoded_image_string=output.getvalue())


def text(tag: str, text: str) -> Summary:
    """Return an entry with a text, which TensorBoard reads as Markdown.

    Mirrors torch/utils/tensorboard/summary.py, ``text``.
    """
    shape = TensorShapeProto(dim=[TensorShapeProto.Dim(size=1)])
    proto = TensorProto(dtype="DT_STRING", string_val=[text.encode()], tensor_shape=shape)
    kind = _of_plugin("text", TextPluginData(version=0).SerializeToString())
    return Summary(value=[Summary.Value(tag=f"{tag}/text_summary", metadata=kind, tensor=proto)])


def custom_scalars(layout: Mapping[str, Mapping[str, Sequence[Any]]]) -> Summary:
    """Return an entry that says which scalars share a chart.

    Args:
        layout: category -> chart -> ``["Multiline", tags]`` or ``["Margin", [value, lower, upper]]``.

    Raises:
        AssertionError: a chart of kind *Margin* does not have three tags.

    Mirrors torch/utils/tensorboard/summary.py, ``custom_scalars``.
    """
    categories = [
        layout_pb2.Category(title=category, chart=[_chart(title, *chart) for title, chart in charts.items()])
        for category, charts in layout.items()
    ]
    whole = layout_pb2.Layout(category=categories).SerializeToString()
    proto = TensorProto(dtype="DT_STRING", string_val=[whole], tensor_shape=TensorShapeProto())
    kind = _of_plugin("custom_scalars")
    return Summary(value=[Summary.Value(tag="custom_scalars__config__", tensor=proto, metadata=kind)])


def _chart(title: str, kind: str, tags: Sequence[str]) -> layout_pb2.Chart:
    if kind != "Margin":
        return layout_pb2.Chart(title=title, multiline=layout_pb2.MultilineChartContent(tag=tags))
    if len(tags) != 3:
        raise AssertionError(f"a chart of kind Margin has 3 tags (value, lower, upper), got {len(tags)}")
    value, lower, upper = tags
    series = layout_pb2.MarginChartContent.Series(value=value, lower=lower, upper=upper)
    return layout_pb2.Chart(title=title, margin=layout_pb2.MarginChartContent(series=[series]))


def hparams(
    hparam_dict: dict[str, Any],
    metric_dict: dict[str, Any],
    hparam_domain_discrete: dict[str, list[Any]] | None = None,
) -> tuple[Summary, Summary, Summary]:
    """Return the three entries of a run in the table of hyperparameters: the experiment, its start and its end.

    Args:
        hparam_dict: name -> number, text, truth value, tensor of one element, or None, which is left out.
        metric_dict: the names of the metrics; their values are scalars, which the caller adds.
        hparam_domain_discrete: name -> all values that the hyperparameter can have.

    Raises:
        TypeError: an argument is not a dict, or a domain does not fit its hyperparameter.
        ValueError: a hyperparameter is of another type.

    Mirrors torch/utils/tensorboard/summary.py, ``hparams``.
    """
    domains = hparam_domain_discrete or {}
    named = {"hparam_dict": hparam_dict, "metric_dict": metric_dict, "hparam_domain_discrete": domains}
    for name, argument in named.items():
        if not isinstance(argument, dict):
            raise TypeError(f"parameter: {name} should be a dictionary, nothing logged.")
    for name, domain in domains.items():
        fits = name in hparam_dict and isinstance(domain, list)
        if not fits or not all(isinstance(value, type(hparam_dict[name])) for value in domain):
            raise TypeError(
                f"parameter: hparam_domain_discrete[{name}] should be a list of same type as hparam_dict[{name}]."
            )
    start = plugin_data_pb2.SessionStartInfo()
    infos = []
    for name, value in hparam_dict.items():
        if value is None:
            continue
        field, kind, plain = _as_hparam(value)
        setattr(start.hparams[name], field, plain)
        info = api_pb2.HParamInfo(name=name, type=api_pb2.DataType.Value(kind))
        for each in domains.get(name, []):
            setattr(info.domain_discrete.values.add(), field, each)
        infos.append(info)
    metrics = [api_pb2.MetricInfo(name=api_pb2.MetricName(tag=tag)) for tag in metric_dict]
    end = plugin_data_pb2.SessionEndInfo(status=api_pb2.Status.Value("STATUS_SUCCESS"))
    experiment = api_pb2.Experiment(hparam_infos=infos, metric_infos=metrics)
    return (
        _of_hparams(metadata.EXPERIMENT_TAG, experiment=experiment),
        _of_hparams(metadata.SESSION_START_INFO_TAG, session_start_info=start),
        _of_hparams(metadata.SESSION_END_INFO_TAG, session_end_info=end),
    )


def _as_hparam(value: Any) -> tuple[str, str, Any]:
    """The field of a protobuf value, TensorBoard's type, and the plain value. A truth value counts as a number."""
    if isinstance(value, int | float):
        return "number_value", "DATA_TYPE_FLOAT64", value
    if isinstance(value, str):
        return "string_value", "DATA_TYPE_STRING", value
    if isinstance(value, Tensor):
        return "number_value", "DATA_TYPE_FLOAT64", float(make_np(value).reshape(-1)[0])
    raise ValueError(f"value should be one of int, float, str, bool, or torch.Tensor, got {type(value).__name__}")


def _of_hparams(tag: str, **content: Any) -> Summary:
    data = plugin_data_pb2.HParamsPluginData(version=metadata.PLUGIN_DATA_VERSION, **content)
    kind = _of_plugin(metadata.PLUGIN_NAME, data.SerializeToString())
    return Summary(value=[Summary.Value(tag=tag, metadata=kind)])


def _of_plugin(name: str, content: bytes = b"") -> SummaryMetadata:
    return SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name=name, content=content))
