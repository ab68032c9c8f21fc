#!/usr/bin/env bash
# Tries reftorch on arm64 Linux, which is what a container on an Apple laptop is: `make arm64` runs this on x86-64.
#
#   arm64.sh [STEP ...] [PATH or option of pytest ...]     default: lab test stop
#
# mmdebstrap makes a bare arm64 Debian with the packages that the README names, and qemu-user runs its programs. The last
# commit is unpacked into the home of an ordinary user, who then takes these steps:
#
#   lab       `make lab ARGS=--version`: the environment, every package of the course, the Debug build; then a training
#             step, and what the doctor says
#   test      the tests whose results depend on the processor, or those that PATH names, with the Debug build
#   release   `make release`, and the same tests with that build
#   stop      a gdb of this machine stops in a kernel of the emulated program, and shows a tensor and both stacks
#
# `lab` makes the system anew; the others take the one that is there, in build/arm64, and put the last commit
# into it. Remove that folder when you are done.
#
# The compiler alone is a program for x86-64: Debian's cross compiler of the same version, which is put into the system
# under the name `c++`, because an emulated compiler would take hours.
#
# What emulation does not show: gdb inside the system, because qemu-user has no ptrace, so `%%gdb`, the doctor's stop and
# VS Code's C++ are not tried (`stop` asks qemu itself, which does not tell gdb where thread_local variables are); how long
# anything takes; and the order in which a real processor lets other threads see writes.
#
# Needs root, mmdebstrap, qemu-user-static, unshare, a kernel with binfmt_misc, the network, and 3 GB in build/.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec </dev/null

steps=() arguments=()
for word in "$@"; do
  case $word in
    lab | test | release | stop) steps+=("$word") ;;
    *) arguments+=("$word") ;;
  esac
