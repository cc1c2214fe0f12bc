import { createHash } from "node:crypto";
import type { Json, OutgoingFile } from "../core/message/content.ts";
import type { Database } from "../core/store/database.ts";
import type { HeldFiles } from "../core/chat/delivery.ts";
import type { Deps } from "../core/base/deps.ts";
import { InvalidInputError, SwitchboardError } from "../core/base/errors.ts";
import { joinBytes } from "../core/bytes/join-bytes.ts";
import type { FileAttachment } from "../core/message/reply-attachment.ts";
import { foldersOf, nameOf, parseFilePath, parsePath } from "./file-path.ts";
import { fileKindOf, formatOf, textIn } from "./file-format.ts";
import type { LargeObjects } from "./large-objects.ts";
import type { FileStat, ReadOperations, WriteOperations } from "./operations.ts";
import type { FileRow, WorkspaceStore } from "./workspace-store.ts";

/** The files of a conversation: `this.workspace`. Only this conversation can see them. */
export interface Workspace extends ReadOperations, WriteOperations {
  stat(path: string): FileStat | undefined;
  listFiles(folder?: string): readonly FileStat[];
  deleteFiles(path: string): Promise<readonly string[]>;
  /** Returns a file for `say` and other content, as a photo, video, audio or document. */
  file(path: string): Promise<OutgoingFile>;
  /** Returns a file for `ctx.attachReply`. */
  attachment(path: string, options?: Pick<FileAttachment, "caption">): Promise<FileAttachment>;
  /** How much of the workspace is used. */
  usage(): WorkspaceUsage;
}

export interface WorkspaceUsage {
  readonly files: number;
  readonly bytes: number;
  readonly maxFiles: number;
  readonly maxBytes: number;
  readonly maxFileBytes: number;
}

export interface Limits {
  readonly maxBytes: number;
  readonly maxFiles: number;
  readonly maxFileBytes: number;
}

export interface ConversationWorkspaceOptions {
  readonly database: Database;
  readonly store: WorkspaceStore;
  readonly deps: Pick<Deps, "clock" | "newId">;
  readonly limits: Limits;
  readonly files: () => HeldFiles;
  readonly objects: LargeObjects | undefined;
}

/** One change of a commit: the whole content of a file, or its end. */
export interface Change {
  readonly path: string;
  /** Undefined: the file is deleted. */
  readonly content: Uint8Array | undefined;
  /** The version that the change is about; `null` if there must be no file. @default any */
  readonly expected?: string | null;
}

export interface CommitOptions {
  readonly person?: FileStat["person"];
  /** Runs in the transaction of the change. */
  readonly withIt?: () => void;
  /** The key of the tool call that makes the change. It is stored with the change. */
  readonly call?: string | undefined;
}

const MOST_TRIES = 3;

/**
 * The files of one conversation, in its own database.
 *
 * 1. A change happens in one transaction, with the mark of its call. A crash leaves all of it or nothing.
 * 2. Bytes are stored before the file names them, and are never changed: another write has other bytes.
 * 3. The limits hold after each change that adds something.
 */
export class ConversationWorkspace implements Workspace {
  readonly #options: ConversationWorkspaceOptions;

  readonly #defaults: CommitOptions;

  constructor(options: ConversationWorkspaceOptions, defaults: CommitOptions = {}) {
    this.#options = options;
    this.#defaults = defaults;
  }

