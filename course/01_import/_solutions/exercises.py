"""The exercises of chapter 01, solved; `make course` makes the learner's notebook of it.

Mirrors: nothing in PyTorch: exercises.
Leaves out: what the lesson explains.

The file is some 530 lines long, because all exercises of a chapter are in one file.
"""

# %% [markdown]
# # Exercises 01: import
#
# Each exercise has a cell that raises until you have written your answer, and a check below that you run as often as
# you like. Stars say how difficult an exercise is, from one to three. Stuck? Run `course("hint 01.1")` in a cell of
# its own. Done? `course("check 01")` runs the notebook, as last saved, from top to bottom. Some checks start a new
# Python under gdb or call the compiler; they take some seconds.

# %%
import importlib
import importlib.util
import pkgutil
import sys
import tempfile
import types
from pathlib import Path

import reftorch as torch
from course._tools import check, course, show_source, stops_in_torch, write_for_torch
from reftorch.utils.cpp_extension import load_inline

# %% [markdown] exercise="01.1" role="task" kind="read" title="the order of an import"
# ## 01.1 Read: the order of an import
#
# ★★☆, 15 minutes. Before you set a breakpoint in something that runs once, you must know what has run by then. These
# six functions all run during `import reftorch`. In which order is each of them entered for the *first* time? Read
# where each is called, or stop at the functions of C++: `%load_ext reftorch.debug`, then `%%gdb --fresh NAME` above
# `import reftorch`. The check lets gdb watch a fresh import, and counts how many of your six are in the right place.

# %% exercise="01.1" role="given"
ENTERED = ["make_packet", "link_forms", "register_derivative", "updateDispatchTable", "initStorage", "registerImpl"]


# %% exercise="01.1" role="answer"
def order_of_import() -> list[str]:
    """The names in `ENTERED`, in the order in which each is first entered."""
    # BEGIN SOLUTION
    return ["updateDispatchTable", "link_forms", "registerImpl", "initStorage", "make_packet", "register_derivative"]
    # END SOLUTION


# %% exercise="01.1" role="check"
from course._tools.stops import first_stops

with check("01.1", "the order of an import") as c:
    order = order_of_import()
    c.true("the names", sorted(order) == sorted(ENTERED), came=repr(order), expected="the names in ENTERED, each once")
    seen = first_stops("import reftorch", *ENTERED)
    c.answers(
        "the names that are in their place",
        came=dict(enumerate(order)),
        truth=dict(enumerate(seen)),
        look="%%gdb --fresh with one of the names, above import reftorch, shows who called it and what ran before.",
    )

# %% [markdown] exercise="01.1" role="debrief"
# **In PyTorch** the phases are the same: `OperatorEntry::updateDispatchTable_` and `Dispatcher::registerImpl` run in
# the static objects, and `initModule` after them. No formulas follow in Python: they are generated C++ and register
# with the ops. That is faster to import, and slower to build.

# %% [markdown] exercise="01.1" role="hint"
# Three phases: static objects while the library is mapped, then the body of the module, then Python. Which function
# belongs to which phase?

# %% [markdown] exercise="01.1" role="hint"
# `Library::define` and `Library::implement` in `cpp/ATen/core/library.cpp` and `Dispatcher::registerDef` call three of
# them. `show_source` shows each. `initOps` calls one.


