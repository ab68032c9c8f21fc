// Mirrors: nothing in PyTorch: it needs an extension of its own for each editor.
// Left out: processes of other users, which may not be attached to.
const fs = require("fs");

const DEBUGGERS = /\/debugpy\/(adapter|launcher)|-m debugpy|\/gdb(_for_pwndbg)?\b/;

// The Python processes of this user, youngest first: {pid, command, folder, kernel}.
function pythonProcesses(proc = "/proc") {
  const found = [];
  for (const name of fs.readdirSync(proc).filter((each) => /^\d+$/.test(each))) {
    try {
      const words = fs.readFileSync(`${proc}/${name}/cmdline`, "utf8").split("\0").filter(Boolean);
      const command = words.join(" ");
      if (!/(^|\/)python[\d.]*$/.test(words[0] || "") || DEBUGGERS.test(command)) continue;
      const folder = fs.readlinkSync(`${proc}/${name}/cwd`); // refused for other users' processes
      found.push({ pid: Number(name), command, folder, kernel: /\bipykernel/.test(command) });
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

// Ask which process; the only kernel there is needs no question.
async function pick(vscode, onlyKernels) {
  const processes = pythonProcesses().filter((each) => each.kernel || !onlyKernels);
  if (processes.length === 0) {
    const text = onlyKernels ? "No Jupyter kernel is running: run a cell first." : "No Python process is running.";
    vscode.window.showErrorMessage(`reftorch: ${text}`);
    return undefined; // ends the start of the session
  }
  if (onlyKernels && processes.length === 1) return String(processes[0].pid);
  const items = processes.map((each) => ({
    label: each.kernel ? `kernel in ${each.folder}` : each.command.slice(0, 80),
    description: String(each.pid),
    detail: each.kernel ? each.command : each.folder,
  }));
  const placeHolder = onlyKernels ? "Attach to which kernel?" : "Attach to which process?";
  const picked = await vscode.window.showQuickPick(items, { placeHolder, matchOnDescription: true, matchOnDetail: true });
  return picked && picked.description;
}

module.exports = { pick, pythonProcesses, untraced };
