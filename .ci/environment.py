"""Checks the tools that `make` needs, makes .venv, and installs packages into it.

Mirrors: nothing in PyTorch: its developers bring their own environment.
Left out: Windows outside WSL2, macOS.

    python3 .ci/environment.py check            name everything that is missing, and how to install it
    python3 .ci/environment.py venv             make .venv, or repair an incomplete one
    python3 .ci/environment.py install ARG ...  pip install ARG ... into .venv

This program uses only the standard library and the syntax of Python 3.6, so that an old python3 can report that it is
old.
"""

import glob
import os
import re
import shutil
import subprocess
import sys
import sysconfig

OLDEST = (3, 10)
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VENV = os.path.join(ROOT, ".venv")
VENV_PYTHON = os.path.join(VENV, "bin", "python")
VENV_PARTS = {"bin", "lib", "lib64", "include", "share", "etc", "pyvenv.cfg", ".gitignore", ".stamps"}

NO_NETWORK = re.compile(
    "NewConnectionError|Temporary failure in name resolution|Name or service not known|Network is unreachable"
    "|ProxyError|ConnectTimeout|ReadTimeout|Connection refused|SSLError|Max retries exceeded"
)


def say(text):
    print("reftorch: " + text, flush=True)


def stop(problem, *mends):
    """Print the problem and, indented below it, the ways to fix it, and exit."""
    sys.stdout.flush()
    print("\nreftorch: " + problem, file=sys.stderr)
    for mend in mends:
        print("    " + mend, file=sys.stderr)
    sys.exit(1)


def runs(*command):
    try:
        return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0
    except OSError:
        return False


def other_pythons():
    """Return the names of interpreters on PATH that are new enough and start, the newest first."""
    names = [f"python3.{minor}" for minor in (14, 13, 12, 11, 10)]
    return [name for name in names if runs(name, "--version")]


def check_python():
    if sys.version_info < OLDEST:
        found = other_pythons()
        mend = f"run again with: make PYTHON={found[0]}" if found else "install Python 3.10 to 3.14"
        return "{} is Python {}.{}; reftorch needs 3.10 or newer.".format(sys.executable, *sys.version_info[:2]), [mend]
    return None


def check_venv_module():
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError as error:  # reported, not ignored: Debian has both modules in a package of their own
        return "Python's venv module does not work here ({}).".format(error), [
            "Debian, Ubuntu:  sudo apt install python{}.{}-venv".format(*sys.version_info[:2]),
            "without root:    use another Python that has it: make PYTHON=/path/to/python3",
        ]
    return None


def check_headers():
    include = sysconfig.get_path("include")
    if not os.path.exists(os.path.join(include, "Python.h")):
        return "Python's C headers are missing ({}/Python.h).".format(include), [
            "Debian, Ubuntu:  sudo apt install python{}.{}-dev".format(*sys.version_info[:2]),
            "Fedora:          sudo dnf install python3-devel",
            "without root:    use another Python that has them: make PYTHON=/path/to/python3",
        ]
    return None


def check_compiler():
    mends = [
        "Debian, Ubuntu:  sudo apt install build-essential",
        "Fedora:          sudo dnf install gcc-c++ make",
        "another one:     make CXX=/path/to/g++",
    ]
    asked = os.environ.get("CXX")
    compiler = next((c for c in ([asked] if asked else ["c++", "g++", "clang++"]) if shutil.which(c.split()[0])), None)
    if compiler is None:
        return "No C++ compiler{}.".format(" at CXX=" + asked if asked else " (tried c++, g++, clang++)"), mends
    probe = "#include <optional>\n#include <string_view>\nint main() { std::optional<int> x{0}; return *x; }\n"
    done = subprocess.run(
        [*compiler.split(), "-std=c++17", "-fsyntax-only", "-x", "c++", "-"],
        input=probe,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        universal_newlines=True,
    )
    if done.returncode != 0:
        first = (done.stderr.strip().splitlines() or ["it said nothing"])[0]
        return "{} cannot compile C++17: {}".format(compiler, first), mends
    return None


