// Mirrors: nothing in PyTorch: it needs an extension of its own for each editor.
// Left out: widgets; of an output in several formats the editor chooses which to show.
//
// What a Jupyter kernel says of a cell, as outputs of the editor. Their metadata is what the editor's own reader of
// .ipynb files gives to outputs, so that a notebook is saved as it would have been read.

function item(vscode, mime, value) {
  const { NotebookCellOutputItem } = vscode;
  if (/^image\/(?!svg)/.test(mime)) return new NotebookCellOutputItem(Buffer.from(value, "base64"), mime);
  if (typeof value !== "string" || /json$/.test(mime)) return NotebookCellOutputItem.json(value, mime);
  return NotebookCellOutputItem.text(value, mime);
}

const items = (vscode, data) => Object.entries(data).map(([mime, value]) => item(vscode, mime, value));

const streamItem = ({ NotebookCellOutputItem }, { name, text }) =>
  name === "stderr" ? NotebookCellOutputItem.stderr(text) : NotebookCellOutputItem.stdout(text);

function makeOutput(vscode, kind, content) {
  const { NotebookCellOutput, NotebookCellOutputItem } = vscode;
  if (kind === "stream") return new NotebookCellOutput([streamItem(vscode, content)], { outputType: kind });
  if (kind === "error") {
    const error = { name: content.ename, message: content.evalue, stack: content.traceback.join("\n") };
    return new NotebookCellOutput([NotebookCellOutputItem.error(error)], { outputType: kind, originalError: content });
  }
  const { data, metadata, execution_count: executionCount, transient } = content;
  return new NotebookCellOutput(items(vscode, data), { outputType: kind, executionCount, metadata, transient });
}

// The outputs of one run of a cell.
class CellOutputs {
  constructor(vscode, controller, cell) {
    Object.assign(this, { vscode, controller, cell });
    this.displays = []; // {id, output}: what Python may update
    this.execution = controller.createNotebookCellExecution(cell);
  }

  start() {
    this.execution.start(Date.now());
    this.execution.clearOutput();
  }

  end(success, count) {
    this.execution.executionOrder = count;
    this.execution.end(success, Date.now());
    this.hasEnded = true;
  }

  add(kind, content) {
    if (kind === "clear_output") {
      this.stream = undefined;
      if (content.wait) this.clearsFirst = true;
      else this.clear();
    } else if (kind === "stream" && this.stream && this.stream.name === content.name) {
      const { output } = this.stream;
      this.change((execution) => execution.appendOutputItems([streamItem(this.vscode, content)], output));
    } else {
      this.append(kind, content, makeOutput(this.vscode, kind, content));
    }
  }

  append(kind, content, output) {
    // What is cleared stays until something takes its place: a bar that moves does not flicker.
    if (this.clearsFirst) {
      this.displays = [];
      this.change((execution) => execution.replaceOutput([output]));
    } else this.change((execution) => execution.appendOutput([output]));
    this.clearsFirst = false;
    this.stream = kind === "stream" ? { name: content.name, output } : undefined;
    const id = content.transient && content.transient.display_id;
    if (id) this.displays.push({ id, output });
  }

  clear() {
    this.displays = [];
    this.change((execution) => execution.clearOutput());
  }

  update({ data, transient }) {
    for (const { output } of this.displays.filter(({ id }) => id === transient.display_id)) {
      this.change((execution) => execution.replaceOutputItems(items(this.vscode, data), output));
    }
  }

  // The editor takes changes only from a running execution. What comes later (a thread prints, a display of another
  // cell is updated) comes under one that begins and ends at once, and leaves number and times as they were.
  change(how) {
    if (!this.hasEnded) return how(this.execution);
    if (this.cell.index < 0) return; // it was deleted
    const { executionOrder, success, timing = {} } = this.cell.executionSummary || {};
    const execution = this.controller.createNotebookCellExecution(this.cell);
    execution.executionOrder = executionOrder;
    execution.start(timing.startTime);
    how(execution);
    execution.end(success, timing.endTime);
  }
}

module.exports = { CellOutputs };
