#!/usr/bin/env bash
# Tries reftorch on bare Debian systems, which lack all that a developer's machine has: `make fresh-machine` runs this.
#
#   fresh_machine.sh [RELEASE ...] [STEP ...]     default: bookworm trixie, lab test
#
# mmdebstrap makes each system with the packages that the README names and nothing else. The last commit is unpacked
# into the home of an ordinary user, who then takes these steps, in a system without /sys and with processes of its own:
#
#   lab      `make lab`; JupyterLab has to answer, and lesson 00 has to give the outputs that it stores
#   test     `make test`
#   stop     `make doctor`, which stops in a kernel with gdb
#   wheel    `make wheel`; then, in a second system that has no compiler, pip installs the wheel with the course, an op
#            runs, `reftorch-course lab` copies the course and JupyterLab answers, lesson 05 runs but for the cells that
#            compile, load_inline says that it needs a compiler, and gdb stops in a kernel and shows its line
#
# WHEEL=path/of/reftorch-...whl tries this wheel, which takes a minute, instead of building one. It has to be for the
# Python of the system: cp311 for bookworm, cp313 for trixie.
#
# HOLD=600 keeps JupyterLab open for ten minutes after the step `lab` or `wheel` has found it, for a look in a browser of
# the host: http://localhost:8931/lab?token=fresh, or all of a lesson by
# `python -m tests.course.browser 00 --url 'http://localhost:8931/lab?token=fresh'`.
#
# Needs root, mmdebstrap, unshare and the network. The systems are made in build/fresh-machine, which is removed for each.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec </dev/null

releases=() steps=()
for word in "$@"; do
  case $word in
    lab | test | stop | wheel) steps+=("$word") ;;
    *) releases+=("$word") ;;
  esac
