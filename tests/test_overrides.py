"""Classes and modes that answer for ops: every overridable function asks, with the function that was called.

Mirrors: test/test_overrides.py
"""

import inspect
import operator
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

import pytest

import reftorch
from reftorch import Tensor, overrides
from tests.answers.watched import asked


class Like:
    """No tensor, but looks like one."""

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return -1


class Silent:
    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return NotImplemented


class SilentChild(Silent):
    pass


class Sub(Tensor):
    pass


def spy(torch: ModuleType) -> tuple[type, list]:
    """A subclass of the library's tensor that writes down what it was asked."""
    seen: list[Any] = []

    class Spy(torch.Tensor):  # type: ignore[name-defined, misc]
        @classmethod
        def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append((func.__name__, len(args), [t.__name__ for t in types]))
            return super().__torch_function__(func, types, args, kwargs or {})

    return Spy, seen


BINARY = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "lt", "le", "eq", "ne", "gt", "ge"]
BINARY += ["iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "ipow"]
BITWISE = ["and_", "or_", "xor", "lshift", "rshift", "iand", "ior", "ixor", "ilshift", "irshift"]


def calls_of(torch: ModuleType) -> list:
    cls, seen = spy(torch)
    x, i = torch.tensor([1.0, 2.0]).as_subclass(cls), torch.tensor([1, 2]).as_subclass(cls)
    for name in BINARY:
        getattr(operator, name)(x.clone(), x)
        if not name.startswith("i") and name != "matmul":
            getattr(operator, name)(2.0, x)
    for name in BITWISE:
        getattr(operator, name)(i.clone(), i)
        if not name.startswith("i"):
            getattr(operator, name)(2, i)
    for function in (operator.neg, operator.pos, abs, len, iter, reversed, repr):
        function(x)
    assert float(x[0]) == 1.0 and int(x[0]) == 1 and bool(x[0]) and 1.0 in x
    x[0] = 3.0
    _ = x.shape, x.requires_grad, x.T, x.grad, x.data, x.ndim, x.is_leaf
    x.requires_grad = False
    x.size(), x.dim(), x.stride(), x.data_ptr(), x.tolist(), x.numpy(), x.sum(dim=0), x.detach()
    torch.stack([x, x]), torch.sum(x), torch.numel(x), torch.nn.functional.relu(x), torch.unique(x), torch.zeros_like(x)
    return seen


def test_operators_methods_and_properties_ask_as_in_torch(real_torch: ModuleType) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert calls_of(reftorch) == asked(real_torch, calls_of)


def test_results_of_a_subclass_are_of_the_subclass() -> None:
    x = reftorch.ones(2, requires_grad=True).as_subclass(Sub)
    assert type(x + 1) is Sub and type(x[0]) is Sub and type(reftorch.stack([x, x])) is Sub
    assert [type(part) for part in x.split(1)] == [Sub, Sub]
    assert type(x.shape) is reftorch.Size and x.sum().item() == 2
    assert x.grad_fn is not None and not x.is_leaf  # the history goes with it


def test_grad_is_not_made_anew_at_every_access() -> None:
    x = Tensor._make_subclass(Sub, reftorch.ones(2), True)
    x.sum().backward()
    assert x.grad is x.grad


def test_formulas_of_derivatives_ask_nobody() -> None:
    cls, seen = spy(reftorch)
    x = Tensor._make_subclass(cls, reftorch.ones(2), True)
    (x * x).sum().backward()
    assert [name for name, _, _ in seen if name not in ("__get__", "__set__")] == ["mul", "sum", "backward"]


def test_what_only_looks_like_a_tensor_is_asked() -> None:
    like = Like()
    assert reftorch.add(like, 1) == reftorch.add(reftorch.ones(2), like) == reftorch.ones(2).view(like) == -1
    assert reftorch.cat([reftorch.ones(2), like]) == reftorch.ones(2)[like] == reftorch.ones(2) + like == -1
    assert like + reftorch.ones(2) == -1 and reftorch.nn.functional.relu(like) == reftorch.atleast_1d(like) == -1
    with pytest.raises(TypeError, match="argument 'input' \\(position 1\\) must be Tensor, not str"):
        reftorch.add("a", like)


def test_gradients_of_what_only_looks_like_a_tensor() -> None:
    assert reftorch.autograd.grad(Like(), Like()) == -1  # type: ignore[arg-type, comparison-overlap]


def test_where_nobody_answers() -> None:
    expected = "Multiple dispatch failed for 'torch.add'; all __torch_function__ handlers returned NotImplemented"
    with pytest.raises(TypeError, match=expected) as error:
        reftorch.add(Silent(), SilentChild())
    assert str(error.value).index("SilentChild") < str(error.value).index("Silent'")  # a subclass is asked first
    with pytest.raises(TypeError, match="unsupported operand type"):
        reftorch.ones(2) + Silent()
    with pytest.raises(TypeError, match=r"no implementation found for 'torch\.nn\.functional\.relu'"):
        reftorch.nn.functional.relu(Silent())


def test_a_plain_method_warns() -> None:
    class Old:
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> int:
            return -1

    with pytest.warns(UserWarning, match="as a plain method is deprecated"):
        assert reftorch.add(Old(), 1) == -1


def test_a_mode_sees_every_call_and_is_off_while_it_answers() -> None:
    seen = []

    class Mode(overrides.TorchFunctionMode):
        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            seen.append(func)
            assert overrides._get_current_function_mode() is None
            return func(*args, **(kwargs or {}))

    with Mode() as mode:
        assert overrides._get_current_function_mode() is mode
        x = reftorch.ones(2)
        _ = (x + 1).shape
    assert seen == [reftorch.ones, Tensor.add, Tensor.shape.__get__]
    reftorch.ones(2)
    assert len(seen) == 3


def test_modes_nest_and_end_with_an_exception() -> None:
    order = []

    class Mode(overrides.TorchFunctionMode):
        def __init__(self, name: str) -> None:
            self.name = name

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            order.append(self.name)
            return func(*args, **(kwargs or {}))

    with pytest.raises(RuntimeError), Mode("outer"), Mode("inner"):
        reftorch.ones(2).view(3)
    assert order == ["inner", "outer"] * 2
    assert overrides._get_current_function_mode() is None


def test_a_mode_sees_factories_and_may_not_be_a_class() -> None:
    class Mode(overrides.TorchFunctionMode):
        def __torch_function__(self, *args: Any) -> int:
            return -1

    class Wrong(overrides.TorchFunctionMode):
        @classmethod
        def __torch_function__(cls, *args: Any) -> int:  # type: ignore[override]
            return -1

    x = reftorch.ones(2)
    with Mode():
        assert reftorch.randn(3) == reftorch.tensor([1]) == x + x == x.shape == reftorch.nn.functional.relu(x) == -1
    with Wrong(), pytest.raises(RuntimeError, match="classmethod is not supported"):
        x + x


def test_disabling() -> None:
    x = reftorch.ones(2).as_subclass(Sub)
    with reftorch._C.DisableTorchFunctionSubclass():
        assert type(x + 1) is Tensor
        assert not overrides.has_torch_function_unary(x)
        with reftorch._C._EnableTorchFunction():
            assert type(x + 1) is Sub
    assert overrides.has_torch_function((1, x)) and not overrides.has_torch_function_variadic(1, reftorch.ones(1))
    assert type(reftorch.nn.Parameter(reftorch.ones(1)) + 1) is Tensor


SLOTS: dict[str, Any] = {
    "len": len,
    "bool": bool,
    "int": int,
    "float": float,
    "complex": complex,
    "index": lambda x: [1, 2][x],
    "iter": lambda x: list(iter(x)),
    "next": lambda x: next(iter(x)),
    "repr": repr,
    "str": str,
    "format": lambda x: f"{x}",
    "reversed": lambda x: list(reversed(x)),
    "contains": lambda x: 1 in x,
    "unpack": lambda x: (lambda *a: a)(*x),
    "getitem": lambda x: x[0],
    "setitem": lambda x: x.__setitem__(0, 1),
    "delitem": lambda x: x.__delitem__(0),
    "eq": lambda x: x == 1,
    "not": lambda x: not x,
    "neg": lambda x: -x,
    "shape": lambda x: x.shape,
    "class": lambda x: isinstance(x, int),
}
ANSWERS: list[Any] = [5, -5, 2**100, None, "text", 1.5, True, [], object]


@pytest.mark.parametrize("slot", SLOTS)
def test_a_wrong_answer_is_as_wrong_as_in_torch(slot: str, real_torch: ModuleType) -> None:
    """Python checks what a slot returns, so a slot must not return anything else, and not fail without an error."""

    def outcomes(lib: Any) -> list:
        found = []
        for answer in ANSWERS:

            class Answering(lib.Tensor):
                @classmethod
                def __torch_function__(cls, func, types, args=(), kwargs=None, answer=answer):
                    return answer

            x = lib.Tensor._make_subclass(Answering, lib.ones(2))
            try:
                found.append(repr(SLOTS[slot](x)))
            except Exception as error:
                found.append(f"{type(error).__name__}: {error}")
        return found

    assert outcomes(reftorch) == asked(real_torch, outcomes)


def test_as_subclass_calls_no_override(real_torch: ModuleType) -> None:
    def names(lib: Any) -> list[str]:
        asked_for = []

        class Watching(lib.Tensor):
            @classmethod
            def __torch_function__(cls, func, types, args=(), kwargs=None):
                asked_for.append(func.__name__)
                return super().__torch_function__(func, types, args, kwargs)

        class Other(lib.Tensor):
            pass

        x = lib.ones(2).as_subclass(Watching)
        made = [x.as_subclass(lib.Tensor), x.as_subclass(Other), x.as_subclass(Other).as_subclass(Watching)]
        return [type(m).__name__ for m in made] + asked_for

    assert names(reftorch) == asked(real_torch, names)


def test_contexts_may_be_left_without_being_entered() -> None:
    key = reftorch._C.DispatchKeySet(reftorch._C.DispatchKey.Autograd)
    for make in (
        reftorch._C.DisableTorchFunctionSubclass,
        reftorch._C.DisableTorchFunction,
        reftorch._C._EnableTorchFunction,
        reftorch._C._DisableTorchDispatch,
        lambda: reftorch._C._ExcludeDispatchKeyGuard(key),
        lambda: reftorch._C._IncludeDispatchKeyGuard(reftorch._C.DispatchKey.Profiler),
        lambda: reftorch.Stream("cpu"),
    ):
        before = [str(reftorch._C._dispatch_tls_local_exclude_set()), reftorch._C._is_torch_function_enabled()]
        context = make()
        context.__exit__(None, None, None)
        context.__enter__()
        context.__enter__()
        for _ in range(4):
            context.__exit__(None, None, None)
        left_open = make()
        left_open.__enter__()
        del left_open
        after = [str(reftorch._C._dispatch_tls_local_exclude_set()), reftorch._C._is_torch_function_enabled()]
        assert after == before
    x = reftorch.ones(2, requires_grad=True)
    assert (x * 2).requires_grad and not reftorch._C._is_torch_function_all_disabled()


@pytest.mark.filterwarnings("ignore:.nn.functional.upsample.* is deprecated:UserWarning")
@pytest.mark.parametrize(
    "function", list(overrides.get_testing_overrides()), ids=lambda f: overrides.resolve_name(f) or f.__name__
)
def test_every_overridable_function_asks(function: Any) -> None:
    """Called with as many tensor-likes as it needs, a function does not run, but asks them."""
    parameters = inspect.signature(overrides.get_testing_overrides()[function]).parameters.values()
    needed = [p for p in parameters if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    args: list[Any] = [Like() for _ in needed] or [Like(), Like()]
    if not needed:
        args = args[: sum(p.kind is not p.VAR_KEYWORD for p in parameters)] or [Like()]
    kwargs = {p.name: Like() for p in parameters if p.default is p.empty and p.kind is p.KEYWORD_ONLY}
    if overrides.is_tensor_method_or_property(function):

        class LikeTensor(Tensor):
            __torch_function__ = Like.__torch_function__  # type: ignore[assignment]

        args[0] = Tensor._make_subclass(LikeTensor, reftorch.ones(2))
    refused = {"__bool__": (TypeError, "should return bool"), "__len__": (ValueError, "should return >= 0")}
    if function.__name__ in refused:
        with pytest.raises(refused[function.__name__][0], match=refused[function.__name__][1]):
            function(*args, **kwargs)
        return
    # Python ignores what __setitem__ answers.
    assert function(*args, **kwargs) == {"__setitem__": None}.get(function.__name__, -1)


def test_names() -> None:
    assert overrides.resolve_name(Tensor.add) == "torch.Tensor.add"
    assert overrides.resolve_name(Tensor.shape.__get__) == "torch.Tensor.shape.__get__"
    assert overrides.resolve_name(reftorch.linalg.inv) == "torch.linalg.inv"
    assert overrides.is_tensor_like(Like()) and overrides.is_tensor_like(reftorch.ones(1))
    assert reftorch.tensor in overrides.get_ignored_functions()


class Asked:
    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: tuple = (), kwargs: Any = None) -> str:
        return str(func.__name__)


@pytest.mark.parametrize(
    "call",
    [
        lambda t: t.result_type(Asked(), 1),
        lambda t: t.result_type(1.0, Asked()),
        lambda t: t.result_type(tensor=Asked(), other=1),
        lambda t: t.nn.init.normal_(Asked(), std=2.0),
        lambda t: t.nn.init.uniform_(Asked()),
        lambda t: t.nn.init.constant_(Asked(), 3.0),
        lambda t: t.nn.init.kaiming_uniform_(Asked(), a=1),
    ],
)
def test_functions_that_ask_an_override(call: Callable[[Any], str], real_torch: ModuleType) -> None:
    assert call(reftorch) == call(real_torch)
