import { SwitchboardError } from "../core/base/errors.ts";
import type { Session } from "../feature/session.ts";
import type { ExtensionManifest } from "./extension-config.ts";
import type { ExtensionApi } from "./extension-api.ts";
import { fetchPublic } from "./fetch-public.ts";
import type { OneAtATime } from "./one-at-a-time.ts";

/** The files of a conversation, as extensions use them: `this.workspace` has these methods. */
export interface ExtensionFiles {
  stat(path: string): { readonly sizeBytes: number } | undefined;
  readFile(path: string): Promise<Uint8Array>;
  listFiles(folder?: string): readonly { readonly path: string; readonly sizeBytes: number }[];
  /** Writes files, and deletes those with `null`: all or none. */
  changeFiles(changes: Readonly<Record<string, string | null>>): Promise<void>;
}

/** The parts of one object that extensions can reach. Each is read only by an extension that may. */
export interface ReachableParts {
  readonly files: () => ExtensionFiles;
  readonly session: () => Pick<Session, "getContextBlock" | "replaceContextBlock">;
  readonly network: typeof fetch;
  /** Runs that change files or memory: each reads the changes of those before it. */
  readonly changing: OneAtATime;
}

/** One change that a run makes. */
export type ExtensionChange =
  | { readonly kind: "write"; readonly path: string; readonly content: string }
  | { readonly kind: "delete"; readonly path: string }
  | { readonly kind: "context"; readonly label: string; readonly content: string };

const MOST_CHANGES = 20;
/** Most characters of all changes of a run. They are one row of the database until they are made. */
const MOST_CHARACTERS = 150_000;
/** Largest file that a run reads, in bytes. */
const LARGEST_READ = 1024 * 1024;
const MOST_LISTED = 1000;

export interface ExtensionHostOptions {
  readonly manifest: ExtensionManifest;
  readonly parts: ReachableParts;
  readonly signal: AbortSignal;
  /** Only tools have the network: people agree to their calls. */
  readonly mayFetch: boolean;
}

/** Whether an extension has a `host` at all. */
export function hasHost({ context = [], permissions = {} }: ExtensionManifest): boolean {
  const { network, workspace = "none" } = permissions;
  return workspace !== "none" || context.length > 0 || (Array.isArray(network) && network.length > 0);
}

/** Whether the code of an extension can change something. */
export function canChange(manifest: ExtensionManifest): boolean {
  return canWrite(manifest) || reachesNetwork(manifest.permissions ?? {});
}

/** Whether the code of an extension can change files or memory. */
export function canWrite({ context = [], permissions = {} }: ExtensionManifest): boolean {
  return permissions.workspace === "read-write" || context.length > 0;
}

export function reachesNetwork({ network }: NonNullable<ExtensionManifest["permissions"]>): boolean {
  return Array.isArray(network) && network.length > 0;
}

export function contextLabel({ name }: Pick<ExtensionManifest, "name">, label: string): string {
  return `${name}_${label}`;
}

/**
 * The `host` of one run of an extension's code. Changes are kept until the run has ended well: the run sees them at once,
 * nobody else does.
 */
export class ExtensionHost {
  readonly #options: ExtensionHostOptions;
  readonly #changes: ExtensionChange[] = [];
  #characters = 0;

  constructor(options: ExtensionHostOptions) {
    this.#options = options;
  }

  get changes(): readonly ExtensionChange[] {
    return this.#changes;
  }

