import { spawn } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { ServeError } from "../serve/serve-error.ts";

/** Longest wait until all threads of a process have stopped. */
const STOP_WITHIN_MS = 1_000;
const LOOK_EVERY_MS = 5;

/**
 * Runs work while another process stands still: it is stopped before, and goes on afterwards in any case, also if this
 * process is killed. The work must be short, and must not wait for anything.
 *
 * @throws {ServeError} `process-not-stopped` if this user may not stop it
 * @returns false if the process is gone, and nothing was done
 */
export async function whileStandingStill(pid: number, work: () => void): Promise<boolean> {
  // It reads until this process closes the pipe, or dies.
  const guard = spawn("/bin/sh", ["-c", 'read -r _; kill -CONT "$1" 2>/dev/null', "guard", String(pid)], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  const ended = new Promise((resolve) => guard.once("close", resolve));
  try {
    process.kill(pid, "SIGSTOP");
    await untilStopped(pid);
    work();
    return true;
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    if (code === "ESRCH") return false;
    if (code !== "EPERM") throw error;
    throw new ServeError(
      "process-not-stopped",
      "The bot belongs to another user, so it cannot be held for the moment of the copy. Run the command as that user.",
    );
  } finally {
    guard.stdin?.end();
    await ended;
  }
}

/** Waits until every thread has stopped. Where there is no /proc, a moment has to do. */
async function untilStopped(pid: number): Promise<void> {
  for (let waitedMs = 0; waitedMs < STOP_WITHIN_MS; waitedMs += LOOK_EVERY_MS) {
    if (isStopped(pid)) return;
    await delay(LOOK_EVERY_MS);
  }
}

/** Tells whether all threads of a process have the state `T`. */
function isStopped(pid: number): boolean {
  try {
    return readdirSync(`/proc/${pid}/task`).every((thread) => {
      const status = readFileSync(`/proc/${pid}/task/${thread}/stat`, "utf8");
      // The name before the state is in brackets, and may contain anything.
      return status.slice(status.lastIndexOf(")") + 2).startsWith("T");
    });
  } catch {
    return false;
  }
}
