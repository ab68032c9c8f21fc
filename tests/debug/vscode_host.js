// Mirrors: nothing in PyTorch: tests of tools that it does not have.
// Left out: everything of VS Code that the extension does not use; a window.
//
// An editor without a window: the part of VS Code's API that our extension uses, driven by JSON lines. `node
// vscode_host.js EXTENSION WORKSPACE` reads {start: CONFIGURATION, breakpoints: {PATH: [LINE]}}, {session, message},
// {pick: COMMAND}, {front: PATH} (null: no editor is open), {resolve: CONFIGURATION} and {offered: [TYPE]} (the debuggers of
// other extensions); it writes {opened}, {session, message}, {closed}, {warning}, {error}, {information}, {picked},
// {resolved} and {offered}. For notebooks see vscode_notebooks.js.
const Module = require("module");
const path = require("path");
const readline = require("readline");

const [extensionPath, workspace] = process.argv.slice(2);
const tell = (what) => process.stdout.write(JSON.stringify(what) + "\n");
const providers = new Map();
const dynamic = new Map();
const factories = new Map();
const commands = new Map();
const sessions = new Map();
let breakpoints = {};
let count = 0;

class EventEmitter {
  listeners = [];
  event = (listener) => this.listeners.push(listener);
  fire(what) {
    for (const listener of this.listeners) listener(what);
  }
}

class DebugAdapterInlineImplementation {
  constructor(implementation) {
    this.implementation = implementation;
  }
}

// An editor's session: it says initialize, launch or attach, breakpoints, configurationDone; then it is driven.
class Session {
  constructor(configuration, { parentSession: parent, consoleMode } = {}) {
    this.sharesConsole = consoleMode === vscode.DebugConsoleMode.MergeWithParent;
    this.id = `${++count}`;
    this.name = configuration.name;
    this.type = configuration.type;
    this.configuration = configuration;
    this.parentSession = parent;
    this.workspaceFolder = folder;
    this.answers = new Map();
    this.number = 500000;
    this.initialized = new Promise((resolve) => (this.onInitialized = resolve));
    this.ended = new Promise((resolve) => (this.onEnded = resolve));
    sessions.set(this.id, this);
  }

  async start() {
    const { implementation } = await factories.get(this.type).createDebugAdapterDescriptor(this);
    this.adapter = implementation;
    const opened = { id: this.id, parent: this.parentSession && this.parentSession.id, sharesConsole: this.sharesConsole };
    tell({ opened: { ...opened, configuration: this.configuration } });
    implementation.onDidSendMessage((message) => this.hear(message));
    const ask = (command, args) => Promise.race([this.ask(command, args), this.ended]);
    const places = { linesStartAt1: true, columnsStartAt1: true, pathFormat: "path" };
    const client = { adapterID: this.type, ...places, supportsStartDebuggingRequest: true };
    const body = await ask("initialize", client);
    tell({ session: this.id, message: { type: "event", event: "capabilities", body } });
    const begun = ask(this.configuration.request, this.configuration);
    begun.catch(() => {}); // reported where it is awaited
    await Promise.race([this.initialized, begun]);
    for (const [file, lines] of Object.entries(breakpoints)) {
      await ask("setBreakpoints", { source: { path: file }, breakpoints: lines.map((line) => ({ line })) });
    }
    await ask("configurationDone", {});
    await begun;
  }

  ask(command, args) {
    return new Promise((resolve, reject) => {
      const seq = ++this.number;
      this.answers.set(seq, { resolve, reject });
      this.adapter.handleMessage({ type: "request", seq, command, arguments: args });
    });
  }

  hear(message) {
    const asked = message.type === "response" && this.answers.get(message.request_seq);
    if (asked) {
      this.answers.delete(message.request_seq);
      return message.success ? asked.resolve(message.body) : asked.reject(new Error(message.message));
    }
    if (message.type === "event" && message.event === "initialized") this.onInitialized();
    tell({ session: this.id, message });
    if (message.type === "event" && message.event === "terminated") {
      this.onEnded();
      // As an editor does; an adapter that has gone does not answer.
      this.ask("disconnect", {}).catch(() => {});
      tell({ closed: this.id });
    }
  }
}