# %% [markdown] exercise="01.2" role="task" kind="build" title="where a name comes from"
# ## 01.2 Build: where a name comes from
#
# ★★☆, 15 minutes. When you look for the source of `torch.something`, the first question is in which language to look.
# Three places give the package its names. Write the function that says from which of these places a name comes:
#
# - `"op"`: it is a function that `initOps` made, taken over from `_C._VariableFunctions`;
# - `"extension"`: it is an object that the module's body put into `_C` itself;
# - `"python"`: anything else.
#
# Several places may have an object of the same name, but the package has only one object under this name.


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
        ("Tensor", "the class in reftorch/_tensor/__init__.py; _C has only TensorBase"),
        ("nn", "a package; _C has no object of this name, which must not be an error"),
        ("unique_consecutive", "an op has this name, and a function of Python took its place"),
    ]:
        real = getattr(torch, name)
        made_by = {"OpFunction": "op"}.get(type(real).__name__) or (
            "extension" if vars(torch._C).get(name) is real else "python"
        )
        what = c.case(f"where torch.{name} comes from ({why})")
        c.equal(what, came=origin(name), expected=made_by)
    functions = [name for name in dir(torch) if inspect.isfunction(getattr(torch, name))]
    found = {origin(name) for name in functions}
    c.equal("where the functions come from that have a Python source", came=found, expected={"python"})

# %% [markdown] exercise="01.2" role="debrief"
# **In PyTorch** the same comparison works, and more modules inside `_C` give names, such as `torch._C._nn` and
# `torch._C._linalg`. Ask the object itself: if you guess the file, you may guess wrong.

# %% [markdown] exercise="01.2" role="hint"
# The package holds one object under the name. Is it the very object (`is`) that `_C._VariableFunctions` holds under
# this name? Or the one that `_C` holds?

# %% [markdown] exercise="01.2" role="hint"
# `getattr(space, name, missing)` with `missing = object()` is never the object you look for, so absent names need no
# case of their own.


# %% [markdown] exercise="01.3" role="task" kind="build" title="load a module by hand"
# ## 01.3 Build: load a module by hand
#
# ★★☆, 20 minutes. `_load.load` chooses a file and loads it as `reftorch._C`, although no file has this name in the
# place where Python would look. Write the general form: load the module in the file `path` under the name `name`. Your
# function must behave as an import does:
#
# - The module is loaded once: the second call returns the module of the first call, and the file does not run again.
# - The module is in `sys.modules` *before* its body runs, because the body may import another module that imports this
#   one.
# - If the body raises, no half-made module stays in `sys.modules`, and the error reaches the caller.
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
    c.equal("a load after that, of the fixed file", came=load("broken", file).whole, expected=2)

# %% [markdown] exercise="01.3" role="debrief"
# **In PyTorch** nobody loads `_C` by hand, and `torch.utils.cpp_extension` loads what it has compiled with these three
# calls. The order, first into `sys.modules` and then run, is Python's own: a cycle of imports works, and the price is
# that a module may be found half made.

# %% [markdown] exercise="01.3" role="hint"
# `show_source("reftorch/_load.py", "load")` shows a function that loads one module in this way. You do not need its
# part about the BLAS library.

# %% [markdown] exercise="01.3" role="hint"
# `spec_from_file_location(name, path)`, `module_from_spec(spec)`, then `spec.loader.exec_module(module)`. Between the
# last two the module goes into `sys.modules`; `except BaseException:` takes it out again and raises on.


