"""The exercises of chapter 13, solved; `make course` makes the learner's notebook of it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: what the lesson explains.

The file is some 860 lines long, because all exercises of a chapter are in one file.
"""

# %% [markdown]
# # Exercises 13: fx
#
# Each exercise has a cell that raises until you have written it, and a check below that you run as often as you like.
# The check says what it tests, and when it passes, how PyTorch does the same. Stars say how difficult an exercise is,
# from one to three. Stuck? `course("hint 13.1")` in a cell of its own. Done? `course("check 13")` runs the notebook,
# as last saved, from top to bottom.

# %%
import contextlib
import copy
import operator

import reftorch as torch
from course._tools import check, course, rebuild, stops_in_torch, write_for_torch
from reftorch import fx, nn

# %% [markdown] exercise="13.1" role="task" kind="read" title="what is left in the graph"
# ## 13.1 Read: what is left in the graph
#
# ★☆☆, 15 minutes. A graph shows what happened while a program was traced, and a program does more
# than that. For each program below (`"a"` is `program_a`, and so on), say how many nodes of its graph call something
# (`call_function`, `call_method` and `call_module` together), or `"raises"` if the program cannot be traced. Answer
# without tracing them.
#
# The check counts how many of your ten answers are right.

# %% exercise="13.1" role="given"
COUNT = 3


def program_a(x):
    return x * 2 if COUNT > 2 else (x * 5).sum() + 1


def program_b(x):
    for _ in range(COUNT):
        x = torch.relu(x + 1)
    return x


def program_c(x):
    unused = x.exp()
    del unused
    return x * 2


def program_d(x):
    return torch.ones(2, 2).sum() + x


def program_e(x):
    return sum(row.mean() for row in x)


def program_f(x):
    first, second = x.chunk(2)
    return first * second


def program_g(x):
    return x.reshape(x.shape[0], -1)


def program_h(x):
    return x - x.mean() if isinstance(x, torch.Tensor) else x


def program_i(x):
    while (x > 1).any():
        x = x / 2
    return x


def program_j(x):
    y = x
    y += 1
    return (y, {"y": y, "x": x})


# %% exercise="13.1" role="answer"
def calls() -> dict[str, int | str]:
    """The number of calls in each graph, or "raises", as `{"a": ..., "b": ..., ...}`."""
    # BEGIN SOLUTION
    return {"a": 1, "b": 6, "c": 2, "d": 1, "e": "raises", "f": 4, "g": 3, "h": 0, "i": "raises", "j": 1}
    # END SOLUTION


# %% exercise="13.1" role="check"
def calls_in(program):
    count = "raises"
    with contextlib.suppress(fx.proxy.TraceError, RuntimeError, TypeError):
        graph = fx.symbolic_trace(program).graph
        count = sum(node.op.startswith("call_") for node in graph.nodes)
    return count


with check("13.1", "what is left in the graph") as c:
    truth = {letter: calls_in(globals()[f"program_{letter}"]) for letter in "abcdefghij"}
    look = "Which operations does Python ask the proxy for? Reading a shape is an operation, too."
    c.answers("the calls in each graph", came=calls(), truth=truth, look=look)

# %% [markdown] exercise="13.1" role="debrief"
# **In PyTorch** the ten answers are the same. `program_h` is worth a second look: a proxy is not a `Tensor`, so the
# test is false while the program is traced, and the graph returns `x` unchanged. Nothing raises, and the module is
# wrong for every tensor. Checks of types in a `forward` are the most common way to a graph that computes something
# else.

# %% [markdown] exercise="13.1" role="hint"
# Go through each program as the tracer of thirty lines would: one line for each operation on something that came from
# `x`. What has no part of `x` in it is computed by Python, at once.

# %% [markdown] exercise="13.1" role="hint"
# `first, second = value` takes two items, `value[0]` and `value[1]`. `x.shape` and `x.shape[0]` are two operations.
# Is a `Proxy` a `Tensor`?


# %% [markdown] exercise="13.2" role="task" kind="build" title="an interpreter that stops"
# ## 13.2 Build: an interpreter that stops
#
# ★★☆, 20 minutes. A model returns NaN, and you want to know the operation that made the first one.
# Write `first_bad(module, *inputs)`, with an `fx.Interpreter`. `module` is a GraphModule.
#
# - The function returns the name of the first node, in the order of the graph, whose value has an element that is
#   infinite or not a number. If there is none, it returns None. An input may be such a node.
# - A value may also be a tuple or a list of tensors, or of such tuples and lists, at any depth. Other values, such as
#   shapes, are not looked at.
# - No node after the one that was found is run.
# - The module and its graph stay as they are.


