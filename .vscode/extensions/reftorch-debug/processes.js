// Mirrors: nothing in PyTorch: it needs an extension of its own for each editor.
// Left out: processes of other users, which may not be attached to.
const fs = require("fs");

const DEBUGGERS = /\/debugpy\/(adapter|launcher)|-m debugpy|\/gdb(_for_pwndbg)?\b/;

// Which rank a process is: {rank, size, job}, or undefined. The launcher says so in its environment. What a rank starts, such
// as a worker of a DataLoader, has the same environment, and so is a part of the rank; see pythonProcesses().
function rankOf(pid, proc = "/proc") {
  let text = "";
  try {
    text = fs.readFileSync(`${proc}/${pid}/environ`, "utf8");
  } catch (error) {
    if (!["ENOENT", "EACCES", "EPERM", "ESRCH"].includes(error.code)) throw error; // it ended, or is not ours
  }
  const value = (name) => (new RegExp(`(?:^|\\0)${name}=([^\\0]*)`).exec(text) || [])[1];
  const [rank, size] = [value("RANK"), value("WORLD_SIZE")];
  return rank && size && value("LOCAL_RANK") ? { rank: Number(rank), size, job: value("MASTER_PORT") } : undefined;
}

// The Python processes of this user, youngest first: {pid, command, folder, kernel, worker, parent, rank}. A worker of a
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
      found.push({ pid: Number(name), command, folder, kernel, worker, parent, rank: rankOf(name, proc) });
    } catch (error) {
      if (!["ENOENT", "EACCES", "EPERM", "ESRCH"].includes(error.code)) throw error; // it ended, or is not ours
    }
  }
  const isOfRank = ({ rank, parent }) => rank && found.some((each) => each.pid === parent && each.rank && each.rank.job === rank.job);
  for (const each of found.filter(isOfRank)) each.ofRank = true; // a rank started it
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
  process: { offers: () => true, question: "Attach to which process?", none: "No Python process is running: run a cell or a program first." },
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
  rank: {
    offers: (each) => each.rank && !each.ofRank,
    question: "Attach to which rank?",
    none: "No rank is running: start the program with `python -m reftorch.distributed.run`, and attach while it runs.",
  },
};

const nameOfRank = ({ rank, size }) => `rank ${rank} of ${size}`;

// A name for the process, and what else is known of it.
function described({ kernel, worker, command, folder, parent, rank, ofRank }) {
  if (rank && !ofRank) return { label: nameOfRank(rank), detail: command };
  if (worker) return { label: `worker of a DataLoader, started by process ${parent}`, detail: command };
  if (kernel) return { label: `kernel in ${folder}`, detail: command };
  return { label: command.slice(0, 80), detail: folder };
}

// Ask which process of a kind; the only kernel or worker that there is needs no question.
async function pick(vscode, kind) {
  const { offers, question, none } = KINDS[kind];
  const place = ({ kernel, worker, rank, ofRank }) => (kernel ? -3 : worker ? -2 : rank && !ofRank ? -1 + rank.rank / 1e6 : 0);
  const processes = pythonProcesses().filter(offers).sort((a, b) => place(a) - place(b)); // else the youngest first
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

module.exports = { nameOfRank, pick, pythonProcesses, rankOf, untraced };
