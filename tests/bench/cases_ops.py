"""Tiny tensors: what a call costs before any arithmetic, with and without a graph.

Mirrors: benchmarks/framework_overhead_benchmark/framework_overhead_benchmark.py
Left out: TorchScript and C++ callers.
"""

from typing import Any

from cases import Library, function, statement

STEPS = 100  # nodes in a chain
PARAMS = 20  # parameters of an optimizer


def tiny(name: str, text: str, **shapes: tuple[int, ...]) -> None:
    """A statement over tensors of the given shapes; a name that ends in ``_grad`` records a graph node."""
    grad = name.endswith("_grad")
    statement("ops", name, text, lambda lib: {k: lib.randn(*s, grad=grad) for k, s in shapes.items()})


statement("ops", "empty_1", "T.empty(1)", lambda lib: {"T": lib.T})
statement("ops", "zeros_64", "T.zeros(64)", lambda lib: {"T": lib.T})
statement("ops", "tensor_list_3", "T.tensor([1.0, 2.0, 3.0])", lambda lib: {"T": lib.T})
tiny("add_1", "a + b", a=(1,), b=(1,))
tiny("add_64", "a + b", a=(64,), b=(64,))
tiny("add_scalar", "a + 1.0", a=(64,))
tiny("iadd_64", "a.add_(b)", a=(64,), b=(64,))
tiny("broadcast_8x8_8", "a + b", a=(8, 8), b=(8,))
tiny("relu_64", "a.relu()", a=(64,))
tiny("exp_64", "a.exp()", a=(64,))
tiny("mm_8x8", "a @ b", a=(8, 8), b=(8, 8))
tiny("sum_64", "a.sum()", a=(64,))
tiny("sum_dim", "a.sum(1)", a=(8, 8))
tiny("softmax_8x8", "a.softmax(-1)", a=(8, 8))
tiny("view", "a.view(4, 16)", a=(64,))
tiny("transpose", "a.t()", a=(8, 8))
tiny("index_int", "a[3]", a=(8, 8))
tiny("index_slice", "a[1:5]", a=(64,))
statement("ops", "index_tensor", "a[i]", lambda lib: {"a": lib.randn(64, 8), "i": lib.T.tensor([1, 5, 7, 9])})
tiny("item", "a.item()", a=(1,))
tiny("detach", "a.detach()", a=(8,))
tiny("shape", "a.shape", a=(8, 8))
statement("ops", "no_grad", "with T.no_grad(): pass", lambda lib: {"T": lib.T})
tiny("add_1_grad", "a + b", a=(1,), b=(1,))
tiny("add_64_grad", "a + b", a=(64,), b=(64,))
tiny("mul_64_grad", "a * b", a=(64,), b=(64,))
tiny("mm_8x8_grad", "a @ b", a=(8, 8), b=(8, 8))
statement("ops", "module_linear", "m(x)", lambda lib: {"m": lib.nn.Linear(8, 8), "x": lib.randn(4, 8)})
statement("ops", "module_identity", "m(x)", lambda lib: {"m": lib.nn.Identity(), "x": lib.randn(4, 8)})


def chain(name: str, body: str, *shape: int) -> None:
    """STEPS nodes in a row: without a graph, forward with one, and forward then backward; per node."""
    loop = f"y = x\nfor _ in R: y = {body}\n"

    def names(lib: Library, grad: bool) -> dict[str, Any]:
        return {"R": range(STEPS), "x": lib.randn(*shape, grad=grad), "c": lib.randn(*shape)}

    statement("ops", f"chain_{name}_nograd", loop, lambda lib: names(lib, False), per=STEPS)
    statement("ops", f"chain_{name}_forward", loop, lambda lib: names(lib, True), per=STEPS)
    both = loop + "y.sum().backward()\n"
    statement("ops", f"chain_{name}_both", both, lambda lib: names(lib, True), per=STEPS)


chain("add", "y + c", 8)
chain("mul", "y * c", 8)
chain("tanh", "y.tanh()", 8)
chain("mm", "y @ c", 8, 8)


def custom_function(lib: Library) -> dict[str, Any]:
    class Mul(lib.T.autograd.Function):  # type: ignore[misc]
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a * b

        @staticmethod
        def backward(ctx, grad):
            _, b = ctx.saved_tensors
            return grad * b, None

    return {"R": range(STEPS), "x": lib.randn(8, grad=True), "c": lib.randn(8), "mul": Mul.apply}


CUSTOM = "y = x\nfor _ in R: y = mul(y, c)\n"
statement("ops", "chain_function_forward", CUSTOM, custom_function, per=STEPS)
statement("ops", "chain_function_both", CUSTOM + "y.sum().backward()\n", custom_function, per=STEPS)


def optimizer_step(name: str, rule: str, **options: float) -> None:
    def make(lib: Library):
        params = [lib.nn.Parameter(lib.randn(64)) for _ in range(PARAMS)]
        for param in params:
            param.grad = lib.randn(64)
        return getattr(lib.optim, rule)(params, **options).step

    function("ops", name, make, per=PARAMS)


optimizer_step("sgd_per_param", "SGD", lr=1e-3, momentum=0.9)
optimizer_step("adam_per_param", "Adam", lr=1e-3)