# %% [markdown] exercise="01.4" role="task" kind="fix" title="the op that was registered and is not there"
# ## 01.4 Fix: the op that was registered and is not there
#
# ★★★, 25 minutes. Below is a registry in the manner of the Dispatcher, with one planted bug. Two static objects
# register the numbers of their ops, nobody removes a number, no error is raised, and still the registry is empty. The
# author moved the lines of the two objects to the end of the file, and the registry was full. Then the two objects
# moved to another file, whose place the linker decides, and the registry was empty again.
#
# Find out why, and return the fixed source. The lines of the two `Registrar` objects stay as they are; the check then
# tells the linker to make these two before all other objects (`init_priority`), as the linker may do if the two are
# in another file.

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
def fixed_source() -> str:
    """`BROKEN`, fixed, with both registrars where they are."""
    # BEGIN SOLUTION
    return r"""
struct Registry {
  std::vector<int64_t> numbers;
  void add(int64_t number) { numbers.push_back(number); }
  static Registry& singleton() {
    static Registry* registry = new Registry; // made by the first call, whichever function that comes from
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
    source = fixed_source()
    early = source
    for line in ("static const Registrar softsign(1);", "static const Registrar hypotenuse(2);"):
        c.true(f"the line {line}", line in source, came="it is gone", expected="the line as it was")
        early = early.replace(line, "__attribute__((init_priority(101))) " + line)
    for order, text in [("in the order of the lines", source), ("with the registrars put first", early)]:
        came = numbers_in(text)
        c.true(f"what is registered once the objects are made, {order}", came == "[1, 2]", came=came, expected="[1, 2]")

# %% [markdown] exercise="01.4" role="debrief"
# **In PyTorch** `c10::Dispatcher::singleton` is made on first use, too (`aten/src/ATen/core/dispatch/Dispatcher.cpp`).
# The price is a test at each call. The bug is so common in C++ that it has a name: the static initialization order
# fiasco.

# %% [markdown] exercise="01.4" role="hint"
# Objects at file scope are made in the order of their lines. Which of the three constructors runs last, and what does
# it do to the numbers that are there already?

# %% [markdown] exercise="01.4" role="hint"
# `show_source("cpp/ATen/core/dispatch/Dispatcher.cpp", "Dispatcher::singleton")`: a static object *inside a function*
# is made when the function is first called. Registrars and `registered` both have to call it.


# %% [markdown] exercise="01.5" role="task" kind="read" title="two ops that come late"
# ## 01.5 Read: two ops that come late
#
# ★★☆, 20 minutes. You ship an extension with two ops that compute the same. Users report that one of them trains and
# the other does not. The cell below holds such a library; `load_inline("two_late", TWO_LATE, functions="loaded")`
# compiles and loads it. Which of `STATEMENTS` are true then? The comments of `Library::def` and
# `Library::def_composite` in `cpp/ATen/core/library.h` say what the two words promise. The check counts how many of
# your answers are right.

# %% exercise="01.5" role="given"
TWO_LATE = r"""
static at::Tensor late_sum(const at::Tensor& a) { return at::add(a, a); }

TORCH_LIBRARY_FRAGMENT(aten, m) {
  m.def("late_plain(Tensor a) -> Tensor", TORCH_FN(late_sum));
  m.def_composite("late_composed(Tensor a) -> Tensor", TORCH_FN(late_sum));
}

