"""What gdb shows of reftorch's objects, live and garbage, under every gdb that is there.

Mirrors: nothing in PyTorch: tests of tools that it does not have.
Left out: the notebook; see test_magics.py.
"""

from __future__ import annotations

import _ctypes
import os
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from reftorch.debug.core.find_gdb import candidates, gdb_environment, probe

ROOT = Path(__file__).resolve().parents[2]
INIT = ROOT / "reftorch" / "debug" / "gdb" / "init.py"
GDBS = [path for path in candidates() if not isinstance(probe(path), str)]

PROGRAM = """
import reftorch as torch
a = torch.arange(6.0).reshape(2, 3).t()
b = torch.ones(3, 2)
c = a * b
d = torch.tensor([True, False]) * torch.tensor([3, -4], dtype=torch.int8)
x = torch.tensor([1.5, -2.0], dtype=torch.bfloat16, requires_grad=True)
y = x * x
y.sum().backward()
"""


class Gdb:
    """One run of gdb over a script; its output cut into the answer of each command."""

    def __init__(self, path: str, folder: Path, program: str, commands: list[str]) -> None:
        (folder / "program.py").write_text(program)
        command = [path, "-nx", "-q", "-batch", "-iex", "set auto-load python-scripts off", "-x", str(INIT)]
        for number, text in enumerate(commands):
            command += ["-ex", f"echo \\n@{number}\\n", "-ex", text]
        command += ["--args", sys.executable, str(folder / "program.py")]
        environment = gdb_environment() | {"REFTORCH_BUILD": os.environ.get("REFTORCH_BUILD", "debug")}
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, env=environment, cwd=ROOT, timeout=480, check=False,
        )  # fmt: skip
        self.all = done.stdout
        self.answers = {}
        for number, text in enumerate(commands):
            _, _, rest = self.all.partition(f"\n@{number}\n")
            self.answers[text] = rest.partition(f"\n@{number + 1}\n")[0].strip()

    def __getitem__(self, command: str) -> str:
        return self.answers[command]


SELF = "*self.impl_.target_"
# As gdb 18 names a function of a template, with its parameters; a lambda; and a function without a template.
NAMES = (
    "reftorch::at::Handle<reftorch::at::Tensor (int)>::call(int) const",
    "f(long)::{lambda(int)#1}::operator()",
    "g(h<int>)",
)
READABLE = f"python from reftorch_gdb import stack; print(*map(stack.readable, {NAMES}), sep='; ')"
# A std::optional<long> with 7 in it, and one with nothing, from their bytes.
OPTIONALS = (
    "python from reftorch_gdb import printers; kind = gdb.lookup_type('std::optional<long>'); "
    "print(*(printers.text(gdb.Value(bytes([7, *[0] * 7, full, *[0] * 7]), kind)) for full in (1, 0)))"
)
IN_BACKWARD = "python gdb.execute('rt-bt')"
AT_MUL = [
    "rt-op mul", "run", "rt-bt", "print iter", "print iter.shape_", "print iter.common_dtype_", "print iter.device_",
    "rt-op mull", "rt-tensor 3", "print *(reftorch::at::Tensor*)$pc", "print *(reftorch::c10::Storage*)$pc",
    "print *(reftorch::c10::SmallVector<long, 5>*)$pc", "print (reftorch::c10::ScalarType)77",
    "print (reftorch::c10::DispatchKey)6", "print (reftorch::c10::DeviceIndex)1", "print *(reftorch::at::Tensor*)0",
    "print *(reftorch::torch::autograd::Edge*)$pc", "print *(reftorch::torch::autograd::Node*)$pc",
    "up 2", "print self", "print other", "rt-tensor self", f"print {SELF}", "print self.impl_",
    "print self.impl_.target_.storage_", "print self.impl_.target_.key_set_",
    "set reftorch-children on", "output self", READABLE, OPTIONALS,
    "set reftorch-children off", "continue", "c", "fg", IN_BACKWARD, "up", "info locals",
]  # fmt: skip


