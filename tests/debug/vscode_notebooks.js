// Mirrors: nothing in PyTorch: tests of tools that it does not have.
// Left out: everything of VS Code's notebooks that our kernel does not use; drawing them.
//
// Notebooks for vscode_host.js: documents whose cells are run by the controller that the extension has registered, under
// the editor's rules: one execution a cell at a time, and changes only while it runs. Driven by {notebook: PATH, cells:
// [CODE]}, {run: [INDEX]}, {look: true}, {interrupt: true}, {restart: true}, {leave: true} (another kernel is chosen),
// {close: true} and {answer: TEXT} (null: Escape; absent: no answer); it writes {ran}, {cells}, {asked}, {gone}.
module.exports = (tell) => {
  const listeners = {};
  const on = (what) => (listener) => (listeners[what] = listener);
  const running = new Set();
  let controller, document, answer;

  class NotebookCellOutputItem {
    constructor(data, mime) {
      Object.assign(this, { data: Buffer.from(data), mime });
    }
    static text = (text, mime = "text/plain") => new NotebookCellOutputItem(text, mime);
    static json = (value, mime = "text/x-json") => new NotebookCellOutputItem(JSON.stringify(value), mime);
    static stdout = (text) => new NotebookCellOutputItem(text, "stdout");
    static stderr = (text) => new NotebookCellOutputItem(text, "stderr");
    static error = (error) => new NotebookCellOutputItem(JSON.stringify(error), "error");
  }

  class NotebookCellOutput {
    constructor(items, metadata) {
      Object.assign(this, { items, metadata });
    }
  }

  class CancellationTokenSource {
    constructor() {
      this.token = { isCancellationRequested: false, cancelled: new Promise((resolve) => (this.tell = resolve)) };
    }
    cancel() {
      this.token.isCancellationRequested = true;
      this.tell();
    }
  }

  function createNotebookCellExecution(cell) {
    if (running.has(cell)) throw new Error("the cell has an execution already");
    running.add(cell);
    let state = "waits";
    const change = (how) => {
      if (state !== "runs") throw new Error(`a change while the execution ${state}`);
      how();
    };
    return {
      cell,
      start(time) {
        state = "runs";
        Object.assign(cell.executionSummary, { success: undefined, timing: { startTime: time } });
      },
      end(success, time) {
        state = "has ended";
        running.delete(cell);
        Object.assign(cell.executionSummary, { executionOrder: this.executionOrder, success });
        cell.executionSummary.timing.endTime = time;
      },
      clearOutput: () => change(() => (cell.outputs = [])),
      replaceOutput: (outputs) => change(() => (cell.outputs = outputs)),
      appendOutput: (outputs) => change(() => cell.outputs.push(...outputs)),
      replaceOutputItems: (items, output) => change(() => (output.items = items)),
      appendOutputItems: (items, output) => change(() => output.items.push(...items)),
    };
  }

  const api = {
    NotebookCellOutputItem,
    NotebookCellOutput,
    CancellationTokenSource,
    notebooks: {
      createNotebookController: (id, type, label) =>
        (controller = { id, type, label, createNotebookCellExecution, onDidChangeSelectedNotebooks: on("selected") }),
    },
  };
  const workspace = {
    onDidCloseNotebookDocument: on("closed"),
    get notebookDocuments() {
      return [document];
    },
  };
  const showInputBox = ({ prompt, password }, token) => {
    tell({ asked: { prompt, password } });
    return answer === undefined ? token.cancelled : Promise.resolve(answer === null ? undefined : answer);
  };

  const seen = ({ executionSummary, outputs }) => ({
    ...executionSummary,
    outputs: outputs.map(({ items, metadata }) => ({
      ...metadata,
      items: items.map(({ mime, data }) => [mime, /^image\/png/.test(mime) ? data.toString("base64") : data.toString()]),
    })),
  });
  const uri = (path) => ({ scheme: "file", fsPath: path, toString: () => `file://${path}` });
  const drive = {
    notebook: ({ notebook, cells }) => {
      document = { uri: uri(notebook) };
      document.cells = cells.map((text, index) => ({
        index,
        notebook: document,
        document: { getText: () => text },
        executionSummary: {},
        outputs: [],
      }));
    },
    run: async ({ run }) => {
      const cells = run.map((index) => document.cells[index]);
      await controller.executeHandler(cells, document, controller);
      tell({ ran: true });
    },
    look: () => tell({ cells: document.cells.map(seen) }),
    interrupt: () => controller.interruptHandler(document),
    leave: async () => tell({ gone: (await listeners.selected({ notebook: document, selected: false })) || true }),
    close: async () => tell({ gone: (await listeners.closed(document)) || true }),
    answer: (asked) => (answer = asked.answer),
  };
  return { api, workspace, window: { showInputBox }, drive, inFront: () => ({ notebook: document }) };
};
