// Mirrors: nothing in PyTorch: it needs an extension of its own for each editor.
// Left out: programs that are not Python's.
//
// Which file a configuration runs. `${file}` is the file in front, and after a breakpoint in C++ or in the library this is
// no program: then the last Python program is taken that ran or was open, and the editor says so.
const fs = require("fs");
const path = require("path");

const REMEMBERED = "reftorch.last";
const KINDS = { program: "program", test: "test" };

// What a file is for F5: a program, a test, or neither. The library's own files and C++ are neither.
function kindOf(file, folder) {
  const name = path.basename(file);
  if (!name.endsWith(".py") || name === "conftest.py") return undefined;
  if (/^test_|_test\.py$/.test(name)) return KINDS.test;
  return folder && file.startsWith(path.join(folder, "reftorch") + path.sep) ? undefined : KINDS.program;
}

// Remembers the last file of each kind, also when the editor is closed.
class Recent {
  constructor(vscode, memento) {
    Object.assign(this, { vscode, memento });
    // The files that were open before this extension ran. A tab says nothing of when it was looked at.
    for (const { tabs } of vscode.window.tabGroups.all) for (const { input } of tabs) this.see(input && input.uri, false);
    this.seeEditor(vscode.window.activeTextEditor);
  }

  seeEditor(editor) {
    if (editor) this.see(editor.document.uri);
  }

  see(uri, isLast = true) {
    if (!uri || uri.scheme !== "file") return;
    const kind = kindOf(uri.fsPath, folderOf(this.vscode, uri));
    const known = this.memento.get(REMEMBERED, {});
    if (kind && (isLast || !known[kind])) this.memento.update(REMEMBERED, { ...known, [kind]: uri.fsPath });
  }

  last(kind) {
    const file = this.memento.get(REMEMBERED, {})[kind];
    return file && fs.existsSync(file) ? file : undefined;
  }
}

function folderOf(vscode, uri) {
  const folder = vscode.workspace.getWorkspaceFolder(uri);
  return folder && folder.uri.fsPath;
}

// The file in front, a notebook's too; undefined where nothing is in front, or nothing that is on the disk.
function inFront({ window }) {
  const { activeNotebookEditor, activeTextEditor } = window;
  const uri = activeNotebookEditor ? activeNotebookEditor.notebook.uri : activeTextEditor && activeTextEditor.document.uri;
  return uri && uri.scheme === "file" ? uri.fsPath : undefined;
}

const mentions = (configuration, text) => JSON.stringify(configuration).includes(text);
const replaced = (configuration, values) =>
  JSON.parse(JSON.stringify(configuration), (key, value) =>
    typeof value === "string" ? value.replace(/\$\{(file|selectedText)\}/g, (all, name) => values[name]) : value,
  );

// The configuration with a program in the place of a file in front that is none; throws where no program is known.
function withProgram(vscode, folder, configuration, recent) {
  const front = inFront(vscode);
  const name = front ? path.basename(front) : "no file";
  if (mentions(configuration, "/build/companion/")) {
    if (name.endsWith(".ipynb")) return configuration;
    throw new Error(`*${configuration.name}* runs the notebook in front, and ${name} is in front. Open a notebook first.`);
  }
  if (!mentions(configuration, "${file}") || !mentions(configuration, "/.venv/bin/python")) return configuration;
  const wanted = mentions(configuration, '"pytest"') ? KINDS.test : KINDS.program;
  const kind = front && kindOf(front, folder);
  // A test can be run as a program, and pytest finds the examples in docstrings of other files.
  const suits = kind === wanted || (kind && wanted === KINDS.program);
  const file = suits ? front : recent.last(wanted) || (name.endsWith(".py") ? front : undefined);
  if (!file) {
    throw new Error(`${name} is in front, and no Python ${wanted} was open yet. Open one, and start again.`);
  }
  recent.see(vscode.Uri.file(file));
  if (file === front) return configuration;
  const text = `reftorch runs ${path.basename(file)}, the last Python ${wanted}, because ${name} is in front.`;
  vscode.window.showInformationMessage(text);
  return replaced(configuration, { file, selectedText: "" });
}

module.exports = { Recent, withProgram };
