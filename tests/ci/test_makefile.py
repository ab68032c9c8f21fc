"""The targets of ``make`` do the same whatever the user has exported, and each names the build that it needs.

Mirrors: nothing in PyTorch: its builds are steered by variables that the user exports.
"""

import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MAKEFILE = (ROOT / "Makefile").read_text()


def make(*arguments: str, folder: Path = ROOT, **exported: str) -> subprocess.CompletedProcess[str]:
    """Run ``make`` in the environment of this process, in which `exported` takes the place of what is there."""
    inherited = {name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL")}
    command = ["make", "--no-print-directory", *arguments]
    return subprocess.run(command, cwd=folder, env=inherited | exported, text=True, capture_output=True)


def folder_with(folder: Path, **files: str) -> str:
    """Write files and return the folder; the files of programs can be run."""
    folder.mkdir()
    for name, text in files.items():
        (folder / name.replace("__", ".")).write_text(text)
        (folder / name.replace("__", ".")).chmod(0o755)
    return str(folder)


# Each group breaks or changed at least one target where its variables reach the programs of the target.
GROUPS: dict[str, dict[str, str]] = {
    "another build": {"REFTORCH_BUILD": "release"},
    "no build": {"REFTORCH_BUILD": "fast"},
    "other modules": {"PYTHONPATH": "{modules}", "PYTHONHOME": "/nowhere"},
    "python": {"PYTHONSAFEPATH": "1", "PYTHONOPTIMIZE": "2", "PYTHONWARNINGS": "error", "PYTHONINSPECT": "1",
               "_PYTHON_SYSCONFIGDATA_NAME": "no_such"},
    "pip": {"PIP_TARGET": "{elsewhere}", "PIP_USER": "1", "PIP_PREFIX": "{elsewhere}", "PIP_ROOT": "{elsewhere}",
            "PIP_NO_DEPS": "1", "PIP_DRY_RUN": "1", "PIP_REQUIRE_HASHES": "1", "PIP_CONSTRAINT": "/no/such.txt"},
    "compiler": {"CFLAGS": "-Ofast", "CXXFLAGS": "-std=c++98", "CPPFLAGS": "-I/no", "LDFLAGS": "-L/no -lno_such",
                 "CMAKE_GENERATOR": "Unix Makefiles", "CMAKE_BUILD_TYPE": "Release", "CMAKE_TOOLCHAIN_FILE": "/no/such",
                 "SKBUILD_BUILD_DIR": "{elsewhere}", "DESTDIR": "{elsewhere}"},
    "our own": {"ARGS": "--no-such-option", "PYTHON": "/no/such/python", "PINS": "-c /no/such", "UPGRADE": "no such",
                "CMAKE_ARGS": "-DNO_SUCH=1", "VENV": "/no/such", "BIN": "/no/such", "WORKERS": "many"},
    "tests": {"PYTEST_ADDOPTS": "--no-such-option", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "MYPYPATH": "{modules}"},
    "virtual environment": {"VIRTUAL_ENV": "{elsewhere}", "PATH": "{programs}:{path}"},
    "conda": {"CONDA_PREFIX": "{elsewhere}", "CONDA_DEFAULT_ENV": "base", "CONDA_SHLVL": "1",
              "CMAKE_PREFIX_PATH": "{elsewhere}", "CMAKE_ARGS": "-DCMAKE_FIND_ROOT_PATH={elsewhere}",
              "CFLAGS": "-march=nocona", "LDFLAGS": "-Wl,--disable-new-dtags", "PATH": "{programs}:{path}"},
    "shell": {"CDPATH": "/:/usr", "BASH_ENV": "/no/such", "JUPYTER_PATH": "{elsewhere}",
              "JUPYTERLAB_DIR": "{elsewhere}", "JUPYTER_PREFER_ENV_PATH": "0", "PYTHONUTF8": "0", "BESIDE": "yes"},
}  # fmt: skip
# They stay, because they name the user's own places, which change neither what is built nor what is imported.
HARMLESS = {"VIRTUAL_ENV", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "CONDA_SHLVL", "PATH"}
OURS = set(GROUPS["our own"]) | {"CMAKE_ARGS"}


@pytest.fixture
def exported(tmp_path: Path):
    """A function that returns the variables of a group, with folders in which everything is wrong."""
    broken = "raise RuntimeError('not this one')\n"
    program = "#!/bin/sh\necho 'not this one' >&2\nexit 1\n"
    places = {
        "modules": folder_with(tmp_path / "modules", numpy__py=broken, typing__py=broken, reftorch__py=broken),
        "programs": folder_with(
            tmp_path / "programs", python=program, python3=program, pip=program, cmake=program, ninja=program
        ),
        "elsewhere": str(tmp_path / "elsewhere"),
        "path": os.environ["PATH"],
    }
    return lambda group: {name: value.format(**places) for name, value in GROUPS[group].items()}


def test_no_program_of_a_target_gets_what_a_user_has_exported(exported) -> None:
    everything = {name: value for group in GROUPS for name, value in exported(group).items()}
    done = make("--eval", "probe:; @env", "probe", **everything | {"PATH": os.environ["PATH"]})
    assert done.returncode == 0, done.stderr
    reached = dict(line.partition("=")[::2] for line in done.stdout.splitlines() if "=" in line)
    assert {name for name in everything if name in reached} - HARMLESS <= OURS | {"PIP_USER", "PYTHONUTF8", "BESIDE"}
    assert (reached["PIP_USER"], reached["PYTHONUTF8"], reached["BESIDE"]) == ("0", "1", "")
    set_here = {
        "PYTHON": "python3",
        "PINS": "-c .ci/constraints.txt",
        "VENV": ".venv",
        "BIN": ".venv/bin",
        "WORKERS": "3",
    }
    assert {name: reached.get(name, "") for name in OURS} == {name: set_here.get(name, "") for name in OURS}


def test_where_pip_looks_and_which_compiler_builds_is_the_users_choice() -> None:
    chosen = {
        "PIP_INDEX_URL": "https://mirror.example/simple", "PIP_FIND_LINKS": "/wheels", "PIP_NO_INDEX": "1",
        "PIP_CACHE_DIR": "/cache", "HTTPS_PROXY": "http://proxy.example", "CXX": "clang++",
        "CMAKE_CXX_COMPILER_LAUNCHER": "ccache", "LD_LIBRARY_PATH": "/opt/gcc/lib64",
    }  # fmt: skip
    done = make("--eval", "probe:; @env", "probe", **chosen)
    assert set(done.stdout.splitlines()) >= {f"{name}={value}" for name, value in chosen.items()}


@pytest.mark.parametrize("group", GROUPS)
def test_a_target_that_imports_the_library_works(group: str, exported) -> None:
    """``NINJA=true`` builds nothing: other tests use the build at the same time."""
    done = make("NINJA=true", "stubs", **exported(group))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout + done.stderr == ""


def test_pip_installs_into_the_environment_whatever_is_exported(exported, tmp_path: Path) -> None:
    checkout, wheels = tmp_path / "checkout", tmp_path / "wheels"
    shutil.copytree(ROOT / ".ci", checkout / ".ci", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("Makefile", "pyproject.toml"):
        shutil.copy(ROOT / name, checkout)
    wheels.mkdir()
    with zipfile.ZipFile(wheels / "tiny-1.0-py3-none-any.whl", "w") as wheel:
        info = "tiny-1.0.dist-info"
        wheel.writestr("tiny.py", "")
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: tiny\nVersion: 1.0\n")
        wheel.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: none\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        wheel.writestr(f"{info}/RECORD", f"tiny.py,,\n{info}/METADATA,,\n{info}/WHEEL,,\n{info}/RECORD,,\n")
    variables = {
        name: value
        for group in ("pip", "other modules", "python", "compiler")
        for name, value in exported(group).items()
    }
    (tmp_path / "pip.conf").write_text("[install]\nuser = true\n")
    variables |= {"PIP_CONFIG_FILE": str(tmp_path / "pip.conf"), "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(wheels)}
    done = make(
        f"PYTHON={sys.executable}",
        "BUILD_TOOLS=tiny",
        "PINS=",
        ".venv/.stamps/build-tools",
        folder=checkout,
        **variables,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert list(checkout.glob(".venv/lib/python3*/site-packages/tiny.py"))
    assert not (tmp_path / "elsewhere").exists()


def test_the_doctor_reports_what_is_exported(exported) -> None:
    variables = exported("other modules") | exported("another build")
    said = make("doctor", **variables).stdout
    assert f"PYTHONPATH={variables['PYTHONPATH']}" in said
    assert "-> unset PYTHONPATH" in said
    assert "-> make debug" not in said, "a new build does not help"
    assert "REFTORCH_BUILD=release: `import reftorch` loads this build; `make` takes no notice" in said


def test_a_home_that_cannot_be_written_is_replaced() -> None:
    probe = ("--eval", "probe:; @echo $$HOME", "probe")
    instead = Path(make(*probe, HOME="/no/such").stdout.strip())
    assert os.access(instead, os.W_OK)
    assert make(*probe, HOME=str(ROOT)).stdout == f"{ROOT}\n"


def test_a_read_only_checkout_is_used_as_it_was_built() -> None:
    """A folder that root cannot write needs a mount; the variable is what `make` learns from the folder."""
    done = make("READ_ONLY=yes", "-n", "lab")
    assert done.returncode == 0
    written = [line for line in done.stdout.splitlines() if re.search(r"ninja|gen_pyi|mkdir|cp ", line)]
    assert written == []
    assert "jupyterlab" in done.stdout


def test_what_was_set_up_for_another_place_is_set_up_again(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    probe = ("--eval", "probe:; @echo $(MADE_HERE)", "probe")
    made_here = tmp_path / make(*probe, folder=tmp_path).stdout.strip()
    others = [made_here.with_name("build-tools"), made_here.with_name("everything")]
    for stamp, stays in ((made_here, True), (made_here.with_name("venv-1"), False)):
        made_here.parent.mkdir(parents=True, exist_ok=True)
        for each in (stamp, *others):
            each.touch()
        make(*probe, folder=tmp_path)
        assert [each.exists() for each in (stamp, *others)] == [stays] * 3
        shutil.rmtree(made_here.parent, ignore_errors=True)


def test_every_target_that_wants_another_build_names_it() -> None:
    for target, build in (("bench", "release"), ("sanitize", "sanitize"), ("fuzz", "sanitize"), ("tsan", "tsan")):
        assert f"REFTORCH_BUILD={build} " in make("-n", target, REFTORCH_BUILD="fast").stdout + " "


def test_make_alone_lists_ten_targets_and_help_all_every_one() -> None:
    def listed(target: str) -> list[str]:
        return re.findall(r"^  make (\S+) +\S", make(target).stdout, re.M)

    assert make().stdout == make("help").stdout
    assert listed("help")[-1] == "help-all"
    assert len(listed("help")) == 11
    described = re.findall(r"^([a-z0-9-]+):.*## ", MAKEFILE, re.M)
    assert listed("help-all") == described
    assert set(listed("help")) <= set(described)
    phony = {name for line in re.findall(r"^\.PHONY: (.*)", MAKEFILE, re.M) for name in line.split()}
    assert phony - {"beside"} == set(described), "a target without a description is not in the list"
