import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { rename, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { User } from "grammy/types";
import type { UpdateRecord, Updates } from "../webhook/updates.ts";
import type { ChatState, MessageBox, StoredFile, StoredMessage, World } from "../chats/world.ts";

const version = 1;
const saveAfterMs = 200;

interface SavedState {
  readonly version: typeof version;
  readonly users: readonly User[];
  readonly chats: readonly {
    readonly id: number;
    readonly type: ChatState["type"];
    readonly title?: string;
    readonly isForum: boolean;
    readonly members: readonly number[];
    readonly botStatus: ChatState["botStatus"];
    readonly blocked: boolean;
    readonly migratedTo?: number;
    readonly topics: readonly (readonly [number, string])[];
    /** Missing in older files. */
    readonly closedTopics?: readonly number[];
    readonly messages: readonly StoredMessage[];
    readonly lastId?: number;
  }[];
  readonly privateBox: MessageBox;
  /** The bytes of a copy are those of its photo. */
  readonly files: readonly (Omit<StoredFile, "bytes" | "sizeBytes"> & {
    readonly base64: string;
    /** Missing in older files. */
    readonly sizeBytes?: number;
  })[];
  readonly nextUpdateId: number;
  readonly pending: readonly UpdateRecord[];
  /** Missing in older files. */
  readonly commands?: readonly (readonly [string, readonly object[]])[];
}

/** Content of the file. */
interface Kept {
  readonly world: World;
  readonly updates: Updates;
  readonly commands: Map<string, readonly object[]>;
}

/** Stores the world in one JSON file. The file is replaced as a whole, shortly after a change. */
export class StateFile {
  readonly #path: string;
  readonly #world: World;
  readonly #updates: Updates;
  readonly #commands: Kept["commands"];
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();

  constructor(path: string, { commands, updates, world }: Kept) {
    this.#path = path;
    this.#world = world;
    this.#updates = updates;
    this.#commands = commands;
  }

  /**
   * Loads the file, if there is one.
   * @throws {Error} when another version has written the file
   */
  load(): void {
    if (!existsSync(this.#path)) return;
    const saved = JSON.parse(readFileSync(this.#path, "utf8")) as SavedState;
    if (saved.version !== version) {
      throw new Error(
        `${this.#path} was written by another version of the simulator. Delete it to start over.`,
      );
    }
    for (const user of saved.users) this.#world.users.set(user.id, user);
    for (const { base64, ...file } of saved.files) {
      const original = file.copyOf === undefined ? undefined : this.#world.files.get(file.copyOf);
      const bytes = original?.bytes ?? Buffer.from(base64, "base64");
      this.#world.files.set(file.fileId, { sizeBytes: bytes.length, ...file, bytes });
    }
    for (const chat of saved.chats) {
      const state = this.#world.addChat(chat);
      state.blocked = chat.blocked;
      if (chat.migratedTo !== undefined) state.migratedTo = chat.migratedTo;
      for (const [threadId, name] of chat.topics) state.topics.set(threadId, name);
      for (const threadId of chat.closedTopics ?? []) state.closedTopics.add(threadId);
      for (const message of chat.messages) state.messages.set(message.id, message);
      if (chat.lastId !== undefined) this.#world.supergroupBoxes.set(chat.id, { lastId: chat.lastId });
    }
    this.#world.privateBox.lastId = saved.privateBox.lastId;
    for (const [scope, list] of saved.commands ?? []) this.#commands.set(scope, list);
    this.#updates.nextId = saved.nextUpdateId;
    for (const record of saved.pending) {
      this.#updates.records.push(record);
      this.#updates.pending.set(record.id, record);
    }
  }

  scheduleSave(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#writing = this.#writing.then(() => this.#save());
    }, saveAfterMs);
  }

  async close(): Promise<void> {
    if (this.#timer !== undefined) {
      clearTimeout(this.#timer);
      this.#timer = undefined;
    }
    await this.#writing;
    await this.#save();
  }

  async #save(): Promise<void> {
    mkdirSync(dirname(this.#path), { recursive: true });
    const temporary = `${this.#path}.new`;
    await writeFile(temporary, JSON.stringify(this.#snapshot()));
    await rename(temporary, this.#path);
  }

  #snapshot(): SavedState {
    const world = this.#world;
    return {
      version,
      users: [...world.users.values()],
      chats: [...world.chats.values()].map((chat) => ({
        id: chat.id,
        type: chat.type,
        ...(chat.title !== undefined && { title: chat.title }),
        isForum: chat.isForum,
        members: [...chat.members],
        botStatus: chat.botStatus,
        blocked: chat.blocked,
        ...(chat.migratedTo !== undefined && { migratedTo: chat.migratedTo }),
        topics: [...chat.topics],
        closedTopics: [...chat.closedTopics],
        messages: [...chat.messages.values()],
        ...(chat.type === "supergroup" && { lastId: world.boxOf(chat).lastId }),
      })),
      privateBox: world.privateBox,
      files: [...world.files.values()].map(({ bytes, ...file }) => ({
        ...file,
        base64: file.copyOf === undefined ? Buffer.from(bytes).toString("base64") : "",
      })),
      nextUpdateId: this.#updates.nextId,
      pending: [...this.#updates.pending.values()],
      commands: [...this.#commands],
    };
  }
}