  /** Returns the same files, whose changes are made with these options. */
  withDefaults(defaults: CommitOptions): ConversationWorkspace {
    return new ConversationWorkspace(this.#options, defaults);
  }

  stat(path: string): FileStat | undefined {
    const row = this.#options.store.file(parsePath(path));
    return row && statOf(row);
  }

  listFiles(folder = "/"): readonly FileStat[] {
    return this.#options.store.filesIn(parsePath(folder)).map(statOf);
  }

  usage(): WorkspaceUsage {
    return { ...this.#options.store.used(), ...this.#options.limits };
  }

  async readFile(path: string): Promise<Uint8Array> {
    return (await this.#read(path)).bytes;
  }

  async writeFile(
    path: string,
    content: string | Uint8Array,
    options: CommitOptions = {},
  ): Promise<FileStat> {
    const at = parseFilePath(path);
    await this.commit([{ path: at, content: bytesOf(content) }], options);
    return this.#statAfter(at);
  }

  /** Writes texts as whole files, and deletes those with `null`: all or none. */
  async changeFiles(changes: Readonly<Record<string, string | null>>): Promise<void> {
    const contents = new Map(
      Object.entries(changes).map(([path, text]) => [
        parseFilePath(path),
        text === null ? undefined : bytesOf(text),
      ]),
    );
    await this.commit([...contents].map(([path, content]) => ({ path, content })));
  }

  async editFile(
    path: string,
    change: (text: string) => string,
    options: CommitOptions = {},
  ): Promise<FileStat> {
    for (let tries = 1; ; tries += 1) {
      const { bytes, row } = await this.#read(path);
      const text = textIn(bytes);
      if (text === undefined)
        throw new SwitchboardError("workspace-not-text", `${row.path} is no text, so it cannot be edited.`);
      try {
        const edited = { path: row.path, content: bytesOf(change(text)), expected: row.version };
        await this.commit([edited], options);
        return this.#statAfter(row.path);
      } catch (error) {
        if (!isChanged(error) || tries >= MOST_TRIES) throw error;
      }
    }
  }

  async deleteFiles(path: string, options: CommitOptions = {}): Promise<readonly string[]> {
    const paths = this.pathsAt(path);
    if (paths.length === 0) throw noFile(parsePath(path));
    await this.commit(
      paths.map((one) => ({ path: one, content: undefined })),
      options,
    );
    return paths;
  }

  /** Returns the path of a file, or those of all files in a folder. */
  pathsAt(path: string): readonly string[] {
    const { store } = this.#options;
    const at = parsePath(path);
    const file = store.file(at);
    return file === undefined ? store.filesIn(at).map((row) => row.path) : [at];
  }

  async file(path: string): Promise<OutgoingFile> {
    const row = this.#row(path);
    const source =
      row.isLarge || row.sizeBytes === 0
        ? await this.readFile(path)
        : { storedId: row.hash, sizeBytes: row.sizeBytes };
    return { kind: fileKindOf(row.mediaType), source, ...namesOf(row) };
  }

  async attachment(path: string, options: Pick<FileAttachment, "caption"> = {}): Promise<FileAttachment> {
    const { bytes, row } = await this.#read(path);
    const kind = fileKindOf(row.mediaType);
    const type = kind === "photo" ? "image" : kind;
    // A copy, because the file may be deleted before the answer ends.
    return { type, source: bytes, ...namesOf(row), ...options };
  }

  /** Returns what a call has changed, as its output. Undefined if it has changed nothing. */
  outputOf(call: string): Json | undefined {
    const output = this.#options.store.call(call);
    return output === undefined ? undefined : (JSON.parse(output) as Json);
  }

  /** The version of a file, for `Change.expected`. */
  versionOf(path: string): string | null {
    return this.#options.store.file(path)?.version ?? null;
  }

  /**
   * Makes changes, all or none.
   *
   * @throws {InvalidInputError} `workspace-path`, `workspace-path-taken`, `workspace-file-too-large`
   * @throws {SwitchboardError} `workspace-full`, `workspace-changed`
   */
  async commit(changes: readonly Change[], options: CommitOptions = {}): Promise<void> {
    const { call, person, withIt } = { ...this.#defaults, ...options };
    const { database, deps, objects, store } = this.#options;
    const prepared: (Change & { readonly row: FileRow | undefined })[] = [];
    for (const change of changes) {
      const row = change.content && (await this.#prepare(change.path, change.content, person));
      prepared.push({ ...change, row });
    }
    store.make();
    const now = deps.clock.now();
    database.transaction(() => {
      const before = store.used();
      const replaced = prepared.flatMap(({ expected, path, row }) => {
        const found = store.file(path);
        if (expected !== undefined && (found?.version ?? null) !== expected)
          throw new SwitchboardError("workspace-changed", `${path} has changed meanwhile. Read it again.`);
        if (row === undefined) store.delete(path);
        else store.put(row);
        return found ?? [];
      });
      for (const { row } of prepared) if (row !== undefined) this.#checkPlace(row.path);
      this.#checkLimits(before);
      this.#moveHolds(prepared, replaced);
      if (call !== undefined)
        store.addCall(call, JSON.stringify({ changed: prepared.map(({ path }) => path) }), now);
      withIt?.();
    });
    objects?.poke();
  }

  /** Makes the bytes of a file durable. */
  async #prepare(path: string, content: Uint8Array, person: CommitOptions["person"]): Promise<FileRow> {
    const { deps, files, limits, objects } = this.#options;
    const { maxFileBytes } = limits;
    if (content.byteLength > maxFileBytes)
      throw new InvalidInputError(
        "workspace-file-too-large",
        `${path} would have ${content.byteLength} bytes. A file has at most ${maxFileBytes}.`,
      );
    const isLarge = objects?.takes(content.byteLength) === true;
    const hash = createHash("sha256").update(content).digest("hex");
    if (isLarge) await objects.put(hash, content);
    else if (content.byteLength > 0) await files().addBytes(content);
    return {
      path,
      version: deps.newId(),
      hash,
      sizeBytes: content.byteLength,
      mediaType: formatOf(content, path),
      isLarge,
      changedAt: deps.clock.now(),
      userId: person?.userId,
      userName: person?.name,
    };
  }

  /** A path is a file or a folder, never both. */
  #checkPlace(path: string): void {
    const { store } = this.#options;
    const [file] = store.filesAmong(foldersOf(path));
    if (file !== undefined) throw taken(`${file.path} is a file, so ${path} cannot be below it`);
    if (store.hasFilesIn(path)) throw taken(`${path} is a folder`);
  }

  #checkLimits(before: { readonly files: number; readonly bytes: number }): void {
    const { limits, store } = this.#options;
    const after = store.used();
    const isFull =
      (after.files > limits.maxFiles && after.files > before.files) ||
      (after.bytes > limits.maxBytes && after.bytes > before.bytes);
    if (!isFull) return;
    throw new SwitchboardError(
      "workspace-full",
      `There is no room for this: the files of this conversation may be ${limits.maxFiles} with ${limits.maxBytes} bytes in all, and ${before.files} with ${before.bytes} bytes are there. Delete some first, or ask the person which.`,
    );
  }

  #moveHolds(prepared: readonly { readonly row: FileRow | undefined }[], replaced: readonly FileRow[]): void {
    const { deps, store } = this.#options;
    const files = this.#options.files();
    const now = deps.clock.now();
    for (const { row } of prepared) {
      if (row === undefined || row.sizeBytes === 0) continue;
      if (row.isLarge) store.markObject(row.hash, now);
      else files.hold(holderOf(row.version), [row.hash]);
    }
    for (const { hash, isLarge, version } of replaced) {
      if (isLarge) store.markObject(hash, now);
      else files.release(holderOf(version));
    }
  }

  #row(path: string): FileRow {
    const at = parseFilePath(path);
    const row = this.#options.store.file(at);
    if (row === undefined) throw noFile(at);
    return row;
  }