@pytest.fixture(scope="module", params=GDBS)
def at_mul(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Gdb:
    """A stop in the kernel of the first product."""
    return Gdb(request.param, tmp_path_factory.mktemp("gdb"), PROGRAM, AT_MUL)


def test_an_op_is_found_before_the_library_is_loaded(at_mul: Gdb) -> None:
    assert at_mul["rt-op mul"] == "Breakpoint at the kernel of `mul` once reftorch is imported."
    assert "mul_kernel" in at_mul["run"]


def test_names_of_functions_have_no_parameters(at_mul: Gdb) -> None:
    assert at_mul[READABLE] == "at::Handle<at::Tensor (int)>::call; f(long)::{lambda(int)#1}::operator(); g"


def test_a_wrong_name_is_told_the_nearest(at_mul: Gdb) -> None:
    assert "called `mull`" in at_mul["rt-op mull"]
    assert "mul" in at_mul["rt-op mull"].partition("nearest:")[2]


def test_iterator_shows_its_operands(at_mul: Gdb) -> None:
    shown = at_mul["print iter"]
    assert "TensorIterator [" in shown
    assert "out f32[3, 2]" in shown
    assert "[0, 3, 1, 4, 2, 5]" in shown


def test_small_types(at_mul: Gdb) -> None:
    assert at_mul["print iter.common_dtype_"].endswith("= Float")
    assert at_mul["print iter.device_"].endswith("= cpu")
    assert at_mul["print (reftorch::c10::DispatchKey)6"].endswith("= Autograd")
    assert at_mul["print (reftorch::c10::DeviceIndex)1"].endswith("= 1")  # without the character of this number


def test_an_optional_is_what_it_holds(at_mul: Gdb) -> None:
    assert at_mul[OPTIONALS] == "7 nullopt"


def test_tensor_is_one_line(at_mul: Gdb) -> None:
    expected = "Tensor f32[3, 2] strides=[1, 3] [0, 3, 1, 4, 2, 5]"
    assert expected in at_mul["print self"]
    assert expected in at_mul["print self.impl_"]
    assert expected in at_mul[f"print {SELF}"]
    assert "Tensor f32[3, 2] strides=[2, 1] [1, 1, 1, 1, 1, 1]" in at_mul["print other"]


def test_tensor_unfolds_on_request(at_mul: Gdb) -> None:
    assert "strides = [1, 3], storage_offset = 0, dtype = f32, device = cpu, [0] = 0, [1] = 3" in at_mul["output self"]


def test_rt_tensor_prints_rows(at_mul: Gdb) -> None:
    assert at_mul["rt-tensor self"] == "[[0, 3],\n [1, 4],\n [2, 5]]\nf32[3, 2] strides=[1, 3]"
    assert "cannot be read as a tensor: of type int" in at_mul["rt-tensor 3"]


def test_storage_and_keys(at_mul: Gdb) -> None:
    assert "Storage 24 bytes on cpu, shared by 2" in at_mul["print self.impl_.target_.storage_"]
    assert at_mul["print self.impl_.target_.key_set_"].endswith("= {CPU, Autograd}")


def test_garbage_is_said_and_never_raises(at_mul: Gdb) -> None:
    garbage = [text for text in AT_MUL if "$pc" in text or ")77" in text]
    assert len(garbage) == 6
    for text in garbage:
        assert "<" in at_mul[text], text
        assert "Python Exception" not in at_mul[text], text
    assert "Cannot access memory" in at_mul["print *(reftorch::at::Tensor*)0"]
    assert "Traceback" not in at_mul.all
    assert "Python Exception" not in at_mul.all


def test_one_stack_for_both_languages(at_mul: Gdb) -> None:
    lines = at_mul["rt-bt"].splitlines()
    assert [line.split()[1] for line in lines[:2]] == ["c++", "c++"]
    assert "cpp/ATen/native/cpu/BinaryOpsKernel.cpp" in lines[0]
    assert lines[0].endswith("at::native::mul_kernel")
    assert lines[-1].split()[1] == "py"
    assert lines[-1].split("program.py:")[1].split() == ["5", "<module>"]


def test_one_stack_shows_engine_formula_and_kernel(at_mul: Gdb) -> None:
    shown = at_mul[IN_BACKWARD]
    places = [line.split()[2].rpartition(":")[0] for line in shown.splitlines()]
    kernel = places.index("cpp/ATen/native/cpu/BinaryOpsKernel.cpp")
    formula = next(i for i, place in enumerate(places) if place.startswith("reftorch/autograd/derivatives/"))
    engine = places.index("cpp/csrc/autograd/engine.cpp")
    caller = len(places) - 1
    assert kernel < formula < engine < caller
    assert shown.splitlines()[-1].split("program.py:")[1].split()[0] == "9"


FUZZED = """
import reftorch as torch
a = torch.arange(6.0).reshape(2, 3).requires_grad_()
b = a + 1
b * b
"""


def test_no_printer_and_no_command_fails_on_any_garbage(tmp_path: Path) -> None:
    """Under the gdb of the tools only, because of the time it takes; AT_MUL has garbage for every gdb."""
    path = GDBS[0]
    fuzz = f"source {ROOT / 'tests' / 'debug' / 'fuzz_printers.py'}"
    said = Gdb(path, tmp_path, FUZZED, ["rt-op mul", "run", fuzz])[fuzz]
    assert re.fullmatch(r"0 failed, fuzzed \d{4,}", said.splitlines()[-1]), said[-3000:]


CONDITIONAL = """
import threading, time
import reftorch as torch
threading.Thread(target=time.sleep, args=(600,), daemon=True).start()
small, large = torch.ones(2), torch.ones(3)
for i in range(5):
    small * small
large * large
small * small
"""


@pytest.mark.parametrize("path", GDBS)
def test_rt_op_takes_conditions_that_call_functions(path: str, tmp_path: Path) -> None:
    gdb = Gdb(path, tmp_path, CONDITIONAL, ["rt-op mul if iter.numel() == 3", "run", "print iter.shape_", "continue"])
    assert gdb["print iter.shape_"].endswith("= [3]")
    assert "exited normally" in gdb["continue"]


def test_a_release_build_says_what_it_needs(tmp_path: Path) -> None:
    """A library without symbols, in the folder of such a build, stands in for it."""
    library = tmp_path / "lib" / "Release" / "_C.so"
    library.parent.mkdir(parents=True)
    library.write_bytes(Path(_ctypes.__file__).read_bytes())
    program = f"import ctypes, os\nctypes.CDLL({str(library)!r})\nos.kill(os.getpid(), 10)\n"
    gdb = Gdb(GDBS[0], tmp_path, program, ["handle SIGUSR1 stop", "run", "rt-bt", "rt-tensor self"])
    for command in ("rt-bt", "rt-tensor self"):
        assert "reftorch's Release build is loaded: it has no lines" in gdb[command]
        assert "REFTORCH_BUILD=debug" in gdb[command]


def test_gdb_leaves_no_core_file_when_it_fails(tmp_path: Path) -> None:
    """Its batch mode answers yes to every question: also whether to write a core file of itself."""
    most = resource.getrlimit(resource.RLIMIT_CORE)[1]
    for path in GDBS:
        done = subprocess.run(
            [path, "-nx", "-q", "-batch", "-x", str(INIT), "-ex", "maintenance internal-error tried"],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, cwd=tmp_path, env=gdb_environment(), check=False,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (most, most)),
        )  # fmt: skip
        assert "internal-error: tried" in done.stdout + done.stderr
        assert list(tmp_path.iterdir()) == []


