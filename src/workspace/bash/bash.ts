import { Bash, InMemoryFs } from "just-bash/browser";
import type { BashOptions as Settings } from "just-bash/browser";
import { checkOptions, whole } from "../../core/json/check-options.ts";
import type { OptionRules } from "../../core/json/check-options.ts";
import { wait } from "../../core/base/deps.ts";
import type { BashTool, ShellFile, ShellResult, ShellRun } from "../bash-tool.ts";
import { insideOf } from "../file-path.ts";

/** Options of `bash`. */
export interface BashOptions {
  /** Most files of the workspace that a script sees. Others are not there for it, and stay as they are. @default 1000 */
  readonly maxFiles?: number;
  /** Largest file that a script sees, in bytes. @default 1048576 (1 MiB) */
  readonly maxFileBytes?: number;
  /** Most bytes of files that a script has in memory. @default 16777216 (16 MiB) */
  readonly maxBytes?: number;
  /** Most commands of a script. @default 2000 */
  readonly maxCommands?: number;
  /** Most characters of the output that the model reads, of each stream. @default 8000 */
  readonly maxOutput?: number;
  /** Time limit of a script, in milliseconds, at most 25000. @default 10000 */
  readonly timeoutMs?: number;
}

const OPTIONS: OptionRules<BashOptions> = {
  maxFiles: whole(1, 10_000),
  maxFileBytes: whole(1, 10 * 1024 * 1024),
  maxBytes: whole(1, 64 * 1024 * 1024),
  maxCommands: whole(1, 100_000),
  maxOutput: whole(100, 16_000),
  timeoutMs: whole(1, 25_000),
};

const DEFAULTS: Required<BashOptions> = {
  maxFiles: 1000,
  maxFileBytes: 1024 * 1024,
  maxBytes: 16 * 1024 * 1024,
  maxCommands: 2000,
  maxOutput: 8000,
  timeoutMs: 10_000,
};

/** Folders of the shell itself. Files that a script writes there are gone with it. */
const OWN_FOLDERS = ["/bin", "/dev", "/etc", "/proc", "/tmp", "/usr", "/home"];

/** Exit code of a script that took too long, as `timeout` has it. */
const TIMED_OUT = 124;

/**
 * Gives the model a shell: `workspace({ bash: bash() })`. A script works on a copy of the files, without a network and
 * without other programs, and its changes are made at its end, all or none.
 *
 * @throws {ConfigurationError} `workspace-option`
 */
export function bash(options: BashOptions = {}): BashTool {
  checkOptions(options, OPTIONS, { owner: "bash", code: "workspace-option" });
  const limits = { ...DEFAULTS, ...options };
  return { timeoutMs: limits.timeoutMs, run: (run) => runScript(run, limits) };
}

async function runScript(
  { clock, files, script, signal }: ShellRun,
  limits: Required<BashOptions>,
): Promise<ShellResult> {
  const { maxBytes, maxFileBytes, maxFiles, maxOutput, timeoutMs } = limits;
  const seen = files
    .filter(({ path, sizeBytes }) => sizeBytes <= maxFileBytes && !isOwn(path))
    .slice(0, maxFiles);
  const hidden = new Set(files.filter((file) => !seen.includes(file)).map(({ path }) => path));
  const stored = new InMemoryFs({}, { maxTotalBytes: maxBytes });
  const times = filled(stored, seen);
  const limit = new AbortController();
  const timer = clock.setTimeout(() => limit.abort(), timeoutMs);
  const stopped = signal === undefined ? limit.signal : AbortSignal.any([limit.signal, signal]);
  try {
    const shell = new Bash({
      fs: stored,
      cwd: "/",
      executionLimitProfile: "hardened",
      executionLimits: executionLimits(limits),
      sleep: (ms) => wait(clock, ms, stopped),
      // It would change the globals of the whole process.
      defenseInDepth: false,
    });
    const ended = await shell.exec(script, { signal: stopped });
    if (stopped.aborted) return timedOut(timeoutMs);
    const { exitCode, stderr, stdout } = ended;
    const { changes, refused } = await changesOf(stored, times, hidden);
    const notes = refused.map((path) => `bash: ${path}: too large for this shell, so it was not changed\n`);
    return {
      exitCode,
      stdout: cut(stdout, maxOutput),
      stderr: cut(`${stderr}${notes.join("")}`, maxOutput),
      changes,
    };
  } catch (error) {
    if (stopped.aborted) return timedOut(timeoutMs);
    throw error;
  } finally {
    clock.clearTimeout(timer);
  }
}

function executionLimits({
  maxBytes,
  maxCommands,
  timeoutMs,
}: Required<BashOptions>): Settings["executionLimits"] {
  const most = maxCommands * 5;
  return {
    maxCommandCount: maxCommands,
    maxLoopIterations: most,
    maxAwkIterations: most,
    maxSedIterations: most,
    maxJqIterations: most,
    maxExecutionTimeMs: timeoutMs,
    maxFileSystemBytes: maxBytes,
    maxLiveBytes: maxBytes,
    maxInputBytes: maxBytes,
    maxOutputSize: 1024 * 1024,
    maxStringLength: 4 * 1024 * 1024,
    maxHeredocSize: 1024 * 1024,
    maxSourceBytes: 256 * 1024,
  };
}

/** Each file has a time of its own, which tells whether something was written there. */
function filled(stored: InMemoryFs, files: readonly ShellFile[]): ReadonlyMap<string, number> {
  const times = new Map<string, number>();
  for (const [index, file] of files.entries()) {
    const mtime = new Date(index * 1000);
    stored.writeFileLazy(file.path, () => file.read(), { mtime });
    times.set(file.path, mtime.getTime());
  }
  return times;
}

/** Returns the files that a script has written or deleted. */
async function changesOf(
  stored: InMemoryFs,
  times: ReadonlyMap<string, number>,
  hidden: ReadonlySet<string>,
): Promise<{ readonly changes: ShellResult["changes"]; readonly refused: readonly string[] }> {
  const changes: { path: string; content: Uint8Array | undefined }[] = [];
  const refused: string[] = [];
  const left = new Set<string>();
  for (const path of stored.getAllPaths()) {
    if (isOwn(path)) continue;
    const { isFile, mtime } = await stored.lstat(path);
    if (!isFile) continue;
    left.add(path);
    if (times.get(path) === mtime.getTime()) continue;
    if (hidden.has(path)) refused.push(path);
    else changes.push({ path, content: await stored.readFileBuffer(path) });
  }
  for (const path of times.keys()) if (!left.has(path)) changes.push({ path, content: undefined });
  return { changes, refused };
}

function isOwn(path: string): boolean {
  return OWN_FOLDERS.some((folder) => path === folder || path.startsWith(insideOf(folder)));
}

function timedOut(timeoutMs: number): ShellResult {
  const stderr = `bash: the script took longer than ${timeoutMs} ms, so it was ended and has changed nothing\n`;
  return { exitCode: TIMED_OUT, stdout: "", stderr, changes: [] };
}

function cut(text: string, most: number): string {
  return text.length <= most
    ? text
    : `${text.slice(0, most).toWellFormed()}\n[${text.length - most} more characters]\n`;
}
