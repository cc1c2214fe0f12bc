import { z } from "zod";
import type { ActionOptions } from "../../../src/actions/declare/action.ts";
import { Attachments } from "../../../src/actions/attachments/attachments.ts";
import { defineAction } from "../../../src/actions/declare/define-action.ts";
import type { Database } from "../../../src/core/store/database.ts";
import type { CardBody, Delivery, ReplyStart } from "../../../src/core/chat/delivery.ts";
import type { MessengerThread } from "../../../src/core/chat/messenger-event.ts";
import { inTurnContext } from "../../../src/core/turn/turn-context.ts";
import type { TurnInfo } from "../../../src/core/turn/turn-info.ts";
import { normalizeMessengers } from "../../../src/messengers/declare/define-messengers.ts";
import { QuestionMessages } from "../../../src/messengers/intake/question-messages.ts";
import { addressOf } from "../../../src/messengers/replies/address-of.ts";
import { Cards } from "../../../src/messengers/replies/cards.ts";
import { BotActions } from "../../../src/messengers/tools/bot-actions.ts";
import type { PromptRequest } from "../../../src/messengers/turns/prompts.ts";
import type { Question } from "../../../src/questions/question.ts";
import { QuestionStore } from "../../../src/questions/question-store.ts";
import { QuestionsFeature } from "../../../src/questions/questions-feature.ts";
import { definitionOf, inboxRow, messageEvent } from "../../../lab/support/messenger-events.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { recordLog } from "../../support/log-recorder.ts";
import { NO_UNSENT } from "../../support/unsent.ts";
import { TurnEvents } from "../../../src/turn/turn-events.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import type { VirtualClock } from "../../support/virtual-clock.ts";

const [TELEGRAM] = normalizeMessengers({ telegram: definitionOf() });

/** Mistakes that the tests must find. */
export interface PlantedMistakes {
  /** A transaction that dies keeps its first writes. */
  readonly hasNoTransactions?: boolean;
  /** The outcome is told outside of the transaction that notes it. */
  readonly tellsOutside?: boolean;
  /** The results of steps are not stored. */
  readonly losesSteps?: boolean;
}

interface Live {
  readonly actions: BotActions;
  readonly feature: QuestionsFeature;
  readonly cards: Cards;
  readonly messages: QuestionMessages;
  readonly database: Database;
}

const input = z.object({ order: z.string() });

/** A conversation with one action that asks people: the real parts over SQLite, and an object that may die. */
export class QuestionRig {
  readonly clock: VirtualClock = createVirtualClock();
  /** What the runs have done outside: steps and ends, by order. */
  readonly effects: string[] = [];
  /** Number of statements that the object has made. */
  statements = 0;
  /** Number of times that the object died while the model called the action. */
  deathsInCall = 0;
  /** Whether texts wait for the budget of their chat. */
  holdsTexts = false;
  readonly #planted: PlantedMistakes;
  readonly #data = createNodeDatabase();
  readonly #outside = createNodeDatabase();
  readonly #turns = new Map<string, TurnInfo>();
  #life = 0;
  #toGo = Infinity;
  #ids = 0;
  #messages = 1_000;
  #death = Promise.withResolvers<"died">();
  #live: Live | undefined;

  constructor(planted: PlantedMistakes = {}) {
    this.#planted = planted;
    for (const database of [this.#data, this.#outside])
      database.run("CREATE TABLE told (turn TEXT NOT NULL, text TEXT NOT NULL)");
    this.#data.run("CREATE TABLE screen (id TEXT PRIMARY KEY, body TEXT NOT NULL)");
    this.#data.run("CREATE TABLE ended (seq INTEGER PRIMARY KEY)");
  }

  /** Whether a point that `killAt` has set was never reached. */
  get isPointLeft(): boolean {
    return this.#toGo !== Infinity;
  }

  /** Ends the object before or after one of its next writes. */
  killAt(point: number): void {
    this.#toGo = point;
  }

  kill(): void {
    this.#life += 1;
    this.#toGo = Infinity;
    this.#live = undefined;
    this.#death.resolve("died");
    this.#death = Promise.withResolvers();
  }

  /** The model calls the action for a person, in a turn. The harness repeats a call whose process has died. */
  async ask(turn: string, person: string): Promise<unknown> {
    const thread = privateThread(person);
    const author = { userId: person };
    const event = messageEvent({ thread, author, message: { id: "1" } });
    const answerTo = [addressOf({ messengerId: "telegram", thread })];
    const info: TurnInfo = { id: turn, kind: "messages", authors: [author], answerTo, event };
    this.#turns.set(turn, info);
    for (let tries = 0; tries < 5; tries += 1) {
      const output = await this.#settled(async ({ actions }) => {
        const tools = await actions.tools({ clock: this.clock, log: recordLog().log });
        const call = { toolCallId: `call-${turn}`, messages: [], context: undefined as never };
        return inTurnContext(info, undefined, () => tools["act"]?.execute?.({ order: turn }, call));
      });
      if (output !== "died") return output;
      this.deathsInCall += 1;
    }
    return "died";
  }

