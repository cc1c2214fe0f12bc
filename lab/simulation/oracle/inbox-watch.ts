import type { UIMessage } from "ai";
import type { MessengerMessage } from "../../../src/core/chat/messenger-event.ts";
import type { Invariant, StoredOperation } from "./contract.ts";
import { questionsOf } from "./stored-message.ts";

/** Everything that the bot is told about one message of a person. */
interface Told {
  readonly threadId: string;
  /** Undefined for the press of a button. */
  readonly messageId: string | undefined;
  /** Time of the first call of the thread's object with it. It is stored then, or later. */
  readonly arrivedAt: number;
  /** Time since which it is certainly durable. */
  storedAt: number | undefined;
  readonly hasFile: boolean;
  /** Durable versions. `isDue`: the version was stored while the message waited. */
  readonly edits: { readonly version: number; readonly isDue: boolean }[];
  takenBack: { readonly isDue: boolean } | undefined;
  /** The thread's object has been called with the deletion, which may be applied before its webhook is answered. */
  mayBeTakenBack: boolean;
  /** The first turn that answers it. */
  turn: string | undefined;
}

export interface InboxWatchOptions {
  readonly now: () => number;
  readonly fail: (invariant: Invariant, message: string) => void;
  readonly isSteering: boolean;
  /** The object that handles a thread. */
  readonly conversationOf: (threadId: string) => string;
  /** Whether one turn has taken the place of another. */
  readonly replaces: (threadId: string, id: string, earlierId: string) => boolean;
}

/** Counts that prove that these cases occur. */
export interface Heard {
  /** Tools with an effect that ran. */
  effects: number;
  /** Turns that made way for a later message between two steps. */
  steered: number;
  /** Files that reached the model, and files of which it was told that they could not be loaded. */
  files: number;
  lostFiles: number;
  /** Messages that were taken back before their turn. */
  takenBack: number;
  /** Answers that started over because a message was edited. */
  reruns: number;
  /** Prompts of the bot's own code that were answered. */
  prompts: number;
}

/** Time in which more of a message may arrive: the default of every messenger. */
const BURST_MS = 1_000;

/**
 * Knows the stored messages, edits and deletions of people. Checks that turns answer each message in its newest
 * version, with its files, in order of arrival, and no message that was deleted before.
 */
export class InboxWatch {
  readonly heard: Heard = {
    effects: 0,
    steered: 0,
    files: 0,
    lostFiles: 0,
    takenBack: 0,
    reruns: 0,
    prompts: 0,
  };
  readonly #options: InboxWatchOptions;
  readonly #told = new Map<string, Told>();
  /** The first message of each thread's newest turn, by its place among all. */
  readonly #reached = new Map<string, number>();
  readonly #acted = new Set<string>();
  /** Steps that began although a message waited: a defect, unless the turn was ended for it. */
  readonly #wentOn: { readonly operation: StoredOperation; readonly token: string }[] = [];
  /** Times at which each turn's operation began, and at which a `/stop` was durable. */
  readonly #begunAt = new Map<string, number>();
  readonly #stops: { readonly threadId: string; readonly at: number }[] = [];
  /** Messages that waited while a turn began to answer a later one, in any thread of the conversation. */
  readonly #passed: { readonly token: string; readonly by: string }[] = [];
  /** The version of each message that each turn was given. */
  readonly #given = new Map<string, ReadonlyMap<string, number>>();

  constructor(options: InboxWatchOptions) {
    this.#options = options;
  }

