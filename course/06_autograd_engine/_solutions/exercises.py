"""The exercises of chapter 06, solved; `make course` makes the learner's notebook of it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: what the lesson explains.

The file is more than 500 lines long, because all exercises of a chapter are in one file.
"""

# %% [markdown]
# # Exercises 06: the engine
#
# Each exercise has a cell that raises until you have written it, and a check below that you run as often as you like.
# The check says what it tests, and when it passes, how PyTorch does the same. Stars say how difficult an exercise is,
# from one to three. Stuck? `course("hint 06.1")` in a cell of its own. Done? `course("check 06")` runs the notebook, as
# last saved, from top to bottom. C++ is compiled when its check runs, which takes some three seconds.

# %%
from collections import Counter
from contextlib import contextmanager
from unittest import mock

import reftorch as torch
from course._tools import check, course, graph, rebuild, show_source, stops_in_torch, write_for_torch
from course._tools.graphs import in_order, short_name
from reftorch import _C
from reftorch.autograd import python_engine
from reftorch.debug import call_tree
from reftorch.utils.cpp_extension import load_inline


@contextmanager
def no_other_engine():
    """While a check calls your engine, the engines of the library refuse to run."""

    def refuse(*arguments, **options):
        raise RuntimeError("this exercise wants your own engine, and the call goes to one of the library")

    with mock.patch.object(_C, "_run_backward", refuse), mock.patch.object(python_engine, "run", refuse):
        yield


# %% [markdown] exercise="06.1" role="task" kind="read" title="who runs, and in which order"
# ## 06.1 Read: who runs, and in which order
#
# ★☆☆, 15 minutes. One of your hooks runs before another one, and you expected the opposite order. Or the hook does
# not run at all. The reasons are the two rules of the queue, and the inputs for which the call asks.
#
# For each of the three calls below, give the names of the nodes that the engine runs, in their order. The names are
# those of `node.name()`, for example `"ExpBackward0"`; write a leaf's node as `"AccumulateGrad"`. Work the order out
# on paper. The check runs the three calls and counts how many of your lists are right.


# %% exercise="06.1" role="given"
def forward():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    w = torch.tensor([3.0, 4.0], requires_grad=True)
    h = x * w
    early = h.exp()
    late = h.sin()
    return x, h, (late - early).sum()


RUNS = {
    "loss.backward()": lambda x, h, loss: loss.backward(),
    "grad(loss, x)": lambda x, h, loss: torch.autograd.grad(loss, x),
    "grad(loss, h)": lambda x, h, loss: torch.autograd.grad(loss, h),
}


# %% exercise="06.1" role="answer"
def order_of_nodes() -> dict[str, list[str]]:
    """For each of RUNS the names of the nodes in the order in which the engine runs them."""
    # BEGIN SOLUTION
    to_h = ["SumBackward0", "SubBackward0", "SinBackward0", "ExpBackward0"]
    return {
        "loss.backward()": [*to_h, "MulBackward0", "AccumulateGrad", "AccumulateGrad"],
        "grad(loss, x)": [*to_h, "MulBackward0"],
        "grad(loss, h)": to_h,
    }
    # END SOLUTION


# %% exercise="06.1" role="check"
def nodes_that_run(run):
    x, h, loss = forward()
    ran = []
    for node in in_order(loss.grad_fn):
        node.register_prehook(lambda grads, node=node: ran.append(short_name(node)))
    run(x, h, loss)
    return ran


with check("06.1", "who runs, and in which order") as c:
    answer = order_of_nodes()
    c.answers(
        "the nodes that run, for each call",
        came=answer,
        truth={text: nodes_that_run(run) for text, run in RUNS.items()},
        look="Write down the queue after each node: who is ready, and which of them was recorded last? Then find out "
        "which nodes each call needs.",
    )

# %% [markdown] exercise="06.1" role="debrief"
# **In PyTorch** the lists are the same. PyTorch's documentation does not promise the order among ready nodes: a
# program may rely on the first rule (all gradients have arrived), but should not rely on the second one.

# %% [markdown] exercise="06.1" role="hint"
# Number the nodes in the order in which `forward` records them. Begin with the node of the loss, and note after each
# node which nodes have become ready. It does not matter on which side of the minus a tensor is.

# %% [markdown] exercise="06.1" role="hint"
# With inputs, a gradient is taken on its way *into* the node of the input. That node does not run unless the way goes
# on to another input. Look at the reveal of *Only some of the gradients* in the lesson.


# %% [markdown] exercise="06.2" role="task" kind="read" title="which gradients are copied"
# ## 06.2 Read: which gradients are copied
#
# ★★☆, 20 minutes. The first gradient of a leaf may become its `.grad` as it is. If it must be copied,
# a training step needs memory for a second copy of each parameter's gradient.
#
# Read `Note [Stealing a gradient]` and `can_steal` in `cpp/csrc/autograd/functions/accumulate_grad.cpp`. `x` and `w`
# are leaves of shape (2, 2) that require a gradient and have no `.grad` yet. For each loss below, how many gradients
# does one `backward()` copy? Answer with a number for each. The check counts how many of your five numbers are right.

# %% exercise="06.2" role="given"
LOSSES = {
    "(x * w).sum()": lambda x, w: (x * w).sum(),
    "(x + w).sum()": lambda x, w: (x + w).sum(),
    "(x * 2).exp().sum()": lambda x, w: (x * 2).exp().sum(),
    "x.sum()": lambda x, w: x.sum(),
    "(x * x).sum()": lambda x, w: (x * x).sum(),
}


