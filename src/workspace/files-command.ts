import { z } from "zod";
import { localText, sayTo, type BotTexts, type Say } from "../core/text/bot-texts.ts";
import type { CardPress, PressAnswer } from "../core/chat/card-press.ts";
import type { CardButton, CardContent } from "../core/message/content.ts";
import { escapeMarkdown, hardLines } from "../core/message/plain-markdown.ts";
import type { FeatureHost } from "../feature/feature-host.ts";
import type { CommandResult, ThinkCommands } from "../messengers/declare/commands.ts";
import { replyPolicy } from "../messengers/declare/texts.ts";
import { addressOf } from "../messengers/replies/address-of.ts";
import type { ConversationWorkspace } from "./conversation-workspace.ts";
import { nameOf } from "./file-path.ts";
import type { FileStat } from "./operations.ts";
import type { WorkspaceOptions } from "./workspace-options.ts";

/** The methods of the bot's class that are about files. */
export interface WorkspaceMethods {
  readonly texts?: BotTexts;
}

export interface FilesCommandOptions {
  readonly host: FeatureHost<WorkspaceMethods>;
  readonly workspace: () => ConversationWorkspace;
  readonly mayDelete: WorkspaceOptions["mayDelete"];
  /** Name of the feature, which owns the cards. */
  readonly owner: string;
}

const pressSchema = z.strictObject({
  file: z.enum(["get", "delete"]),
  path: z.string(),
  hash: z.string(),
});

/** Most files that one list shows. */
const MOST_FILES = 10;
const LONGEST_LABEL = 40;
/** A second press of the same button within this time is one of the same person's finger. */
const DOUBLE_PRESS_MS = 3000;

/**
 * /files for people: the list of the chat's files, with buttons that send and delete one.
 *
 * 1. A button is about the bytes that its list has shown. A file that has changed since stays as it is.
 * 2. Everybody in the chat may have a file sent to it. Who may delete one says `mayDelete`.
 */
export class FilesCommand {
  readonly #options: FilesCommandOptions;
  readonly #sentAt = new Map<string, number>();

  constructor(options: FilesCommandOptions) {
    this.#options = options;
  }

  commands(): ThinkCommands {
    const texts = this.#options.host.agent.texts ?? {};
    return {
      files: {
        description: localText(texts, "filesCommand"),
        handler: ({ event }): CommandResult => this.#list(sayTo(this.#options.host.agent, event.author)),
      },
    };
  }

  /** Takes a press of a list. Undefined if the card is another one's. */
  pressed(press: CardPress): Promise<PressAnswer> | undefined {
    const parsed = pressSchema.safeParse(press.payload);
    if (!parsed.success) return undefined;
    const { file, hash, path } = parsed.data;
    const found = this.#options.workspace().stat(path);
    const say = sayTo(this.#options.host.agent, press.person);
    if (found?.hash !== hash) return Promise.resolve(say("fileGone"));
    return file === "get" ? this.#send(press, found, say) : this.#delete(press, found, say);
  }

  async #send({ cardId, event }: CardPress, { path, hash }: FileStat, say: Say): Promise<PressAnswer> {
    const { host, owner, workspace } = this.#options;
    const { deps, messengers, thread } = host;
    const now = deps.clock.now();
    const pressed = `${cardId} ${path} ${hash}`;
    for (const [key, at] of this.#sentAt) if (now - at > DOUBLE_PRESS_MS) this.#sentAt.delete(key);
    if (this.#sentAt.has(pressed)) return say("hereItIs");
    this.#sentAt.set(pressed, now);
    const address = addressOf(event);
    const content = { kind: "files" as const, files: [await workspace().file(path)] as const };
    const ready = await thread.cards.prepareOrTell(address.messengerId, content);
    const policy = replyPolicy(messengers.get(address.messengerId).delivery);
    thread.cards.post({ id: `workspace-file:${event.key}`, address, policy, owner }, ready);
    host.wakeSoon();
    return say("hereItIs");
  }

  async #delete(press: CardPress, file: FileStat, say: Say): Promise<PressAnswer> {
    const { host, workspace } = this.#options;
    if (!(await this.#mayDelete(press, file))) {
      const name = file.person?.name;
      return name === undefined ? say("fileNotYours") : say("fileOfAnother", { name });
    }
    const version = workspace().versionOf(file.path);
    if (workspace().stat(file.path)?.hash !== file.hash) return say("fileGone");
    await workspace().commit([{ path: file.path, content: undefined, expected: version }]);
    const list = this.#list(say);
    host.thread.cards.revise(press.cardId, list, "leave", (list.buttons ?? []).length === 0);
    return say("scheduleDeleted");
  }

  async #mayDelete({ chat, person }: CardPress, file: FileStat): Promise<boolean> {
    if (person === undefined) return false;
    const { mayDelete } = this.#options;
    if (mayDelete !== undefined) return mayDelete(person, file);
    return chat.isDirectMessage || file.person?.userId === person.userId;
  }

  #list(say: Say): CardContent {
    const workspace = this.#options.workspace();
    const files = workspace.listFiles().toSorted((a, b) => b.changedAt - a.changedAt);
    if (files.length === 0) return { kind: "card", text: say("filesNone") };
    const { bytes, maxBytes } = workspace.usage();
    const shown = files.slice(0, MOST_FILES);
    const lines = [
      `**${say("filesTitle", { count: files.length, used: megabytes(bytes), most: megabytes(maxBytes) })}**`,
      ...shown.map(
        ({ path, sizeBytes }, index) => `${index + 1}. ${escapeMarkdown(path)} (${sizeInWords(sizeBytes)})`,
      ),
    ];
    if (files.length > shown.length) lines.push(say("andMore", { count: files.length - shown.length }));
    return { kind: "card", text: hardLines(lines), buttons: shown.map((file) => buttonsOf(file, say)) };
  }
}

function buttonsOf({ hash, path }: FileStat, say: Say): CardButton[] {
  const name = Array.from(nameOf(path));
  const label = name.length > LONGEST_LABEL ? `${name.slice(0, LONGEST_LABEL - 1).join("")}…` : name.join("");
  return [
    { kind: "callback", label, payload: { file: "get", path, hash } },
    { kind: "callback", label: say("deleteButton"), payload: { file: "delete", path, hash } },
  ];
}

function megabytes(bytes: number): string {
  return (bytes / 1024 / 1024).toFixed(1);
}

function sizeInWords(bytes: number): string {
  return bytes < 1024 * 1024 ? `${Math.ceil(bytes / 1024)} KB` : `${megabytes(bytes)} MB`;
}