# %% exercise="13.2" role="answer"
def first_bad(module: fx.GraphModule, *inputs) -> str | None:
    """The name of the first node whose value is not finite."""

    # BEGIN SOLUTION
    class Found(Exception):
        pass

    def is_bad(value):
        if isinstance(value, torch.Tensor):
            return not torch.isfinite(value).all().item()
        return isinstance(value, (tuple, list)) and any(is_bad(item) for item in value)

    class Watch(fx.Interpreter):
        found = None

        def run_node(self, n):
            value = super().run_node(n)
            if is_bad(value):
                self.found = n.name
                raise Found
            return value

    watch = Watch(module)
    with contextlib.suppress(Found):
        watch.run(*inputs)
    return watch.found
    # END SOLUTION


# %% exercise="13.2" role="check"
ran = []


def noted(x):
    ran.append("noted")
    return x


fx.wrap("noted")


def divided(x):
    shape = x.shape
    y = x / (x - 1)
    z = noted(y).exp()
    return z * shape[0]


def in_parts(x):
    low, high = torch.chunk(x.log(), 2)
    return high + low.nan_to_num()


def into_a_pair(x):
    return torch.max(x.sqrt(), dim=0)


with check("13.2", "an interpreter that stops") as c:
    module = fx.symbolic_trace(divided)
    before = str(module.graph)
    case = c.case("a division by zero")
    ran.clear()
    c.equal(case, came=first_bad(module, torch.tensor([3.0, 1.0])), expected="truediv")
    c.equal(f"{case}: what ran after the division", came=list(ran), expected=[])
    case = c.case("an overflow further on")
    c.equal(case, came=first_bad(module, torch.tensor([3.0, 1.001])), expected="exp")
    case = c.case("all is finite")
    c.equal(case, came=first_bad(module, torch.tensor([3.0, 2.0])), expected=None)
    case = c.case("an input with a NaN")
    c.equal(case, came=first_bad(module, torch.tensor([3.0, float("nan")])), expected="x")
    case = c.case("a tensor of integers")
    c.equal(case, came=first_bad(fx.symbolic_trace(lambda x: x + 1), torch.tensor([1, 2])), expected=None)
    case = c.case("a logarithm of zero, before it is cut in parts")
    c.equal(case, came=first_bad(fx.symbolic_trace(in_parts), torch.tensor([0.0, 1.0])), expected="log")
    case = c.case("a tuple that is a placeholder")
    pair = fx.symbolic_trace(lambda pair: pair[0] + pair[1])
    bad = (torch.ones(1), torch.tensor([float("inf")]))
    c.equal(case, came=first_bad(pair, bad), expected="pair")
    c.equal(f"{case}, as a list in a list", came=first_bad(pair, [torch.ones(1), [bad[1]]]), expected="pair")
    c.equal("the graph afterwards", came=str(module.graph), expected=before)

# %% [markdown] exercise="13.2" role="debrief"
# **In PyTorch** you would write the same subclass. What you have built works for each model that can be traced, and
# sees each operation of it. Chapter 14 looks for a NaN with hooks and with the anomaly mode, which need no graph.
# Shapes, times and memory by node are further uses of the same ten lines: `fx.passes.shape_prop.ShapeProp` is one.

# %% [markdown] exercise="13.2" role="hint"
# Override `run_node(self, n)`: call `super().run_node(n)`, look at the value, and keep `n.name`.

# %% [markdown] exercise="13.2" role="hint"
# The shortest way out of a running interpreter is an exception of your own, which `first_bad` catches.


# %% [markdown] exercise="13.3" role="task" kind="build" title="compute it once"
# ## 13.3 Build: compute it once
#
# ★★☆, 30 minutes. Programs compute the same thing twice more often than one thinks, and compilers look
# for it: *common subexpressions*. Write the pass `merge_equal(module)`, which changes a GraphModule in place:
#
# - Two `call_function` nodes with the same target in `PURE`, equal `args` and equal `kwargs` are one computation. The
#   first one stays, the users of the other use the first, and the other is erased.
# - That holds also if the arguments become equal by a merge: a program that computes `(x + 1) * 2` twice keeps one
#   addition and one multiplication.
# - `1`, `1.0` and `True` are different arguments, because the dtype of a result may depend on them.
# - Nodes whose target is not in `PURE` stay. `torch.rand(2)` twice is two results.
# - The function returns how many nodes were erased. The graph passes `lint()`, and the module computes with it.

# %% exercise="13.3" role="given"
PURE = {
    operator.add, operator.mul, operator.sub, operator.truediv, operator.getitem,
    torch.relu, torch.exp, torch.sum, torch.add, torch.mul, torch.softmax,
}  # fmt: skip


