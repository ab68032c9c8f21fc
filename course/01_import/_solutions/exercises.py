"""The exercises of chapter 01, solved; `make course` makes the learner's notebook of it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: what the lesson explains.
"""

# %% [markdown]
# # Exercises 01: import
#
# Each exercise has a cell that raises until you have written it, and a check below that you run as often as you like.
# Stuck? `course("hint 01.1")` in a cell of its own. Done? `course("check 01")` runs the notebook, as last saved, from
# top to bottom. Some checks start a new Python under gdb or call the compiler; they take some seconds.

# %%
import importlib.util
import sys
import tempfile
import types
from pathlib import Path

import reftorch as torch
from course._tools import check, course, show_source
from reftorch.utils.cpp_extension import load_inline

# %% [markdown] exercise="01.1" role="task" kind="read" title="the order of an import"
# ## 01.1 Read: the order of an import
#
# Before you set a breakpoint in something that runs once, you must know what has run by then. These six functions all
# run during `import reftorch`. In which order is each of them entered for the *first* time? Work it out from the
# listings of the lesson, or stop at them (`%%gdb --fresh`); the check lets gdb watch a fresh import.

# %% exercise="01.1" role="given"
ENTERED = ["initOps", "register_derivative", "PyInit__C", "registerDef", "initTensorBase", "initDtypes"]


# %% exercise="01.1" role="answer"
def order_of_import() -> list[str]:
    """The names in `ENTERED`, in the order in which each is first entered."""
    # BEGIN SOLUTION
    return ["registerDef", "PyInit__C", "initDtypes", "initTensorBase", "initOps", "register_derivative"]
    # END SOLUTION


# %% exercise="01.1" role="check"
from course._tools.stops import first_stops

with check("01.1", "the order of an import") as c:
    order = order_of_import()
    c.equal("the names, in any order", came=sorted(order), expected=sorted(ENTERED))
    seen = first_stops("import reftorch", *ENTERED)
    wrong = next((i for i, name in enumerate(order) if name != seen[i]), 0)
    place = f"what is entered next after {order[wrong - 1]}" if wrong else "what is entered before all others"
    c.equal(place, came=order[wrong], expected=seen[wrong])

# %% [markdown] exercise="01.1" role="hint"
# Three phases: static objects while the library is mapped; then the one function that Python calls in it, and the body
# of the module; then Python. Which name belongs to which?

# %% [markdown] exercise="01.1" role="hint"
# `show_source("cpp/csrc/Module.cpp", "PYBIND11_MODULE")` has three of them in their order. A formula belongs to an op,
# and is written in Python.


# %% [markdown] exercise="01.2" role="task" kind="build" title="where a name comes from"
# ## 01.2 Build: where a name comes from
#
# When you look for the source of `torch.something`, the first question is in which language to look. Three places give
# the package its names. Write the function that tells which of them gave this one:
#
# - `"op"`: it is a function that `initOps` made, taken over from `_C._VariableFunctions`;
# - `"extension"`: it is an object that the module's body put into `_C` itself;
# - `"python"`: anything else.
#
# A name may lie in several places, and the package has only one object under it.


# %% exercise="01.2" role="answer"
def origin(name: str) -> str:
    """`"op"`, `"extension"` or `"python"`, for a name of the package `torch`."""
    # BEGIN SOLUTION
    missing = object()
    value = getattr(torch, name)
    if getattr(torch._C._VariableFunctions, name, missing) is value:
        return "op"
    return "extension" if getattr(torch._C, name, missing) is value else "python"
    # END SOLUTION


# %% exercise="01.2" role="check"
import inspect

with check("01.2", "where a name comes from") as c:
    for name, why in [
        ("add", "initOps made it"),
        ("relu_", "in-place ops register as well"),
        ("float32", "initDtypes put it into _C"),
        ("tensor", "the module's body added it by hand"),
        ("no_grad", "a class in reftorch/autograd/grad_mode.py"),
        ("Tensor", "the class in reftorch/_tensor.py; _C has only TensorBase"),
        ("nn", "a package; that _C has nothing of this name must not be an error"),
        ("unique_consecutive", "an op has this name, and a function of Python took its place"),
    ]:
        real = getattr(torch, name)
        made_by = {"OpFunction": "op"}.get(type(real).__name__) or (
            "extension" if vars(torch._C).get(name) is real else "python"
        )
        c.equal(f"where torch.{name} comes from ({why})", came=origin(name), expected=made_by)
    functions = [name for name in dir(torch) if inspect.isfunction(getattr(torch, name))]
    found = {origin(name) for name in functions}
    c.equal("where the functions come from that have a Python source", came=found, expected={"python"})

