import { userInfo } from "node:os";
import { ServeError } from "./serve-error.ts";

/**
 * Runs `work` in a folder that a variable names. If the folder cannot be written, the error names both. Node's own
 * error is misleading: `ENOENT: no such file or directory, mkdir` for a read-only disk.
 *
 * @throws {ServeError} `storage`, with the fix; other errors unchanged
 */
export async function inFolder<T>(
  { folder, variable }: { readonly folder: string; readonly variable: string },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const advice = adviceFor((error as NodeJS.ErrnoException).code, variable);
    if (advice === undefined) throw error;
    throw new ServeError("storage", `${folder} (${variable}) ${advice}`);
  }
}

function adviceFor(code: string | undefined, variable: string): string | undefined {
  switch (code) {
    case "ENOSPC":
    case "EDQUOT":
      return `cannot be written: the disk is full (${code}). Free some space, or set ${variable} to a folder on another disk.`;
    case "EACCES":
    case "EPERM":
    case "EROFS":
    case "ENOENT":
    case "ENOTDIR":
    case "EEXIST":
      return `is not writable for this user (${code}, user id ${userInfo().uid}). Set ${variable} to a folder that it may write to.`;
    default:
      return undefined;
  }
}