# %% exercise="06.2" role="answer"
def copies() -> dict[str, int]:
    """For each of LOSSES how many gradients are copied into a `.grad`."""
    # BEGIN SOLUTION
    return {
        "(x * w).sum()": 0,
        "(x + w).sum()": 2,
        "(x * 2).exp().sum()": 0,
        "x.sum()": 1,
        "(x * x).sum()": 0,
    }
    # END SOLUTION


# %% exercise="06.2" role="check"
from course._tools.trees import bare


def calls_of(function, nodes, times=1):
    """How often a function was called in a tree. A line of the tree may represent several equal calls."""
    here = sum(times * node.count for node in nodes if bare(node.name) == function)
    return here + sum(calls_of(function, node.children, times * node.count) for node in nodes)


def copies_made(loss_of):
    x, w = torch.ones(2, 2, requires_grad=True), torch.ones(2, 2, requires_grad=True)
    loss = loss_of(x, w)
    with call_tree(only="clone_obey_contract") as tree:
        loss.backward()
    return calls_of("clone_obey_contract", tree.threads[0])


with check("06.2", "which gradients are copied") as c:
    answer = copies()
    c.answers(
        "how many gradients are copied, for each loss",
        came=answer,
        truth={text: copies_made(loss_of) for text, loss_of in LOSSES.items()},
        look="Ask for each gradient: does another object own it or its memory, and does it have the strides of the "
        "leaf?",
    )

# %% [markdown] exercise="06.2" role="debrief"
# **In PyTorch** the same questions are asked in `AccumulateGrad::accumulateGrad`. So the `.grad` of a parameter that
# is used by one matrix product costs no copy, and the gradient of a bias that is added by broadcasting does not share
# its memory with another tensor either, because a sum has made this gradient.

# %% [markdown] exercise="06.2" role="hint"
# What is the gradient of a sum? One number, *expanded* to the shape of the input: strides of 0. Does it obey the
# layout contract of a parameter?

# %% [markdown] exercise="06.2" role="hint"
# Who else owns the gradient at that moment? The node of `+` returns one tensor for both inputs. The node of `*` makes
# a tensor for each.


# %% [markdown] exercise="06.3" role="task" kind="build" title="an engine"
# ## 06.3 Build: an engine
#
# ★★☆, 40 minutes. If you have written this loop yourself, you can read `engine.cpp` in an evening. Write
# `gradients(output, leaves)`:
#
# - it sends ones through the graph behind `output`, and returns a list with the gradient of each leaf;
# - a leaf that is not reached gets None;
# - a node is called once, with the sum of all that leads to it;
# - no `.grad` is touched, and no other engine is called;
# - a chain of 3000 nodes works: Python allows some 1000 nested calls, so do not recurse.
#
# `call` below runs one node. It takes a list with a gradient (or None) for each of `node._input_metadata`, and
# returns a list with one for each of `node.next_functions`. Do not call the node of a leaf: it is the one that has a
# `variable`, and what arrives there is the answer.


# %% exercise="06.3" role="given"
def call(node, gradients):
    """Return what a node makes of the gradients of its op's outputs, each with the shape and dtype of its input."""
    with torch.no_grad():
        results = node(*gradients)
    results = results if isinstance(results, tuple) else (results,)
    return [
        gradient if gradient is None or edge[0] is None else python_engine.validate(gradient, edge)
        for gradient, edge in zip(results, node.next_functions, strict=True)
    ]


# %% exercise="06.3" role="answer"
def gradients(output, leaves):
    """The gradients of `output.sum()` for each of `leaves`; None for a leaf that is not reached."""
    # BEGIN SOLUTION
    root = output.grad_fn
    missing, buffers, pending = Counter(), {root: [None] * len(root._input_metadata)}, [root]
    while pending:
        for child, _ in pending.pop().next_functions:
            if child is not None:
                missing[child] += 1
                if child not in buffers:
                    buffers[child] = [None] * len(child._input_metadata)
                    pending.append(child)
    buffers[root][output.output_nr] = torch.ones_like(output)
    ready = [root]
    while ready:
        node = ready.pop()
        if hasattr(node, "variable"):
            continue
        for (child, place), gradient in zip(node.next_functions, call(node, buffers[node]), strict=True):
            if child is None:
                continue
            if gradient is not None:
                former = buffers[child][place]
                buffers[child][place] = gradient if former is None else former + gradient
            missing[child] -= 1
            if missing[child] == 0:
                ready.append(child)
    arrived = {id(node.variable): buffer[0] for node, buffer in buffers.items() if hasattr(node, "variable")}
    return [arrived.get(id(leaf)) for leaf in leaves]
    # END SOLUTION


# %% exercise="06.3" role="check"
class Counted(torch.autograd.Function):
    """The identity, which counts how often its backward runs."""

    runs = 0

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        Counted.runs += 1
        return grad


def ladder(x, rungs):
    """Each rung uses the rung before it twice, so the number of ways down doubles with each rung."""
    for _ in range(rungs):
        x = x.sin() + x.cos()
    return x


def repeated(x, times):
    for _ in range(times):
        x = x + 0.001
    return x


