import { readFileSync } from "node:fs";

/** A process as the kernel describes it. Undefined if it is gone, or if the system has no /proc. */
export interface ProcessInfo {
  readonly parent: number;
  readonly command: string;
}

const CHECK_INTERVAL_MS = 500;

/** Most processes to look through: npm, the shell in which it starts scripts, and the script. */
const MAX_GENERATIONS = 3;

/**
 * Stops a server when the process that started it ends.
 *
 * npm passes on SIGTERM, but a killed npm cannot tell its script. With `stdin` the caller holds the standard input open
 * as long as it lives.
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
 * Finds the npm that runs this script, and its child that leads here: a shell, or the script itself.
 *
 * The process that started npm may end before npm, so only npm's end counts.
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
    // The second field is the name in brackets, which may contain anything. The parent is the second field after it.
    const parent = status.slice(status.lastIndexOf(")") + 2).split(" ")[1];
    return { parent: Number(parent), command };
  } catch {
    // The process is gone, or the system is not Linux.
    return undefined;
  }
}
