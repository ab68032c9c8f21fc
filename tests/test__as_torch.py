"""Programs that say ``import torch`` run on reftorch.

Mirrors: nothing in PyTorch: it goes by its own name.
"""

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest


def run(*args: str, cwd: Path) -> str:
    done = subprocess.run([sys.executable, *args], cwd=cwd, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


TRAINS = """
import sys
import torch
import torch.nn.functional as F
import torch.optim as optim
from torch import nn
from torch.nn.utils import clip_grad_norm_
from torch.utils.data import DataLoader, TensorDataset

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))

    def forward(self, x):
        return F.log_softmax(self.layers(x), dim=1)

if __name__ == "__main__":
    torch.manual_seed(1)
    inputs, targets = torch.randn(24, 4), torch.randint(0, 3, (24,))
    net = Net()
    optimizer = optim.Adam(net.parameters(), lr=0.05)
    for epoch in range(3):
        for x, y in DataLoader(TensorDataset(inputs, targets), batch_size=8, shuffle=True):
            optimizer.zero_grad()
            loss = F.nll_loss(net(x), y)
            loss.backward()
            clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
        print(f"{epoch} {loss.item():.4f}")
    torch.save(net, "net.pt")
    again = torch.load("net.pt", weights_only=False)
    print(type(again).__name__, torch.equal(again(inputs), net(inputs)), sys.argv[1:])
"""


def test_a_script_prints_what_it_prints_in_torch(tmp_path: Path, real_torch_or_none: ModuleType | None) -> None:
    (tmp_path / "script.py").write_text(TRAINS)
    ours = run("-m", "reftorch", "script.py", "--lr", "3", "-x", cwd=tmp_path)
    assert ours.splitlines()[-1] == "Net True ['--lr', '3', '-x']"
    if real_torch_or_none is not None:
        assert ours == run("script.py", "--lr", "3", "-x", cwd=tmp_path)


def test_a_module_and_code_are_run_as_python_runs_them(tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").touch()
    (tmp_path / "package" / "program.py").write_text(
        "import sys, torch\nfrom . import __name__ as name\nprint(name, __name__, torch.__name__, sys.argv[1:])"
    )
    assert run("-m", "reftorch", "-m", "package.program", "-m", cwd=tmp_path) == "package __main__ torch ['-m']\n"
    code = "import torch, sys; print(torch.ones(2), __name__, sys.argv)"
    assert run("-m", "reftorch", "-c", code, "-c", cwd=tmp_path) == "tensor([1., 1.]) __main__ ['-c', '-c']\n"


@pytest.mark.parametrize(
    "program", [["nothere.py"], ["folder"], ["-m", "nothere"], ["-m", "nothere.main"], ["-m", "json"]], ids=" ".join
)
def test_a_program_that_is_not_there_is_told_in_pythons_words(program: list[str], tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    ours, pythons = (
        subprocess.run([sys.executable, *start, *program], cwd=tmp_path, capture_output=True, text=True)
        for start in (["-m", "reftorch"], [])
    )
    assert ours.stderr.count("\n") == 1
    assert ours.stderr == pythons.stderr
    assert ours.returncode == pythons.returncode != 0


@pytest.mark.parametrize("error", ["import nothere", "open('nothere')", "import runpy; runpy.run_path('nothere')"])
def test_an_error_of_the_program_keeps_its_traceback(error: str, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(error)
    done = subprocess.run(
        [sys.executable, "-m", "reftorch", "script.py"], cwd=tmp_path, capture_output=True, text=True
    )  # fmt: skip
    assert done.returncode == 1
    assert "Traceback" in done.stderr
    assert 'script.py", line 1, in <module>' in done.stderr


ONE_OBJECT = """
import torch, reftorch
import torch.nn.functional as F
from torch.nn.modules.linear import Linear
import pickle
spec = reftorch.nn.functional.__spec__
assert torch is reftorch is torch.torch and F is reftorch.nn.functional and Linear is reftorch.nn.Linear
assert spec.name == "reftorch.nn.functional" and F.__name__ == "torch.nn.functional"
assert pickle.loads(b"ctorch.nn.modules.linear\\nLinear\\n.") is Linear
"""


def test_both_names_are_one_module(tmp_path: Path) -> None:
    run("-m", "reftorch", "-c", ONE_OBJECT, cwd=tmp_path)


PROCESSES = """
import multiprocessing
import torch
import torch.multiprocessing as mp
from torch.utils.data import DataLoader

def name(x):
    import torch.nn
    return torch.nn.__name__, x.sum().item()

class Squares:
    def __len__(self):
        return 4

    def __getitem__(self, i):
        import torch
        return torch.tensor(i) ** 2

if __name__ == "__main__":
    for method in ("spawn", "forkserver"):
        loader = DataLoader(Squares(), batch_size=2, num_workers=1, multiprocessing_context=method)
        print([batch.tolist() for batch in loader])
    with mp.get_context("spawn").Pool(1) as pool:
        print(pool.map(name, [torch.ones(3)]))
"""


def test_processes_that_a_program_starts_know_the_name_too(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(PROCESSES)
    out = run("-m", "reftorch", "script.py", cwd=tmp_path)
    assert out.splitlines() == ["[[0, 1], [4, 9]]"] * 2 + ["[('torch.nn', 3.0)]"]


def refused(*args: str, cwd: Path) -> str:
    done = subprocess.run([sys.executable, *args], cwd=cwd, capture_output=True, text=True, timeout=300)
    assert done.returncode != 0
    return done.stderr


def test_what_reftorch_does_not_have_is_named(tmp_path: Path) -> None:
    error = refused("-m", "reftorch", "-c", "import torch.nowhere", cwd=tmp_path)
    assert error.splitlines()[-1] == (
        "ModuleNotFoundError: No module named 'torch.nowhere': reftorch, which stands for torch in this process, does "
        "not have it"
    )


def test_a_module_that_the_table_names_is_explained(tmp_path: Path) -> None:
    error = refused("-m", "reftorch", "-c", "from torch.onnx import export", cwd=tmp_path)
    assert error.splitlines()[-1] == (
        "ModuleNotFoundError: No module named 'torch.onnx': not in reftorch: torch.onnx (PyTorch: torch/onnx); "
        "an export to other formats is out of scope; see the table reftorch/_api/names.csv"
    )


LIBRARY = """
import torch
assert torch.__version__.startswith("2.13.0+reftorch"), torch.__version__
assert torch.__version__ >= (2, 4) and torch.__version__ > "2.9" and not torch.__version__ > "2.13.1"
assert torch.distributed.is_available() and not torch.distributed.is_nccl_available()

@torch.jit.script
def double(x):
    return x * 2

print(double(torch.ones(2)), torch.jit.is_scripting())
"""


def test_questions_of_libraries_about_what_they_meet_are_answered(tmp_path: Path) -> None:
    assert run("-m", "reftorch", "-c", LIBRARY, cwd=tmp_path) == "tensor([2., 2.]) False\n"
    ours = run("-c", "import reftorch; print(reftorch.__version__)", cwd=tmp_path)
    assert not ours.startswith("2.13"), "the version of PyTorch stands only where reftorch stands for torch"


def test_torch_that_is_there_already_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "torch.py").touch()
    error = refused("-c", "import torch; from reftorch._as_torch import install; install()", cwd=tmp_path)
    assert error.splitlines()[-1].startswith("RuntimeError: reftorch cannot stand for torch: this process has imported")