# %% exercise="13.3" role="answer"
def merge_equal(module: fx.GraphModule) -> int:
    """Compute equal things once; returns the number of erased nodes."""
    # BEGIN SOLUTION
    first, erased = {}, 0
    for node in list(module.graph.nodes):
        if node.op != "call_function" or node.target not in PURE:
            continue
        key = (node.target, repr(node.args), repr(node.kwargs))  # a node's repr is its name, which no other node has
        if key in first:
            node.replace_all_uses_with(first[key])
            module.graph.erase_node(node)
            erased += 1
        else:
            first[key] = node
    module.graph.lint()
    module.recompile()
    return erased
    # END SOLUTION


# %% exercise="13.3" role="check"
def merged(program, *inputs):
    """The module, the number that merge_equal returned, and whether the module still computes the same."""
    module = fx.symbolic_trace(program)
    expected = module(*inputs)
    erased = merge_equal(module)
    module.graph.lint()
    came = module(*inputs)
    pairs = zip(came, expected, strict=True) if isinstance(came, tuple) else [(came, expected)]
    same = all(one.dtype == other.dtype and one.equal(other) for one, other in pairs)
    in_code = module.code.count(" = torch.") + sum(module.code.count(f" {sign} ") for sign in "+*-/")
    calls = sum(node.op in ("call_function", "call_method") for node in module.graph.nodes)
    return erased, calls, in_code, same


with check("13.3", "compute it once") as c:
    x, whole = torch.tensor([0.5, -2.0]), torch.tensor([3, 4])
    for what, program, value, expected in (
        ("twice in a row", lambda x: torch.relu(x + 1) * (x + 1), x, (1, 3, 3, True)),
        ("equal after a merge", lambda x: (x + 1) * 2 - (x + 1) * 2, x, (2, 3, 3, True)),
        ("nothing is equal", lambda x: (x + 1) * (x + 2), x, (0, 3, 3, True)),
        ("other keywords", lambda x: torch.softmax(x, dim=0) + torch.sum(x, dim=0, keepdim=True), x, (0, 3, 3, True)),
        (
            "equal but for a keyword",
            lambda x: torch.sum(x, dim=0) + torch.sum(x, dim=0, keepdim=True),
            x,
            (0, 3, 3, True),
        ),
        ("equal keywords", lambda x: torch.sum(x, dim=0) * torch.sum(x, dim=0), x, (1, 2, 2, True)),
        ("1 and 1.0", lambda x: (x + 1, x + 1.0), whole, (0, 2, 2, True)),
        ("1 and True", lambda x: (x + 1, x + True), whole, (0, 2, 2, True)),
        ("the order of operands", lambda x: (x - 1.5) * (1.5 - x), x, (0, 3, 3, True)),
    ):
        c.case(what)
        c.equal(
            f"{what}: erased, calls, operations in the code, same result",
            came=merged(program, value),
            expected=expected,
        )
    case = c.case("slices")
    slices = merged(lambda x: (x[1:], x[1:], x[:1]), x)
    c.equal(f"{case}: erased, calls left, same result", came=(*slices[:2], slices[3]), expected=(1, 2, True))
    case = c.case("random numbers and methods stay")
    module = fx.symbolic_trace(lambda x: torch.dropout(x, 0.5, True) - torch.dropout(x, 0.5, True) + x.cos() + x.cos())
    c.equal(f"{case}: erased", came=merge_equal(module), expected=0)
    torch.manual_seed(0)
    difference = module(torch.ones(100)) - 2 * torch.ones(100).cos()
    c.equal(f"{case}: the two draws differ", came=difference.any().item(), expected=True)

# %% [markdown] exercise="13.3" role="debrief"
# **In PyTorch** the compiler's pass is `torch._functorch.compile_utils.fx_graph_cse`. It also makes a key of target
# and arguments, and it leaves out operations that it knows to be random. Your pass does the opposite, and takes only
# what it knows to be safe: `PURE` lists what is good. A list of what is bad has to be complete.

# %% [markdown] exercise="13.3" role="hint"
# Walk over `list(module.graph.nodes)` once, and keep a dict from (target, args, kwargs) to the first node. Since a user
# comes after what it uses, its arguments have been replaced before you reach it.

# %% [markdown] exercise="13.3" role="hint"
# `args` may hold slices, which have no hash, and `1 == 1.0` is true. `repr(node.args)` has neither problem: the repr of
# a node is its name.


# %% [markdown] exercise="13.4" role="task" kind="fix" title="a cache that never hits"
# ## 13.4 Fix: a cache that never hits
#
# ★★☆, 15 minutes. `broken_hoist` moves the reads of parameters (`get_attr`) to the beginning of a
# graph. Its results are right. A colleague keeps compiled models in a cache, under the text `module.code`. The cache
# finds the model in the process that has written it, and hardly ever in another one.
#
# Write the fixed `hoist(module)`. It changes the module in place and returns it.
#
# - All `get_attr` nodes come directly after the placeholders, before any other node, in the order that they had in the
#   graph. The other nodes keep their order.
# - The module is recompiled, and computes the same as before. A module without parameters stays as it is.


