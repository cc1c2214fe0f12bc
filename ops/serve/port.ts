import { createServer } from "node:net";
import { ServeError } from "./serve-error.ts";

/** True if this process could listen on the port now. Throws other errors than "in use". */
export function isPortFree(port: number, host: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "EADDRINUSE") resolve(false);
      else reject(error);
    });
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}

/**
 * Returns the first free port of the `tries` ports from `first` upwards.
 *
 * @throws {ServeError} when all of them are taken
 */
export async function nextFreePort(
  first: number,
  isFree: (port: number) => Promise<boolean>,
  tries = 50,
): Promise<number> {
  const last = Math.min(first + tries - 1, 65_535);
  for (let port = first; port <= last; port += 1) {
    if (await isFree(port)) return port;
  }
  throw new ServeError(
    "no-port",
    `All ports from ${first} to ${last} are in use. Choose another one with --port.`,
  );
}

/**
 * Reads a port number.
 *
 * @throws {ServeError} when `value` is not a port number
 */
export function parsePort(value: string, source: string): number {
  const port = /^\d{1,5}$/.test(value) ? Number(value) : Number.NaN;
  if (Number.isNaN(port) || port > 65_535) {
    throw new ServeError("bad-port", `${source} is "${value}", which is not a port number (0 to 65535).`);
  }
  return port;
}