def check():
    problems = [found for found in (check_python(), check_venv_module(), check_headers(), check_compiler()) if found]
    for problem, mends in problems[:-1]:
        print("\nreftorch: " + problem, file=sys.stderr)
        for mend in mends:
            print("    " + mend, file=sys.stderr)
    if problems:
        stop(problems[-1][0], *problems[-1][1])


def made_elsewhere():
    """Return whether .venv was made for another path, which its programs contain."""
    try:
        with open(os.path.join(VENV, "bin", "activate"), encoding="utf-8", errors="surrogateescape") as script:
            text = script.read()
    except OSError:
        return False
    return not any(before + VENV in text for before in "\"'=")


def make_venv():
    new_enough = f"import sys; sys.exit(sys.version_info < {OLDEST})"
    has_pip = [(VENV_PYTHON, "-m", "pip", "--version"), (VENV_PYTHON, "-m", "ensurepip")]
    moved = made_elsewhere()
    if not moved and runs(VENV_PYTHON, "-c", new_enough) and any(runs(*command) for command in has_pip):
        return
    if os.path.isdir(VENV) and os.listdir(VENV):
        strangers = set(os.listdir(VENV)) - VENV_PARTS
        if strangers and not os.path.exists(os.path.join(VENV, "pyvenv.cfg")):
            stop(
                "{} is not a virtual environment; it holds {}.".format(VENV, ", ".join(sorted(strangers)[:3])),
                "move it away and run the same command again",
            )
        why = "was made for another place" if moved else "is incomplete or whose Python is missing"
        say("repairing .venv, which " + why)
    else:
        say("making .venv with Python {}.{}.{}".format(*sys.version_info[:3]))
    import venv  # late, because check() reports that it is missing

    try:
        venv.create(VENV, clear=True, symlinks=True, with_pip=True)
    except (OSError, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        stop(
            "python -m venv failed; its output is above.",
            "Debian, Ubuntu:  sudo apt install python{}.{}-venv".format(*sys.version_info[:2]),
        )
    for name in ("CMakeCache.txt", "build.ninja"):  # they name the former Python, and perhaps a former place
        for file in glob.glob(os.path.join(glob.escape(ROOT), "build", "*", name)):
            os.remove(file)


def install(arguments):
    command = [VENV_PYTHON, "-m", "pip", "install", "--disable-pip-version-check", "--retries", "2", *arguments]
    errors = []
    find_checkout_from_there()
    with subprocess.Popen(command, stderr=subprocess.PIPE, universal_newlines=True) as pip:
        for line in pip.stderr:
            errors.append(line)
            sys.stderr.write(line)
    if pip.returncode == 0:
        return find_checkout_from_there()
    if NO_NETWORK.search("".join(errors)):
        stop(
            "pip could not reach the package index.",
            "check the network, and behind a proxy set HTTPS_PROXY; then run the same command again",
            "with a mirror or downloaded wheels: set PIP_INDEX_URL or PIP_FIND_LINKS",
        )
    stop(
        "pip install failed; its output is above.",
        "run the same command again; if a pinned version is gone from the index: make unpinned",
    )


def find_checkout_from_there():
    """Let the .pth file of the editable install lead to the checkout by a relative path.

    Then Python also finds the checkout after a move, and the file has no letters beside ASCII's: Python 3.11 and 3.12
    read it in the encoding of the locale, and with LC_ALL=C no program starts if the checkout's path has others.
    """
    for file in glob.glob(os.path.join(glob.escape(VENV), "lib", "python3*", "site-packages", "_editable_*.pth")):
        with open(file, encoding="utf-8", errors="surrogateescape") as stream:
            is_ours = ROOT in stream.read().splitlines()
        if is_ours:
            with open(file, "w", encoding="ascii") as stream:
                stream.write(os.path.relpath(ROOT, os.path.dirname(file)) + "\n")


def main(argv):
    if argv[:1] == ["check"] and len(argv) == 1:
        check()
    elif argv == ["venv"]:
        make_venv()
    elif argv[:1] == ["install"] and len(argv) > 1:
        install(argv[1:])
    else:
        stop("usage: environment.py check | venv | install ARG ...")


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        say("interrupted. Run the same command again to continue.")
        sys.exit(130)