done
[[ ${#steps[@]} -gt 0 ]] || steps=(lab test stop)

missing() {
  echo "make arm64 needs $1" >&2
  exit 1
}
[[ $(uname -m) == x86_64 ]] || missing "x86-64; on arm64 say: make test"
[[ $(id -u) == 0 ]] || missing "root, for mmdebstrap and chroot"
for tool in mmdebstrap unshare; do
  command -v $tool >/dev/null || missing "$tool: apt install mmdebstrap util-linux"
done

# The kernel starts an arm64 program by qemu. `F` in the registration opens qemu at once, so that it works in the system,
# which does not contain it. What we register, we take back at the end.
register() {
  local place=/proc/sys/fs/binfmt_misc registration=/usr/lib/binfmt.d/qemu-aarch64.conf
  [[ -e $place/register ]] || mount -t binfmt_misc binfmt_misc $place || missing "a kernel with binfmt_misc"
  [[ ! -e $place/qemu-aarch64 ]] || return 0
  [[ -e $registration ]] || missing "qemu-user-static: apt install qemu-user-static"
  cat $registration >$place/register
  trap 'echo -1 >/proc/sys/fs/binfmt_misc/qemu-aarch64' EXIT
}

# The packages that the README names; of the compiler, only what programs need that it made (OpenMP), and make.
packages=$(sed -nE 's/.*`sudo apt install ([a-z0-9 -]+)`.*/\1/p' README.md)
[[ $packages == *build-essential* ]] || { echo "README.md names no packages to install" >&2; exit 1; }
packages=${packages/build-essential/make libgomp1}

# How this machine reaches the network, as in fresh_machine.sh.
network=()
while IFS= read -r setting; do network+=("$setting"); done < <(
  env | grep -E '^(https?_proxy|HTTPS?_PROXY|no_proxy|NO_PROXY|SSL_CERT_FILE|PIP_(CERT|INDEX_URL|DEFAULT_TIMEOUT))='
)

release=bookworm
folder=$PWD/build/arm64
system=$folder/system
# The user `learner` and the folder /home/learner are made below, in the new system; this machine needs neither.
home=$system/home/learner

# Tests of arithmetic and conversions. All of `make test` would take hours, and its debuggers need ptrace.
if [[ ${#arguments[@]} -eq 0 ]]; then
  arguments=(tests/native/test_{tensor_conversions,unary_ops,linear_algebra}.py tests/test__determinism.py)
fi

user_program() {
  cat <<'PROGRAM'
set -euo pipefail
cd ~/reftorch
step=$1
shift
began=$SECONDS
case $step in
  lab)
    make lab ARGS=--version
    .venv/bin/python -c '
import platform
import reftorch as torch
w = torch.zeros(2, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for _ in range(100):
    opt.zero_grad()
    (w - torch.tensor([1.0, -2.0])).pow(2).sum().backward()
    opt.step()
print(platform.machine(), torch._C._build_type, w)
assert platform.machine() == "aarch64" and torch.allclose(w, torch.tensor([1.0, -2.0]))'
    make doctor || true # its checks of ptrace fail
    ;;
  test) REFTORCH_BUILD=debug .venv/bin/python -m pytest -q -n 0 -p no:cacheprovider "$@" ;;
  release)
    make release
    REFTORCH_BUILD=release .venv/bin/python -m pytest -q -n 0 -p no:cacheprovider "$@"
    ;;
  stopped)
    QEMU_GDB=4711 .venv/bin/python -c '
import reftorch as torch
a = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
print((a * a).tolist())'
    ;;
esac
echo "arm64, emulated: $step took $((SECONDS - began)) s"
PROGRAM
}

make_system() {
  rm -rf --one-file-system "$folder"
  mkdir -p "$folder"
  echo "making a bare arm64 $release with: $packages"
  local began=$SECONDS
  mmdebstrap --quiet --mode=root --variant=minbase --architectures=arm64 --include="${packages// /,}" $release "$system"
  # The cross compiler: its programs for x86-64 with the libraries of that system, which are unpacked and not installed.
  mmdebstrap --quiet --mode=root --variant=extract --architectures=amd64 --include=g++-aarch64-linux-gnu $release "$folder/compiler"
  (
    cd "$folder/compiler"
    cp -a lib/x86_64-linux-gnu/. usr/lib/x86_64-linux-gnu/
    cp -a lib64 "$system/"
    tar -c usr/lib/x86_64-linux-gnu usr/lib/gcc-cross usr/aarch64-linux-gnu usr/bin/aarch64-linux-gnu-*
  ) | tar -x -C "$system"
  rm -rf --one-file-system "$folder/compiler"
  ln -s aarch64-linux-gnu-g++ "$system/usr/bin/c++"
  ln -s aarch64-linux-gnu-gcc "$system/usr/bin/cc"
  for tool in ar ranlib readelf; do ln -s aarch64-linux-gnu-$tool "$system/usr/bin/$tool"; done
  chroot "$system" useradd --create-home --shell /bin/bash learner
  mkdir "$home/reftorch"
  cp -L /etc/resolv.conf /etc/hosts "$system/etc/"
  [[ ! -e /etc/ssl/certs/ca-certificates.crt ]] ||
    install -D -m 644 /etc/ssl/certs/ca-certificates.crt "$system/etc/ssl/certs/ca-certificates.crt"
  echo "made in $((SECONDS - began)) s"
}

# in_system STEP ARGUMENTS: the ordinary user takes a step. QEMU_CPU names a processor without SVE, as Apple's are: the
# products of OpenBLAS's kernels for SVE are wrong under qemu 7.2, and numpy's with them.
in_system() {
  user_program >"$home/steps.sh"
  chroot "$system" chown -R learner:learner /home/learner
  unshare --mount --pid --fork --kill-child bash -euc "
    mount -t proc proc '$system/proc'
    mount --rbind /dev '$system/dev'
    mount -t tmpfs tmpfs '$system/tmp'
    exec chroot '$system' setpriv --reuid=learner --regid=learner --init-groups env -i QEMU_CPU=neoverse-n1 \
      HOME=/home/learner USER=learner LANG=C.UTF-8 PATH=/usr/local/bin:/usr/bin:/bin SHELL=/bin/bash \
      $(printf '%q ' "${network[@]}") bash /home/learner/steps.sh $(printf '%q ' "$@")"
}

# The files of the last commit that differ from those of the commit that is there; they are newer than what was built.
put_sources() {
  local files=()
  [[ ! -e $folder/commit ]] || mapfile -t files < <(git diff --name-only --diff-filter=d "$(<"$folder/commit")" HEAD)
  if [[ ! -e $folder/commit || ${#files[@]} -gt 0 ]]; then
    git archive HEAD "${files[@]}" | tar -x --touch -C "$home/reftorch"
  fi
  git rev-parse HEAD >"$folder/commit"
}

# qemu waits for a gdb to connect. That gdb has to know arm64: the one of .venv does, and Debian's gdb-multiarch.
stop() {
  local gdb said=$folder/stop.log
  gdb=$(command -v "$PWD/.venv/bin/gdb" gdb-multiarch | head -1) || missing "a gdb that knows arm64: make lab, or apt install gdb-multiarch"
  in_system stopped &
  sleep 3
  timeout 300 "$gdb" -nx -q -batch -ex "set sysroot $system" -x "$home/reftorch/reftorch/debug/gdb/init.py" \
    -ex "set substitute-path /home/learner $home" -ex "file $system/usr/bin/python3.11" -ex 'target remote :4711' \
    -ex 'set breakpoint pending on' -ex 'break mul_kernel' -ex continue -ex 'print iter' -ex rt-bt -ex delete -ex continue \
    >"$said" 2>&1 || true
  wait
  cat "$said"
  grep -q '^Thread 1 hit Breakpoint .*mul_kernel' "$said"
  grep -q '\[1, 2, 3, 4\]' "$said"
  grep -q '^#0 *c++ .*BinaryOpsKernel.cpp' "$said"
  grep -q '^#[0-9]* *py  *<string>:4 ' "$said"
  echo "arm64, emulated: gdb stopped in a kernel"
}

register
for step in "${steps[@]}"; do
  [[ $step != lab ]] || make_system
  [[ -d $home ]] || missing "the system: make arm64 ARGS=lab"
  put_sources
  case $step in
    lab) in_system lab ;;
    stop) stop ;;
    *) in_system "$step" "${arguments[@]}" ;;
  esac
done
