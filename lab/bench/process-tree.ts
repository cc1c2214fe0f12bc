import { readdirSync, readFileSync } from "node:fs";

/** Linux counts CPU time in hundredths of a second, whatever the kernel's own tick is. */
const TICK_MS = 10;

/** Returns a process and all its present descendants. */
export function processTree(root: number): number[] {
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc")) {
    const pid = Number(name);
    const stat = Number.isInteger(pid) ? readStat(pid) : undefined;
    if (stat !== undefined) parents.set(pid, stat.parent);
  }
  const tree = [root];
  for (const pid of tree) {
    for (const [child, parent] of parents) if (parent === pid) tree.push(child);
  }
  return tree;
}

/** Returns the CPU time that the tree has used since its start, in milliseconds, in steps of ten. */
export function cpuMs(root: number): number {
  return processTree(root).reduce((sum, pid) => sum + (readStat(pid)?.ticks ?? 0) * TICK_MS, 0);
}

/** Returns the memory of the tree in MiB. Pages that processes share are counted once. */
export function memoryMib(root: number): number {
  const kib = processTree(root).reduce((sum, pid) => sum + readPssKib(pid), 0);
  return kib / 1024;
}

/** Only the program's name may contain spaces and brackets, so the fields after it are read from the last bracket. */
function readStat(pid: number): { parent: number; ticks: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return { parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) };
  } catch {
    // The process has ended.
    return undefined;
  }
}

function readPssKib(pid: number): number {
  try {
    return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0);
  } catch {
    // The process has ended, or belongs to another user.
    return 0;
  }
}