with check("06.3", "an engine") as c:
    x = torch.tensor([0.5, -1.0, 2.0], requires_grad=True)
    w = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
    b = torch.tensor([1.0], requires_grad=True)
    for what, output in [
        ("a chain", x.exp().sin()),
        ("a tensor used twice", x * x + x.exp() * x),
        ("a matrix product, and b broadcast", w @ x + b),
        ("an op with several outputs", torch.stack(x.sin().unbind()[:2]).exp()),
        ("eight rungs, 256 ways", ladder(x, 8)),
    ]:
        c.case(what)
        leaves = [leaf for leaf in (x, w, b) if leaf is x or "broadcast" in what]
        expected = torch.autograd.grad(output.sum(), leaves, retain_graph=True)
        with no_other_engine():
            arrived = gradients(output, leaves)
        for came, right in zip(arrived, expected, strict=True):
            c.close(what, came=came, expected=right)
    with no_other_engine():
        case = c.case("a leaf that is not reached")
        c.equal(case, came=gradients(x.exp(), [w]), expected=[None])
        c.equal("no .grad was touched", came=[leaf.grad for leaf in (x, w, b)], expected=[None, None, None])
        case = c.case("how often a node with 16 ways to it ran")
        Counted.runs = 0
        gradients(ladder(Counted.apply(x), 4), [x])
        c.equal(case, came=Counted.runs, expected=1)
        case = c.case("a chain of 3000 nodes")
        c.close(case, came=gradients(repeated(x, 3000), [x])[0], expected=torch.ones(3))

# %% [markdown] exercise="06.3" role="debrief"
# **In PyTorch** the two loops are `Engine::compute_dependencies` and `Engine::thread_main`. Most of what these two do
# in addition is in the project of this chapter: hooks, passes to some inputs, gradients that are recorded. The first
# engine of PyTorch, in 2016, was a loop in Python like yours.

# %% [markdown] exercise="06.3" role="hint"
# There are two loops. The first one walks the graph with a list of nodes to visit, and counts for each child the
# edges that lead to the child, as in the lesson. The second one starts with the root, and takes nodes that are ready.

# %% [markdown] exercise="06.3" role="hint"
# Each node has a buffer, `[None] * len(node._input_metadata)`. The root's gets `torch.ones_like(output)` at
# `output.output_nr`. For each edge `(child, place)`: add the gradient to `buffers[child][place]`, count down, and at
# zero the child is ready. Count down also where the gradient is None.

# %% [markdown] exercise="06.3" role="hint"
# In the end the buffers of the nodes that have a `variable` hold the answers. Tensors compare by value, so look
# leaves up by `id(leaf)`.


# %% [markdown] exercise="06.4" role="task" kind="build" title="a penalty on the Jacobian"
# ## 06.4 Build: a penalty on the Jacobian
#
# ★★☆, 20 minutes. A penalty on ‖*J*‖², the squared Frobenius norm of the Jacobian at a sample, makes
# a network less sensitive to noise. Write `jacobian_penalty(f, x)`, where `f` takes a vector and returns a vector:
#
# - the result is the exact sum of the squares of all entries of *J* at `x`, a tensor without dimensions;
# - the result has a graph, so that `backward()` on it reaches parameters that `f` uses;
# - no `.grad` is touched, neither that of `x` nor that of a parameter.


# %% exercise="06.4" role="answer"
def jacobian_penalty(f, x):
    """The sum of the squares of all entries of the Jacobian of `f` at the vector `x`, differentiable."""
    # BEGIN SOLUTION
    x = x.detach().requires_grad_()
    y = f(x)
    units = torch.eye(y.numel(), dtype=y.dtype)
    (rows,) = torch.autograd.grad(y, x, units, create_graph=True, is_grads_batched=True)
    return rows.pow(2).sum()
    # END SOLUTION


# %% exercise="06.4" role="check"
with check("06.4", "a penalty on the Jacobian") as c:
    torch.manual_seed(0)
    weight = torch.randn(4, 3, requires_grad=True)
    point = torch.randn(3)

    def network(x):
        return (weight @ x).tanh()

    for what, f in [
        ("tanh of a product", network),
        ("rows that cancel", lambda x: torch.tensor([[5.0, 7.0, 1.0], [-5.0, -7.0, -1.0]]) @ x),
        ("fewer outputs than inputs", lambda x: (x * x)[:1]),
    ]:
        c.case(what)
        expected = torch.autograd.functional.jacobian(f, point).pow(2).sum()
        c.close(what, came=jacobian_penalty(f, point), expected=expected.detach())
    penalty = jacobian_penalty(network, point)
    c.equal("the penalty has a graph", came=penalty.requires_grad, expected=True)
    slopes = (1 - network(point) ** 2).reshape(4, 1)
    (expected,) = torch.autograd.grad((slopes * weight).pow(2).sum(), weight)
    c.close("its gradient for the weight", came=torch.autograd.grad(penalty, weight)[0], expected=expected)
    c.equal("weight.grad and point.grad", came=(weight.grad, point.grad), expected=(None, None))

# %% [markdown] exercise="06.4" role="debrief"
# **In PyTorch** the same lines work. One pass with `is_grads_batched` needs memory for all rows at once; a loop over
# the rows needs more time. For a large network neither is cheap. Then people use the estimate with random signs: it
# needs one pass for each sample, whatever the number of outputs.

# %% [markdown] exercise="06.4" role="hint"
# `x.detach().requires_grad_()` is a fresh leaf, so the caller's tensor is left alone. Rows come from
# `torch.autograd.grad(y, x, torch.eye(...), is_grads_batched=True)`.

# %% [markdown] exercise="06.4" role="hint"
# `create_graph=True` records the pass. It also keeps the graph, so a loop over the rows works as well.