int64_t loaded() { return 1; }
"""
STATEMENTS = [
    "a gradient flows back through late_plain",
    "a gradient flows back through late_composed",
    "dir(torch.ops.aten) has the name late_plain",
    "late_plain takes a tensor on the device meta",
    "torch.ops.two_late has the name late_plain",
]


# %% exercise="01.5" role="answer"
def after_loading() -> dict[str, bool]:
    """For each of STATEMENTS, once the library is loaded, whether it is true."""
    # BEGIN SOLUTION
    return {
        "a gradient flows back through late_plain": False,
        "a gradient flows back through late_composed": True,
        "dir(torch.ops.aten) has the name late_plain": True,
        "late_plain takes a tensor on the device meta": True,
        "torch.ops.two_late has the name late_plain": False,
    }
    # END SOLUTION


# %% exercise="01.5" role="check"
from contextlib import suppress


def gradient_flows(op) -> bool:
    x = torch.ones(2, requires_grad=True)
    with suppress(RuntimeError):
        op(x).sum().backward()
    return x.grad is not None


with check("01.5", "two ops that come late") as c:
    said = after_loading()
    load_inline("two_late", TWO_LATE, functions="loaded")
    aten = torch.ops.aten
    on_meta = aten.late_plain(torch.ones(2, device="meta")).shape == (2,)
    truths = [gradient_flows(aten.late_plain), gradient_flows(aten.late_composed), "late_plain" in dir(aten)]
    truths += [on_meta, hasattr(torch.ops.two_late, "late_plain")]
    c.answers(
        "the statements, in the running program",
        came=said,
        truth=dict(zip(STATEMENTS, truths, strict=True)),
        look="Load the library in a cell of your own, and ask the program.",
    )

# %% [markdown] exercise="01.5" role="debrief"
# **In PyTorch** the two are called `CompositeExplicitAutograd` and `CompositeImplicitAutograd`. The implicit one is
# recorded as the ops that it calls, so it needs no formula. The explicit one is one node of the graph, which can be
# faster, and needs a formula of its own; `torch.library.register_autograd` adds one late.

# %% [markdown] exercise="01.5" role="hint"
# Autograd records either the op itself, and then needs a formula, or the ops that the op is made of. No formula was
# registered here.

# %% [markdown] exercise="01.5" role="hint"
# Load the library and try: `torch.ones(2, requires_grad=True)` through each op, then `.sum().backward()`. The name of
# the library's file is not the namespace of its ops; the macro names the namespace.


# %% [markdown] exercise="01.6" role="task" kind="fix" title="formulas that nobody imported"
# ## 01.6 Fix: formulas that nobody imported
#
# ★★☆, 15 minutes. If an object registers when its module is imported, the object is missing until somebody imports
# the module. A library kept its formulas in one folder and imported all of them with the function below. Then the
# folder grew, and the formulas of one family moved into a folder of their own inside it, with an empty `__init__.py`.
# No error was raised, and the gradients of that family were gone.
#
# Write the fixed function. `register_all(package)` imports every module of the package, also those in packages inside
# it, at any depth, each of them once. An error that a module raises reaches the caller.


# %% exercise="01.6" role="given"
def broken_register_all(package: types.ModuleType) -> None:
    """Import all modules of a package; each module registers its formulas when it is imported."""
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")


# %% exercise="01.6" role="answer"
def register_all(package: types.ModuleType) -> None:
    """Import all modules of a package and of the packages inside it."""
    # BEGIN SOLUTION
    for module in pkgutil.iter_modules(package.__path__):
        imported = importlib.import_module(f"{package.__name__}.{module.name}")
        if module.ispkg:
            register_all(imported)
    # END SOLUTION


# %% exercise="01.6" role="check"
REGISTERS = "import sys\nsys.registered.append(__name__)\n"


def registered_in(folder: Path, name: str, files: dict[str, str]) -> list[str]:
    """What registers when all modules of a package with these files are imported."""
    for file, text in {"__init__.py": "", **files}.items():
        (folder / name / file).parent.mkdir(parents=True, exist_ok=True)
        (folder / name / file).write_text(text)
    importlib.invalidate_caches()
    sys.registered = []
    register_all(importlib.import_module(name))
    return sorted(sys.registered)


with check("01.6", "formulas that nobody imported") as c, tempfile.TemporaryDirectory() as temporary:
    for name in [each for each in sys.modules if each.split(".")[0] in ("flat", "deep", "wrong")]:
        del sys.modules[name]
    sys.path.insert(0, temporary)
    came = registered_in(Path(temporary), c.case("flat"), {"binary.py": REGISTERS, "unary.py": REGISTERS})
    c.equal("two modules in one folder", came=came, expected=["flat.binary", "flat.unary"])
    inside = {"unary.py": REGISTERS, "norms/__init__.py": "", "norms/batch.py": REGISTERS}
    inside |= {"norms/old/__init__.py": "", "norms/old/lrn.py": REGISTERS}
    came = registered_in(Path(temporary), c.case("deep"), inside)
    expected = ["deep.norms.batch", "deep.norms.old.lrn", "deep.unary"]
    c.equal("packages inside the package", came=came, expected=expected)
    wrong = {"norms/__init__.py": "", "norms/batch.py": "raise ImportError('no such op')\n"}
    c.raises("a module that raises", ImportError, "no such op", registered_in, Path(temporary), "wrong", wrong)
    sys.path.remove(temporary)

# %% [markdown] exercise="01.6" role="debrief"
# **In PyTorch** the formulas are in one file, `tools/autograd/derivatives.yaml`, from which C++ is generated, so none
# can be forgotten. A library whose modules register when they are imported needs one place that imports all of them,
# and a test that counts.

# %% [markdown] exercise="01.6" role="hint"
# `pkgutil.iter_modules` lists one folder. What it yields has the fields `name` and `ispkg`.

# %% [markdown] exercise="01.6" role="hint"
# `importlib.import_module` returns the module. If it is a package, it has a `__path__`, and is the argument that your
# own function takes.


# %% [markdown] exercise="01.7" role="task" kind="read" title="in PyTorch: who asks the registry"
# ## 01.7 Read, in PyTorch: who asks the registry
#
# ★★☆, 15 minutes. This question is answered in PyTorch itself: it needs PyTorch (`make torch`), and no other exercise
# of the chapter does. The next cell writes `IN_TORCH` to a file, and prints the command that runs the file under pdb.
#
# In the lesson `_OpNamespace.__getattr__` of reftorch asks the registry when your program first names an op. PyTorch
# has a function of the same name in `torch/_ops.py`. Stop in this function at its line `namespace_name = self.name`.
# How often does the program come there with each of the four names `hypot`, `no_such_op`, `twice` and `thrice` in
# `op_name`? Find out for each stop who asked: a line of the program, or a function of PyTorch. Return the count for
# each name.


# %% exercise="01.7" role="given"
IN_TORCH = """\
import torch

