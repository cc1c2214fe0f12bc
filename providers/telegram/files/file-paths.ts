import type { Clock } from "../../../src/core/base/deps.ts";

/** Telegram keeps a path valid for at least an hour. A download may begin a little late. */
const keptMs = 55 * 60_000;
const maxPaths = 500;

/** Remembers the paths from `getFile`, so that it is not called again for every turn of a conversation. */
export class FilePaths {
  readonly #known = new Map<string, { readonly path: string; readonly until: number }>();

  get(fileId: string, { now }: Pick<Clock, "now">): string | undefined {
    const known = this.#known.get(fileId);
    if (known === undefined || known.until > now()) return known?.path;
    this.#known.delete(fileId);
    return undefined;
  }

  set(fileId: string, path: string, { now }: Pick<Clock, "now">): void {
    this.#known.delete(fileId);
    this.#known.set(fileId, { path, until: now() + keptMs });
    const [oldest] = this.#known.keys();
    if (this.#known.size > maxPaths && oldest !== undefined) this.#known.delete(oldest);
  }

  forget(fileId: string): void {
    this.#known.delete(fileId);
  }
}