# %% [markdown] exercise="06.5" role="task" kind="fix" title="a Hessian that remembers"
# ## 06.5 Fix: a Hessian that remembers
#
# ★★☆, 20 minutes. The product of the Hessian and a vector is the basis of second-order optimizers. It needs two
# passes, the second one through the first one. The function below returns wrong numbers at the first call, and other
# wrong numbers at the second call. Write `hessian_vector(f, x, v)`:
#
# - the numbers are right each time it is called;
# - no `.grad` is touched, neither that of `x` nor that of a parameter that `f` uses;
# - the result requires no gradient;
# - a function whose gradient is constant, as `x.sum()` or `(scale * x).sum()`, has a Hessian of zeros and no error.


# %% exercise="06.5" role="given"
def broken_hessian_vector(f, x, v):
    """The Hessian of the scalar function `f` at the leaf `x`, times `v`."""
    f(x).backward(create_graph=True)
    (x.grad * v).sum().backward()
    return x.grad


# %% exercise="06.5" role="answer"
def hessian_vector(f, x, v):
    """The Hessian of the scalar function `f` at the leaf `x`, times `v`."""
    # BEGIN SOLUTION
    (slope,) = torch.autograd.grad(f(x), x, create_graph=True)
    if not slope.requires_grad:
        return torch.zeros_like(x)
    (product,) = torch.autograd.grad(slope, x, v, materialize_grads=True)
    return product
    # END SOLUTION


# %% exercise="06.5" role="check"
with check("06.5", "a Hessian that remembers") as c:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    v = torch.tensor([1.0, -1.0])
    scale = torch.tensor([3.0, 5.0], requires_grad=True)
    for what, f, expected in [
        ("f(x) = x[0] ** 2 * x[1], the first call", lambda x: x[0] ** 2 * x[1], [2.0, 2.0]),
        ("f(x) = x[0] ** 2 * x[1], the second call", lambda x: x[0] ** 2 * x[1], [2.0, 2.0]),
        ("f(x) = x.sum(), whose gradient is constant", lambda x: x.sum(), [0.0, 0.0]),
        ("f(x) = (scale * x).sum(), linear in x", lambda x: (scale * x).sum(), [0.0, 0.0]),
    ]:
        case = c.case(f"{what}, at x = [1, 2], times v = [1, -1]")
        c.close(case, came=hessian_vector(f, x, v), expected=torch.tensor(expected))
    c.equal("x.grad and scale.grad, after these calls", came=(x.grad, scale.grad), expected=(None, None))
    case = c.case("f(x) = x.pow(3).sum()")
    result = hessian_vector(lambda x: x.pow(3).sum(), x, v)
    c.equal(f"whether the result requires a gradient, for {case}", came=result.requires_grad, expected=False)

# %% [markdown] exercise="06.5" role="debrief"
# **In PyTorch** `torch.autograd.functional.hvp` does this, and `torch.func.jvp` of `torch.func.grad` does the same
# with one backward pass and one forward pass, which needs less memory. `backward(create_graph=True)` warns of the
# trap: the leaf and its `.grad` form a cycle.

# %% [markdown] exercise="06.5" role="hint"
# `x.grad` after the first `backward` holds the gradient, and the second one *adds* to it. `torch.autograd.grad`
# returns its result and touches nothing.

# %% [markdown] exercise="06.5" role="hint"
# `(slope,) = grad(f(x), x, create_graph=True)`, then `grad(slope, x, v)`: `grad_outputs` is the vector. The gradient
# of a linear function may have no graph at all (`slope.requires_grad` is False), or one without `x` in it:
# `materialize_grads=True` gives zeros.


# %% [markdown] exercise="06.6" role="task" kind="fix" title="a gradient with a stranger in it"
# ## 06.6 Fix: a gradient with a stranger in it
#
# ★★★, 40 minutes. A colleague has changed the engine so that it saves memory, and all tests passed. A week later
# this report comes in. For the program below, `w.grad` is 10 in each place, and must be 7. `x.grad` is 5, which is
# right. 10 is 7 + 3, and 3 is what the line `three` brings to *the other* leaf. Without that line `w.grad` is
# right.
#
# `broken_library()` compiles the library with the colleague's change, in a scratch folder (4 s, once).
# `broken_library().run("...")` runs a program on it. `broken_source("csrc/autograd/engine.cpp")` is the text of any
# of its sources. Ask first which code can write into a gradient at all, and read that. A comparison with your own
# tree would show the line, but you would learn nothing.
#
# Write `fix()`. It returns the file, and a patch as `%%rebuild` takes it: lines that are there with `-`, your lines
# with `+`. The check holds three things: the program of the report is right; a gradient that a hook has kept stays as
# it was; and a sum that no other object owns is still added in place, because copies would cost the memory that was
# saved.

# %% exercise="06.6" role="given"
import base64
import functools
import zlib

from course._tools.layout import ROOT

REPORT = """
import reftorch as torch

x = torch.ones(2, requires_grad=True)
w = torch.ones(2, requires_grad=True)
five, three = w * 5, x * 3
((x + w) * 2 + five + three).sum().backward()
print(x.grad.tolist(), w.grad.tolist())
"""
CHANGE = zlib.decompress(
    base64.b85decode(
        "c-obXy9$Fq5CD6>V$+Bc;-ftf?5y$)$GNwPklY>n`2X0X3jy0<n3-olVeErx-Z{knNX68zwr#{6mQp<cnAAAI4adQ`<+PqTl5>Z6"
        "N@0CbY+9&m5P"
        "Nqf<S|>)6HOD0UoM(C?9{ZsjOu>r@wfE>8&yJ8"
    )
).decode()


@functools.cache
def broken_library():
    return rebuild("csrc/autograd/engine.cpp", CHANGE)  # the change itself says which file it belongs to


def broken_source(path):
    changed = next((file for file in broken_library().files if file.path.endswith(path)), None)
    return changed.text if changed else (ROOT / "cpp" / path).read_text()