done
[[ ${#releases[@]} -gt 0 ]] || releases=(bookworm trixie)
[[ ${#steps[@]} -gt 0 ]] || steps=(lab test)

# The packages, read from the README: what it does not name is not there.
packages=$(sed -nE 's/.*`sudo apt install ([a-z0-9 -]+)`.*/\1/p' README.md)
[[ -n $packages ]] || { echo "README.md names no packages to install" >&2; exit 1; }
[[ $(id -u) == 0 ]] || { echo "make fresh-machine needs root, for mmdebstrap and chroot" >&2; exit 1; }
command -v mmdebstrap >/dev/null || { echo "make fresh-machine needs mmdebstrap: apt install mmdebstrap" >&2; exit 1; }

# How this machine reaches the network, if not directly: proxies, certificates, settings of pip that are no folders here.
network=()
while IFS= read -r setting; do network+=("$setting"); done < <(
  env | grep -E '^(https?_proxy|HTTPS?_PROXY|no_proxy|NO_PROXY|SSL_CERT_FILE|PIP_(CERT|INDEX_URL|DEFAULT_TIMEOUT))='
)

# What the user does. Each line of `took` says how long the step took.
user_program() {
  cat <<'PROGRAM'
set -euo pipefail
cd ~/reftorch
# answers PROCESS NAME: waits until the JupyterLab that PROCESS starts shows the start page, and in the end stops it.
answers() {
  until python3 -c "
import urllib.request
urllib.request.urlopen('http://localhost:8931/lab/tree/course/index.ipynb?token=fresh').read()
" 2>/dev/null; do
    kill -0 "$1" 2>/dev/null || { tail -50 ~/lab.log; echo "$2 ended before JupyterLab answered"; exit 1; }
    sleep 1
  done
  took "$2, until JupyterLab answers,"
  [[ -z ${HOLD:-} ]] || sleep "$HOLD"
  kill "$1"
}
took() { echo "$(. /etc/os-release && echo "$PRETTY_NAME"): $1 took $((SECONDS - began)) s"; }
began=$SECONDS
case $1 in
  lab)
    make lab ARGS='--no-browser --port=8931 --IdentityProvider.token=fresh' >~/lab.log 2>&1 &
    answers $! "make lab"
    began=$SECONDS
    .venv/bin/python -m pytest -q -p no:cacheprovider tests/course/test_lessons.py -k 00_setup/lesson
    took "lesson 00"
    ;;
  test) make test; took "make test" ;;
  stop) make doctor; took "make doctor" ;;
  wheel)
    make wheel
    took "make wheel"
    ;;
  installed)
    if command -v c++ g++ gcc cc clang++; then echo "this system has a compiler"; exit 1; fi
    python3 -m venv ~/env
    ~/env/bin/python -m pip install -q "$(echo ~/wheels/reftorch-*.whl)[course]"
    took "installing the wheel and the course"
    began=$SECONDS
    cd ~
    ~/env/bin/python -c '
from course._tools.symbol_map import torch_source
print(torch_source("OperatorHandle::callBoxed"))' | grep "cpp/ATen/core/dispatch/Dispatcher.cpp:[0-9]" # no copy needed
    ~/env/bin/python -c '
import reftorch as torch
x = torch.ones(3, requires_grad=True)
(x * 2).sum().backward()
print(x.grad, torch._C._build_type)'
    ~/env/bin/reftorch-course lab ~/mine --no-browser --port=8931 --IdentityProvider.token=fresh >~/lab.log 2>&1 &
    answers $! "reftorch-course lab"
    began=$SECONDS
    cd ~/mine
    ~/env/bin/reftorch-course start 05
    JUPYTER_PATH=~/mine/.venv/share/jupyter ~/env/bin/jupyter nbconvert --log-level=ERROR --to=notebook --execute \
      --allow-errors --output-dir="$HOME/run" course/work/05_autograd_graph/05_autograd_graph.ipynb
    ~/env/bin/python -c '
import os, nbformat
cells = [c for c in nbformat.read(os.path.expanduser("~/run/05_autograd_graph.ipynb"), 4).cells if c.cell_type == "code"]
shown = [c for c in cells if "raises-exception" not in c.metadata.get("tags", [])]
errors = {o.ename for c in shown for o in c.outputs if o.output_type == "error"}
print(len(cells), "cells; errors:", errors)
assert errors == {"RebuildFailed"}, errors  # the cells that compile the library anew'
    took "lesson 05"
    began=$SECONDS
    .venv/bin/python -c '
from reftorch.utils.cpp_extension import load_inline
load_inline("rank", "int64_t rank(const at::Tensor& self) { return self.dim(); }", functions="rank")' >~/said 2>&1 || true
    grep "no compiler" ~/said
    .venv/bin/python -m reftorch.debug
    .venv/bin/gdb -nx -q -batch -x reftorch/debug/gdb/init.py -ex 'rt-op mul' -ex run -ex frame \
      --args .venv/bin/python -c 'import reftorch as torch; torch.ones(2) * 2' >~/said 2>&1
    grep -A1 "#0 .*mul_kernel.*cpp/ATen/native/cpu/BinaryOpsKernel.cpp:" ~/said | grep "^[0-9].*iter" # the line of C++
    took "the stops"
    ;;
esac
PROGRAM
}

# bare ROOT RELEASE PACKAGES: makes a system with an ordinary user, and with the settings of this machine's network.
# The user `learner` and the folder /home/learner exist in that system alone; this machine needs neither.
bare() {
  rm -rf --one-file-system "$1"
  mkdir -p "$1"
  echo "making a bare $2 with: $3"
  local began=$SECONDS
  mmdebstrap --quiet --mode=root --variant=minbase --include="${3// /,}" "$2" "$1"
  echo "$2: made in $((SECONDS - began)) s"
  chroot "$1" useradd --create-home --shell /bin/bash learner
  user_program >"$1/home/learner/steps.sh"
  cp -L /etc/resolv.conf /etc/hosts "$1/etc/"
  [[ ! -e /etc/ssl/certs/ca-certificates.crt ]] ||
    install -D -m 644 /etc/ssl/certs/ca-certificates.crt "$1/etc/ssl/certs/ca-certificates.crt"
}

# in_system ROOT STEP: the ordinary user takes a step. The mounts end with the process that made them.
in_system() {
  chroot "$1" chown -R learner:learner /home/learner
  unshare --mount --pid --fork --kill-child bash -euc "
    mount -t proc proc '$1/proc'
    mount --rbind /dev '$1/dev'
    mount -t tmpfs tmpfs '$1/tmp'
    exec chroot '$1' setpriv --reuid=learner --regid=learner --init-groups env -i \
      HOME=/home/learner USER=learner LANG=C.UTF-8 PATH=/usr/local/bin:/usr/bin:/bin SHELL=/bin/bash HOLD='${HOLD:-}' \
      $(printf '%q ' "${network[@]}") bash /home/learner/steps.sh $2"
}

for release in "${releases[@]}"; do
  root=$PWD/build/fresh-machine/$release
  if [[ -z ${WHEEL:-} || ${steps[*]} != wheel ]]; then
    bare "$root" "$release" "$packages"
    mkdir "$root/home/learner/reftorch"
    git archive HEAD | tar -x -C "$root/home/learner/reftorch"
  fi
  for step in "${steps[@]}"; do
    [[ $step == wheel && -n ${WHEEL:-} ]] || in_system "$root" "$step"
    [[ $step == wheel ]] || continue
    bare "$root-installed" "$release" "python3-venv gdb" # the README names them, too
    mkdir "$root-installed/home/learner/wheels" "$root-installed/home/learner/reftorch"
    cp "${WHEEL:-$(echo "$root"/home/learner/reftorch/build/wheel/dist/reftorch-*.whl)}" "$root-installed/home/learner/wheels"
    in_system "$root-installed" installed
    rm -rf --one-file-system "$root-installed"
  done
  rm -rf --one-file-system "$root"
done