  /** Records a call of the thread's object with a message. */
  arrives(token: string, threadId: string, message: MessengerMessage | undefined): void {
    if (this.#told.has(token)) return;
    const arrivedAt = this.#options.now();
    const hasFile = (message?.attachments.length ?? 0) > 0;
    const messageId = message?.id;
    const rest = {
      storedAt: undefined,
      edits: [],
      takenBack: undefined,
      mayBeTakenBack: false,
      turn: undefined,
    };
    this.#told.set(token, { threadId, messageId, arrivedAt, hasFile, ...rest });
  }

  stored(token: string): void {
    const told = this.#told.get(token);
    if (told !== undefined) told.storedAt ??= this.#options.now();
  }

  edited(token: string, version: number, isDue: boolean): void {
    this.#told.get(token)?.edits.push({ version, isDue });
  }

  takeBackArrives(token: string): void {
    const told = this.#told.get(token);
    if (told !== undefined) told.mayBeTakenBack = true;
  }

  takenBack(token: string, isDue: boolean): void {
    const told = this.#told.get(token);
    if (told === undefined) return;
    if (isDue && told.takenBack?.isDue !== true) this.heard.takenBack += 1;
    told.takenBack = { isDue: isDue || told.takenBack?.isDue === true };
  }

  /** Records that a `/stop` is durable, for the first time. */
  stopStored(threadId: string): void {
    this.#stops.push({ threadId, at: this.#options.now() });
  }

  /** The thread in which a message was written. */
  threadOf(token: string): string | undefined {
    return this.#told.get(token)?.threadId;
  }

  messageIdOf(token: string): string | undefined {
    return this.#told.get(token)?.messageId;
  }

  /** Returns the durable prompts whose answers go to a thread. */
  promptsOf(threadId: string): readonly string[] {
    return [...this.#told].flatMap(([token, told]) =>
      isPrompt(token) && told.threadId === threadId && told.storedAt !== undefined ? [token] : [],
    );
  }

  /** Whether the message was deleted and needs no answer. */
  isTakenBack(token: string): boolean {
    const told = this.#told.get(token);
    return told?.takenBack !== undefined && told.turn === undefined;
  }

  onTurn(threadId: string, id: string, message: UIMessage): void {
    const versions = versionsOf(message);
    const tokens = [...versions.keys()];
    this.#given.set(id, versions);
    this.#begunAt.set(id, this.#options.now());
    if (tokens.length > 1 && tokens.some(isPrompt)) {
      this.#options.fail("I2", `${id} answers ${tokens.join(", ")} at once, one of which is a prompt`);
    }
    if (tokens.some(isPrompt)) this.heard.prompts += 1;
    const stranger = tokens.find((token) => (this.threadOf(token) ?? threadId) !== threadId);
    if (stranger !== undefined) {
      this.#options.fail("I11", `${id} answers ${threadId}, and ${stranger} of another thread`);
    }
    this.#notePassed(threadId, id, tokens);
    const isAgain = tokens.length > 0 && tokens.every((token) => this.#told.get(token)?.turn !== undefined);
    if (isAgain) this.heard.reruns += 1;
    for (const earlier of this.#acted) {
      if (this.#options.replaces(threadId, id, earlier)) {
        this.#options.fail("I2", `${id} takes the place of ${earlier}, which has acted already`);
      }
    }
    this.#checkOrder(threadId, id, tokens);
    for (const token of tokens) this.#checkGiven(id, token, versions.get(token) ?? 1, message);
  }

  /**
   * Checks that a conversation answers in the order of arrival, across its threads (I3). A quick line that joins its
   * question has the position of the question, even if another thread wrote in between.
   */
  #notePassed(threadId: string, id: string, tokens: readonly string[]): void {
    const { conversationOf, replaces } = this.#options;
    const told = tokens.flatMap((token) => this.#told.get(token) ?? []);
    if (told.every(({ turn }) => turn !== undefined)) return;
    const own = told.filter(({ turn }) => turn === undefined || replaces(threadId, id, turn));
    const headAt = Math.min(...own.map(({ arrivedAt }) => arrivedAt));
    for (const [token, told] of this.#told) {
      const isGone = told.mayBeTakenBack || this.isTakenBack(token);
      if (told.turn !== undefined || tokens.includes(token) || isGone) continue;
      const isSame = conversationOf(told.threadId) === conversationOf(threadId);
      if (isSame && told.storedAt !== undefined && told.storedAt < headAt) {
        this.#passed.push({ token, by: id });
      }
    }
  }

  #checkGiven(id: string, token: string, version: number, message: UIMessage): void {
    const { fail } = this.#options;
    const told = this.#told.get(token);
    if (told === undefined) return;
    if (told.hasFile && !message.parts.some((part) => part.type === "file" && part.url.includes(token))) {
      fail("I2", `${id} answers ${token} without its file`);
    }
    if (told.turn !== undefined) return;
    told.turn = id;
    if (told.takenBack?.isDue === true) {
      fail("I2", `${token} was taken back before its turn, and starts ${id}`);
    }
    const newest = newestVersion(told.edits.filter(({ isDue }) => isDue));
    if (version < newest) fail("I2", `${id} answers ${token} in the words before its edit ${newest}`);
  }

  /** Checks that the turns of a thread begin in the order of their first messages (I3). */
  #checkOrder(threadId: string, id: string, tokens: readonly string[]): void {
    // A quick line joins its question, also before a prompt that came between them: `#notePassed` judges prompts.
    if (tokens.length === 0 || tokens.some(isPrompt)) return;
    const all = [...this.#told.keys()];
    const first = Math.min(...tokens.map((token) => all.indexOf(token)));
    const isNew = tokens.some((token) => this.#told.get(token)?.turn === undefined);
    if (isNew && first < (this.#reached.get(threadId) ?? -1))
      this.#options.fail("I3", `${id} answers ${tokens.join(", ")} out of order`);
    this.#reached.set(threadId, first);
  }

  /** Checks the files that the model gets. */
  onFiles(questions: readonly string[], messages: readonly UIMessage[]): void {
    const parts = messages.flatMap((message) => message.parts);
    const loaded = parts.filter((part) => part.type === "file").length;
    const lost = parts.filter(
      (part) => part.type === "text" && part.text.includes("could not be loaded"),
    ).length;
    const files = questions.filter((token) => this.#told.get(token)?.hasFile === true).length;
    this.heard.files += loaded;
    this.heard.lostFiles += lost;
    if (loaded + lost !== files) {
      this.#options.fail(
        "I2",
        `the model gets ${loaded + lost} of the ${files} files of ${questions.join()}`,
      );
    }
  }

  /** Checks a tool with an effect that runs. */
  onEffect(threadId: string, id: string, questions: readonly string[]): void {
    this.heard.effects += 1;
    this.#acted.add(id);
    // A prompt has no further lines, and nobody ends an answer that they do not see.
    if (questions.some(isPrompt)) return;
    const arrivals = questions.flatMap((token) => this.#told.get(token)?.arrivedAt ?? []);
    const early = Math.max(...arrivals) + BURST_MS - this.#options.now();
    if (early > 0) {
      this.#options.fail("I2", `${id} in ${threadId} acts ${early} ms before the end of the person's burst`);
    }
    const begunAt = this.#begunAt.get(id) ?? Infinity;
    const now = this.#options.now();
    if (this.#stops.some((stop) => stop.threadId === threadId && stop.at > begunAt && stop.at < now)) {
      this.#options.fail("I3", `${id} in ${threadId} acts though the person had stopped it`);
    }
  }

  /** Checks the decision whether the model is called again. */
  onStep(threadId: string, operation: StoredOperation, decision: "go" | "yield"): void {
    if (decision === "yield") this.heard.steered += 1;
    if (!this.#options.isSteering || decision === "yield" || operation.questions.some(isPrompt)) return;
    for (const [token, told] of this.#told) {
      if (isPrompt(token)) continue;
      // Another person's message that waited already when the turn began is answered by a turn of its own.
      const begunAt = this.#begunAt.get(operation.id) ?? 0;
      const { storedAt } = told;
      const isWaiting = storedAt !== undefined && storedAt < this.#options.now() && storedAt > begunAt;
      if (told.threadId !== threadId || !isWaiting || told.turn !== undefined || told.mayBeTakenBack)
        continue;
      this.#wentOn.push({ operation, token });
    }
  }

  /**
   * Checks a thread whose turns are over. A message that was ended before its turn began did not wait any more.
   *
   * @param operations of its whole conversation
   */
  checkThread(
    threadId: string,
    operations: readonly StoredOperation[],
    isRerunning: boolean,
    isEnded: (token: string) => boolean,
  ): void {
    for (const { operation, token } of this.#wentOn) {
      if (isEnded(token)) continue;
      if (this.#told.get(token)?.threadId !== threadId || operation.status !== "done") continue;
      this.#options.fail("I3", `${operation.id} went on with its next step though ${token} waited`);
    }
    for (const { token, by } of this.#passed) {
      if ((!isPrompt(token) && isEnded(token)) || this.threadOf(token) !== threadId) continue;
      this.#options.fail("I3", `${by} was begun while ${token} waited, which came before`);
    }
    if (isRerunning && operations.at(-1)?.threadId === threadId) this.#checkRerun(operations);
  }

  /** Checks that the newest answer is one to the newest version of the message. */
  #checkRerun(operations: readonly StoredOperation[]): void {
    const newest = operations.at(-1);
    if (newest === undefined) return;
    const sessions = new Set(operations.map(({ session }) => session));
    if (sessions.size > 1 || (newest.status !== "done" && newest.status !== "failed")) return;
    for (const [token, version] of this.#given.get(newest.id) ?? []) {
      const told = this.#told.get(token);
      if (told === undefined) continue;
      const current = newestVersion(told.edits);
      if (version < current) {
        this.#options.fail(
          "I5",
          `${newest.id} still answers ${token} in the words before its edit ${current}`,
        );
      }
    }
  }
}

/** Whether it is a prompt of the bot's own code. */
export function isPrompt(token: string): boolean {
  return token.startsWith("q");
}

function newestVersion(edits: Told["edits"]): number {
  return Math.max(1, ...edits.map(({ version }) => version));
}

/** Returns the messages in a question, each with its version. */
function versionsOf(message: UIMessage): ReadonlyMap<string, number> {
  const text = message.parts.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  return new Map(
    questionsOf(message).map((token) => [
      token,
      Number(new RegExp(`\\b${token} v(\\d+)`).exec(text)?.[1] ?? 1),
    ]),
  );
}