  /** Somebody presses a button of the newest card of a turn. The platform delivers a press again if the object died. */
  async press(turn: string, label: string, person: string): Promise<void> {
    await this.#untilLives(async ({ cards, feature }) => {
      const question = this.questions(turn).at(-1);
      const card = question && cards.store.read(`question:${question.id}:0`);
      const button = card?.buttons.find((one) => one.label === label);
      if (question === undefined || card === undefined || button === undefined) return;
      const event = messageEvent({ thread: threadOf(question), author: { userId: person } });
      const press = { cardId: card.id, payload: button.payload, label, isTyped: false, event };
      await feature.pressed({ ...press, person: { userId: person }, chat: event.thread, handled: () => {} });
    });
  }

  /** Somebody writes in the private chat of a person, with or without a quote of the newest card of a turn. */
  async write(turn: string, text: string, person: string, isQuote = false): Promise<void> {
    this.#messages += 1;
    const seq = this.#messages;
    await this.#untilLives(async ({ database, feature, messages }) => {
      if (database.all("SELECT 1 AS one FROM ended WHERE seq = ?", seq).length > 0) return;
      const question = this.questions(turn).at(-1);
      const id = question && `question:${question.id}:0`;
      const event = messageEvent({
        thread: question === undefined ? privateThread(person) : threadOf(question),
        author: { userId: person },
        message: {
          id: `${seq}`,
          text,
          sentAt: this.clock.now(),
          ...(isQuote && id !== undefined && { quoted: { id, text: "", isFromBot: true, attachments: [] } }),
        },
      });
      if (isQuote && id !== undefined && feature.questions.takesReply(id, event)) {
        const payload = { isReply: true };
        const press = { cardId: id, payload, label: "", isTyped: true, event, chat: event.thread };
        await feature.pressed({ ...press, person: { userId: person }, handled: () => {} });
      } else await messages.take(inboxRow(seq, { event }), event, TELEGRAM as NonNullable<typeof TELEGRAM>);
    });
  }

  /** Time passes, and the object wakes when it wants to. Returns the number of its wakes. */
  async pass(minutes: number): Promise<number> {
    const end = this.clock.now() + minutes * 60_000;
    let wakes = 0;
    for (; wakes < 50; wakes += 1) {
      const at = this.#ensure().feature.nextWakeAt();
      if (at === undefined || at > end) break;
      await this.clock.advance(Math.max(0, at - this.clock.now()));
      await this.#settled(async ({ feature }) => feature.work());
    }
    await this.clock.advance(Math.max(0, end - this.clock.now()));
    return wakes;
  }

  /** Leaves the object alone until nothing is left to do. */
  async rest(): Promise<void> {
    for (let round = 0; round < 3; round += 1) await this.pass(1);
  }

  nextWakeAt(): number | undefined {
    return this.#ensure().feature.nextWakeAt();
  }

  /** The questions of a turn, oldest first. */
  questions(turn: string): Question[] {
    const rows = this.#rows<{ id: string }>(
      "question_v1",
      `SELECT q.id AS id FROM question_v1 q JOIN parked_call_v1 c ON c.id = json_extract(q.call, '$.id')
       WHERE c.request_id = ? ORDER BY q.seq`,
      turn,
    );
    const store = new QuestionStore(this.#data);
    return rows.flatMap(({ id }) => store.get(id) ?? []);
  }

  /** The texts below the cards of a turn. */
  below(turn: string): string[] {
    return this.questions(turn).flatMap(({ id }) =>
      this.#data
        .all<{ body: string }>("SELECT body FROM screen WHERE id LIKE ?", `question:${id}:0:%`)
        .map(({ body }) => body),
    );
  }

  /** The outcomes that the conversation was told of the call of a turn. */
  told(turn: string): string[] {
    return [this.#data, this.#outside].flatMap((one) =>
      one
        .all<{ text: string }>("SELECT text FROM told WHERE turn = ?", turn)
        .map(({ text }) => /^Result: (.*)$/m.exec(text)?.[1] ?? text),
    );
  }

  #rows<Row extends Record<string, string | number | null>>(
    table: string,
    query: string,
    ...values: string[]
  ): Row[] {
    const [known] = this.#data.all("SELECT 1 AS one FROM sqlite_master WHERE name = ?", table);
    return known === undefined ? [] : this.#data.all<Row>(query, ...values);
  }

  async #untilLives(work: (live: Live) => Promise<void>): Promise<void> {
    for (let tries = 0; tries < 5; tries += 1)
      if ((await this.#settled((live) => work(live).then(() => "done"))) !== "died") return;
  }

  /** Runs work in the present life of the object, and waits until it is done, or the object has died. */
  async #settled(work: (live: Live) => Promise<unknown>): Promise<unknown> {
    const death = this.#death.promise;
    const born = this.#life;
    const done = { isDone: false };
    const run = async (): Promise<unknown> => {
      try {
        return await Promise.race([death, Promise.resolve().then(() => work(this.#ensure()))]);
      } catch (error) {
        if (this.#life === born) throw error;
        return "died";
      }
    };
    const running = run().finally(() => (done.isDone = true));
    const isBusy = (): boolean => this.#live?.feature.isBusy() === true;
    for (let turn = 0; turn < 200 && (!done.isDone || isBusy()); turn += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      if (turn % 40 === 39) await this.clock.advance(500);
    }
    return running;
  }

  #ensure(): Live {
    return (this.#live ??= this.#start());
  }

  #start(): Live {
    const born = this.#life;
    const isDead = (): boolean => this.#life !== born;
    const boundary = (): void => {
      if (isDead()) throw new Error("killed by a test");
      if (this.#toGo === 0) {
        this.kill();
        throw new Error("killed by a test");
      }
      this.#toGo -= 1;
    };
    const hooked = this.#data.withHooks({ beforeWrite: boundary, afterWrite: boundary });
    const { hasNoTransactions, losesSteps } = this.#planted;
    const database: Database = {
      all: (statement, ...bindings) => {
        this.statements += 1;
        return hooked.all(statement, ...bindings);
      },
      run: (statement, ...bindings) =>
        losesSteps === true && statement.includes("run_log_v1") && bindings.includes("step")
          ? 0
          : hooked.run(statement, ...bindings),
      transaction: (body) => (hasNoTransactions === true ? body() : hooked.transaction(body)),
    };
    const process = this.clock.process();
    const deps = {
      clock: process,
      random: () => 0.5,
      newId: () => `id${(this.#ids += 1)}`,
      fetch: () => Promise.reject(new Error("Nothing is fetched.")),
    };
    const delivery = this.#delivery(database);
    const cards = new Cards({ database, deps, delivery, unsent: NO_UNSENT });
    const { log } = recordLog();
    const recorded = new Attachments({
      database,
      clock: deps.clock,
      files: { addBytes: () => Promise.reject(new Error()), hold: () => {}, release: () => {} },
      onRefused: () => {},
    });
    const thread = {
      cards,
      delivery,
      attachments: { recorded },
      own: {
        calls: { park: () => {} },
        info: (turn: string) => this.#turns.get(turn),
        submit: ({ messages, metadata }: PromptRequest) => {
          const isOutside = this.#planted.tellsOutside === true;
          const [call] = database.all<{ turn: string }>(
            "SELECT request_id AS turn FROM parked_call_v1 WHERE id = ?",
            String(metadata?.["parkedCall"]),
          );
          const part = messages[0]?.parts[0];
          const text = part?.type === "text" ? part.text : "";
          const target = isOutside ? this.#outside : database;
          target.run("INSERT INTO told VALUES (?, ?)", call?.turn ?? "", text);
          if (isOutside) boundary();
        },
      },
    };
    const host = {
      agent: this.#bot(isDead),
      name: () => "thread",
      database,
      deps,
      log,
      env: {},
      thread,
      engine: { events: new TurnEvents(deps.clock) },
      runs: { runs: { get: () => undefined } },
      messengers: {
        find: () => TELEGRAM,
        isDeclared: () => true,
        all: () => [{ id: "telegram" }],
        surface: () => ({ capabilities: { buttons: true }, limits: { maxLength: 4_096 } }),
      },
      objects: { isRoot: () => false, link: { resolveTarget: () => Promise.resolve({ kind: "refused" }) } },
      botLedger: () => actions.ledger,
      messages: () => Promise.resolve([]),
      wakeSoon: () => {
        queueMicrotask(() => {
          if (!isDead()) void (async () => feature.work())().catch(() => {});
        });
      },
      get actions(): BotActions {
        return actions;
      },
      features: {
        actions: () => ({}),
        loadActions: () => Promise.resolve(),
        wrapActions: <Actions>(actions: Actions): Actions => actions,
        runOf: () => undefined,
        progressed: () => {},
        consent: undefined,
        get asking(): QuestionsFeature["asking"] {
          return feature.asking;
        },
      },
    };
    const actions = new BotActions(host as unknown as ConstructorParameters<typeof BotActions>[0]);
    const feature = new QuestionsFeature(
      host as unknown as ConstructorParameters<typeof QuestionsFeature>[0],
    );
    const outcomes = {
      end: ({ seq }: { readonly seq: number }) => database.run("INSERT INTO ended VALUES (?)", seq),
    };
    const { questions } = feature;
    const messages = new QuestionMessages({ database, delivery, questions }, outcomes as never);
    return { actions, feature, cards, messages, database };
  }

  /** The bot's own class. The action has a step in front of its questions, and an effect at its end. */
  #bot(isDead: () => boolean): object {
    const options: ActionOptions<typeof input, unknown> = {
      description: "Acts.",
      inputSchema: input,
      idempotencyKey: ({ input: { order } }) => order,
      verify: ({ input: { order } }) => {
        const made = this.effects.find((effect) => effect.startsWith(`end ${order}:`));
        return made === undefined ? { done: false } : { done: true, output: made };
      },
      execute: async ({ order }, ctx) => {
        await ctx.step("hold", () => void this.effects.push(`hold ${order}`));
        const isWanted = await ctx.confirm({ message: `Really ${order}?` });
        const colour = await ctx.elicit({ message: `Which colour, ${order}?`, schema: z.string() });
        await Promise.resolve();
        if (isDead()) return new Promise(() => {});
        const made = `end ${order}: ${isWanted}, ${colour.value ?? colour.why}`;
        this.effects.push(made);
        return made;
      },
    };
    const act = defineAction(options);
    return {
      actionLedgerPendingRetryLeaseMs: 300_000,
      actionTemplates: false,
      getDefaultTimezone: () => undefined,
      getActions: () => ({ act }),
      getTools: () => ({}),
      authorizeTurn: () => ({ allowed: true }),
      authorizeAction: () => true,
    };
  }

  /** Messages of the platform, stored with what the object stores. A card's message has the id of the card. */
  #delivery(database: Database): Delivery {
    const write = (id: string, body: CardBody): boolean => {
      database.run(
        "INSERT INTO screen VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET body = excluded.body",
        id,
        JSON.stringify(body),
      );
      return true;
    };
    return {
      sendCard: ({ id }: ReplyStart, body: CardBody) => void write(id, body),
      // Stored like a row of the outbox: a message with a known id is not sent again.
      send: ({ id }: ReplyStart, text: string) => {
        if (database.all("SELECT 1 AS one FROM screen WHERE id = ?", id).length > 0) return;
        database.run("INSERT INTO screen VALUES (?, ?)", id, JSON.stringify(text));
      },
      revise: write,
      movedTo: () => undefined,
      withdraw: (id: string) => void database.run("DELETE FROM screen WHERE id = ?", id),
      receipt: (id: string) => ({
        messages: [
          this.holdsTexts && id.split(":").length > 3
            ? { state: "planned" }
            : { state: "sent", messageId: id.startsWith("question:") ? id : "1", sentAt: 0 },
        ],
      }),
    } as unknown as Delivery;
  }
}

function privateThread(person: string): MessengerThread {
  return { id: `telegram:${person}`, chatId: person, isDirectMessage: true };
}

function threadOf({ askedIn }: Question): MessengerThread {
  return privateThread(askedIn[0]?.userId ?? "");
}