# %% exercise="13.4" role="given"
def broken_hoist(module):
    reads = {node for node in module.graph.nodes if node.op == "get_attr"}
    first = next(node for node in module.graph.nodes if node.op != "placeholder" and node not in reads)
    for node in reads:
        first.prepend(node)
    module.graph.lint()
    module.recompile()
    return module


# %% exercise="13.4" role="answer"
def hoist(module: fx.GraphModule) -> fx.GraphModule:
    """Move the reads of parameters to the beginning of the graph."""
    # BEGIN SOLUTION
    reads = [node for node in module.graph.nodes if node.op == "get_attr"]
    first = next(node for node in module.graph.nodes if node.op not in ("placeholder", "get_attr"))
    for node in reads:
        first.prepend(node)
    module.graph.lint()
    module.recompile()
    return module
    # END SOLUTION


# %% exercise="13.4" role="check"
class Many(nn.Module):
    """A sum of products with many parameters, which are read in the order of `names`."""

    def __init__(self, names):
        super().__init__()
        self.names = names
        for position, name in enumerate(names):
            self.register_parameter(name, nn.Parameter(torch.full((2,), position + 1.0)))

    def forward(self, x):
        for name in self.names:
            x = torch.sin(x * getattr(self, name))
        return x


with check("13.4", "a cache that never hits") as c:
    for size in (12, 25, 40):
        case = c.case(f"{size} parameters")
        names = [f"weight_{7 * position % size}" for position in range(size)]
        module = fx.symbolic_trace(Many(names))
        x = torch.tensor([0.3, -0.7])
        expected = module(x)
        others = [node.name for node in module.graph.nodes if node.op not in ("placeholder", "get_attr")]
        came = hoist(module)
        c.equal(f"{case}: the module itself is returned", came=came is module, expected=True)
        nodes = list(module.graph.nodes)
        c.equal(f"{case}: the first node", came=nodes[0].op, expected="placeholder")
        c.equal(f"{case}: the reads", came=[node.target for node in nodes[1 : size + 1]], expected=names)
        c.equal(f"{case}: the other nodes", came=[node.name for node in nodes[size + 1 :]], expected=others)
        in_code = [line.split("self.")[1].split(";")[0] for line in module.code.splitlines() if "self." in line]
        c.equal(f"{case}: the reads in the code", came=in_code, expected=names)
        c.close(f"{case}: the result", came=module(x), expected=expected)
    case = c.case("no parameters")
    module = fx.symbolic_trace(lambda x, y: torch.relu(x) + y)
    code = module.code
    c.equal(case, came=hoist(module).code, expected=code)

# %% [markdown] exercise="13.4" role="debrief"
# **In PyTorch** the documentation of fx names this as the pitfall of its own: the hash of a node is made from its
# address, and addresses differ from run to run. Where you need a set of nodes for fast questions, keep a dict with the
# nodes as keys (`dict.fromkeys(nodes)`): it answers as fast, and it has an order.

# %% [markdown] exercise="13.4" role="hint"
# Print `module.code` of `broken_hoist` for a model with ten parameters. Run it in two fresh processes.

# %% [markdown] exercise="13.4" role="hint"
# In which order does a `for` walk over a set of nodes?


# %% [markdown] exercise="13.5" role="task" kind="fix" title="a broken library: dead code that lives"
# ## 13.5 Fix: a broken library, dead code that lives
#
# ★★☆, 30 minutes. Since the last pull, transformed models compute the right numbers and take longer.
# *One line of Python* of the library was changed. `PROGRAM` asks four questions, and `REPORT` holds what the broken
# library prints.
#
# Find the line. You have found it when you can break the library in the same way: return the file, and a patch as
# `%%rebuild` takes one, with `-` and `+` before the lines. Your own library stays as it is. The check runs `PROGRAM` in
# a scratch copy, and names the first line that differs from `REPORT`.

# %% exercise="13.5" role="given"
PROGRAM = """
import reftorch as torch

module = torch.fx.symbolic_trace(lambda x: torch.relu(torch.exp(x)) + 1)
exp, relu = (module.graph.find_nodes(op="call_function", target=target)[0] for target in (torch.exp, torch.relu))
with module.graph.inserting_before(relu):
    neg = module.graph.call_function(torch.neg, exp.args)
relu.replace_input_with(exp, neg)
print("relu reads:", relu.args, "and neg is used by:", list(neg.users))
print("exp is used by:", list(exp.users))
print("dead code was found:", module.graph.eliminate_dead_code())
module.recompile()
print("the result is right:", module(torch.tensor([-2.0])).item() == 3.0, "and exp is computed:", "exp" in module.code)
"""
REPORT = [
    "relu reads: (neg,) and neg is used by: [relu]",
    "exp is used by: [relu]",
    "dead code was found: False",
    "the result is right: True and exp is computed: True",
]


