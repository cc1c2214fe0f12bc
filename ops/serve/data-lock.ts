import { createHash } from "node:crypto";
import { mkdir, realpath, rm } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { ServeError } from "./serve-error.ts";
import { inFolder } from "./storage-errors.ts";

/** Longest path of a socket, in bytes, on every system. */
const MAX_SOCKET_PATH = 100;

/** Longest time that an ending instance may still hold the directory. */
const END_WAIT_MS = 1_500;

/**
 * User of a data directory. `server`: runs workerd on it. `playground`: `npm start`, which has a server as its child.
 */
export type DataUse = "server" | "playground";

/**
 * Locks a data directory for this process, as long as it lives. Two workerds on one directory would run each object
 * twice.
 *
 * The lock is a listening socket. Unlike a file with a process id, it cannot outlive its process or be mistaken for
 * another one's.
 *
 * @throws {ServeError} when another instance uses the directory
 */
export async function lockDataDirectory(directory: string, use: DataUse = "server"): Promise<Server> {
  const data = { folder: directory, variable: "DATA_DIR" };
  await inFolder(data, () => mkdir(directory, { recursive: true }));
  const socketFile = socketOf(await realpath(directory), use);
  const deadline = Date.now() + END_WAIT_MS;
  while (await answers(socketFile)) {
    if (Date.now() < deadline) {
      await new Promise((resolve) => setTimeout(resolve, 50));
      continue;
    }
    throw new ServeError(
      "data-in-use",
      `An instance already runs on the data directory ${directory}; stop that one, or set DATA_DIR.`,
    );
  }
  await rm(socketFile, { force: true }).catch((error: NodeJS.ErrnoException) => {
    throw new ServeError(
      "data-in-use",
      `${socketFile}, the lock of the data directory ${directory}, belongs to another user (${error.code}). Remove it if no instance is running, or set DATA_DIR.`,
    );
  });
  const server = createServer((socket) => socket.destroy());
  return inFolder(
    data,
    () =>
      new Promise((resolve, reject) => {
        server.once("error", reject);
        server.listen(socketFile, () => resolve(server.unref()));
      }),
  );
}

/**
 * Returns the path of the lock. It is in the directory itself, which may be the only place that can be written. If the
 * path is too long for a socket, it is in the system's temporary folder.
 */
function socketOf(directory: string, use: DataUse): string {
  const inside = path.join(directory, `${use}.lock`);
  if (Buffer.byteLength(inside) <= MAX_SOCKET_PATH) return inside;
  const key = createHash("sha256").update(directory).digest("hex").slice(0, 24);
  return path.join(tmpdir(), `switchboard-${key}-${use}.sock`);
}

function answers(socketFile: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketFile);
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