# %% exercise="06.6" role="answer"
def fix() -> tuple[str, str]:
    """The file to change, and the patch."""
    # BEGIN SOLUTION
    return (
        "csrc/autograd/input_buffer.cpp",
        """
-  return !c10::GradMode::is_enabled() && sum.storage().use_count() == 1 &&
+  return !c10::GradMode::is_enabled() && sum.use_count() == 1 && sum.storage().use_count() == 1 &&
""".strip("\n"),
    )
    # END SOLUTION


# %% exercise="06.6" role="check"
KEPT = """
import reftorch as torch

x = torch.ones(2, requires_grad=True)
h = x * 2
one, other = h * 3, h * 4
kept = []
for y in (one, other):
    y.grad_fn.register_hook(lambda outputs, inputs: kept.append(outputs[0]))
(one + other).sum().backward()
print([each.tolist() for each in kept], x.grad.tolist())
"""
IN_PLACE = """
import reftorch as torch

x = torch.ones(2, requires_grad=True)
h = x * 2
loss = (h.sin() + h.cos()).sum()
with torch.autograd.profiler.profile() as profile:
    loss.backward()
print([event.name for event in profile.function_events if "add" in event.name])
"""

with check("06.6", "a gradient with a stranger in it") as c:
    file, patch = fix()
    c.case("the library is compiled with your patch")
    fixed = rebuild("csrc/autograd/engine.cpp", f"{CHANGE}\n@@ {file}\n{patch}")
    for case, program, expected in [
        ("x.grad and w.grad in the program of the report", REPORT, "[5.0, 5.0] [7.0, 7.0]"),
        ("gradients that hooks have kept, and x.grad", KEPT, "[[4.0, 4.0], [3.0, 3.0]] [14.0, 14.0]"),
        ("the ops that add up two gradients which nobody else has", IN_PLACE, "['aten::add_']"),
    ]:
        outcome = fixed.run(program)
        c.equal(c.case(case), came=(outcome.printed + outcome.error).strip(), expected=expected)
    fixed.close()

# %% [markdown] exercise="06.6" role="debrief"
# **In PyTorch** the same test is in `can_accumulate_inplace` in `torch/csrc/autograd/input_buffer.cpp`. The test
# compares two counts: how many objects own the tensor, and how many own its storage. The node of `+` returns *one*
# tensor for both of its inputs, so two buffers own the tensor while the storage has one owner, the tensor. Such a bug
# passes most tests, because most gradients have one owner.

# %% [markdown] exercise="06.6" role="hint"
# Gradients are summed in three places: over broadcast dimensions, where several meet at a node, and in `.grad`. Which
# of these sums may be written into a gradient that came in? Here two gradients meet at `w`, and two meet at `x`. What
# could these two sums share?

# %% [markdown] exercise="06.6" role="hint"
# The formula of `+` returns what came in, for both inputs: one tensor, which two buffers own. Read what
# `cpp/csrc/autograd/input_buffer.cpp` asks before it adds in place, and use `broken_source` for that.

# %% [markdown] exercise="06.6" role="hint"
# The owners of a tensor and the owners of its storage are counted separately. Two buffers that hold one tensor are
# two owners of the tensor, and the tensor is the one owner of the storage. The line must ask for both counts.


# %% [markdown] exercise="06.7" role="task" kind="build" title="how much of the graph is needed, in C++"
# ## 06.7 Build: how much of the graph is needed, in C++
#
# ★★★, 40 minutes. Before a pass to some inputs, the engine finds the nodes that the pass will call. You have read how
# it does this. Write `needed_nodes(loss, input)` in C++: it returns *how many* nodes `grad(loss, input)` calls.
#
# - Each node that leads to the node of `input` is counted. The node of `input` itself is not called.
# - An input that is not in the graph needs 0 nodes.
# - A node is counted once, even if many ways lead through it. A graph with 40 rungs, which has a million million
#   ways, must not take noticeable time.
# - A chain of 100,000 nodes works. A recursion would end the process of your notebook, because its stack is small.
#
# The types are those of the engine. `node->next_edges()` is a list of `Edge`; `edge.function` is a `shared_ptr` to
# the next node, and is null where no gradient is wanted. `edge.function.get()` is the plain pointer. A
# `std::unordered_set<Node*>` is a set: `insert(node).second` is true if the node was not in it.

# %% exercise="06.7" role="answer"
NEEDED = r"""
#include <csrc/autograd/variable.h>

#include <unordered_map>
#include <unordered_set>

using reftorch::torch::autograd::Edge;
using reftorch::torch::autograd::Node;
using reftorch::torch::autograd::impl::gradient_edge;

int64_t needed_nodes(const at::Tensor& loss, const at::Tensor& input) {
  Node* const root = gradient_edge(loss).function.get();
  Node* const target = gradient_edge(input).function.get();
  // BEGIN SOLUTION
  std::unordered_map<Node*, std::vector<Node*>> parents;
  std::unordered_set<Node*> seen{root};
  std::vector<Node*> pending{root};
  while (!pending.empty()) {
    Node* const node = pending.back();
    pending.pop_back();
    for (const Edge& edge : node->next_edges()) {
      if (!edge.is_valid()) {
        continue;
      }
      parents[edge.function.get()].push_back(node);
      if (seen.insert(edge.function.get()).second) {
        pending.push_back(edge.function.get());
      }
    }
  }
  // Back from the input: what is met on the way is needed.
  std::unordered_set<Node*> needed;
  pending = {target};
  while (!pending.empty()) {
    Node* const node = pending.back();
    pending.pop_back();
    for (Node* parent : parents[node]) {
      if (needed.insert(parent).second) {
        pending.push_back(parent);
      }
    }
  }
  return static_cast<int64_t>(needed.size());
  // END SOLUTION
}
"""


