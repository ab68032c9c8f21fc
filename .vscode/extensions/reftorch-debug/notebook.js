// Mirrors: nothing in PyTorch: it needs an extension of its own for each editor.
// Left out: what Microsoft's Jupyter extension has beyond running cells: a view of variables, servers, other kernels.
//
// Notebooks without that extension: an entry in the list of kernels, which runs cells by .venv's Python. The editor
// reads, shows and saves notebooks itself; who runs them is up to an extension. One kernel for each notebook, started by its
// first cell; it ends when the notebook is closed or given to another kernel.
const path = require("path");
const { Kernel } = require("./kernel");
const { CellOutputs } = require("./outputs");

class Session {
  constructor(vscode, controller, notebook) {
    Object.assign(this, { vscode, controller, notebook });
    this.queue = [];
    this.runs = new Map(); // number -> CellOutputs; a thread may print for a run that is over
    this.count = 0;
  }

  // Several are queued at once, so that each shows that it waits.
  run(cells) {
    for (const cell of cells) this.queue.push(new CellOutputs(this.vscode, this.controller, cell));
    this.working = this.working || this.work().finally(() => (this.working = undefined));
    return this.working;
  }

  async work() {
    while (this.queue.length > 0) {
      if (!(await this.runOne(this.queue.shift()))) this.dropQueue(); // after an error the rest is not run
    }
  }

  async runOne(shown) {
    for (const [number, { cell }] of this.runs) if (cell === shown.cell) this.runs.delete(number);
    const number = ++this.count;
    this.runs.set(number, shown);
    let done = { ok: false };
    shown.start();
    try {
      if (!this.kernel) this.startKernel();
      done = await this.kernel.run(number, shown.cell.document.getText());
    } catch (error) {
      shown.add("error", { ename: "reftorch", evalue: error.message, traceback: [error.message] });
    }
    this.stopAsking();
    shown.end(done.ok, done.count);
    return done.ok;
  }

  dropQueue() {
    for (const { execution } of this.queue.splice(0)) {
      execution.start();
      execution.end(undefined);
    }
  }

  startKernel() {
    const { workspace, window } = this.vscode;
    const { uri } = this.notebook;
    const checkout = workspace.getWorkspaceFolder(uri) || (workspace.workspaceFolders || [])[0];
    if (!checkout) throw new Error("No folder is open: open the checkout of reftorch (File > Open Folder).");
    const folder = uri.scheme === "file" ? path.dirname(uri.fsPath) : checkout.uri.fsPath;
    const kernel = new Kernel(checkout.uri.fsPath, folder, {
      output: (...said) => this.show(...said),
      question: (asked) => this.ask(asked),
      ended: (why) => {
        if (this.kernel === kernel) this.kernel = undefined;
        if (why && !this.working) window.showWarningMessage(`reftorch: ${why}`); // else the cell says it
      },
    });
    this.kernel = kernel;
  }

  show(number, kind, content) {
    const shown = this.runs.get(number);
    if (kind === "update_display_data") for (const each of this.runs.values()) each.update(content); // wherever it is
    else if (shown) shown.add(kind, content);
  }

  // input() of a cell; Escape is Ctrl-C.
  async ask({ prompt, password }) {
    const kernel = this.kernel;
    const shown = [...this.runs.values()].pop();
    const asking = (this.asking = new this.vscode.CancellationTokenSource());
    const options = { prompt: prompt || "The cell reads a line.", password, ignoreFocusOut: true };
    const text = await this.vscode.window.showInputBox(options, asking.token);
    if (asking.token.isCancellationRequested) return;
    if (text === undefined) return kernel.interrupt();
    shown.add("stream", { name: "stdout", text: `${prompt}${password ? "*****" : text}\n` });
    kernel.input(text);
  }

  stopAsking() {
    if (this.asking) this.asking.cancel();
    this.asking = undefined;
  }

  interrupt() {
    this.dropQueue();
    if (this.kernel) this.kernel.interrupt();
  }

  // Resolves when the kernel's processes are gone.
  async end(why) {
    this.dropQueue();
    const kernel = this.kernel;
    this.kernel = undefined;
    if (kernel) await kernel.end(why);
  }

  async restart() {
    await this.end("The kernel was restarted.");
    await this.working;
    if (!this.kernel) this.startKernel();
  }
}

// The entry in the list of kernels, and a button that restarts.
function offerKernel(vscode, subscriptions) {
  const { notebooks, workspace, window, commands } = vscode;
  const controller = notebooks.createNotebookController("kernel", "jupyter-notebook", "reftorch (.venv)");
  const sessions = new Map();
  const sessionOf = (notebook) => {
    if (!sessions.has(notebook)) sessions.set(notebook, new Session(vscode, controller, notebook));
    return sessions.get(notebook);
  };
  const end = async (notebook, why) => {
    const session = sessions.get(notebook);
    sessions.delete(notebook);
    if (session) await session.end(why);
  };
  const restart = async (from) => {
    const uri = from && from.notebookEditor && from.notebookEditor.notebookUri;
    const asked = uri && workspace.notebookDocuments.find((each) => each.uri.toString() === uri.toString());
    const notebook = asked || (window.activeNotebookEditor && window.activeNotebookEditor.notebook);
    if (!notebook) return window.showErrorMessage("reftorch: no notebook is in front: open one and try again.");
    try {
      await sessionOf(notebook).restart();
    } catch (error) {
      window.showErrorMessage(`reftorch: ${error.message}`);
    }
  };
  controller.description = "a kernel of the checkout's .venv";
  controller.supportedLanguages = ["python"];
  controller.supportsExecutionOrder = true;
  controller.executeHandler = (cells, notebook) => sessionOf(notebook).run(cells);
  controller.interruptHandler = (notebook) => sessionOf(notebook).interrupt();
  subscriptions.push(
    controller,
    controller.onDidChangeSelectedNotebooks(
      ({ notebook, selected }) => selected || end(notebook, "Another kernel was chosen."),
    ),
    workspace.onDidCloseNotebookDocument((notebook) => end(notebook, "The notebook was closed.")),
    commands.registerCommand("reftorch-debug.restartKernel", restart),
    { dispose: () => [...sessions.keys()].map((notebook) => end(notebook, "The editor was closed.")) },
  );
}

module.exports = { offerKernel };