# %% exercise="13.5" role="answer"
def change() -> tuple[str, str]:
    """The file, and the patch that breaks the library as in REPORT."""
    # BEGIN SOLUTION
    return (
        "reftorch/fx/node.py",
        """
-            used.users.pop(self, None)
+            pass
""",
    )
    # END SOLUTION


# %% exercise="13.5" role="check"
with check("13.5", "a broken library: dead code that lives") as c:
    file, patch = change()
    c.case(f"the patch of {file}")
    broken = rebuild(file, patch)
    outcome = broken.run(PROGRAM)
    broken.close()
    c.equal("an error of the library with your patch", came=outcome.error, expected="")
    for came, expected in zip(outcome.printed.splitlines(), REPORT, strict=True):
        c.equal("a line that PROGRAM prints with your patch", came=came, expected=expected)

# %% [markdown] exercise="13.5" role="debrief"
# **In PyTorch** the function has the same name and is written in C++ (`torch/csrc/fx/node.cpp`), because a transform of
# a large model calls it a million times. `args` and `users` are one fact that is written down twice, for speed. Whoever
# changes `node.args` goes through a property that keeps both in step, and that is why `args` is immutable: a change
# inside of a list would be seen by nobody.

# %% [markdown] exercise="13.5" role="hint"
# `relu` reads the right node, so its `args` were replaced. Each edge is stored twice: in the `args` of one node, and in
# the `users` of the other one. Which `users` are out of date?

# %% [markdown] exercise="13.5" role="hint"
# `users` of a node change when the arguments of *another* node change. Find the one place that writes arguments.


# %% [markdown] exercise="13.6" role="task" kind="build" title="project: a fusion pass with a proof"
# ## 13.6 Project: a fusion pass, with a proof
#
# ★★★, an evening. In `eval()` mode a batch norm is a multiplication and an addition with constants, and
# a linear layer before it can do both. With the weight W and the bias b of the layer, and per feature the running mean
# m, the running variance v, `eps`, the factor g and the offset h of the batch norm:
#
# - s = g / sqrt(v + eps)
# - the new weight is s * W (row by row), the new bias is (b - m) * s + h.
#
# Write two functions. `fuse(model)` returns a GraphModule in which each `nn.BatchNorm1d` that reads directly from an
# `nn.Linear` is folded into one `nn.Linear`. Inputs of the layers are two-dimensional.
#
# - A model that is in training mode raises a ValueError whose message has the word `eval`.
# - A pair is folded only if the batch norm is the one user of the linear's result. Other pairs stay as they are, and so
#   does a batch norm without running statistics (`track_running_stats=False`).
# - A linear without bias, and a batch norm without `affine` parameters, are folded, too.
# - A layer may be called in several places, before several batch norms. Each place computes what it computed before.
# - `model` itself, its parameters and its buffers do not change. In the result no folded `BatchNorm1d` is left among
#   `modules()`, and the graph passes `lint()`. The result is in eval mode.
#
# `proves(a_pass, model, width)` says whether a pass keeps what a model computes. `width` is the number of features of
# the input. A fresh batch norm is nearly the identity: mean 0, variance 1, factor 1, offset 0. A comparison on a
# fresh model would pass even if the pass threw all batch norms away. So:
#
# - `proves` works on a deep copy of the model, in eval mode and in float64. All its parameters and running statistics
#   get random values (variances positive, and some of them as small as `eps`).
# - It returns True if and only if the pass's result agrees with the copy, within 1e-9, on random inputs, also with
#   negative numbers. If the pass changes the copy's `state_dict()`, or raises, the answer is False.
# - `model` itself does not change.


# %% exercise="13.6" role="given"
class Shared(nn.Module):
    """One linear layer in two places, before two batch norms."""

    def __init__(self):
        super().__init__()
        self.linear, self.one, self.two = nn.Linear(3, 3), nn.BatchNorm1d(3), nn.BatchNorm1d(3)

    def forward(self, x):
        return self.two(self.linear(torch.relu(self.one(self.linear(x)))))


class Branch(nn.Module):
    """A linear layer whose result is used twice: its batch norm has to stay."""

    def __init__(self):
        super().__init__()
        self.linear, self.norm = nn.Linear(3, 3), nn.BatchNorm1d(3)

    def forward(self, x):
        y = self.linear(x)
        return self.norm(y) + y