# %% exercise="06.7" role="check"
def called_by_grad(loss, input):
    """How many nodes a real pass calls."""
    ran = []
    handles = [n.register_prehook(lambda grads, n=n: ran.append(n)) for n in in_order(loss.grad_fn)]
    torch.autograd.grad(loss, input, retain_graph=True, allow_unused=True)
    for handle in handles:
        handle.remove()
    return len(ran)


def chain(x, length):
    for _ in range(length):
        x = x + 1
    return x


with check("06.7", "how much of the graph is needed, in C++") as c:
    needed_nodes = load_inline("needed_nodes", NEEDED, functions="needed_nodes").needed_nodes
    x, w = torch.ones(3, requires_grad=True), torch.ones(3, requires_grad=True)
    hidden = (x * w).exp()
    side = hidden.sin()
    loss = (side * w + hidden.cos()).sum()
    for name, tensor in {"x": x, "w": w, "hidden": hidden, "side": side}.items():
        came = needed_nodes(loss, tensor)
        c.equal(f"the nodes that grad(loss, {name}) calls", came=came, expected=called_by_grad(loss, tensor))
    stranger = torch.ones(3, requires_grad=True)
    c.equal("an input that is not in the graph", came=needed_nodes(loss, stranger), expected=0)
    ladder_top = hidden
    for _ in range(40):
        ladder_top = ladder_top.sin() + ladder_top.cos()
    c.equal("40 rungs, a million million ways", came=needed_nodes(ladder_top, x), expected=40 * 3 + 2)
    c.equal("a chain of 100,000 nodes", came=needed_nodes(chain(x, 100_000), x), expected=100_000)

# %% [markdown] exercise="06.7" role="debrief"
# **In PyTorch** this is `GraphTask::init_to_execute`. It decides about the children first, with a stack of frames. So
# it needs no map of parents, which would be as large as the graph. It also stops at nodes that lie below all inputs,
# by their `topological_nr`, the length of the longest way from a node to a leaf.

# %% [markdown] exercise="06.7" role="hint"
# A `std::vector<Node*>` of nodes to visit and a `std::unordered_set<Node*>` of nodes that were seen walk the graph
# without recursion. `edge.function.get()` is null where no gradient is wanted.

# %% [markdown] exercise="06.7" role="hint"
# The engine keeps a stack, and decides about a node after it has decided about all its children. There is an easier
# way: on the first walk, note the parents of each child; then walk again, from `target` along the parents. The nodes
# that the second walk meets are needed.


# %% [markdown] exercise="06.8" role="task" kind="build" title="project: an engine with hooks and create_graph"
# ## 06.8 Project: an engine with hooks and create_graph
#
# ★★★, an evening. The engine of exercise 06.3 becomes an engine that you can train with. Write the class
# `Engine`; you may begin with your own solution of 06.3.
#
# - `grad(output, inputs, gradient=None, create_graph=False)` returns a list with the gradient of each input, or None.
#   Inputs may be leaves or results, also `output` itself.
# - `backward(output, gradient=None, create_graph=False)` adds the gradients to the `.grad` of all leaves that require
#   one. `grad` touches no `.grad`.
# - `gradient` is the gradient of `output`. Without it `output` must be one number; otherwise raise a RuntimeError
#   that says *grad can be implicitly created only for scalar outputs*.
# - A node runs at most once in a pass, and `grad` runs only nodes that lead to an input.
# - Of the nodes that are ready, the one with the highest `node._sequence_nr()` goes first.
# - `register_hook(tensor, hook)` notes a function. In every later pass that computes the gradient of the tensor, the
#   hook is called once, with the whole gradient. If the hook returns a tensor, that tensor replaces the gradient,
#   both for the nodes below and in the result of `grad`. Several hooks of one tensor run in the order of their
#   registration.
# - With `create_graph=True` the results have a graph, so that they can be differentiated again. Without it they
#   require no gradient.
# - No other engine is called, and a chain of 3000 nodes works.
#
# `results_of` runs one node, as `call` does in 06.3, and leaves the grad mode as it is: `torch.set_grad_enabled` is a
# context manager. `python_engine.gradient_edge(tensor)` returns the edge of any tensor, a node and a number.


# %% exercise="06.8" role="given"
def results_of(node, gradients):
    """What a node makes of the gradients of its op's outputs: a gradient or None for each of `next_functions`."""
    results = node(*gradients)
    results = results if isinstance(results, tuple) else (results,)
    return [
        gradient if gradient is None or edge[0] is None else python_engine.validate(gradient, edge)
        for gradient, edge in zip(results, node.next_functions, strict=True)
    ]


