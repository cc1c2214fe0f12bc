import type { Clock } from "../core/base/deps.ts";
import { failureCode, SwitchboardError } from "../core/base/errors.ts";
import type { Log } from "../core/base/log.ts";
import type { FetchableAttachment, MessengerContext } from "../core/chat/messenger-context.ts";
import { sha256Now } from "../core/bytes/sha256.ts";
import { canonicalJson } from "../core/json/canonical-json.ts";
import type { ConversationWorkspace } from "./conversation-workspace.ts";
import { numbered, safeName } from "./file-path.ts";
import { wordsOf } from "./workspace-tools.ts";
import type { WorkspaceStore } from "./workspace-store.ts";

export interface SentFilesOptions {
  readonly workspace: ConversationWorkspace;
  readonly store: WorkspaceStore;
  readonly clock: Clock;
  readonly log: Log;
  readonly maxFileBytes: number;
  /** Tells the chat that a file was not kept. Does nothing twice for one key. */
  readonly tellNotKept: (event: MessengerContext, key: string, name: string) => void;
}

const FOLDER = "/sent";
const MOST_FILES = 20;
const MOST_NUMBER = 10_000;

/** Names of files without one, by kind. */
const NAMES: Readonly<Record<string, string>> = {
  photo: "photo.jpg",
  image: "photo.jpg",
  voice: "voice.ogg",
  video: "video.mp4",
  animation: "animation.mp4",
};

/**
 * Keeps the files of people's messages below `/sent`, once each. No file takes the name of another one: a later one of
 * the same name gets a number.
 */
export class SentFiles {
  readonly #options: SentFilesOptions;
  /** Files that could not be fetched in this process, and are not tried again in it. */
  readonly #failed = new Set<string>();

  constructor(options: SentFilesOptions) {
    this.#options = options;
  }

  /** Keeps the files of a turn. Returns a line for the model about each. Never throws. */
  async keep(event: MessengerContext): Promise<readonly string[]> {
    const lines: string[] = [];
    for (const attachment of event.attachments.slice(0, MOST_FILES)) {
      if (attachment.kind === "sticker") continue;
      const key = sha256Now(`${event.messengerId} ${canonicalJson(attachment.reference)}`);
      lines.push(await this.#keepOne(event, attachment, key));
    }
    return lines;
  }

  async #keepOne(event: MessengerContext, attachment: FetchableAttachment, key: string): Promise<string> {
    const { clock, log, maxFileBytes, store, tellNotKept } = this.#options;
    const name = safeName(attachment.name ?? NAMES[attachment.kind] ?? attachment.kind, attachment.kind);
    const known = store.sent(key);
    if (known?.path !== undefined) return `${known.path} (sent as ${JSON.stringify(name)})`;
    if (known?.problem !== undefined) return `${JSON.stringify(name)} was not kept: ${known.problem}`;
    if (this.#failed.has(key)) return `${JSON.stringify(name)} was not kept: it could not be fetched.`;
    try {
      const { bytes } = await attachment.fetch({ maxBytes: maxFileBytes });
      return `${await this.#write(event, bytes, name, key)} (sent as ${JSON.stringify(name)})`;
    } catch (error) {
      const code = failureCode(error);
      log.warn("workspace.file-not-kept", { code });
      const isTooLarge = code === "attachment-too-large";
      const problem = isTooLarge ? `it has more than ${maxFileBytes} bytes.` : wordsOf(error);
      if (problem === undefined) {
        this.#failed.add(key);
        return `${JSON.stringify(name)} was not kept: it could not be fetched.`;
      }
      store.addSent({ key, path: undefined, problem, at: clock.now() });
      tellNotKept(event, key, name);
      return `${JSON.stringify(name)} was not kept: ${problem} The person has been told.`;
    }
  }

  /** Writes a file under a free name. The name, the file and the fact that it is kept are one transaction. */
  async #write(event: MessengerContext, bytes: Uint8Array, name: string, key: string): Promise<string> {
    const { clock, store, workspace } = this.#options;
    const { author } = event;
    const person = author && {
      userId: author.userId,
      name: author.fullName || author.userName || author.userId,
    };
    for (let number = 1; number < MOST_NUMBER; number += 1) {
      const path = `${FOLDER}/${number === 1 ? name : numbered(name, number)}`;
      if (store.file(path) !== undefined || store.hasFilesIn(path)) continue;
      const withIt = (): void => store.addSent({ key, path, problem: undefined, at: clock.now() });
      try {
        await workspace.commit([{ path, content: bytes, expected: null }], {
          ...(person !== undefined && { person }),
          withIt,
        });
        return path;
      } catch (error) {
        // Another write has taken the name meanwhile.
        if (failureCode(error) !== "workspace-changed") throw error;
      }
    }
    throw new SwitchboardError("workspace-full", `There are too many files with the name ${name}.`);
  }
}