class Plain(nn.Module):
    """A batch norm that does not come after a linear layer, and one that does, with a ReLU between others."""

    def __init__(self):
        super().__init__()
        self.first = nn.BatchNorm1d(3)
        self.body = nn.Sequential(nn.Linear(3, 5), nn.BatchNorm1d(5, eps=1e-2), nn.ReLU(), nn.Linear(5, 3))

    def forward(self, x):
        return self.body(torch.relu(self.first(x)))


def settled(model):
    """The model in eval mode, with values that are not those of a fresh model."""
    torch.manual_seed(3)
    with torch.no_grad():
        for value in (*model.parameters(), *model.buffers()):
            if value.is_floating_point():
                value.copy_(torch.rand(value.shape) + 0.2)
    return model.eval()


def norms_in(module):
    return sum(isinstance(each, nn.BatchNorm1d) for each in module.modules())


def drop_norms(model):
    """A wrong pass: throws all batch norms away."""
    traced = fx.symbolic_trace(copy.deepcopy(model))
    for node in traced.graph.find_nodes(op="call_module"):
        if isinstance(traced.get_submodule(node.target), nn.BatchNorm1d):
            node.replace_all_uses_with(node.args[0])
            traced.graph.erase_node(node)
    traced.recompile()
    return traced


def change_norms(change):
    """A wrong pass: changes each batch norm of a copy."""

    def a_pass(model):
        traced = fx.symbolic_trace(copy.deepcopy(model))
        with torch.no_grad():
            for module in traced.modules():
                if isinstance(module, nn.BatchNorm1d):
                    change(module)
        return traced

    return a_pass


def forget_eps(norm):
    norm.eps = 0.0


def drop_relu(model):
    traced = fx.symbolic_trace(copy.deepcopy(model))
    for node in list(traced.graph.nodes):
        if node.op == "call_module" and isinstance(traced.get_submodule(node.target), nn.ReLU):
            node.replace_all_uses_with(node.args[0])
    traced.recompile()
    return traced


def change_the_model(model):
    traced = fx.symbolic_trace(copy.deepcopy(model))
    for value in model.buffers():
        value.add_(1)
    return traced


def raises(model):
    raise RuntimeError("a pass that fails")


def two_layers(**options):
    linear = nn.Linear(3, 4, bias=options.pop("bias", True))
    return nn.Sequential(linear, nn.BatchNorm1d(4, **options), nn.ReLU(), nn.Linear(4, 2))


# %% exercise="13.6" role="answer"
def fuse(model: nn.Module) -> fx.GraphModule:
    """The model with each batch norm after a linear layer folded into the layer."""
    # BEGIN SOLUTION
    if any(module.training for module in model.modules()):
        raise ValueError("fuse: statistics are constants only in eval mode; call model.eval() first")
    traced = fx.symbolic_trace(copy.deepcopy(model))
    layers = dict(traced.named_modules())
    for number, node in enumerate(list(traced.graph.find_nodes(op="call_module"))):
        norm, before = layers[node.target], node.all_input_nodes[0]
        linear = layers.get(before.target) if before.op == "call_module" else None
        if not isinstance(norm, nn.BatchNorm1d) or not isinstance(linear, nn.Linear) or len(before.users) > 1:
            continue
        if norm.running_mean is None:
            continue
        name = f"fused_{number}"
        traced.add_submodule(name, folded(linear, norm))
        with traced.graph.inserting_before(node):
            new = traced.graph.call_module(name, before.args, before.kwargs)
        node.replace_all_uses_with(new)
        traced.graph.erase_node(node)
        traced.graph.erase_node(before)
    traced.delete_all_unused_submodules()
    traced.graph.lint()
    traced.recompile()
    return traced.eval()


def folded(linear, norm):
    """One linear layer that computes what the two compute."""
    new = nn.Linear(linear.in_features, linear.out_features, dtype=linear.weight.dtype).eval()
    with torch.no_grad():
        scale = (norm.running_var + norm.eps).rsqrt()
        if norm.weight is not None:
            scale = scale * norm.weight
        bias = -norm.running_mean if linear.bias is None else linear.bias - norm.running_mean
        new.weight.copy_(linear.weight * scale.unsqueeze(1))
        new.bias.copy_(bias * scale if norm.bias is None else bias * scale + norm.bias)
    return new
    # END SOLUTION


