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
#   wheel    builds the wheel, installs it with pip into an environment of its own and runs an op
#
# HOLD=600 keeps JupyterLab open for ten minutes after the step `lab` has found it, for a look in a browser of the host:
# http://localhost:8931/lab?token=fresh.
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
took() { echo "$(. /etc/os-release && echo "$PRETTY_NAME"): $1 took $((SECONDS - began)) s"; }
began=$SECONDS
case $1 in
  lab)
    make lab ARGS='--no-browser --port=8931 --IdentityProvider.token=fresh' >~/lab.log 2>&1 &
    until .venv/bin/python -c "
import urllib.request
urllib.request.urlopen('http://localhost:8931/lab/tree/course/index.ipynb?token=fresh').read()
" 2>/dev/null; do
      kill -0 $! 2>/dev/null || { tail -50 ~/lab.log; echo "make lab ended before JupyterLab answered"; exit 1; }
      sleep 1
    done
    took "make lab, until JupyterLab answers,"
    [[ -z ${HOLD:-} ]] || sleep "$HOLD"
    kill $!
    began=$SECONDS
    .venv/bin/python -m pytest -q -p no:cacheprovider tests/course/test_lessons.py -k 00_setup/lesson
    took "lesson 00"
    ;;
  test) make test; took "make test" ;;
  stop) make doctor; took "make doctor" ;;
  wheel)
    python3 -m venv ~/build-environment
    ~/build-environment/bin/python -m pip wheel -q --no-deps -w ~/wheels .
    took "building the wheel"
    began=$SECONDS
    python3 -m venv ~/installed
    ~/installed/bin/python -m pip install -q ~/wheels/reftorch-*.whl
    cd /
    ~/installed/bin/python -c 'import reftorch as torch; x = torch.ones(3, requires_grad=True); (x * 2).sum().backward(); print(x.grad)'
    took "installing the wheel"
    ;;
esac
PROGRAM
}

for release in "${releases[@]}"; do
  root=$PWD/build/fresh-machine/$release
  rm -rf --one-file-system "$root"
  mkdir -p "$root"
  echo "making a bare $release with: $packages"
  began=$SECONDS
  mmdebstrap --quiet --mode=root --variant=minbase --include="${packages// /,}" "$release" "$root"
  echo "$release: made in $((SECONDS - began)) s"
  chroot "$root" useradd --create-home --shell /bin/bash learner
  mkdir "$root/home/learner/reftorch"
  git archive HEAD | tar -x -C "$root/home/learner/reftorch"
  user_program >"$root/home/learner/steps.sh"
  chroot "$root" chown -R learner:learner /home/learner
  cp -L /etc/resolv.conf /etc/hosts "$root/etc/"
  [[ ! -e /etc/ssl/certs/ca-certificates.crt ]] ||
    install -D -m 644 /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/ca-certificates.crt"
  for step in "${steps[@]}"; do
    # The mounts end with the process that made them, whatever happens in it.
    unshare --mount --pid --fork --kill-child bash -euc "
      mount -t proc proc '$root/proc'
      mount --rbind /dev '$root/dev'
      mount -t tmpfs tmpfs '$root/tmp'
      exec chroot '$root' setpriv --reuid=learner --regid=learner --init-groups env -i \
        HOME=/home/learner USER=learner LANG=C.UTF-8 PATH=/usr/local/bin:/usr/bin:/bin SHELL=/bin/bash HOLD='${HOLD:-}' \
        $(printf '%q ' "${network[@]}") bash /home/learner/steps.sh $step"
  done
  rm -rf --one-file-system "$root"
done