const folder = { uri: { fsPath: workspace }, name: path.basename(workspace) };
// What the extension makes of a configuration before the editor puts in the variables and runs the task.
const resolve = (asked) => providers.get("*").resolveDebugConfiguration(folder, asked);
async function startDebugging(_folder, asked, options) {
  const resolved = await resolve(asked);
  if (!resolved) return false;
  const provider = providers.get(asked.type);
  const configuration = provider.resolveDebugConfigurationWithSubstitutedVariables(folder, resolved);
  try {
    await new Session(configuration, options).start();
    return true;
  } catch (error) {
    tell({ error: error.message });
    return false;
  }
}

let front; // the file in front
let changed; // who hears of it
const file = (fsPath) => ({ fsPath, scheme: "file" });
const memory = new Map();
let installed = []; // types of debuggers of other extensions
const own = require(path.join(extensionPath, "package.json"));
const notebooks = require("./vscode_notebooks")(tell);
const vscode = {
  ...notebooks.api,
  workspace: { ...notebooks.workspace, getWorkspaceFolder: () => folder, workspaceFolders: [folder] },
  Uri: { file },
  DebugConsoleMode: { Separate: 0, MergeWithParent: 1 },
  DebugConfigurationProviderTriggerKind: { Initial: 1, Dynamic: 2 },
  extensions: {
    get all() {
      const others = installed.map((type) => ({ packageJSON: { contributes: { debuggers: [{ type }] } } }));
      return [{ packageJSON: own }, { packageJSON: {} }, ...others];
    },
  },
  EventEmitter,
  DebugAdapterInlineImplementation,
  debug: {
    startDebugging,
    registerDebugConfigurationProvider: (type, provider, kind) => (kind === 2 ? dynamic : providers).set(type, provider),
    registerDebugAdapterDescriptorFactory: (type, factory) => factories.set(type, factory),
  },
  commands: { registerCommand: (name, run) => commands.set(name, run) },
  window: {
    ...notebooks.window,
    get activeNotebookEditor() {
      if (front && front.endsWith(".ipynb")) return { notebook: { uri: file(front) } };
      const shown = notebooks.inFront();
      return shown.notebook && shown;
    },
    get activeTextEditor() {
      return front && !front.endsWith(".ipynb") ? { document: { uri: file(front) } } : undefined;
    },
    onDidChangeActiveTextEditor: (listener) => (changed = listener),
    tabGroups: { all: [{ tabs: [{ input: undefined }, { input: { uri: { scheme: "untitled", fsPath: "a.py" } } }] }] },
    showInformationMessage: (text) => tell({ information: text }),
    showWarningMessage: (text) => tell({ warning: text }),
    showErrorMessage: (text) => tell({ error: text }),
    showQuickPick: async (items) => {
      tell({ offered: items });
      return items[0];
    },
  },
};

const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));
const workspaceState = {
  get: (key, otherwise) => (memory.has(key) ? memory.get(key) : otherwise),
  update: (key, value) => memory.set(key, value),
};
require(extensionPath).activate({ subscriptions: [], workspaceState });

const drive = {
  ...notebooks.drive,
  start: (asked) => {
    breakpoints = asked.breakpoints || {};
    return startDebugging(folder, asked.start).then((ok) => tell({ started: ok }));
  },
  front: (asked) => {
    front = asked.front || undefined;
    changed(vscode.window.activeTextEditor);
  },
  resolve: async ({ resolve: asked }) => tell({ resolved: (await resolve(asked)) || false }),
  offered: (asked) => {
    installed = asked.offered;
    tell({ offered: dynamic.get("reftorch").provideDebugConfigurations().map(({ name }) => name) });
  },
  session: ({ session, message }) => sessions.get(session).adapter.handleMessage(message),
  pick: async ({ pick }) => tell({ picked: await commands.get(pick)() }),
  restart: async () => tell({ restarted: (await commands.get("reftorch-debug.restartKernel")()) || true }),
};
readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const asked = JSON.parse(line);
  drive[Object.keys(drive).find((key) => key in asked)](asked);
}).on("close", () => {
  for (const { adapter } of sessions.values()) if (adapter) adapter.dispose();
  process.exit(0);
});
