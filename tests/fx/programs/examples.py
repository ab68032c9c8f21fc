"""The examples that PyTorch publishes for fx, written anew: each is a function that returns texts and numbers.

Mirrors: nothing in PyTorch: the examples are in another repository, pytorch/examples, folder fx.
"""

import builtins
import operator
import statistics
import time
from enum import Enum

import reftorch as torch

fx = torch.fx
EXAMPLES = {}


def example(function):
    """Register an example."""
    EXAMPLES[function.__name__] = function
    return function


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.fc2 = torch.nn.Linear(3, 4), torch.nn.Linear(4, 2)

    def forward(self, x):
        return torch.relu(self.fc2(torch.tanh(self.fc1(x)) + 1))


@example
def custom_tracer():
    """Note on each node the module that it came from, and enter all modules but one class."""

    class ModulePathTracer(fx.Tracer):
        current_module_path = ""

        def is_leaf_module(self, m, module_qualified_name):
            return isinstance(m, torch.nn.LayerNorm)

        def call_module(self, m, forward, args, kwargs):
            outer, self.current_module_path = self.current_module_path, self.path_of_module(m)
            try:
                return super().call_module(m, forward, args, kwargs)
            finally:
                self.current_module_path = outer

        def create_proxy(self, kind, target, args, kwargs, name=None, type_expr=None, proxy_factory_fn=None):
            proxy = super().create_proxy(kind, target, args, kwargs, name, type_expr)
            self.node_to_originating_module[proxy.node] = self.current_module_path
            return proxy

        def __init__(self):
            super().__init__()
            self.node_to_originating_module = {}

    tracer = ModulePathTracer()
    graph = tracer.trace(torch.nn.Sequential(Net(), torch.nn.LayerNorm(2)))
    return [(str(node), tracer.node_to_originating_module.get(node)) for node in graph.nodes]


@example
def invert():
    """Build the inverse of a function from its graph, backwards."""
    inverse = {torch.exp: torch.log, torch.log: torch.exp, operator.add: operator.sub, operator.mul: operator.truediv}

    def program(x):
        return torch.exp(x * 3) + 1

    traced = fx.symbolic_trace(program)
    graph = fx.Graph()
    env = {}
    for node in reversed(traced.graph.nodes):
        if node.op == "output":
            env[node.args[0]] = graph.placeholder("y")
        elif node.op == "call_function":
            env[node.args[0]] = graph.call_function(inverse[node.target], (env[node], *node.args[1:]))
        else:
            graph.output(env[node])
    module = fx.GraphModule(torch.nn.Module(), graph)
    x = torch.tensor([0.25, -1.0])
    return [module.code, torch.allclose(module(program(x)), x, atol=1e-6)]


@example
def module_tracer():
    """Record also the calls of modules that are entered, by marks around them."""

    class Mark(Enum):
        ENTER = "enter"
        LEAVE = "leave"

    class Tracer(fx.Tracer):
        def __init__(self):
            super().__init__()
            self.marks = []

        def call_module(self, m, forward, args, kwargs):
            name = self.path_of_module(m)
            self.marks.append((Mark.ENTER.value, name, len(self.graph.nodes)))
            result = super().call_module(m, forward, args, kwargs)
            self.marks.append((Mark.LEAVE.value, name, len(self.graph.nodes)))
            return result

    tracer = Tracer()
    tracer.trace(torch.nn.Sequential(torch.nn.Sequential(Net()), Net()))
    return tracer.marks


@example
def profiling_tracer():
    """Measure each node while the interpreter runs the graph."""

    class ProfilingInterpreter(fx.Interpreter):
        def __init__(self, module):
            super().__init__(fx.symbolic_trace(module))
            self.total_runtime_sec = []
            self.runtimes_sec = {}

        def run(self, *args):
            start = time.perf_counter()
            result = super().run(*args)
            self.total_runtime_sec.append(time.perf_counter() - start)
            return result

        def run_node(self, n):
            start = time.perf_counter()
            result = super().run_node(n)
            self.runtimes_sec.setdefault(n, []).append(time.perf_counter() - start)
            return result

        def summary(self):
            mean = statistics.mean(self.total_runtime_sec)
            return [(n.op, str(n), statistics.mean(times) <= mean) for n, times in self.runtimes_sec.items()]

    interpreter = ProfilingInterpreter(Net())
    for _ in range(3):
        interpreter.run(torch.ones(2, 3))
    return interpreter.summary()


@example
def profiler_ranges():
    """Let a tracer record the begin and the end of a named part as calls of two ops."""
    record_function = torch.autograd.profiler.record_function

    class Named(torch.nn.Module):
        def forward(self, x):
            with record_function("part"):
                return torch.relu(x)

    class RangeTracer(fx.Tracer):
        def trace(self, root, concrete_args=None):
            usual = record_function.__enter__, record_function.__exit__
            ops, handles = torch.ops.profiler, {}

            def enter(part):
                handles[part] = self.create_proxy("call_function", ops._record_function_enter, (part.name,), {})

            def leave(part, *exc_info):
                self.create_proxy("call_function", ops._record_function_exit, (handles.pop(part),), {})

            record_function.__enter__, record_function.__exit__ = enter, leave
            try:
                return super().trace(root, concrete_args)
            finally:
                record_function.__enter__, record_function.__exit__ = usual

    module = Named()
    traced = fx.GraphModule(module, RangeTracer().trace(module))
    with torch.autograd.profiler.profile() as prof:
        traced(torch.ones(2))
    return [traced.code, [event.name for event in prof.function_events if event.name in ("part", "aten::relu")]]