# Layers, and the function in which each of their ops stops.
NETWORK = """
import reftorch as torch
from reftorch import nn
x = torch.ones(2, 3, 8, 8)
for layer in (nn.Conv2d(3, 4, 3), nn.MaxPool2d(2), nn.AvgPool2d(2)):
    layer(x)
nn.LSTM(3, 4)(torch.ones(5, 2, 3))
nn.BatchNorm2d(3)(x)
"""
STOPS = {
    "convolution": "convolution_kernel",
    "max_pool2d_with_indices": "max_pool_kernel",
    "avg_pool2d": "avg_pool_kernel",
    "lstm": "lstm_input",
    "native_batch_norm": "batch_norm_stats_kernel",  # the first of its kernels
}


def test_the_ops_of_networks_stop_in_their_kernels(tmp_path: Path) -> None:
    commands = [*(f"rt-op {name}" for name in STOPS), "run", "continue", "c", "fg", "cont"]
    gdb = Gdb(GDBS[0], tmp_path, NETWORK, commands)
    for command, function in zip(("run", "continue", "c", "fg", "cont"), STOPS.values(), strict=True):
        assert function in gdb[command], gdb[command]


OPTIMIZED = """
namespace reftorch::c10 {
struct Scalar { int tag_; long payload_; };
}
__attribute__((noinline)) int use(int i) { asm volatile(""); return i; }
int main(int count, char**) {
  reftorch::c10::Scalar all = {count, 7};
  int used = use(count);
  return used - 1;
}
"""


