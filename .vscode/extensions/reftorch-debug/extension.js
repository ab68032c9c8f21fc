// Mirrors: nothing in PyTorch: it needs an extension of its own for each editor.
// Left out: a view of its own; what there is appears in the editor's own debug views and notebooks.
//
// Two types of debug configuration: `reftorch`, Python and C++ in one process by one click, and `reftorch-gdb`, C++ only.
// And a kernel for notebooks, in notebook.js.
const path = require("path");
const vscode = require("vscode");
const { Recent, withProgram } = require("./front");
const { GdbAdapter, findGdb } = require("./gdb");
const { offerKernel } = require("./notebook");
const { PythonAdapter } = require("./python");
const { nameOfRank, pick, rankOf } = require("./processes");
const { check, offered } = require("./ready");

const gdbs = new Map(); // pid -> who waits for the GdbAdapter of that process

async function nativeAdapter(session) {
  const { gdb, gdbArgs = ["-nx", "-q", "-i=dap"], pid } = session.configuration;
  const waiting = gdbs.get(pid);
  gdbs.delete(pid);
  try {
    const folder = session.workspaceFolder && session.workspaceFolder.uri.fsPath;
    const adapter = new GdbAdapter(vscode, await findGdb(gdb, folder), gdbArgs);
    if (waiting) waiting.resolve(adapter);
    return new vscode.DebugAdapterInlineImplementation(adapter);
  } catch (error) {
    if (waiting) waiting.reject(error);
    throw error; // the editor shows it
  }
}

// debugpy gets into a running process by the first gdb on the PATH. The folder of our gdb is put before the others, because
// an old gdb of the system may end the process, as gdb 13 does on a processor with AMX (see core/find_gdb.py).
function environmentOfDebugpy({ gdb, processId }) {
  if (!processId || !gdb || !path.isAbsolute(gdb)) return process.env;
  return { ...process.env, PATH: [path.dirname(gdb), process.env.PATH].join(path.delimiter) };
}

function pythonAdapter(session) {
  const { gdb, gdbArgs, python, connect } = session.configuration;
  // Both debuggers of a process write into one console, so what the program prints is in sight wherever it stopped. What is
  // typed there goes to the debugger of the selected frame.
  const start = (configuration) => {
    const isNative = configuration.type === "reftorch-gdb";
    const { MergeWithParent, Separate } = vscode.DebugConsoleMode;
    return vscode.debug.startDebugging(session.workspaceFolder, configuration, {
      parentSession: session,
      lifecycleManagedByParent: isNative,
      consoleMode: isNative ? MergeWithParent : Separate,
      suppressSaveBeforeStart: true,
    });
  };
  const adapter = new PythonAdapter(vscode, {
    startNative: (pid) =>
      new Promise((resolve, reject) => {
        gdbs.set(pid, { resolve, reject });
        const rank = rankOf(pid);
        const name = `C++ of ${rank ? nameOfRank(rank) : `process ${pid}`}`;
        start({ type: "reftorch-gdb", request: "attach", name, pid, gdb, gdbArgs }).then(
          (started) => started || reject(new Error("gdb was not started")),
          reject,
        );
      }),
    // What debugpy proposes, with our type and our gdb.
    startPython: (configuration) => {
      const rank = rankOf(configuration.subProcessId);
      return start({ ...configuration, ...(rank && { name: nameOfRank(rank) }), type: "reftorch", gdb, gdbArgs, python });
    },
    warn: (text) => vscode.window.showWarningMessage(text),
  });
  if (connect) adapter.connect(connect.host || "127.0.0.1", connect.port);
  else {
    const env = environmentOfDebugpy(session.configuration);
    adapter.spawn([python].flat()[0], ["-Xfrozen_modules=off", "-m", "debugpy.adapter"], { env });
  }
  return new vscode.DebugAdapterInlineImplementation(adapter);
}

// What is done with a configuration before its task builds: a file to run is found, and what is missing is said. The task is
// named `build` in our configurations, because the editor runs a `preLaunchTask` even where it does not know the debugger.
const prepare = (recent) => async (folder, { build, ...config }) => {
  const place = folder && folder.uri.fsPath;
  try {
    const found = withProgram(vscode, place, config, recent);
    // A gdb that a Python session waits for says itself why it cannot start, and Python goes on without it.
    if (!/^reftorch(-gdb)?$/.test(found.type) || gdbs.has(found.pid)) return found;
    await check(found, place);
    return build ? { preLaunchTask: build, ...found } : found;
  } catch (error) {
    vscode.window.showErrorMessage(`reftorch: ${error.message}`);
    return undefined; // ends the start
  }
};

exports.activate = (context) => {
  const { debug, commands, window } = vscode;
  const recent = new Recent(vscode, context.workspaceState);
  offerKernel(vscode, context.subscriptions);
  context.subscriptions.push(
    commands.registerCommand("reftorch-debug.pickProcess", () => pick(vscode, "process")),
    commands.registerCommand("reftorch-debug.pickKernel", () => pick(vscode, "kernel")),
    commands.registerCommand("reftorch-debug.pickWorker", () => pick(vscode, "worker")),
    commands.registerCommand("reftorch-debug.pickRank", () => pick(vscode, "rank")),
    window.onDidChangeActiveTextEditor((editor) => recent.seeEditor(editor)),
    debug.registerDebugConfigurationProvider("*", { resolveDebugConfiguration: prepare(recent) }),
    debug.registerDebugConfigurationProvider(
      "reftorch",
      { provideDebugConfigurations: () => offered(vscode) },
      vscode.DebugConfigurationProviderTriggerKind.Dynamic,
    ),
    debug.registerDebugConfigurationProvider("reftorch", {
      // debugpy takes the interpreter and its arguments as one list.
      resolveDebugConfigurationWithSubstitutedVariables: (folder, { pythonArgs = [], ...config }) => ({
        ...config,
        ...(config.processId ? { processId: Number(config.processId) } : {}),
        python: [config.python, ...pythonArgs].flat(),
      }),
    }),
    debug.registerDebugConfigurationProvider("reftorch-gdb", {
      // The picker gives text and gdb wants a number; gdb starts a program with the variables given and no others.
      resolveDebugConfigurationWithSubstitutedVariables: (folder, config) => ({
        ...config,
        ...(config.pid ? { pid: Number(config.pid) } : {}),
        ...(config.env ? { env: { ...process.env, ...config.env } } : {}),
      }),
    }),
    debug.registerDebugAdapterDescriptorFactory("reftorch", { createDebugAdapterDescriptor: pythonAdapter }),
    debug.registerDebugAdapterDescriptorFactory("reftorch-gdb", { createDebugAdapterDescriptor: nativeAdapter }),
  );
};
