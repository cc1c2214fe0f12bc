import { readFileSync } from "node:fs";

/** What the kernel tells of a process; undefined when it is gone, or the system has no /proc. */
export interface ProcessInfo {
  readonly parent: number;
  readonly command: string;
}

const CHECK_INTERVAL_MS = 500;

/** npm, the shell it starts scripts with, and the script. */
const MAX_GENERATIONS = 3;

/**
 * Ends a server with the process that started it. npm passes on SIGTERM, but when npm itself is killed nothing
 * tells its script; and a caller that asks for it holds our standard input open as long as it lives.
 */
export function stopWithParent(options: { readonly stdin: boolean; readonly stop: () => void }): void {
  const { stdin, stop } = options;
  if (stdin) {
    process.stdin.resume();
    process.stdin.on("end", stop);
    process.stdin.on("error", stop);
  }
  if (process.env.npm_lifecycle_event === undefined) return;
  const link = findNpm(process.pid, readProcess);
  if (link === undefined) return;
  setInterval(() => {
    if (readProcess(link.child)?.parent !== link.npm) stop();
  }, CHECK_INTERVAL_MS).unref();
}

/**
 * Finds the npm that runs this script, and its child that leads here: a shell, or the script itself. Only
 * npm's end counts; what started npm may well end before it.
 */
export function findNpm(
  self: number,
  read: (pid: number) => ProcessInfo | undefined,
): { readonly npm: number; readonly child: number } | undefined {
  let child = self;
  for (let generation = 0; generation < MAX_GENERATIONS; generation += 1) {
    const parent = read(child)?.parent;
    if (parent === undefined) return undefined;
    if (/(^|[/\s])npm(-cli\.js)?(\s|$)/.test(read(parent)?.command ?? "")) return { npm: parent, child };
    child = parent;
  }
  return undefined;
}

function readProcess(pid: number): ProcessInfo | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/stat`, "utf8");
    const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
    // The second field is the name in brackets and may hold anything; the parent is the second after it.
    const parent = status.slice(status.lastIndexOf(")") + 2).split(" ")[1];
    return { parent: Number(parent), command };
  } catch {
    // The process is gone, or this is no Linux.
    return undefined;
  }
}