@pytest.mark.skipif(shutil.which("c++") is None, reason="needs a compiler")
@pytest.mark.parametrize("path", GDBS)
def test_what_the_compiler_left_out_is_called_so(path: str, tmp_path: Path) -> None:
    (tmp_path / "small.cpp").write_text(OPTIMIZED)
    subprocess.run(["c++", "-O2", "-g", "small.cpp", "-o", "small"], cwd=tmp_path, check=True)
    shown = "python from reftorch_gdb import view; print(view.locals_of(gdb.selected_frame()))"
    commands = ["break use", "run", "up", "info locals", shown]
    asked = [word for command in commands for word in ("-ex", command)]
    done = subprocess.run(
        [path, "-nx", "-q", "-batch", "-x", str(INIT), *asked, "small"], stdin=subprocess.DEVNULL, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=gdb_environment(), cwd=tmp_path, timeout=480, check=False,
    )  # fmt: skip
    assert "all = <optimized out>" in done.stdout
    assert "['all', '<optimized out>']" in done.stdout


WALK = """import reftorch as torch
a, b = torch.ones(3), torch.zeros(3)
torch.lerp(a, b, 0.5)
torch.lerp(a, b, torch.full((3,), 0.5))
torch.hstack([a, b])
torch._C._debug.sentinel()
torch.hstack([a, a])
torch._C._debug.sentinel()
a * a
x = torch.ones(2, requires_grad=True)
y = x * x
z = y + y.detach() * x
z.neg()
torch.ones(2, 3, device="meta").t()
def product(x):
    y = x
    return y * x
torch._C._debug.sentinel()
b = product(a)
c = b
"""
AT_LERP = ["rt-op lerp", "rt-op hstack if tensors.size() == 2", "run", "continue", "c", "delete"]
AT_CAT = ["break reftorch_debug_sentinel", "cont", "tbreak reftorch::at::cat", "continue 1", "rt-bt"]
BT_AFTER_INTO = "python gdb.execute('rt-bt')"
INTO = ["python gdb.execute('continue') # to the second sentinel", "rt-into", "rt-into mul_kernel", BT_AFTER_INTO]
AT_NEG = [
    "rt-op neg", "fg", "frame function reftorch::at::native::unary_op_out", "rt-graph self", "rt-graph out",
    "rt-graph *(reftorch::at::Tensor*)$pc", "rt-graph 3", "rt-graph", "rt-graph no_such",
    "set $meta = (reftorch::torch::autograd::AutogradMeta*)*(void**)&self.impl_.target_.autograd_meta_",
    "print $meta->grad_fn_._M_ptr->next_edges_", "print *$meta->grad_fn_._M_ptr",
    "rt-graph *$meta->grad_fn_._M_ptr", "rt-graph $meta->grad_fn_",
]  # fmt: skip
AT_T = ["rt-op t", "python gdb.execute('continue') # to t", "print self"]
STEPS = [f"python gdb.execute('rt-pystep') # {i}" for i in range(5)]
STEPPED = ["python gdb.execute('continue') # to the third sentinel", "rt-pylist", *STEPS]


@pytest.fixture(scope="module", params=GDBS)
def walk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Gdb:
    """Several stops in one program, because each start of gdb reads the symbols again."""
    commands = [*AT_LERP, *AT_CAT, *INTO, *AT_NEG, *AT_T, *STEPPED]
    return Gdb(request.param, tmp_path_factory.mktemp("gdb"), WALK, commands)