@example
def proxy_based_graph_creation():
    """Write nodes as expressions of proxies, and decompose relu."""
    graph = fx.Graph()
    raw1, raw2 = graph.placeholder("x"), graph.placeholder("y")
    tracer = fx.proxy.GraphAppendingTracer(graph)
    x, y = fx.Proxy(raw1, tracer), fx.Proxy(raw2, tracer)
    z = torch.cat([x, y])
    z = torch.tanh(z)
    z = torch.neg(z)
    graph.output(z.node)
    made = fx.GraphModule(torch.nn.Module(), graph)

    decomposed = fx.Graph()
    env = {}
    tracer = fx.proxy.GraphAppendingTracer(decomposed)
    for node in fx.symbolic_trace(lambda x: torch.relu(x) * 2).graph.nodes:
        if node.op == "call_function" and node.target is torch.relu:
            args = [fx.Proxy(env[arg.name], tracer) if isinstance(arg, fx.Node) else arg for arg in node.args]
            env[node.name] = ((args[0] > 0) * args[0]).node
        else:
            env[node.name] = decomposed.node_copy(node, lambda n: env[n.name])
    module = fx.GraphModule(torch.nn.Module(), decomposed)
    return [
        made.code,
        made(torch.zeros(1), torch.zeros(1)).tolist(),
        module.code,
        module(torch.tensor([-1.0, 2.0])).tolist(),
    ]


@example
def replace_op():
    """Replace operators, functions and methods that add by one that multiplies."""

    class Adds(torch.nn.Module):
        def forward(self, x, y):
            return torch.add(x, y), x + y, x.add(y)

    traced = fx.symbolic_trace(Adds())
    for node in traced.graph.nodes:
        if any(node.target == pattern for pattern in (operator.add, torch.add, "add")):
            with traced.graph.inserting_after(node):
                new_node = traced.graph.call_function(torch.mul, node.args, node.kwargs)
                node.replace_all_uses_with(new_node)
            traced.graph.erase_node(node)
    traced.recompile()
    return [traced.code, [t.tolist() for t in traced(torch.full((2,), 3.0), torch.full((2,), 5.0))]]


@example
def subgraph_rewriter_basic_use():
    """Replace a pattern of two nodes by one function."""

    class Stacked(torch.nn.Module):
        def forward(self, x, w1, w2):
            m1 = torch.cat([w1, w2]).sum()
            m2 = torch.cat([w1, w2]).sum()
            return x + torch.max(m1) + torch.max(m2)

    traced = fx.symbolic_trace(Stacked())
    fx.replace_pattern(traced, lambda a, b: torch.cat([a, b]).sum(), lambda a, b: torch.stack([a, b]))
    return [traced.code]


@example
def wrap_output_dynamically():
    """Put a function that the user chooses around the result."""

    def wrap_in_activation_function(module, function):
        output = next(node for node in reversed(module.graph.nodes) if node.op == "output")
        with module.graph.inserting_before(output):
            output.args = (module.graph.call_function(function, (output.args[0],)),)
        module.graph.lint()
        module.recompile()
        return module

    texts = []
    for function in (torch.relu, torch.nn.functional.softsign, None):
        traced = fx.symbolic_trace(Net())
        texts.append(wrap_in_activation_function(traced, function).code if function else traced.code)
    return texts


@example
def inline_the_output():
    """Call a traced module with a proxy: its nodes go into the graph, behind the result that the proxy stands for."""
    texts = []
    for activation in (torch.nn.ReLU(), torch.nn.LeakyReLU()):
        traced = fx.symbolic_trace(lambda x, y: torch.cat([x, y]))
        output = next(iter(reversed(traced.graph.nodes)))
        [result] = output.all_input_nodes
        with traced.graph.inserting_before(output):
            output.args = (fx.symbolic_trace(activation)(fx.Proxy(result)).node,)
        traced.recompile()
        texts.append(traced.code)
    return texts


@example
def inline_function():
    """Replace the call of a module by what the module calls."""

    class Small(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.relu = torch.nn.ReLU()

        def forward(self, x):
            return self.relu(x) + 1.0

    traced = fx.symbolic_trace(Small())
    for node in traced.graph.nodes:
        if (node.op, node.target) == ("call_module", "relu"):
            with traced.graph.inserting_before(node):
                args, kwargs = fx.node.map_arg(node.args, fx.Proxy), fx.node.map_arg(node.kwargs, fx.Proxy)
                node.replace_all_uses_with(traced.relu(*args, **kwargs).node)
            traced.graph.erase_node(node)
    traced.graph.lint()
    traced.recompile()
    return [traced.code, traced(torch.tensor([-1.0, 2.0])).tolist()]


@example
def builtin_functions():
    """Generated code names builtin functions, and functions that are given to wrap, as they are."""
    traced = fx.symbolic_trace(lambda x: builtins.abs(x) + sum([x, x]))
    return [traced.code]
