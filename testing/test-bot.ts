import type { ScriptedModel } from "../lab/support/scripted-model.ts";
import type { FaultRule, SimChat, Simulator, VisibleMessage } from "../playground/telegram/simulator.ts";
import type { BotServer } from "../ops/serve/serve-bot.ts";
import type { OpenWork } from "./open-work-store.ts";

/** The bot counts as finished when it has nothing to do at two looks in a row. */
const LOOK_EVERY_MS = 50;

const DEFAULT_TIMEOUT_MS = 10_000;

export interface WaitOptions {
  /** Longest wait. @default 10 s */
  readonly timeoutMs?: number;
}

type User = ReturnType<Simulator["addUser"]>;

/** A bot under test: it runs in workerd, with a simulated Telegram and a scripted model. */
export class TestBot {
  /** The simulated Telegram, for everything that `TestChat` does not offer. */
  readonly simulator: Simulator;
  /** The model. It repeats the message until `script` says what to answer. */
  readonly model: ScriptedModel;
  readonly #server: BotServer;
  /** The bot's log so far, one line of JSON for each fact. */
  readonly log: readonly string[];
  readonly #openWork: () => readonly OpenWork[] | undefined;
  readonly #close: () => Promise<void>;

  constructor(parts: {
    readonly simulator: Simulator;
    readonly model: ScriptedModel;
    readonly server: BotServer;
    readonly log: readonly string[];
    /** Everything that the bot has still to do, in all chats. Undefined while the bot is writing. */
    readonly openWork: () => readonly OpenWork[] | undefined;
    readonly close: () => Promise<void>;
  }) {
    this.simulator = parts.simulator;
    this.model = parts.model;
    this.#server = parts.server;
    this.log = parts.log;
    this.#openWork = parts.openWork;
    this.#close = parts.close;
  }

  /** Address of the bot, for its own routes. */
  get url(): string {
    return this.#server.url;
  }

  /**
   * Adds a person, with a private chat.
   *
   * @param options.id Telegram's id of the person, if the bot knows it from its settings. @default a new one
   */
  person(name: string, options: { readonly id?: number } = {}): TestChat {
    const user = this.simulator.addUser({ first_name: name, ...options });
    return new TestChat(this, this.simulator.privateChat(user), user);
  }

  /** Adds a group of new people. The chat speaks as the first one; `as` returns the others. */
  group(title: string, names: readonly [string, ...string[]]): TestChat {
    const [first, ...others] = names.map((name) => this.simulator.addUser({ first_name: name }));
    if (first === undefined) throw new Error("A group needs a person.");
    const chat = this.simulator.addGroup({ title, members: [first, ...others] });
    return new TestChat(this, chat, first);
  }

  /** Everything that the bot has still to do, in all chats. Undefined while the bot is writing. */
  openWork(): readonly OpenWork[] | undefined {
    return this.#openWork();
  }

  /**
   * Makes calls of the bot to Telegram go wrong: refused, slow, cut off before or after they are done. Affects the next
   * matching call unless the rule says otherwise. Returns a function that removes the fault.
   */
  fault(rule: FaultRule): () => void {
    return this.simulator.fault(rule);
  }

  /** Kills the bot's process at once, as a crash would. It starts again by itself, with its storage. */
  kill(): void {
    this.#server.crash();
  }

  /** Stops everything and removes the data. Without it, that happens when the test's process ends. */
  close(): Promise<void> {
    return this.#close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close();
  }
}

/** A chat as one person has it. */
export class TestChat {
  readonly bot: TestBot;
  /** The chat, for operations of the simulator. */
  readonly chat: SimChat;
  /** The person, for operations of the simulator. */
  readonly user: User;
  /** The bot's messages when the person last did something. */
  #before = new Map<number, string>();

  constructor(bot: TestBot, chat: SimChat, user: User) {
    this.bot = bot;
    this.chat = chat;
    this.user = user;
  }

  /** Sends a text. Resolves when the bot has accepted it, also after failures; not when it has answered. */
  async say(text: string, options: WaitOptions = {}): Promise<void> {
    this.#remember();
    this.bot.simulator.sendText(this.chat, this.user, text);
    await this.#accepted(options);
  }

  /**
   * Presses the newest button with this label. Resolves when the bot has accepted the press.
   * @throws {Error} if no message has such a button
   */
  async press(label: string, options: WaitOptions = {}): Promise<void> {
    const message = this.messages().findLast(({ buttons }) =>
      buttons.flat().some(({ text }) => text === label),
    );
    if (message === undefined) throw this.#failure(`No message has a button "${label}".`);
    this.#remember();
    this.bot.simulator.pressButton(this.chat, this.user, message.id, label);
    await this.#accepted(options);
  }

  /**
   * Answers the bot's newest question in the chat with a text or a photo. In a group the answer quotes the question.
   * Resolves when the bot has accepted it. Buttons are pressed with `press`.
   *
   * @throws {Error} if nothing in the chat has buttons: a question always has "Not now"
   */
  async answer(answer: string | { readonly photo: Uint8Array }, options: WaitOptions = {}): Promise<void> {
    const question = this.#fromBot().findLast(({ buttons }) => buttons.length > 0);
    if (question === undefined) throw this.#failure("The bot asks nothing in this chat.");
    this.#remember();
    const { simulator } = this.bot;
    const quote = this.chat.type === "private" ? {} : { replyTo: question.id };
    if (typeof answer === "string") simulator.sendText(this.chat, this.user, answer, quote);
    else simulator.sendPhoto(this.chat, this.user, { bytes: answer.photo, ...quote });
    await this.#accepted(options);
  }