# %% [markdown] exercise="01.2" role="hint"
# The package holds one object under the name. Is it the very object (`is`) that `_C._VariableFunctions` holds under
# this name? Or the one that `_C` holds?

# %% [markdown] exercise="01.2" role="hint"
# `getattr(space, name, missing)` with `missing = object()` is never the object you look for, so absent names need no
# case of their own.


# %% [markdown] exercise="01.3" role="task" kind="build" title="load a module by hand"
# ## 01.3 Build: load a module by hand
#
# `_load.load` chooses a file and loads it under a name that would not find it. Write the general form: load the
# module in `path` under the name `name`. It must behave as an import does:
#
# - loaded once: the second call returns the first call's module, and the file does not run again;
# - in `sys.modules` *before* its body runs, because the body may import what imports it in turn;
# - where the body raises, no half-made module stays behind, and the error reaches the caller.
#
# The check uses modules in Python, which load in the same two steps as a library.


# %% exercise="01.3" role="answer"
def load(name: str, path: Path) -> types.ModuleType:
    """The module in the file `path`, loaded once under `name`."""
    # BEGIN SOLUTION
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module
    # END SOLUTION


# %% exercise="01.3" role="check"
with check("01.3", "load a module by hand") as c, tempfile.TemporaryDirectory() as temporary:
    for name in ("counted", "circular", "broken"):
        sys.modules.pop(name, None)
    file = Path(temporary) / "some_file.py"
    file.write_text("import sys\nsys.count = getattr(sys, 'count', 0) + 1\nanswer = 6 * 7\n")
    sys.count = 0
    module = load("counted", file)
    c.equal("a name that the body defines", came=getattr(module, "answer", None), expected=42)
    c.equal("its name, which is not the file's", came=module.__name__, expected="counted")
    c.true(
        "a second load",
        load("counted", file) is module and sys.count == 1,
        came=f"the body ran {sys.count} times",
        expected="the same module, and a body that ran once",
    )
    file.write_text("import circular\nitself = circular\n")
    circular = load("circular", file)
    c.true("a body that imports itself", circular.itself is circular, came="another module", expected="the same one")
    file.write_text("half = 1\nraise OSError('no such library')\n")
    c.raises("a body that raises", OSError, "no such library", load, "broken", file)
    c.equal("what is left of it in sys.modules", came=sys.modules.get("broken"), expected=None)
    file.write_text("whole = 2\n")
    c.equal("a load after that, of the mended file", came=load("broken", file).whole, expected=2)

# %% [markdown] exercise="01.3" role="hint"
# `show_source("reftorch/_load.py", "load")` does it for one name; the part about the BLAS library is not needed.

# %% [markdown] exercise="01.3" role="hint"
# `spec_from_file_location(name, path)`, `module_from_spec(spec)`, then `spec.loader.exec_module(module)`. Between the
# last two the module goes into `sys.modules`; `except BaseException:` takes it out again and raises on.


# %% [markdown] exercise="01.4" role="task" kind="fix" title="the op that was registered and is not there"
# ## 01.4 Fix: the op that was registered and is not there
#
# Below is a registry in the manner of the Dispatcher, with one planted bug. Two static objects register the numbers of
# their ops, nobody removes anything, no error is raised: and the registry is empty. Move the lines of the two objects
# to the end of the file and it works, so its author moved them; in another file, whose place the linker decides, it is
# empty again.
#
# Find out why, and return the mended source. The lines of the two `Registrar` objects stay as they are; the check then
# tells the linker to make these two before everything else (`init_priority`), as it may for another file.

# %% exercise="01.4" role="given"
BROKEN = r"""
struct Registry {
  std::vector<int64_t> numbers;
  Registry() { numbers.reserve(8); }
  void add(int64_t number) { numbers.push_back(number); }
};
extern Registry registry;

struct Registrar {
  explicit Registrar(int64_t number) { registry.add(number); }
};

static const Registrar softsign(1);
static const Registrar hypotenuse(2);

Registry registry;

std::vector<int64_t> registered() { return registry.numbers; }
"""


