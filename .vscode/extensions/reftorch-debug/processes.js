// Mirrors: nothing in PyTorch: it needs an extension of its own for each editor.
// Left out: processes of other users, which may not be attached to.
const fs = require("fs");

const DEBUGGERS = /\/debugpy\/(adapter|launcher)|-m debugpy|\/gdb(_for_pwndbg)?\b/;

// The Python processes of this user, youngest first: {pid, command, folder, kernel, worker, parent}. A worker of a
// DataLoader gives itself a name, which PyTorch chose; a forked worker has the command of its parent.
function pythonProcesses(proc = "/proc") {
  const found = [];
  for (const name of fs.readdirSync(proc).filter((each) => /^\d+$/.test(each))) {
    try {
      const words = fs.readFileSync(`${proc}/${name}/cmdline`, "utf8").split("\0").filter(Boolean);
      const command = words.join(" ");
      if (!/(^|\/)python[\d.]*$/.test(words[0] || "") || DEBUGGERS.test(command)) continue;
      const folder = fs.readlinkSync(`${proc}/${name}/cwd`); // refused for other users' processes
      const worker = fs.readFileSync(`${proc}/${name}/comm`, "utf8").trim() === "pt_data_worker";
      const parent = Number(/^PPid:\s*(\d+)/m.exec(fs.readFileSync(`${proc}/${name}/status`, "utf8"))[1]);
      const kernel = /\bipykernel/.test(command) && !worker;
      found.push({ pid: Number(name), command, folder, kernel, worker, parent });
    } catch (error) {
      if (!["ENOENT", "EACCES", "EPERM", "ESRCH"].includes(error.code)) throw error; // it ended, or is not ours
    }
  }
  return found.sort((a, b) => b.pid - a.pid);
}

// Wait until no debugger traces the process: debugpy itself uses one to get into a process that runs.
async function untraced(pid, patience = 30000) {
  const tracer = () => {
    const status = fs.existsSync(`/proc/${pid}/status`) ? fs.readFileSync(`/proc/${pid}/status`, "utf8") : "";
    return Number((/^TracerPid:\s*(\d+)/m.exec(status) || [0, 0])[1]);
  };
  for (const end = Date.now() + patience; tracer() !== 0 && Date.now() < end; ) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

// What can be asked for: which processes are offered, what the question is, and what is said where there is none.
const KINDS = {
  process: { offers: () => true, question: "Attach to which process?", none: "No Python process is running." },
  kernel: {
    offers: (each) => each.kernel,
    question: "Attach to which kernel?",
    none: "No Jupyter kernel is running: run a cell first.",
  },
  worker: {
    offers: (each) => each.worker,
    question: "Attach to which worker?",
    none: "No worker of a DataLoader is running: start the program, and attach while it loads data.",
  },
};

// A name for the process, and what else is known of it.
function described({ kernel, worker, command, folder, parent }) {
  if (worker) return { label: `worker of a DataLoader, started by process ${parent}`, detail: command };
  if (kernel) return { label: `kernel in ${folder}`, detail: command };
  return { label: command.slice(0, 80), detail: folder };
}

// Ask which process of a kind; the only kernel or worker that there is needs no question.
async function pick(vscode, kind) {
  const { offers, question, none } = KINDS[kind];
  const processes = pythonProcesses().filter(offers);
  if (processes.length === 0) {
    vscode.window.showErrorMessage(`reftorch: ${none}`);
    return undefined; // ends the start of the session
  }
  if (kind !== "process" && processes.length === 1) return String(processes[0].pid);
  const items = processes.map((each) => ({ ...described(each), description: String(each.pid) }));
  const options = { placeHolder: question, matchOnDescription: true, matchOnDetail: true };
  const picked = await vscode.window.showQuickPick(items, options);
  return picked && picked.description;
}

module.exports = { pick, pythonProcesses, untraced };
