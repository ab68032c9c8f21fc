"""Draws tensors of random shapes and layouts, whose sizes are related by named parameters.

Mirrors: torch/utils/benchmark/utils/fuzzer.py
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import reftorch
from reftorch._tensor import Tensor

if TYPE_CHECKING:
    import numpy as np

__all__ = ["FuzzedParameter", "FuzzedTensor", "Fuzzer", "ParameterAlias"]


class ParameterAlias:
    """Stands for the value of another parameter, among the choices of a distribution.

    Args:
        alias_to: the name of the other parameter.

    Example:
        >>> from reftorch.utils.benchmark import ParameterAlias
        >>> ParameterAlias("x_len")
        ParameterAlias[alias_to: x_len]

    Mirrors torch/utils/benchmark/utils/fuzzer.py, ``ParameterAlias``.
    """

    def __init__(self, alias_to: str) -> None:
        self.alias_to = alias_to

    def __repr__(self) -> str:
        return f"ParameterAlias[alias_to: {self.alias_to}]"


class FuzzedParameter:
    """A number, or a choice, that is drawn anew for each sample.

    Args:
        name: the name by which the sizes of tensors refer to it.
        minval: the least value.
        maxval: the greatest value, which is among the values.
        distribution: ``"uniform"``, of integers if both bounds are integers; ``"loguniform"``, of integers whose
            logarithm is uniform; or a dict from choices to their probabilities, without bounds.
        strict: whether a value that was drawn is kept if the sample as a whole is rejected.

    Raises:
        AssertionError: the distribution is unknown, or choices have bounds, negative probabilities, or a sum other
            than 1.

    Example:
        >>> import numpy as np
        >>> from reftorch.utils.benchmark import FuzzedParameter
        >>> n = FuzzedParameter("n", 1, 1024, distribution="loguniform")
        >>> 1 <= n.sample(np.random.RandomState(0)) <= 1024
        True

    Mirrors torch/utils/benchmark/utils/fuzzer.py, ``FuzzedParameter``.
    """

    def __init__(
        self,
        name: str,
        minval: float | None = None,
        maxval: float | None = None,
        distribution: str | dict[Any, float] | None = None,
        strict: bool = False,
    ) -> None:
        if isinstance(distribution, dict):
            if any(p < 0 for p in distribution.values()):
                raise AssertionError("Probabilities cannot be negative")
            if abs(sum(distribution.values()) - 1) > 1e-5:
                raise AssertionError("Distribution is not normalized")
            for bound, value in (("minval", minval), ("maxval", maxval)):
                if value is not None:
                    raise AssertionError(f"When passing a custom distribution, '{bound}' must be None")
        elif distribution not in ("loguniform", "uniform"):
            raise AssertionError(f"Unknown distribution: {distribution}")
        self._name, self._minval, self._maxval, self._distribution = name, minval, maxval, distribution
        self.strict = strict

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    def sample(self, state: np.random.RandomState) -> Any:
        """Draw a value from numpy's generator.

        Mirrors torch/utils/benchmark/utils/fuzzer.py, ``FuzzedParameter.sample``.
        """
        import numpy as np

        if isinstance(self._distribution, dict):
            choices = list(self._distribution)  # drawn by position: numpy would convert the choices to its own types
            return choices[state.choice(np.arange(len(choices)), p=tuple(self._distribution.values()))]
        low: Any = self._minval
        high: Any = self._maxval
        if self._distribution == "loguniform":
            return min(max(int(2 ** state.uniform(np.log2(low), np.log2(high))), low), high)
        if isinstance(low, int) and isinstance(high, int):
            return int(state.randint(low=low, high=high + 1))
        return state.uniform(low=low, high=high)


class FuzzedTensor:
    """A tensor that is drawn anew for each sample.

    Args:
        name: its name.
        size: the sizes: integers, or names of parameters.
        steps: strides of a slice, as integers or names: the tensor is a slice of one that is larger by these factors.
        probability_contiguous: how often the layout is contiguous; otherwise its dimensions are permuted in memory.
        min_elements: samples with fewer elements are rejected.
        max_elements: samples with more elements are rejected.
        max_allocation_bytes: samples that need more memory, before slicing, are rejected.
        dim_parameter: the name of a parameter that cuts ``size`` and ``steps`` to so many dimensions.
        roll_parameter: is not used.
        dtype: the dtype.
        cuda: whether the tensor is moved to a GPU.
        tensor_constructor: makes the tensor from ``size``, ``dtype`` and all parameters; otherwise its values are
            uniform, from 0 to 1 or, for integers, from 1 to 126.

    Example:
        >>> from reftorch.utils.benchmark import FuzzedTensor
        >>> FuzzedTensor("x", size=("n", 4)).satisfies_constraints({"n": 3})
        True

    Mirrors torch/utils/benchmark/utils/fuzzer.py, ``FuzzedTensor``.
    """

    def __init__(
        self,
        name: str,
        size: tuple[str | int, ...],
        steps: tuple[str | int, ...] | None = None,
        probability_contiguous: float = 0.5,
        min_elements: int | None = None,
        max_elements: int | None = None,
        max_allocation_bytes: int | None = None,
        dim_parameter: str | None = None,
        roll_parameter: str | None = None,
        dtype: reftorch.dtype = reftorch.float32,
        cuda: bool = False,
        tensor_constructor: Callable[..., Tensor] | None = None,
    ) -> None:
        self._name, self._size, self._steps = name, size, steps
        self._probability_contiguous = probability_contiguous
        self._min_elements, self._max_elements = min_elements, max_elements
        self._max_allocation_bytes = max_allocation_bytes
        self._dim_parameter, self._dtype, self._cuda = dim_parameter, dtype, cuda
        self._tensor_constructor = tensor_constructor

    @property
    def name(self) -> str:
        """The name."""
        return self._name

    @staticmethod
    def default_tensor_constructor(size: Any, dtype: reftorch.dtype, **kwargs: Any) -> Tensor:
        """Return uniform values.

        Mirrors torch/utils/benchmark/utils/fuzzer.py, ``FuzzedTensor.default_tensor_constructor``.
        """
        if dtype.is_floating_point:
            return reftorch.rand(size, dtype=dtype)
        return reftorch.randint(1, 127, size, dtype=dtype)

    def _sizes(self, params: dict[str, Any]) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """Return the sizes, the steps, and the sizes of the tensor that is sliced."""
        dim = len(self._size) if self._dim_parameter is None else params[self._dim_parameter]

        def resolved(values: tuple[Any, ...]) -> tuple[int, ...]:
            return (*(params.get(value, value) for value in values), *[1] * dim)[:dim]

        size, steps = resolved(self._size), resolved(self._steps or ())
        return size, steps, tuple(n * step for n, step in zip(size, steps, strict=True))

    def _make_tensor(self, params: dict[str, Any], state: np.random.RandomState) -> tuple[Tensor, dict[str, Any]]:
        import numpy as np

        size, steps, allocated = self._sizes(params)
        constructor = self._tensor_constructor or self.default_tensor_constructor
        raw = constructor(size=allocated, dtype=self._dtype, **params)
        if self._cuda:
            raw = raw.cuda()
        order = np.arange(len(size))
        if state.rand() > self._probability_contiguous:
            while len(size) > 1 and np.all(order == np.arange(len(size))):
                order = state.permutation(raw.dim())
            # Contiguous in the permuted order, seen in the former order.
            raw = raw.permute(tuple(order.tolist())).contiguous().permute(tuple(np.argsort(order).tolist()))
        result = raw[tuple(slice(0, n * step, step) for n, step in zip(size, steps, strict=True))]
        properties = {
            "numel": result.numel(),
            "order": order,
            "steps": steps,
            "is_contiguous": result.is_contiguous(),
            "dtype": str(self._dtype),
        }
        return result, properties

    def satisfies_constraints(self, params: dict[str, Any]) -> bool:
        """Return whether a tensor of these parameters has neither too many elements nor too few.

        Mirrors torch/utils/benchmark/utils/fuzzer.py, ``FuzzedTensor.satisfies_constraints``.
        """
        size, _, allocated = self._sizes(params)
        elements = math.prod(map(int, size))
        nbytes = math.prod(map(int, allocated)) * self._dtype.itemsize
        return not (
            (self._max_elements is not None and elements > self._max_elements)
            or (self._min_elements is not None and elements < self._min_elements)
            or (self._max_allocation_bytes is not None and nbytes > self._max_allocation_bytes)
        )


class Fuzzer:
    """Draws samples of parameters and of tensors whose shapes depend on them.

    Args:
        parameters: a list of :class:`FuzzedParameter`, or of lists of them.
        tensors: a list of :class:`FuzzedTensor`, or of lists of them.
        constraints: functions that take the dict of the parameters; a sample for which one returns False is rejected.
        seed: the seed of numpy's generator and of ours.

    Raises:
        ValueError: a parameter and a tensor have the same name.

    Example:
        >>> from reftorch.utils.benchmark import FuzzedParameter, FuzzedTensor, Fuzzer
        >>> fuzzer = Fuzzer([FuzzedParameter("n", 2, 8, "uniform")], [FuzzedTensor("x", ("n", "n"))], seed=0)
        >>> for tensors, properties, params in fuzzer.take(2):
        ...     print(tensors["x"].shape == (params["n"], params["n"]), properties["x"]["dtype"])
        True torch.float32
        True torch.float32

    Mirrors torch/utils/benchmark/utils/fuzzer.py, ``Fuzzer``.
    """

    def __init__(
        self,
        parameters: list[FuzzedParameter | list[FuzzedParameter]],
        tensors: list[FuzzedTensor | list[FuzzedTensor]],
        constraints: list[Callable[[dict[str, Any]], bool]] | None = None,
        seed: int | None = None,
    ) -> None:
        import numpy as np

        if seed is None:
            seed = int(np.random.RandomState().randint(0, 2**32 - 1, dtype=np.int64))
        self._seed = seed
        self._parameters: list[FuzzedParameter] = list(self._unpack(parameters))
        self._tensors: list[FuzzedTensor] = list(self._unpack(tensors))
        self._constraints = constraints or []
        self._rejections = self._total_generated = 0
        overlap = {p.name for p in self._parameters} & {t.name for t in self._tensors}
        if overlap:
            raise ValueError(f"Duplicate names in parameters and tensors: {overlap}")

    @staticmethod
    def _unpack(values: Iterable[Any]) -> Iterator[Any]:
        for value in values:
            yield from value if isinstance(value, (list, tuple)) else [value]

    def take(self, n: int) -> Iterator[tuple[dict[str, Tensor], dict[str, dict[str, Any]], dict[str, Any]]]:
        """Draw n samples, each a dict of tensors, a dict of their properties, and a dict of the parameters.

        Raises:
            ValueError: a thousand draws in a row were rejected, or aliases form a cycle.

        Mirrors torch/utils/benchmark/utils/fuzzer.py, ``Fuzzer.take``.
        """
        import numpy as np

        state = np.random.RandomState(self._seed)
        reftorch.manual_seed(int(state.randint(low=0, high=2**63, dtype=np.int64)))
        for _ in range(n):
            params = self._generate(state)
            made = {t.name: t._make_tensor(params, state) for t in self._tensors}
            yield {k: v[0] for k, v in made.items()}, {k: v[1] for k, v in made.items()}, params

    @property
    def rejection_rate(self) -> float:
        """The part of the draws that were rejected."""
        return self._rejections / self._total_generated if self._total_generated else 0.0

    def _generate(self, state: np.random.RandomState) -> dict[str, Any]:
        kept: dict[str, Any] = {}
        for _ in range(1000):
            drawn = {}
            for p in self._parameters:
                drawn[p.name] = kept[p.name] if p.name in kept else p.sample(state)
                if p.strict:
                    kept[p.name] = drawn[p.name]
            params = self._resolve_aliases(drawn)
            self._total_generated += 1
            if all(f(params) for f in self._constraints) and all(
                t.satisfies_constraints(params) for t in self._tensors
            ):
                return params
            self._rejections += 1
        raise ValueError("Failed to generate a set of valid parameters.")

    @staticmethod
    def _resolve_aliases(params: dict[str, Any]) -> dict[str, Any]:
        """Replace each alias by the value it stands for; an alias may stand for another one."""
        params = dict(params)
        for _ in params:
            for name, value in params.items():
                if isinstance(value, ParameterAlias):
                    params[name] = params[value.alias_to]
        if any(isinstance(value, ParameterAlias) for value in params.values()):
            raise ValueError(f"ParameterAlias cycle detected\n{params}")
        return params