  /**
   * Waits until the bot has answered what the person did last, and has nothing left to do: also its files, and its
   * cards and broadcasts in other chats, have arrived. Returns the text of the messages that are new or have changed
   * since, one paragraph for each.
   *
   * @throws {Error} if that takes too long: it lists the messages and other work that are left. `settled` waits for a
   *   bot that may stay silent
   */
  async reply(options: WaitOptions = {}): Promise<string> {
    await this.#until(() => this.#answers().length > 0, "The bot has not answered", options);
    return this.#answers()
      .map(({ text }) => text)
      .join("\n\n");
  }

  /** Waits until the bot has nothing left to do in any chat, whether or not it has answered. @throws as `reply` */
  async settled(options: WaitOptions = {}): Promise<void> {
    await this.#until(() => true, "The bot has not finished", options);
  }

  /** Waits until the bot's newest message contains a text. It may still grow. */
  async shows(text: string, options: WaitOptions = {}): Promise<void> {
    const isShown = (): boolean => this.#answers().some((message) => message.text.includes(text));
    await this.bot.simulator
      .waitFor(isShown, { timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS })
      .catch(() => {
        throw this.#failure(`No message of the bot contains "${text}".`);
      });
  }

  /** All visible messages of the chat, oldest first. */
  messages(): readonly VisibleMessage[] {
    return this.bot.simulator.messages(this.chat);
  }

  /** Labels of the buttons in the chat, row by row, oldest message first. */
  buttons(): readonly string[] {
    return this.messages().flatMap(({ buttons }) => buttons.flat().map(({ text }) => text));
  }

  /**
   * Returns the same chat as another person of the group has it.
   * @throws {Error} if nobody in the simulator has this name
   */
  as(name: string): TestChat {
    const user = this.bot.simulator.users().findLast((candidate) => candidate.first_name === name);
    if (user === undefined) throw new Error(`There is nobody called ${name}.`);
    return new TestChat(this.bot, this.chat, user);
  }

  #remember(): void {
    this.#before = new Map(this.#fromBot().map((message) => [message.id, contentOf(message)]));
  }

  #fromBot(): readonly VisibleMessage[] {
    return this.messages().filter(({ from, service }) => from.isBot && service === undefined);
  }

  #answers(): readonly VisibleMessage[] {
    return this.#fromBot().filter((message) => this.#before.get(message.id) !== contentOf(message));
  }

  #isSettled(): boolean {
    const isAccepted = this.bot.simulator.updates().every(({ state }) => state !== "pending");
    return isAccepted && this.bot.openWork()?.length === 0;
  }

  async #accepted(options: WaitOptions): Promise<void> {
    const { simulator } = this.bot;
    const last = simulator.updates().at(-1);
    await simulator
      .waitFor(() => last?.state !== "pending", { timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS })
      .catch(() => {
        throw this.#failure(
          `The bot has not accepted the update (${simulator.webhookProblem() ?? "no answer"}).`,
        );
      });
  }

  /** Waits until a condition holds and nothing is left to do, at two looks in a row. */
  async #until(condition: () => boolean, problem: string, options: WaitOptions): Promise<void> {
    const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    const { promise, reject, resolve } = Promise.withResolvers<void>();
    let next: NodeJS.Timeout | undefined;
    const look = (wasSettled: boolean): void => {
      const isSettled = condition() && this.#isSettled();
      if (isSettled && wasSettled) resolve();
      else next = setTimeout(look, LOOK_EVERY_MS, isSettled);
    };
    const timer = setTimeout(
      () => reject(this.#failure(`${problem} within ${timeoutMs / 1000} s.`)),
      timeoutMs,
    );
    look(false);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      clearTimeout(next);
    }
  }

  #failure(problem: string): Error {
    const { log, simulator } = this.bot;
    const nameOf = (chatId: string): string | undefined =>
      simulator.users().find(({ id }) => String(id) === chatId)?.first_name;
    const open = (this.bot.openWork() ?? []).map(({ chatId, kind }) =>
      chatId === undefined ? kind : `${kind} in the chat ${chatId} (${nameOf(chatId) ?? "a group"})`,
    );
    const chat = this.messages().map(({ from, text }) => `${from.name}: ${text}`);
    const warnings = log.filter((line) => /"level":"(?:warn|error)"/.test(line)).slice(-5);
    return new Error(
      [
        problem,
        ...section("Still to do:", open),
        ...section("The chat:", chat),
        ...section("The bot's log:", warnings),
      ].join("\n"),
    );
  }
}

function section(title: string, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [title, ...lines.map((line) => `  ${line}`)];
}

/** Everything of a message that an edit may change. */
function contentOf({ attachments, buttons, location, text }: VisibleMessage): string {
  return JSON.stringify([text, buttons, attachments, location]);
}