  /** The functions behind `host`. Their arguments come from the code of a stranger. */
  fns(): Readonly<Record<keyof ExtensionApi, (...given: unknown[]) => Promise<unknown>>> {
    return {
      readFile: async (path) => this.#read(textOf(path)),
      writeFile: async (path, content) => {
        this.#files("read-write");
        this.#add({ kind: "write", path: absolute(textOf(path)), content: textOf(content) });
      },
      deleteFile: async (path) => {
        const files = this.#files("read-write");
        const at = absolute(textOf(path));
        const isThere = (this.#written(at) ?? files.stat(at)) !== undefined && this.#written(at) !== null;
        if (isThere) this.#add({ kind: "delete", path: at });
        return isThere;
      },
      listFiles: async (folder = "/") => this.#list(absolute(textOf(folder))),
      getContext: async (label) => {
        const own = this.#label(label);
        const written = this.#changes.findLast((one) => one.kind === "context" && one.label === own);
        return written?.kind === "context"
          ? written.content
          : this.#options.parts.session().getContextBlock(own);
      },
      setContext: async (label, content) => {
        this.#add({ kind: "context", label: this.#label(label), content: textOf(content) });
      },
      fetch: async (url, init) => {
        const { manifest, mayFetch, parts, signal } = this.#options;
        const hosts = manifest.permissions?.network;
        if (!Array.isArray(hosts) || hosts.length === 0) throw denied("permissions.network names no host");
        if (!mayFetch) throw denied("hooks have no network, only tools");
        return fetchPublic(parts.network, hosts as readonly string[], { url, init, signal });
      },
    };
  }

  /** Makes changes, all or none. Made again, they change nothing more. */
  async apply(changes: readonly ExtensionChange[]): Promise<void> {
    const { parts, signal } = this.#options;
    signal.throwIfAborted();
    const texts = changes.filter((one) => one.kind === "context");
    const files = changes.filter((one) => one.kind !== "context");
    const before = new Map<string, string>();
    try {
      for (const { content, label } of texts) {
        if (!before.has(label)) before.set(label, await parts.session().getContextBlock(label));
        await parts.session().replaceContextBlock(label, content);
      }
      const contents = files.map((one) => [one.path, one.kind === "write" ? one.content : null] as const);
      if (contents.length > 0) await parts.files().changeFiles(Object.fromEntries(contents));
    } catch (error) {
      for (const [label, text] of before) await parts.session().replaceContextBlock(label, text);
      throw error;
    }
  }

  async #read(given: string): Promise<string | null> {
    const files = this.#files("read");
    const path = absolute(given);
    const written = this.#written(path);
    if (written !== undefined) return written;
    const found = files.stat(path);
    if (found === undefined) return null;
    if (found.sizeBytes > LARGEST_READ) throw denied(`${path} has more than ${LARGEST_READ} bytes`);
    return new TextDecoder().decode(await files.readFile(path));
  }

  #list(folder: string): readonly object[] {
    const sizes = new Map(
      this.#files("read")
        .listFiles(folder)
        .map((one) => [one.path, one.sizeBytes]),
    );
    const below = folder.endsWith("/") ? folder : `${folder}/`;
    for (const change of this.#changes) {
      if (change.kind === "delete") sizes.delete(change.path);
      if (change.kind === "write" && change.path.startsWith(below))
        sizes.set(change.path, new TextEncoder().encode(change.content).byteLength);
    }
    return [...sizes]
      .slice(0, MOST_LISTED)
      .map(([path, size]) => ({ path, name: path.slice(path.lastIndexOf("/") + 1), type: "file", size }));
  }

  /** The text that the run has written. `null` if it has deleted the file; undefined if it has done neither. */
  #written(path: string): string | null | undefined {
    const last = this.#changes.findLast((one) => one.kind !== "context" && one.path === path);
    if (last === undefined) return undefined;
    return last.kind === "write" ? last.content : null;
  }

  #files(level: "read" | "read-write"): ExtensionFiles {
    const { workspace = "none" } = this.#options.manifest.permissions ?? {};
    if (workspace === "none" || (level === "read-write" && workspace === "read"))
      throw denied(`permissions.workspace is "${workspace}"`);
    return this.#options.parts.files();
  }

  #label(given: unknown): string {
    const { manifest } = this.#options;
    const label = textOf(given);
    if (manifest.context?.some((block) => block.label === label) === true)
      return contextLabel(manifest, label);
    throw denied(`the manifest has no block "${label.slice(0, 40)}" in context`);
  }

  #add(change: ExtensionChange): void {
    this.#characters += JSON.stringify(change).length;
    if (this.#changes.length >= MOST_CHANGES || this.#characters > MOST_CHARACTERS)
      throw denied(`a run makes at most ${MOST_CHANGES} changes with ${MOST_CHARACTERS} characters`);
    this.#changes.push(change);
  }
}

function textOf(given: unknown): string {
  if (typeof given === "string") return given;
  throw denied("it takes texts");
}

function absolute(path: string): string {
  return path.startsWith("/") ? path : `/${path}`;
}

function denied(reason: string): SwitchboardError {
  return new SwitchboardError("extension-denied", `The extension cannot do this: ${reason}.`);
}
