import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { builtBot } from "../../lab/support/built-bot.ts";
import type { ModelStep } from "../../lab/support/model-script.ts";
import { say } from "../../lab/support/model-script.ts";
import type { ModelRequest } from "../../lab/support/model-request.ts";
import { lastUserText, startScriptedModel, type ScriptedModel } from "../../lab/support/scripted-model.ts";
import { startServedBot, type ServedBot } from "../../lab/support/served-bot.ts";
import { openWorkIn, type OpenWork } from "../../testing/open-work-store.ts";
import { slownessOf } from "../support/slowness.ts";
import { ONE_PLATFORM } from "./build-for-one.ts";
import { EmulatorServer } from "./emulator-server.ts";
import type { Expectations } from "./expectation.ts";
import type {
  Act,
  Acted,
  Person,
  Place,
  PlatformEmulator,
  SeenMessage,
  Webhook,
} from "./platform-emulator.ts";

/** Longest wait for something that must come. */
const SOON_MS = 30_000;
const LOOK_MS = 50;
/** Slack, Telegram, GitHub, Linear and WhatsApp deliver again for hours; WhatsApp takes no answer after a day. */
export const LATE_MS = 6 * 60 * 60_000;
/** A wait for what does not come is not made longer than this. */
const MOST_SLOWNESS = 2;
/** Between words, which may be cues. */
const NO_CUE = /[^\w-]+/;

/** Limit of a call that no busy machine reaches. */
const PATIENT_CALL_MS = 30_000;

export interface StageOptions {
  readonly expected?: Expectations | undefined;
  /** Time after which the bot takes a call without an answer for lost, in milliseconds. @default 30,000 */
  readonly callTimeoutMs?: number | undefined;
}

/** A row cannot be played, because the platform has no such thing. */
export class Impossible extends Error {}

/** A served bot between an emulated platform and a scripted model. Rows share it: their people and cues differ. */
export class Stage {
  readonly server: EmulatorServer;
  readonly model: ScriptedModel;
  readonly bot: ServedBot;
  readonly #scripts = new Map<
    string,
    { readonly answers: readonly (readonly ModelStep[])[]; played: number }
  >();
  readonly #expected: Expectations;
  /** How many times slower than a quiet machine this one is. */
  readonly #slowness: number;
  readonly #places = new Set<Place>();
  readonly #openWork: () => readonly OpenWork[] | undefined;
  #people = 0;

