import { createHash } from "node:crypto";
import { mkdir, realpath, rm } from "node:fs/promises";
import { connect, createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { ServeError } from "./serve-error.ts";

/**
 * Makes this process the only user of a data directory, for as long as it lives. Two workerds on one
 * directory would run each object twice.
 *
 * The lock is a listening socket: unlike a file with a process id, it cannot outlive its holder or be taken
 * for another process's.
 *
 * @throws {ServeError} when another server uses the directory
 */
export async function lockDataDirectory(directory: string): Promise<Server> {
  await mkdir(directory, { recursive: true });
  const key = createHash("sha256")
    .update(await realpath(directory))
    .digest("hex")
    .slice(0, 24);
  const socketFile = path.join(tmpdir(), `switchboard-${key}.sock`);
  if (await answers(socketFile)) {
    throw new ServeError(
      "data-in-use",
      `The data directory ${directory} is in use by another server; stop it, or set DATA_DIR.`,
    );
  }
  await rm(socketFile, { force: true });
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(socketFile, () => resolve(server.unref()));
  });
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
