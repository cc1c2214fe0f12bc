import type { ThinkActions } from "../actions/declare/action.ts";
import type { CardPress, PressAnswer } from "../core/chat/card-press.ts";
import { getMessengerContext, getTurn } from "../core/turn/turn-context.ts";
import type { MessengerContext } from "../core/chat/messenger-context.ts";
import { sayTo } from "../core/text/bot-texts.ts";
import type { Feature } from "../feature/feature.ts";
import type { FeatureHost } from "../feature/feature-host.ts";
import type { ThinkCommands } from "../messengers/declare/commands.ts";
import { addressOf } from "../messengers/replies/address-of.ts";
import { escapeMarkdown } from "../core/message/plain-markdown.ts";
import { ConversationWorkspace } from "./conversation-workspace.ts";
import { FilesCommand, type WorkspaceMethods } from "./files-command.ts";
import { LargeObjects } from "./large-objects.ts";
import { SentFiles } from "./sent-files.ts";
import { workspaceActions } from "./workspace-actions.ts";
import type { WorkspaceOptions } from "./workspace-options.ts";
import { WorkspaceStore } from "./workspace-store.ts";
import { DEFAULT_MEDIA } from "./workspace-tools.ts";

export const WORKSPACE = "workspace";

const MEGABYTE = 1024 * 1024;
const PROMPT =
  "You have a folder of files for this conversation. Paths begin with a slash. Other conversations cannot see it. People see a file only if you send it with send_file.";

/** The files of a conversation: for its model, its people and the bot's own code. */
export class WorkspaceFeature implements Feature {
  readonly name = WORKSPACE;
  readonly workspace: ConversationWorkspace;
  readonly #host: FeatureHost<WorkspaceMethods>;
  readonly #options: WorkspaceOptions;
  readonly #objects: LargeObjects | undefined;
  readonly #command: FilesCommand;
  readonly #sent: SentFiles | undefined;
  readonly #actions: ThinkActions;
  /** The files of the running turn's messages, for its prompt. */
  #news: { readonly turnId: string; readonly lines: readonly string[] } | undefined;

  constructor(host: FeatureHost<unknown>, options: WorkspaceOptions) {
    // Every bot has these methods.
    this.#host = host as FeatureHost<WorkspaceMethods>;
    this.#options = options;
    const { database, deps, log } = host;
    const { clock } = deps;
    const store = new WorkspaceStore(database);
    this.#objects = this.#largeObjects(store);
    const maxFileBytes = options.maxFileBytes ?? 10 * MEGABYTE;
    const workspace = new ConversationWorkspace({
      database,
      deps,
      store,
      files: () => host.thread.delivery.heldFiles,
      objects: this.#objects,
      limits: {
        maxBytes: options.maxBytes ?? 50 * MEGABYTE,
        maxFiles: options.maxFiles ?? 1000,
        maxFileBytes,
      },
    });
    this.workspace = workspace;
    const { bash, media = DEFAULT_MEDIA, mayDelete, tools } = options;
    this.#actions = workspaceActions({ workspace, clock, media, tools, bash });
    this.#command = new FilesCommand({
      host: this.#host,
      workspace: () => workspace,
      mayDelete,
      owner: WORKSPACE,
    });
    const tellNotKept = this.#tellNotKept.bind(this);
    if (options.keepSentFiles === true)
      this.#sent = new SentFiles({ workspace, store, clock, log, maxFileBytes, tellNotKept });
  }

  actions(): ThinkActions {
    return this.#actions;
  }

  commands(): ThinkCommands {
    return this.#command.commands();
  }

  pressed(press: CardPress): Promise<PressAnswer> | undefined {
    return this.#command.pressed(press);
  }

  /** Keeps the files of the turn's messages, before its model is asked. */
  async loadActions(): Promise<void> {
    const turn = getTurn();
    const event = getMessengerContext();
    if (this.#sent === undefined || turn === undefined || event === undefined) return;
    const lines = await this.#sent.keep(event);
    this.#news = { turnId: turn.id, lines };
  }

  prompt(): string {
    const news = this.#news;
    if (news === undefined || news.turnId !== getTurn()?.id || news.lines.length === 0) return PROMPT;
    return `${PROMPT}\nFiles of the newest messages:\n${news.lines.map((line) => `- ${line}`).join("\n")}`;
  }

  async work(): Promise<void> {
    await this.#objects?.work();
  }

  nextWakeAt(): number | undefined {
    return this.#objects?.wakeAt();
  }

  #largeObjects(store: WorkspaceStore): LargeObjects | undefined {
    const { largeFiles } = this.#options;
    if (largeFiles === undefined) return undefined;
    const host = this.#host;
    const { bucket, fromBytes = MEGABYTE, prefix = "workspace/" } = largeFiles;
    return new LargeObjects({
      bucket: () => bucket(host.env),
      fromBytes,
      prefix,
      owner: host.name.bind(host),
      store,
      clock: host.deps.clock,
      log: host.log,
      wakeSoon: host.wakeSoon.bind(host),
    });
  }

  /** The person reads at once that a file is not kept. */
  #tellNotKept(event: MessengerContext, key: string, name: string): void {
    const { agent, thread } = this.#host;
    const text = sayTo(agent, event.author)("fileNotKept", {
      name: escapeMarkdown(name),
    });
    thread.postCard(`workspace-not-kept:${key}`, addressOf(event), { kind: "card", text }, WORKSPACE);
    this.#host.wakeSoon();
  }
}