  constructor(
    server: EmulatorServer,
    model: ScriptedModel,
    bot: ServedBot,
    { expected, slowness }: { readonly expected: Expectations; readonly slowness: number },
  ) {
    this.#expected = expected;
    this.#slowness = Math.min(slowness, MOST_SLOWNESS);
    this.server = server;
    this.model = model;
    this.bot = bot;
    this.#openWork = openWorkIn(bot.dataDirectory);
    // A killed bot misses these, and nothing hangs on them.
    server.emulator.watchEchoes?.((webhook) => void this.deliver(webhook).catch(() => undefined));
    model.script((request) => {
      const asked = lastUserText(request);
      // An answer may quote an earlier message: the last cue counts.
      const cue = asked.split(NO_CUE).findLast((word) => this.#scripts.has(word)) ?? "";
      const script = this.#scripts.get(cue);
      if (script === undefined) return [say("Noted.")];
      const steps = script.answers[Math.min(script.played, script.answers.length - 1)];
      script.played += 1;
      return steps ?? [];
    });
  }

  static async start(
    emulator: PlatformEmulator,
    { callTimeoutMs = PATIENT_CALL_MS, expected = {} }: StageOptions = {},
  ): Promise<Stage> {
    const server = await new EmulatorServer(emulator).start();
    const model = await startScriptedModel();
    const config = path.join(import.meta.dirname, "bot/wrangler.jsonc");
    // The time that a build takes tells nothing of how fast the bot will be.
    const alias = aliasFor(emulator.name);
    await builtBot(config, { alias, withDemo: false });
    let bot: ServedBot | undefined;
    const slowness = await slownessOf(async () => {
      bot = await startServedBot({
        alias,
        config,
        env: {
          ...emulator.env(server.url),
          OPENAI_BASE_URL: model.url,
          OPENAI_API_KEY: "scripted",
          MODEL: "scripted",
          CALL_TIMEOUT_MS: String(callTimeoutMs),
        },
      });
    });
    if (bot === undefined) throw new Error("The bot does not start.");
    return new Stage(server, model, bot, { expected, slowness });
  }

  /** Whether a row should work, so that it is worth a long wait on a busy machine. */
  works(key: string): boolean {
    return this.#expected[key] === undefined;
  }

  get emulator(): PlatformEmulator {
    return this.server.emulator;
  }

  async close(): Promise<void> {
    await this.bot.close();
    await this.model.close();
    await this.server.close();
  }

  /** Gives the model's answers to messages with `cue`: the first call, the second. The last stays for all others. */
  on(cue: string, ...answers: readonly (readonly ModelStep[])[]): void {
    this.#scripts.set(cue, { answers, played: 0 });
  }

  requests(cue: string): readonly ModelRequest[] {
    return this.model.requests().filter((request) => hasCue(lastUserText(request), cue));
  }

  person(name: string): Person {
    this.#people += 1;
    return { id: String(7000 + this.#people), name: `${name} ${this.#people}` };
  }

  /** @throws {Impossible} if the platform has no such place */
  talk(by: Person, where: "anywhere" | "direct" | "shared" = "anywhere"): Talk {
    const { emulator } = this;
    const place =
      (where === "shared" ? undefined : emulator.direct(by)) ??
      (where === "direct" ? undefined : emulator.shared(`place-of-${by.id}`));
    if (place === undefined) throw new Impossible();
    this.#places.add(place);
    return new Talk(this, by, place, where !== "shared" && place === emulator.direct(by));
  }

  /** Does as a person does, and sends the webhooks. @throws {Impossible} if the bot cannot hear of it */
  async act(act: Act): Promise<Acted> {
    const acted = await this.emulator.act(act);
    const isReported = act.kind === "write" || (acted?.webhooks.length ?? 0) > 0;
    if (acted === undefined || !isReported) throw new Impossible();
    for (const webhook of acted.webhooks) await this.deliver(webhook);
    return acted;
  }

  /**
   * Does as a person did some time ago, and returns what the platform sends only now. The clock of this process is late
   * for the call alone, and not while it waits: other rows sign their webhooks by it.
   */
  actBefore(agoMs: number, act: Act): Promise<Acted | undefined> {
    const { now } = Date;
    Date.now = () => now() - agoMs;
    try {
      return this.emulator.act(act);
    } finally {
      Date.now = now;
    }
  }

  get webhookUrl(): string {
    return `${this.bot.url}/messengers/${this.emulator.name}/webhook`;
  }

  async deliver(webhook: Webhook): Promise<number> {
    const response = await fetch(webhook.request(this.webhookUrl));
    if (response.ok) await webhook.answered?.(response);
    return response.status;
  }

  /** Asks the bot's own paths. */
  async ask<Answer>(pathname: string, body?: object): Promise<Answer> {
    const response = await fetch(`${this.bot.url}${pathname}`, {
      method: body === undefined ? "GET" : "POST",
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return (await response.json()) as Answer;
  }

  /** Resolves when `look` finds something, or with undefined after the limit. */
  async until<Found>(
    look: () => Found | undefined | false | Promise<Found | undefined | false>,
    limitMs = SOON_MS,
  ): Promise<Found | undefined> {
    for (const end = Date.now() + limitMs * this.#slowness; ;) {
      const found = await look();
      if (found !== undefined && found !== false) return found;
      if (Date.now() > end) return undefined;
      await delay(LOOK_MS);
    }
  }

  /**
   * Resolves when the bot has nothing left to do.
   *
   * @param place only there
   */
  rest(limitMs = SOON_MS, place?: Place): Promise<boolean> {
    return this.#isDone(({ chatId }) => !this.#isElsewhere(chatId, place), limitMs);
  }

  /**
   * Resolves when the bot has heard that its cards are posted. People see a card before that.
   *
   * @param place only those in this place
   */
  cardsPosted(place?: Place): Promise<boolean> {
    return this.#isDone(({ chatId, kind }) => kind === "card" && !this.#isElsewhere(chatId, place), SOON_MS);
  }

  /** Whether a chat is certainly another place. */
  #isElsewhere(chatId = "", place?: Place): boolean {
    if (place === undefined) return false;
    const named = placesIn(chatId, this.emulator.name);
    const [found] = [...this.#places]
      .filter((one) => named.includes(one))
      .toSorted((one, other) => other.length - one.length);
    return found !== undefined && found !== place;
  }

  async #isDone(counts: (work: OpenWork) => boolean, limitMs: number): Promise<boolean> {
    let calm = 0;
    const found = await this.until(() => {
      calm = this.#openWork()?.some(counts) === false ? calm + 1 : 0;
      return calm === 3;
    }, limitMs);
    return found === true;
  }
}

/** Returns the id of a chat as the platform writes the names of places. Most ids contain them as they are. */
function placesIn(chatId: string, platform: string): string {
  switch (platform) {
    case "github":
      return chatId.replace(/:(?:issue:)?(\d+)$/, "#$1");
    case "teams":
      return Buffer.from(chatId.split(":")[1] ?? "", "base64url").toString();
    default:
      return chatId;
  }
}

const ADAPTERS = ["discord", "gchat", "github", "linear", "slack", "teams", "whatsapp"];

/** Leaves the adapters of other platforms out of the bot, if the suites of one platform alone run. */
function aliasFor(platform: string): Readonly<Record<string, string>> | undefined {
  if (process.env[ONE_PLATFORM] === undefined) return undefined;
  const others = ADAPTERS.filter((name) => name !== platform);
  return Object.fromEntries(others.map((name) => [`@chat-adapter/${name}`, "./no-adapter.ts"]));
}

/** Whether a text has the cue as a word. */
function hasCue(text: string, cue: string): boolean {
  return text.split(NO_CUE).includes(cue);
}

/** A person who talks to the bot in one place. */
export class Talk {
  readonly stage: Stage;
  readonly by: Person;
  readonly place: Place;
  readonly isDirect: boolean;

  constructor(stage: Stage, by: Person, place: Place, isDirect: boolean) {
    this.stage = stage;
    this.by = by;
    this.place = place;
    this.isDirect = isDirect;
  }

  /** Writes so that the bot answers: with a mention where people share the place. */
  async write(text: string, extra: Partial<Act & { readonly kind: "write" }> = {}): Promise<Acted> {
    return this.stage.act(this.writing(text, extra));
  }

  writing(text: string, extra: Partial<Act & { readonly kind: "write" }> = {}): Act {
    if (this.stage.emulator.talksByCommand === true) {
      if (extra.files !== undefined) throw new Impossible();
      return { kind: "command", by: this.by, in: this.place, name: "ask", args: text };
    }
    return { kind: "write", by: this.by, in: this.place, text, isMention: !this.isDirect, ...extra };
  }

  /** Gives a command: as the platform knows it, else typed. Tells which. */
  async command(name: string, args = ""): Promise<"command" | "typed"> {
    const { by, place, stage } = this;
    const acted = await stage.emulator.act({ kind: "command", by, in: place, name, args });
    if (acted === undefined) {
      await this.write(`/${name} ${args}`.trim());
      return "typed";
    }
    for (const webhook of acted.webhooks) await stage.deliver(webhook);
    return "command";
  }

  /** Answers a card with a number, in its thread. A number that is sent before the card is posted is for the model. */
  async choose(option: number, card: SeenMessage): Promise<void> {
    await this.stage.cardsPosted(this.place);
    // A timer may end a millisecond early, which would be the card's second.
    const next = Math.floor(Date.now() / 1000) + 1;
    if (this.stage.emulator.tellsSeconds === true) await this.stage.until(() => Date.now() / 1000 >= next);
    await this.stage.act(this.choosing(option, card));
  }

  /** Answers a card: by its button, else by the number of the option. */
  async pick(card: SeenMessage, label: string, option: number): Promise<void> {
    if (card.buttons.includes(label)) await this.press(card, label);
    else await this.choose(option, card);
  }

  choosing(option: number, { threadOf }: SeenMessage): Act {
    return this.writing(String(option), threadOf === undefined ? {} : { inThreadOf: threadOf });
  }

  async press(message: SeenMessage, label: string, by = this.by): Promise<void> {
    await this.stage.act({ kind: "press", by, in: this.place, messageId: message.id, label });
  }

  /** The bot's messages, oldest first. */
  bot(): readonly SeenMessage[] {
    return this.stage.emulator.seen(this.place).filter((message) => message.by === "bot");
  }

  /** Resolves with the bot's first message that has this text. */
  async reads(text: string, limitMs?: number): Promise<SeenMessage | undefined> {
    return this.stage.until(() => this.bot().find((message) => message.text.includes(text)), limitMs);
  }
}