# %% exercise="06.8" role="answer"
class Engine:
    def __init__(self):
        # BEGIN SOLUTION
        self.hooks = {}
        # END SOLUTION

    def register_hook(self, tensor, hook):
        """Call `hook` with the gradient of `tensor` in each later pass."""
        # BEGIN SOLUTION
        self.hooks.setdefault(python_engine.gradient_edge(tensor), []).append(hook)
        # END SOLUTION

    def grad(self, output, inputs, gradient=None, create_graph=False):
        """The gradient of `output` for each of `inputs`, or None."""
        # BEGIN SOLUTION
        edges = [python_engine.gradient_edge(each) for each in inputs]
        arrived = self.run(output, gradient, create_graph, edges)
        return [arrived.get(edge) for edge in edges]
        # END SOLUTION

    def backward(self, output, gradient=None, create_graph=False):
        """Add the gradient of `output` for each leaf to its `.grad`."""
        # BEGIN SOLUTION
        with torch.set_grad_enabled(create_graph):
            for (node, _), arrived in self.run(output, gradient, create_graph, None).items():
                leaf = node.variable
                leaf.grad = arrived if leaf.grad is None else leaf.grad + arrived

    def run(self, output, gradient, create_graph, edges):
        if gradient is None:
            if output.numel() != 1:
                raise RuntimeError("grad can be implicitly created only for scalar outputs")
            gradient = torch.ones_like(output)
        root, number = python_engine.gradient_edge(output)
        parents, pending = {root: []}, [root]
        while pending:
            node = pending.pop()
            for child, _ in node.next_functions:
                if child is not None:
                    if child not in parents:
                        parents[child] = []
                        pending.append(child)
                    parents[child].append(node)
        if edges is None:
            edges = [(node, 0) for node in parents if hasattr(node, "variable")]
        needed, pending = set(), [node for node, _ in edges if node in parents]
        takes_part = set(pending)
        while pending:
            for parent in parents[pending.pop()]:
                if parent not in needed:
                    needed.add(parent)
                    pending.append(parent)
        takes_part |= needed
        missing = {node: sum(parent in needed for parent in parents[node]) for node in takes_part}
        buffers = {node: [None] * len(node._input_metadata) for node in takes_part}
        if root not in takes_part:
            return {}
        buffers[root][number] = gradient
        ready, arrived = [root], {}
        with torch.set_grad_enabled(create_graph):
            while ready:
                node = max(ready, key=lambda each: each._sequence_nr())
                ready.remove(node)
                self.at_node(node, buffers[node])
                arrived |= {(node, place): each for place, each in enumerate(buffers[node]) if (node, place) in edges}
                if node not in needed:
                    continue
                for (child, place), result in zip(node.next_functions, results_of(node, buffers[node]), strict=True):
                    if child not in takes_part:
                        continue
                    if result is not None:
                        former = buffers[child][place]
                        buffers[child][place] = result if former is None else former + result
                    missing[child] -= 1
                    if missing[child] == 0:
                        ready.append(child)
        return {edge: each for edge, each in arrived.items() if each is not None}

    def at_node(self, node, buffer):
        for place, gradient in enumerate(buffer):
            if gradient is not None:
                for hook in self.hooks.get((node, place), ()):
                    replaced = hook(buffer[place])
                    buffer[place] = buffer[place] if replaced is None else replaced
        # END SOLUTION


# %% exercise="06.8" role="check"
class CountedNode(torch.autograd.Function):
    """The identity, which counts how often its backward runs."""

    runs = 0

    @staticmethod
    def forward(ctx, x):
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        CountedNode.runs += 1
        return grad


def two_ways(x):
    h = x * 2
    long = h.sin()
    far = long.exp()
    return h, long, far, h + 1


def log_of_hooks(register, run):
    x = torch.tensor([0.5, 1.0], requires_grad=True)
    log, tensors = [], two_ways(x)
    for name, tensor in zip(("h", "long", "far", "short"), tensors, strict=True):
        register(tensor, lambda grad, name=name: log.append((name, [round(each, 4) for each in grad.tolist()])))
    run((tensors[2] * tensors[3]).sum())
    return log


def long_chain(x, length):
    for _ in range(length):
        x = x + 0.001
    return x


with check("06.8", "an engine with hooks and create_graph") as c:
    x = torch.tensor([0.5, -1.0, 2.0], requires_grad=True)
    w = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], requires_grad=True)
    h = x.exp() * x
    for what, output, inputs in [
        ("two leaves, and a matrix product", (w @ x).sin().sum(), [x, w]),
        ("a result as input, used twice", (h.sin() * h).sum(), [h, x]),
        ("the output itself as input", (x * x).sum(), [x]),
        ("a sum in which a row is broadcast", (w + x).exp().sum(), [x, w]),
        ("one of several outputs", torch.stack(x.sin().unbind()[1:]).sum(), [x]),
    ]:
        c.case(what)
        inputs = [*inputs, output]
        expected = torch.autograd.grad(output, inputs, retain_graph=True)
        with no_other_engine():
            came = Engine().grad(output, inputs)
        for each, right in zip(came, expected, strict=True):
            c.close(what, came=each, expected=right)
    with no_other_engine():
        case = c.case("an input that is not reached")
        c.equal(case, came=Engine().grad(x.sum(), [w]), expected=[None])
        case = c.case("a gradient for an output with three numbers")
        gradient = torch.tensor([1.0, 10.0, 100.0])
        c.close(case, came=Engine().grad(x * 2, [x], gradient)[0], expected=gradient * 2)
        c.raises("three numbers, and no gradient", RuntimeError, "scalar outputs", Engine().grad, x * 2, [x])
        c.equal("x.grad and w.grad, after grad()", came=(x.grad, w.grad), expected=(None, None))
        case = c.case("backward() twice: x.grad")
        Engine().backward((x * 3).sum())
        Engine().backward((x * 4).sum())
        c.close(case, came=x.grad, expected=torch.full((3,), 7.0))
        case = c.case("how often a node runs that leads to no input, and one that has two ways")
        aside, twice, counted = CountedNode.apply(x), CountedNode.apply(w), []
        for loss in (w.sum() + aside.sum(), w.sum() + twice.sin().sum() + twice.cos().sum()):
            CountedNode.runs = 0
            Engine().grad(loss, [w])
            counted.append(CountedNode.runs)
        c.equal(case, came=counted, expected=[0, 1])
        case = c.case("a chain of 3000 nodes")
        c.close(case, came=Engine().grad(long_chain(x, 3000).sum(), [x])[0], expected=torch.ones(3))
    case = c.case("the hooks of h, long, far and short: order, and the gradients they see")
    expected = log_of_hooks(lambda tensor, hook: tensor.register_hook(hook), lambda loss: loss.backward())
    with no_other_engine():
        engine = Engine()
        came = log_of_hooks(engine.register_hook, engine.backward)
    c.equal(case, came=came, expected=expected)
    with no_other_engine():
        case = c.case("two hooks of h, the second limits the gradient to 5: the gradients for h and x")
        engine, leaf = Engine(), torch.ones(2, requires_grad=True)
        middle = leaf * 2
        engine.register_hook(middle, lambda grad: grad * 3)
        engine.register_hook(middle, lambda grad: grad.clamp(max=5))
        came = [each.tolist() for each in engine.grad((middle * 3 + middle * 4).sum(), [middle, leaf])]
        c.equal(case, came=came, expected=[[5.0, 5.0], [10.0, 10.0]])
        case = c.case("the third derivative of x ** 4 at 2")
        point = result = torch.tensor(2.0, requires_grad=True)
        result = point**4
        for _ in range(2):
            (result,) = Engine().grad(result, [point], create_graph=True)
        c.equal("whether a gradient has a graph with create_graph", came=result.requires_grad, expected=True)
        (third,) = Engine().grad(result, [point])
        c.close(case, came=third, expected=torch.tensor(48.0))
        c.equal("whether a gradient has a graph without create_graph", came=third.requires_grad, expected=False)

