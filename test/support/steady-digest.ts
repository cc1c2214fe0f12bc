/**
 * Lets digests settle without the platform's threads, which take as long as they like. A test that moves time by hand
 * then sees the same order of steps in every run, also on a busy machine. Replacing the module that makes digests would
 * not do: files that share a worker have loaded it already.
 */
import { createHash } from "node:crypto";

crypto.subtle.digest = async (algorithm, data) => {
  const name = typeof algorithm === "string" ? algorithm : algorithm.name;
  const bytes = ArrayBuffer.isView(data)
    ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
    : new Uint8Array(data);
  return new Uint8Array(createHash(name.replace("-", "")).update(bytes).digest()).buffer;
};
