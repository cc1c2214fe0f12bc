import { watch } from "node:fs";
import type { FSWatcher } from "node:fs";
import path from "node:path";

/** Time to wait for more changes: an editor writes a file in several steps, and a tool several files. */
const SETTLE_MS = 50;

export interface SourceWatch {
  /** Sets the files to watch. */
  set(files: readonly string[]): void;
  close(): void;
}

/**
 * Calls back when files have changed. Calls do not overlap: changes during a call lead to one more call after it.
 *
 * The folders are watched, because many editors replace a file when they save it.
 */
export function watchSources(onChange: () => Promise<void>): SourceWatch {
  const folders = new Map<string, FSWatcher>();
  let files: ReadonlySet<string> = new Set();
  let timer: NodeJS.Timeout | undefined;
  let isRunning = false;
  let isDue = false;

  const run = async (): Promise<void> => {
    if (isRunning) {
      isDue = true;
      return;
    }
    isRunning = true;
    do {
      isDue = false;
      await onChange();
    } while (isDue);
    isRunning = false;
  };
  const note = (file: string): void => {
    if (!files.has(file)) return;
    clearTimeout(timer);
    timer = setTimeout(() => void run(), SETTLE_MS);
  };
  const watchFolder = (folder: string): void => {
    try {
      const watcher = watch(folder, { persistent: false }, (_event, name) => {
        if (name !== null) note(path.join(folder, name));
      });
      // A folder that is removed has no files to watch any more.
      watcher.on("error", () => watcher.close());
      folders.set(folder, watcher);
    } catch {
      // The folder is gone already.
    }
  };
  return {
    set(next) {
      files = new Set(next);
      const wanted = new Set(next.map((file) => path.dirname(file)));
      for (const folder of wanted) if (!folders.has(folder)) watchFolder(folder);
      for (const [folder, watcher] of folders) {
        if (wanted.has(folder)) continue;
        watcher.close();
        folders.delete(folder);
      }
    },
    close() {
      clearTimeout(timer);
      for (const watcher of folders.values()) watcher.close();
      folders.clear();
    },
  };
}
