#!/usr/bin/env bash
# Installs code-server, a VS Code in a browser, from npm into the given folder (build/vscode). `make test-vscode` runs this
# script first. The native modules are compiled here, and no ready-made binaries are downloaded.
#
# Mirrors: nothing in PyTorch: it tests no editor.
# Left out: extensions from a marketplace. `make vsix` packs reftorch's extension.
set -euo pipefail

version=4.100.3
node_major=20 # the version that this code-server needs
place=${1:?the folder to install into}

missing() {
  echo "reftorch: no VS Code to test: $1" >&2
  exit 2
}
for tool in node npm c++ make rg chromium; do
  command -v $tool >/dev/null || missing "$tool is not on PATH (Debian: apt install nodejs npm g++ make ripgrep chromium)"
done
major=$(node -p 'process.versions.node.split(".")[0]')
[ "$major" = $node_major ] || missing "code-server $version needs node $node_major, and $(command -v node) is $(node --version)"

mkdir -p "$place"
place=$(cd "$place" && pwd)
cd "$place"
done=.installed-$version-node-$(node --version)
[ -e "$done" ] && exit
echo "reftorch: installing code-server $version into $PWD: some minutes, once"

# node-gyp comes with npm. It uses the headers of the installed node, if there are any, instead of downloading them.
gyp=$(npm root --global 2>/dev/null)/npm/node_modules/node-gyp/bin/node-gyp.js
[ -e "$gyp" ] || gyp=$(command -v node-gyp) || missing "no node-gyp, neither in npm nor on PATH"
prefix=$(node -p 'require("path").resolve(process.execPath, "../..")')
headers=()
[ -e "$prefix/include/node/node.h" ] && headers=("--nodedir=$prefix")

packages() { npm install --no-audit --no-fund --ignore-scripts --loglevel=error "$@"; }
compile() { # compile MODULE COMMAND...: runs the command in the module's folder, which contains binding.gyp
  echo "reftorch:   compiling $1"
  (cd "node_modules/$1" && shift && "$@" ${headers[@]+"${headers[@]}"} >compile.log 2>&1) && return
  tail -n 30 "node_modules/$1/compile.log" >&2
  missing "its module $1 does not compile: see above"
}

echo '{"private": true}' >package.json
packages "code-server@$version"
compile argon2 "$PWD/node_modules/.bin/node-pre-gyp" rebuild --build-from-source
cd node_modules/code-server/lib/vscode
packages --omit=dev
(cd extensions && packages --omit=dev)
for module in @vscode/spdlog native-watchdog node-pty; do
  compile $module node "$gyp" rebuild
done
# The editor searches files with ripgrep.
mkdir -p node_modules/@vscode/ripgrep/bin
ln -sf "$(command -v rg)" node_modules/@vscode/ripgrep/bin/rg
cd "$place"
node node_modules/code-server/out/node/entry.js --version
touch "$done"
