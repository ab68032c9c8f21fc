// Mirrors: nothing in PyTorch: it needs an extension of its own for each editor.
// Left out: the compiler; the task that builds says what it lacks.
//
// What a configuration needs on this machine, looked at before anything is built, and the configurations of
// configurations.json that need something which is not everywhere: another extension, or cuda-gdb.
const { execFile } = require("child_process");
const fs = require("fs");
const path = require("path");
const { findGdb } = require("./gdb");

const CONFIGURATIONS = path.join(__dirname, "configurations.json");

// Throws, with what to install, where a configuration of ours cannot start.
async function check(configuration, folder) {
  const inFolder = (text) => (typeof text === "string" ? text.split("${workspaceFolder}").join(folder || ".") : text);
  const { type, request, gdb } = configuration;
  const python = inFolder([configuration.python].flat()[0] || configuration.program);
  const made = "Run `make lab` in a terminal: it makes .venv, with Python's debugger and gdb.";
  if ((type === "reftorch" || request === "launch") && python && path.isAbsolute(python) && !fs.existsSync(python)) {
    throw new Error(`There is no ${python}. ${made}`);
  }
  if (type === "reftorch" && python && !(await hasDebugpy(python))) {
    throw new Error(`${python} has no debugpy. ${made}`);
  }
  if (type === "reftorch-gdb") await findGdb(inFolder(gdb), folder);
}

function hasDebugpy(python) {
  const probe = "import importlib.util, sys; sys.exit(importlib.util.find_spec('debugpy') is None)";
  return new Promise((resolve) => execFile(python, ["-c", probe], { timeout: 60000 }, (error) => resolve(!error)));
}

// The configurations that can start in this editor: some extension has a debugger of their type, and their gdb is there.
function offered({ extensions }) {
  const debuggers = extensions.all.flatMap(({ packageJSON }) => (packageJSON.contributes || {}).debuggers || []);
  const types = new Set(debuggers.map(({ type }) => type));
  const isOnPath = (name) => process.env.PATH.split(path.delimiter).some((place) => fs.existsSync(path.join(place, name)));
  return JSON.parse(fs.readFileSync(CONFIGURATIONS, "utf8")).filter(
    ({ type, gdb = "/" }) => types.has(type) && (gdb.includes("/") || isOnPath(gdb)),
  );
}

module.exports = { check, offered };