def test_an_op_stops_in_each_of_its_kernels_or_in_its_function(walk: Gdb) -> None:
    for command, kernel in (("run", "lerp_scalar_kernel"), ("continue", "lerp_tensor_kernel")):
        assert re.search(rf"{kernel}<.*>.* \(iter=TensorIterator \[3\]", walk[command])
        assert re.search(rf"^\d+\tREGISTER_CPU_ELEMENTWISE\(\w+, {kernel}, ", walk[command], re.MULTILINE)
    assert "reftorch::at::native::joined<reftorch::at::native::hstack> (tensors=[Tensor f32[3]" in walk["c"]


def test_a_generated_function_takes_a_breakpoint_and_is_in_the_stack(walk: Gdb) -> None:
    lines = walk["rt-bt"].splitlines()
    assert lines[0].split()[2].startswith("build/Debug/generated/ATen/Functions.cpp:")
    assert lines[0].endswith("at::cat")
    assert lines[-1].split("program.py:")[1].split()[0] == "7"


def test_rt_into_reaches_the_next_native_function(walk: Gdb) -> None:
    assert "BinaryOps.cpp" in walk["rt-into"]
    assert "mul_kernel" in walk["rt-into mul_kernel"]
    assert "program.py:9" in walk[BT_AFTER_INTO]


def test_rt_graph_shows_nodes_and_leaves(walk: Gdb) -> None:
    leaf = "AccumulateGrad of Tensor f32[2] strides=[1] [1, 1]"
    lines = re.sub(r" #\d+", "", walk["rt-graph self"]).splitlines()
    assert lines == [
        "AddBackward0", "|- MulBackward0", f"|  |- {leaf}", f"|  `- {leaf} (above)", "`- MulBackward0",
        "   |- no gradient", f"   `- {leaf} (above)",
    ]  # fmt: skip
    assert walk["rt-graph $meta->grad_fn_"] == walk["rt-graph self"]
    assert walk["rt-graph *$meta->grad_fn_._M_ptr"].endswith(walk["rt-graph self"])  # after gdb's own warning
    assert walk["rt-graph out"] == "out has no graph: no op recorded it."
    edges = walk["print $meta->grad_fn_._M_ptr->next_edges_"]
    assert edges.endswith("= [Edge to MulBackward0, input 0, Edge to MulBackward0, input 0]")
    assert re.search(r"= AddBackward0 #\d+ with 2 next edges$", walk["print *$meta->grad_fn_._M_ptr"])
    assert "Cannot access memory" in walk["rt-graph *(reftorch::at::Tensor*)$pc"]
    assert "cannot be read as a tensor or a node: of type int" in walk["rt-graph 3"]
    assert "of which tensor or node?" in walk["rt-graph"]
    assert 'No symbol "no_such"' in walk["rt-graph no_such"]
    assert "warning" not in walk["rt-graph self"]
    assert "Python Exception" not in walk.all


def test_python_s_lines_are_listed_and_stepped(walk: Gdb) -> None:
    assert "-> 18  torch._C._debug.sentinel()" in walk["rt-pylist"]
    assert "   17      return y * x" in walk["rt-pylist"]
    assert [walk[step].splitlines()[-1] for step in STEPS] == [
        "-> 19  b = product(a)", "-> 16      y = x", "-> 17      return y * x", "-> 20  c = b",
        "No line of Python began before the process stopped.",
    ]  # fmt: skip


def test_a_tensor_without_memory(walk: Gdb) -> None:
    assert "meta" in walk["print self"] and "[2, 3]" in walk["print self"], walk.all


def test_commands_say_what_they_need(tmp_path: Path) -> None:
    commands = ["rt-bt", "rt-into", "rt-tensor", "rt-op", "help rt-into"]
    gdb = Gdb(GDBS[0], tmp_path, "", commands)
    assert gdb["rt-bt"].startswith("No process is being debugged")
    assert gdb["rt-into"].startswith("No process is being debugged")
    assert "which tensor?" in gdb["rt-tensor"]
    assert "which op?" in gdb["rt-op"]
    assert "at::native" in gdb["help rt-into"]