torch.ops.aten.hypot
torch.ops.aten.hypot
print(hasattr(torch.ops.aten, "no_such_op"))
print(hasattr(torch.ops.aten, "no_such_op"))
library = torch.library.Library("aten", "FRAGMENT")
library.define("twice(Tensor self) -> Tensor")
torch.ops.aten.twice
library.define("twice.Scalar(Tensor self, Scalar number) -> Tensor")
print(torch.ops.aten.twice.overloads())
library.define("thrice(Tensor self) -> Tensor")
"""
print(write_for_torch(IN_TORCH, "in_torch_01_7.py"))


# %% exercise="01.7" role="answer"
def lookups() -> dict[str, int]:
    # BEGIN SOLUTION
    return {"hypot": 0, "no_such_op": 2, "twice": 2, "thrice": 1}
    # END SOLUTION


# %% exercise="01.7" role="check"
with check("01.7", "who asks the registry") as c:
    answer = lookups()
    stops = stops_in_torch(
        IN_TORCH, "torch/_ops.py", "_OpNamespace.__getattr__", "namespace_name = self.name", ["op_name"]
    )
    names = [stop["op_name"].strip("'") for stop in stops]
    truth = {name: names.count(name) for name in ("hypot", "no_such_op", "twice", "thrice")}
    look = "`where` at each stop shows who asked. What did `import torch` do before?"
    c.answers("how often each name is looked up", came=answer, truth=truth, look=look)

# %% [markdown] exercise="01.7" role="debrief"
# **In PyTorch** `hypot` is found without a look-up, because the import has asked for some hundred ops already: tables
# of decompositions, which are written in Python, name them. PyTorch asks again each time for a name that is missing,
# because it keeps only the names that it has found. And `Library.define` asks before it registers: if the program
# already holds the op's packet, the packet must learn of the new overload. In this way `twice.Scalar` is known
# without another look-up. This is the price of a registry that stays open: an object that keeps an answer of the
# registry has to be told of changes.

# %% [markdown] exercise="01.7" role="hint"
# First `next` until `import torch` has run. Then `break torch._ops._OpNamespace.__getattr__`, `continue`, `p op_name`
# and `where`.

# %% [markdown] exercise="01.7" role="hint"
# A breakpoint that was set before `import torch` would stop hundreds of times. The count begins after the import.