def proves(a_pass, model: nn.Module, width: int) -> bool:
    """Whether a pass keeps what the model computes, shown on random weights, statistics and inputs."""
    # BEGIN SOLUTION
    original = copy.deepcopy(model).double().eval()
    with torch.no_grad():
        for parameter in original.parameters():
            parameter.copy_(torch.randn(parameter.shape, dtype=torch.float64))
        for module in original.modules():
            if isinstance(module, nn.BatchNorm1d) and module.running_mean is not None:
                module.running_mean.copy_(torch.randn(module.running_mean.shape, dtype=torch.float64))
                variance = torch.rand(module.running_var.shape, dtype=torch.float64) + 0.1
                variance[0] = module.eps
                module.running_var.copy_(variance)
        before = {name: value.clone() for name, value in original.state_dict().items()}
        try:
            changed = a_pass(original)
            x = torch.randn(64, width, dtype=torch.float64) * 3
            same = torch.allclose(changed(x), original(x), rtol=1e-9, atol=1e-9)
        except Exception:
            return False
        after = original.state_dict()
        kept = list(after) == list(before) and all(after[name].equal(value) for name, value in before.items())
        return same and kept
    # END SOLUTION


# %% exercise="13.6" role="check"
with check("13.6", "a fusion pass, with a proof") as c:
    x = torch.tensor([[0.5, -1.0, 2.0], [3.0, 0.1, -0.2], [-4.0, 1.0, 1.0]])
    for what, model, left in (
        ("a linear and a batch norm", two_layers(), 0),
        ("a large eps", two_layers(eps=0.5), 0),
        ("no bias", two_layers(bias=False), 0),
        ("no affine parameters", two_layers(affine=False), 0),
        ("no running statistics", two_layers(track_running_stats=False), 1),
        ("one layer in two places", Shared(), 0),
        ("a result that is used twice", Branch(), 1),
        ("a batch norm that comes first, and a nested pair", Plain(), 1),
    ):
        case = c.case(what)
        settled(model)
        before = {name: value.clone() for name, value in model.state_dict().items()}
        expected, fused = model(x), fuse(model)
        c.close(f"{case}: the result", came=fused(x), expected=expected, rtol=1e-4, atol=1e-5)
        c.equal(f"{case}: batch norms that are left", came=norms_in(fused), expected=left)
        c.equal(f"{case}: the result is a GraphModule", came=isinstance(fused, fx.GraphModule), expected=True)
        fused.graph.lint()
        c.equal(f"{case}: modules in training mode", came=sum(m.training for m in fused.modules()), expected=0)
        same = all(model.state_dict()[name].equal(value) for name, value in before.items())
        c.equal(f"{case}: the model's state is unchanged", came=same, expected=True)
        c.close(f"{case}: what the model itself computes afterwards", came=model(x), expected=expected)
        c.equal(f"{case}: your proof of your pass", came=proves(fuse, model, 3), expected=True)
    c.raises("a model in training mode", ValueError, "eval", fuse, two_layers().train())

    fresh = two_layers(eps=1e-3)
    for what, a_pass, expected in (
        ("tracing alone", fx.symbolic_trace, True),
        ("a pass that throws the batch norms away", drop_norms, False),
        ("a pass that forgets eps", change_norms(forget_eps), False),
        ("a pass that forgets the mean", change_norms(lambda norm: norm.running_mean.zero_()), False),
        ("a pass that forgets the variance", change_norms(lambda norm: norm.running_var.fill_(1.0)), False),
        ("a pass that forgets the factor", change_norms(lambda norm: norm.weight.fill_(1.0)), False),
        ("a pass that forgets the offset", change_norms(lambda norm: norm.bias.zero_()), False),
        ("a pass that throws the ReLU away", drop_relu, False),
        ("a pass that changes the buffers of the model", change_the_model, False),
        ("a pass that raises", raises, False),
    ):
        c.case(what)
        training, state = fresh.training, {name: value.clone() for name, value in fresh.state_dict().items()}
        c.equal(f"{what}: what your proof says, for a fresh model", came=proves(a_pass, fresh, 3), expected=expected)
        same = all(fresh.state_dict()[name].equal(value) for name, value in state.items())
        c.equal(f"{what}: the fresh model is unchanged", came=(same, fresh.training), expected=(True, training))

# %% [markdown] exercise="13.6" role="debrief"
# **In PyTorch** `torch.fx.experimental.optimization.fuse` does this for convolutions, and `fuse_linear_bn_eval` of
# `torch.nn.utils.fusion` has the formula for a linear layer. Neither compares anything: the comparison is in
# PyTorch's tests. Your proof is a test, too, and no proof of mathematics. But its weights, statistics and inputs are
# random, so a wrong pass would have to be right at every one of these points by chance. The condition on two
# dimensions matters: in an input of three dimensions the features of a batch norm are in dimension 1, and those of a
# linear layer are in the last one.