  /** Reads the bytes of a file that may be written at the same time. */
  async #read(path: string): Promise<{ readonly bytes: Uint8Array; readonly row: FileRow }> {
    for (let tries = 1; ; tries += 1) {
      const row = this.#row(path);
      const bytes = await this.#bytesOf(row);
      if (bytes?.byteLength === row.sizeBytes) return { bytes, row };
      if (tries >= MOST_TRIES)
        throw new SwitchboardError("workspace-unreadable", `${row.path} cannot be read now. Try it again.`);
    }
  }

  /** Undefined if the bytes are gone, because a later write has replaced them. */
  async #bytesOf(row: FileRow): Promise<Uint8Array | undefined> {
    const { files, objects } = this.#options;
    if (row.sizeBytes === 0) return new Uint8Array();
    if (row.isLarge) return objects?.get(row.hash);
    try {
      const pieces: Uint8Array[] = [];
      for await (const piece of files().open(row.hash)) pieces.push(piece);
      return joinBytes(pieces);
    } catch (error) {
      if (error instanceof SwitchboardError) return undefined;
      throw error;
    }
  }

  #statAfter(path: string): FileStat {
    return statOf(this.#row(path));
  }
}

function holderOf(version: string): string {
  return `workspace:${version}`;
}

function statOf({ changedAt, hash, mediaType, path, sizeBytes, userId, userName = "" }: FileRow): FileStat {
  const person = userId === undefined ? undefined : { userId, name: userName };
  return { path, sizeBytes, mediaType, changedAt, hash, person };
}

/** The platform shows a text by its name; the type of a picture is certain. */
function namesOf({ mediaType, path }: FileRow): { readonly name: string; readonly mediaType?: string } {
  return { name: nameOf(path), ...(!mediaType.startsWith("text/") && { mediaType }) };
}

function bytesOf(content: string | Uint8Array): Uint8Array {
  return typeof content === "string" ? new TextEncoder().encode(content) : content.slice();
}

function noFile(path: string): SwitchboardError {
  return new SwitchboardError(
    "workspace-no-file",
    `There is no file ${path}. List the files to see their paths.`,
  );
}

function taken(problem: string): InvalidInputError {
  return new InvalidInputError("workspace-path-taken", `${problem}. Choose another path.`);
}

function isChanged(error: unknown): boolean {
  return error instanceof SwitchboardError && error.code === "workspace-changed";
}