# %% [markdown] exercise="06.8" role="debrief"
# **In PyTorch** the hooks of a tensor are kept in its node, as a list for each output. So the engine needs no table
# of hooks, and the hooks are freed with the graph. Your table keeps every node alive for which a hook was registered.
# Two things are left to do for an engine that trains a large model: to let a node free what it kept as soon as it has
# run, and to drop the buffer of each node then. Chapter 05 and the lesson show where that is done.

# %% [markdown] exercise="06.8" role="hint"
# Begin with `grad` for leaves, then let inputs be any edges: when a node's turn comes, its buffer is complete, so
# this is the place to call hooks and to note what arrived. Only after that ask whether the node has to run.

# %% [markdown] exercise="06.8" role="hint"
# Note the parents of each node on the first walk. A second walk from the inputs along the parents finds the nodes
# that must run. Count for each node only edges from nodes that run, and hand a gradient on only to nodes that run or
# are inputs.

# %% [markdown] exercise="06.8" role="hint"
# `create_graph` needs one line, `with torch.set_grad_enabled(create_graph):` around the loop. `backward` is `grad`
# for all leaves of the graph, and an addition.


# %% [markdown] exercise="06.9" role="task" kind="read" title="in PyTorch: how the engine is called"
# ## 06.9 Read, in PyTorch: how the engine is called
#
# ★★☆, 15 minutes. This question is answered in PyTorch itself: it needs PyTorch (`make torch`), and no other exercise
# of the chapter does. The next cell writes `IN_TORCH` to a file, and prints the command that runs the file under pdb.
#
# `IN_TORCH` calls the engine three times, each time in a different way. All three ways go through one function of
# Python, `_engine_run_backward` in `torch/autograd/graph.py`. Stop there three times, and look at its `args` and
# `kwargs`. For each call answer two questions as a pair: is `accumulate_grad` true, and is the graph kept
# (`args[1]`)?


# %% exercise="06.9" role="given"
IN_TORCH = """\
import torch

x = torch.ones(2, requires_grad=True)
y = (x * 2).sum()
y.backward(retain_graph=True)
torch.autograd.grad(y, x, create_graph=True)
y.backward(inputs=[x])
"""
print(write_for_torch(IN_TORCH, "in_torch_06_9.py"))


# %% exercise="06.9" role="answer"
def engine_calls() -> dict[str, tuple[bool, bool]]:
    # BEGIN SOLUTION
    return {"first": (True, True), "second": (False, True), "third": (True, False)}
    # END SOLUTION


# %% exercise="06.9" role="check"
with check("06.9", "how the engine is called") as c:
    answer = engine_calls()
    stops = stops_in_torch(
        IN_TORCH,
        "torch/autograd/graph.py",
        "_engine_run_backward",
        "attach_logging_hooks = ",
        ["kwargs['accumulate_grad']", "args[1]"],
    )
    pairs = [tuple(value == "True" for value in stop.values()) for stop in stops]
    look = "pdb stops once for each call; `p args, kwargs` shows both."
    c.answers(
        "the three calls", came=answer, truth=dict(zip(["first", "second", "third"], pairs, strict=True)), look=look
    )

# %% [markdown] exercise="06.9" role="debrief"
# **In PyTorch** the two public functions differ in this one flag: `grad` returns gradients, and `backward` adds them
# to `.grad`, with `inputs=` too. `create_graph=True` keeps the graph, because `retain_graph` takes its value if you
# do not say otherwise. The C++ below is the same for both: `THPEngine_run_backward`.

# %% [markdown] exercise="06.9" role="hint"
# Begin with `next` until `import torch` has run. Then `break torch.autograd.graph._engine_run_backward`, and
# `continue`.

# %% [markdown] exercise="06.9" role="hint"
# `args` of the function are those that C++ gets after the tensors: the gradients of the roots, whether to keep the
# graph, whether to create one, and the inputs.