# %% exercise="01.4" role="answer"
def mended_source() -> str:
    """`BROKEN`, mended, with both registrars where they are."""
    # BEGIN SOLUTION
    return r"""
struct Registry {
  std::vector<int64_t> numbers;
  void add(int64_t number) { numbers.push_back(number); }
  static Registry& singleton() {
    static Registry* registry = new Registry; // made when first asked for, by whomever
    return *registry;
  }
};

struct Registrar {
  explicit Registrar(int64_t number) { Registry::singleton().add(number); }
};

static const Registrar softsign(1);
static const Registrar hypotenuse(2);

std::vector<int64_t> registered() { return Registry::singleton().numbers; }
"""
    # END SOLUTION


# %% exercise="01.4" role="check"
import signal
import subprocess

ASK = """
import sys
from reftorch.utils.cpp_extension import load_inline
try:
    print(sorted(load_inline("registry", sys.stdin.read(), functions="registered").registered()))
except RuntimeError as error:
    print(error)
"""


def numbers_in(source: str) -> str:
    """What is registered once `source` is compiled and loaded, in a process of its own: it may end that process."""
    done = subprocess.run([sys.executable, "-c", ASK], input=source, capture_output=True, text=True)
    return f"a crash, {signal.Signals(-done.returncode).name}" if done.returncode < 0 else done.stdout.strip()


with check("01.4", "the op that was registered and is not there") as c:
    source = mended_source()
    early = source
    for line in ("static const Registrar softsign(1);", "static const Registrar hypotenuse(2);"):
        c.true(f"the line {line}", line in source, came="it is gone", expected="the line as it was")
        early = early.replace(line, "__attribute__((init_priority(101))) " + line)
    for order, text in [("in the order of the lines", source), ("with the registrars put first", early)]:
        came = numbers_in(text)
        c.true(f"what is registered once the objects are made, {order}", came == "[1, 2]", came=came, expected="[1, 2]")

# %% [markdown] exercise="01.4" role="hint"
# Objects at file scope are made in the order of their lines. Which of the three constructors runs last, and what does
# it do to the numbers that are there already?

# %% [markdown] exercise="01.4" role="hint"
# `show_source("cpp/ATen/core/dispatch/Dispatcher.cpp", "Dispatcher::singleton")`: a static object *inside a function*
# is made when the function is first called. Registrars and `registered` both have to call it.


# %% [markdown] exercise="01.5" role="task" kind="read" title="registered too late for a name"
# ## 01.5 Read: registered too late for a name
#
# The cell below compiles a library that registers an op when it is loaded: now, long after `import`. (`load_inline`
# writes the text to a file, compiles it and loads the result in the two steps that you know; chapter 03 explains the
# text.) Which of `STATEMENTS` are true afterwards?

# %% exercise="01.5" role="given"
TWICE = r"""
static at::Tensor twice(const at::Tensor& self) { return at::add(self, self); }

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def("twice_as_much(Tensor self) -> Tensor", TORCH_FN(twice));
}

int64_t loaded() { return 1; }
"""
STATEMENTS = [
    "the Dispatcher knows its schema",
    "_C._VariableFunctions has a function of its name",
    "torch.Tensor has a method of its name",
    "autograd has a formula for it",
]


# %% exercise="01.5" role="answer"
def after_loading() -> dict[str, bool]:
    """For each of STATEMENTS about the op `twice_as_much`, once the library is loaded, whether it is true."""
    # BEGIN SOLUTION
    return {
        "the Dispatcher knows its schema": True,
        "_C._VariableFunctions has a function of its name": False,
        "torch.Tensor has a method of its name": False,
        "autograd has a formula for it": False,
    }
    # END SOLUTION


# %% exercise="01.5" role="check"
from reftorch.autograd.derivatives import FORMULAS

with check("01.5", "registered too late for a name") as c:
    said = after_loading()
    load_inline("twice_as_much", TWICE, functions="loaded")
    schemas = {op["name"].removeprefix("aten::") for op in torch._C._get_all_op_schemas()}
    made = [hasattr(where, "twice_as_much") for where in (torch._C._VariableFunctions, torch.Tensor)]
    truths = ["twice_as_much" in schemas, *made, "twice_as_much" in FORMULAS]
    for statement, truth in zip(STATEMENTS, truths, strict=True):
        c.equal(f"{statement}, in the running program", came=said.get(statement), expected=truth)

# %% [markdown] exercise="01.5" role="hint"
# Who enters a schema into the Dispatcher, and who makes a Python function of it? One of the two runs whenever a
# library is loaded; the other ran once.

# %% [markdown] exercise="01.5" role="hint"
# Load it and look: `torch._C._get_all_op_schemas()` is what the Dispatcher knows, `hasattr` tells the rest. A formula
# is there when Python code has registered one.