# %% [markdown] exercise="13.6" role="hint"
# First write the formula as a function of two layers that returns a new `nn.Linear`, and test it alone. Then the pass:
# trace a deep copy, walk over the `call_module` nodes, and look at `node.args[0]`.

# %% [markdown] exercise="13.6" role="hint"
# If a linear layer is called in two places, its weight must not be overwritten. Add a new submodule for each place
# (`traced.add_submodule(name, layer)`), and let `delete_all_unused_submodules()` remove what nothing calls any more.

# %% [markdown] exercise="13.6" role="hint"
# `proves`: the mean and the offset matter if they are not 0, the factor if it is not 1, and `eps` if the variance is
# not much larger. Compare the `state_dict()` of the copy before and after, with clones of its values.


# %% [markdown] exercise="13.7" role="task" kind="read" title="in PyTorch: a proxy that reads your bytecode"
# ## 13.7 Read, in PyTorch: a proxy that reads your bytecode
#
# ★★★, 20 minutes. This question is answered in PyTorch itself: it needs PyTorch (`make torch`), and no other exercise
# of the chapter does. The next cell writes `IN_TORCH` to a file, and prints the command that runs the file under pdb.
#
# A `for` over a proxy raises, because a proxy has no rows. But `top, bottom = x` can be traced, although Python
# iterates over `x` there, too. To tell the two apart, `Proxy.__iter__` in `torch/fx/proxy.py` reads the instruction
# at which its caller is. Stop there at the line `if inst.opname == "UNPACK_SEQUENCE"`. Return:
#
# - `"pair"`, `"starred"`, `"listed"`, `"loop"`: the `inst.opname` for each of these functions;
# - `"items"`: how many items `pair` takes from its proxy, which is `inst.argval`;
# - `"three rows"`: what `traced` returns for `torch.tensor([1.0, 10.0, 100.0])`, as a float, or `"raises"`. (`pair`
#   itself raises a `ValueError` for it.)


# %% exercise="13.7" role="given"
IN_TORCH = """\
import torch
from torch import fx


def pair(x):
    top, bottom = x
    return top + bottom


def starred(x):
    top, *others = x
    return top


def listed(x):
    return torch.stack([*x])


def loop(x):
    for row in x:
        print(row)
    return x


traced = fx.symbolic_trace(pair)
for function in (starred, listed, loop):
    try:
        fx.symbolic_trace(function)
    except fx.proxy.TraceError as error:
        print(function.__name__, error)
"""
print(write_for_torch(IN_TORCH, "in_torch_13_7.py"))


# %% exercise="13.7" role="answer"
def instructions() -> dict[str, str | int | float]:
    # BEGIN SOLUTION
    return {
        "pair": "UNPACK_SEQUENCE",
        "starred": "UNPACK_EX",
        "listed": "LIST_EXTEND",
        "loop": "GET_ITER",
        "items": 2,
        "three rows": 11.0,
    }
    # END SOLUTION


# %% exercise="13.7" role="check"
with check("13.7", "a proxy that reads your bytecode") as c:
    answer = instructions()
    traced = "getattr(calling_frame.f_globals.get('traced'), 'forward', torch.sum)"
    asked = ["calling_frame.f_code.co_name", "inst.opname", "inst.argval"]
    asked += [f"{traced}(torch.tensor([1.0, 10.0, 100.0])).item()"]
    line = 'if inst.opname == "UNPACK_SEQUENCE"'
    stops = stops_in_torch(IN_TORCH, "torch/fx/proxy.py", "Proxy.__iter__", line, asked)
    values = [[eval(value) for value in stop.values()] for stop in stops]
    truth = {name: opname for name, opname, _, _ in values} | {"items": values[0][2], "three rows": values[-1][3]}
    look = "`p inst.opname, inst.argval` at each of the four stops, and a call of `traced` when all four are over."
    c.answers("the instructions", came=answer, truth=truth, look=look)

# %% [markdown] exercise="13.7" role="debrief"
# **In PyTorch** only an unpacking into a fixed number of names can be traced, because the program says how many items
# there must be. The graph has `x[0]` and `x[1]`, and it does not have Python's check of the length. So for three rows
# `traced` adds the first two and ignores the last one, where `pair` raised an error. That a trace works does not mean
# that it is right for every input. The names of the instructions belong to Python and may change with its version:
# that is the price of this trick.

# %% [markdown] exercise="13.7" role="hint"
# After `import torch` and `from torch import fx` have run: `break torch.fx.proxy.Proxy.__iter__`. Then `continue`,
# and `next` until `inst` has a value.

# %% [markdown] exercise="13.7" role="hint"
# At the last of the four stops `traced` exists: `up` to a frame of the program, and `p traced(torch.tensor([1.0,
# 10.0, 100.0]))`.
