import { NO_UNSENT } from "../../support/unsent.ts";
import { Attachments } from "../../../src/actions/attachments/attachments.ts";
import type { Approval } from "../../../src/approvals/rules/approval.ts";
import { parseCardToken } from "../../../src/core/chat/card-token.ts";
import type { Database } from "../../../src/core/store/database.ts";
import type { CardBody, Delivery, ReplyStart } from "../../../src/core/chat/delivery.ts";
import type { MessengerThread } from "../../../src/core/chat/messenger-event.ts";
import { inTurnContext } from "../../../src/core/turn/turn-context.ts";
import type { PromptRequest } from "../../../src/messengers/turns/prompts.ts";
import type { TurnInfo } from "../../../src/core/turn/turn-info.ts";
import { ApprovalsFeature } from "../../../src/approvals/approvals-feature.ts";
import { HEARTBEAT_MS } from "../../../src/messengers/declare/wake.ts";
import { BotActions } from "../../../src/messengers/tools/bot-actions.ts";
import { normalizeMessengers } from "../../../src/messengers/declare/define-messengers.ts";
import { addressOf } from "../../../src/messengers/replies/address-of.ts";
import { Cards } from "../../../src/messengers/replies/cards.ts";
import { definitionOf, messageEvent } from "../../../lab/support/messenger-events.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import { TurnEvents } from "../../../src/turn/turn-events.ts";
import type { VirtualClock } from "../../support/virtual-clock.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import { recordLog } from "../../support/log-recorder.ts";
import { consentBot } from "./consent-bot.ts";
import type { Effect } from "./consent-bot.ts";
import type { Planted } from "./planted.ts";

const GROUP: MessengerThread = { id: "telegram:-5", chatId: "-5", isDirectMessage: false };
const ELSEWHERE: MessengerThread = { id: "telegram:-6", chatId: "-6", isDirectMessage: false };
const DANA = privateThread("dana");
const THREADS = [GROUP, DANA, privateThread("eli")];
const [TELEGRAM] = normalizeMessengers({ telegram: definitionOf() });

/** One call of the action by the model, in a turn of one person. */
export interface Call {
  readonly turn: string;
  readonly toolCall: string;
  readonly person: string;
  readonly order: string;
  readonly amount: number;
  /** Whether people are asked in the private chats of the approvers. Eli has never written to the bot. */
  readonly isPrivate: boolean;
}

/** A card as it was first shown, with the buttons that it ever had. */
export interface ShownCard {
  readonly id: string;
  readonly threadId: string;
  readonly text: string;
  readonly buttons: { readonly label: string; readonly token: string }[];
}

/** In the chat of the card, or in another one. */
export type Place = "here" | "elsewhere";

export type PressResult = "decided" | "refused" | "died";

/** A conversation with one action that asks people: the real parts over SQLite, and an object that may die. */
export class ConsentRig {
  readonly clock: VirtualClock = createVirtualClock();
  readonly effects: Effect[] = [];
  readonly cards: ShownCard[] = [];
  /** The people who may pay back. */
  readonly holders = new Set(["anna", "boris", "dana", "eli"]);
  readonly #planted: Planted;
  readonly #data = createNodeDatabase();
  readonly #outside = createNodeDatabase();
  readonly #turns = new Map<string, TurnInfo>();
  #life = 0;
  #toGo = Infinity;
  #ids = 0;
  #newest: string | undefined;
  #death = Promise.withResolvers<"died">();
  #live:
    | { readonly actions: BotActions; readonly approvals: ApprovalsFeature; readonly cards: Cards }
    | undefined;
  #wakeAt: number | undefined;
  #isPressing = false;

  constructor(planted: Planted = {}) {
    this.#planted = planted;
    for (const database of [this.#data, this.#outside]) {
      database.run("CREATE TABLE told (approval TEXT NOT NULL, key TEXT NOT NULL)");
      database.run("CREATE TABLE reminded (id TEXT NOT NULL, is_late INTEGER NOT NULL)");
      database.run("CREATE TABLE screen (id TEXT PRIMARY KEY, body TEXT NOT NULL)");
    }
  }

  /** Ends the object before or after one of its next writes. */
  killAt(point: number): void {
    this.#toGo = point;
  }

  /** Ends the object now. */
  kill(): void {
    this.#life += 1;
    this.#toGo = Infinity;
    this.#live = undefined;
    this.#death.resolve("died");
    this.#death = Promise.withResolvers();
  }

  /** The model calls the action. */
  async ask({ amount, isPrivate, order, person, toolCall, turn }: Call): Promise<unknown> {
    const info: TurnInfo = {
      id: turn,
      kind: "messages",
      authors: [{ userId: person }],
      answerTo: [addressOf({ messengerId: "telegram", thread: GROUP })],
      event: messageEvent({ thread: GROUP, author: { userId: person } }),
    };
    this.#turns.set(turn, info);
    this.#newest = turn;
    return this.#settled(async ({ actions }) => {
      const { log } = recordLog();
      const tools = await actions.tools({ clock: this.clock, log });
      const call = { toolCallId: toolCall, messages: [], context: undefined as never };
      return inTurnContext(info, undefined, () =>
        tools[isPrivate ? "refund_privately" : "refund"]?.execute?.({ order, amount }, call),
      );
    });
  }

  /** A person presses a button that a card has, or once had. */
  async press(card: ShownCard, token: string, person: string, place: Place): Promise<PressResult> {
    const thread = threadOf(card, place);
    this.#isPressing = true;
    const answer = await this.#settled(async ({ approvals, cards }) => {
      const { button: wanted, key } = parseCardToken(token) ?? { button: "", key: "" };
      const { messengerId, chatId } = addressOf({ messengerId: "telegram", thread });
      const pressed = this.#planted.findsAnywhere
        ? cards.store.byKey(key)
        : cards.find(key, { messengerId, chatId });
      const button = pressed?.buttons.find((one) => one.button === wanted);
      if (pressed === undefined || button === undefined) return "stale";
      if (this.#planted.drawsFirst) this.#drawFirst(pressed.id, button.label);
      const event = messageEvent({ thread, author: { userId: person } });
      const { id: cardId } = pressed;
      const press = { cardId, payload: button.payload, label: button.label, isTyped: false, event };
      return approvals.pressed({ ...press, person: { userId: person }, chat: thread, handled: () => {} });
    });
    this.#isPressing = false;
    return resultOf(answer);
  }

  /** A person asks for a card in the own private chat. */
  async bring(id: string, person: string): Promise<void> {
    const thread = privateThread(person);
    const viewer = { person: { userId: person }, messengerId: "telegram", thread };
    await this.#settled(({ approvals: { calls } }) => calls.bringApproval(id, viewer));
  }

  /** A person writes in the chat of a card, as a reply to it or without a quote. */
  async write(card: ShownCard, text: string, person: string, isReply: boolean): Promise<PressResult> {
    const author = { userId: person };
    const thread = threadOf(card, "here");
    const quoted = isReply ? { id: "card", text: card.text, isFromBot: true, attachments: [] } : undefined;
    const message = {
      id: "reply",
      text,
      attachments: [],
      sentAt: this.clock.now(),
      ...(quoted && { quoted }),
    };
    const event = messageEvent({ thread, author, message });
    const reply = { cardId: card.id, payload: { isReply: true }, label: "", isTyped: true } as const;
    const answer = await this.#settled(async ({ approvals: { questions } }) => {
      if (!isReply && this.#planted.decidesUnquoted !== true) return questions.hint(event)?.text;
      if (!questions.takesReply(card.id, event)) return "The model answers.";
      return questions.pressed({ ...reply, event, person: author, chat: thread, handled: () => {} });
    });
    return resultOf(answer);
  }

  /** Somebody begins a new session. */
  async beginAnew(): Promise<void> {
    this.#newest = undefined;
    if (this.#planted.withdrawsAtNew !== true) return;
    await this.#settled(async ({ approvals: { approvals } }) => {
      for (const { requestId } of approvals.waiting()) approvals.questions.drop(requestId, "withdrawn");
      return Promise.resolve();
    });
  }

  /** Somebody ends a grant. */
  async revoke(nth: number, person: string): Promise<string | undefined> {
    let given: string | undefined;
    await this.#settled(({ approvals }) => {
      const { grants } = approvals.approvals;
      const grant = grants.inForce()[nth];
      if (grant === undefined) return Promise.resolve();
      given = grant.approvalId;
      grants.revoke(grant.id, { surface: "chat", person: { userId: person } });
      return Promise.resolve();
    });
    return given;
  }

  /** Time passes. The object wakes when it has asked to, unless the platform is late. */
  async pass(minutes: number, isLate = false): Promise<void> {
    const end = this.clock.now() + minutes * 60_000;
    if (isLate) return this.clock.advance(minutes * 60_000);
    for (let wakes = 0; wakes < 50 && (this.#wakeAt ?? Infinity) <= end; wakes += 1) {
      const at = Math.max(this.clock.now(), this.#wakeAt ?? 0);
      this.#wakeAt = undefined;
      await this.clock.advance(at - this.clock.now());
      await this.#settled(({ approvals }) => approvals.work());
      const next = this.#live?.approvals.nextWakeAt();
      if (next !== undefined) this.#wakeAt = Math.min(this.#wakeAt ?? Infinity, Math.max(next, at + 1));
    }
    await this.clock.advance(Math.max(0, end - this.clock.now()));
  }

  /** Leaves the object alone until nothing is left to do, also after a start. */
  async rest(): Promise<void> {
    this.kill();
    for (let round = 0; round < 2; round += 1) {
      await this.#settled(({ approvals }) => approvals.work());
      await this.pass(90);
    }
  }

  approvals(): readonly Approval[] {
    return this.#ensure().approvals.approvals.list({ limit: 1_000 });
  }

  /** What people see of a card now. */
  shown(id: string): CardBody | undefined {
    const query = "SELECT body FROM screen WHERE id = ?";
    const row = [this.#outside, this.#data].flatMap((one) => one.all<{ body: string }>(query, id))[0];
    return row === undefined ? undefined : (JSON.parse(row.body) as CardBody);
  }

  /** What the conversation was told about an approval: its outcome, and a reason that came later. */
  told(id: string): readonly string[] {
    const query = "SELECT key FROM told WHERE approval = ?";
    return this.#both<{ key: string }>(query, id).map(({ key }) => key);
  }

  /** The reminders of an approval. Late: it had ended. */
  reminders(id: string): readonly { readonly id: string; readonly isLate: boolean }[] {
    const query = "SELECT id, is_late FROM reminded WHERE id LIKE ?";
    return this.#both<{ id: string; is_late: number }>(query, `approval:${id}:%`).map((one) => ({
      id: one.id,
      isLate: one.is_late === 1,
    }));
  }

  #both<Row extends Record<string, string | number>>(query: string, id: string): Row[] {
    return [this.#data, this.#outside].flatMap((one) => one.all<Row>(query, id));
  }

  /** Runs work in the present life of the object, and waits until it is done, or the object has died. */
  async #settled(
    work: (live: {
      readonly actions: BotActions;
      readonly approvals: ApprovalsFeature;
      readonly cards: Cards;
    }) => Promise<unknown>,
  ): Promise<unknown> {
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
    for (let turn = 0; turn < 400 && (!done.isDone || this.#isBusy()); turn += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      if (turn % 40 === 39) await this.clock.advance(500);
    }
    const value = await running;
    this.#toGo = Infinity;
    return value;
  }

  #isBusy(): boolean {
    return this.#live?.approvals.isBusy() === true;
  }

  #ensure(): { readonly actions: BotActions; readonly approvals: ApprovalsFeature; readonly cards: Cards } {
    return (this.#live ??= this.#start());
  }

  #start(): { readonly actions: BotActions; readonly approvals: ApprovalsFeature; readonly cards: Cards } {
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
    const database = this.#planted.database?.(hooked) ?? hooked;
    const process = this.clock.process();
    const now = (): number =>
      this.clock.now() - (this.#isPressing ? (this.#planted.pressedBeforeMs ?? 0) : 0);
    const deps = {
      clock: { ...process, now },
      random: () => 0.5,
      newId: () => `id${(this.#ids += 1)}`,
      fetch: () => Promise.reject(new Error("Nothing is fetched.")),
    };
    const cards = new Cards({
      database,
      deps,
      delivery: this.#delivery(database, boundary),
      unsent: NO_UNSENT,
    });
    const { log } = recordLog();
    const recorded = new Attachments({
      database,
      clock: deps.clock,
      files: { addBytes: () => Promise.reject(new Error()), hold: () => {}, release: () => {} },
      onRefused: () => {},
    });
    const poke = (): void => void approvals.work().catch(() => {});
    const thread = {
      cards,
      poke,
      attachments: { recorded },
      delivery: { receipt: () => undefined, movedTo: () => undefined },
      own: {
        calls: { park: () => {} },
        info: (turn: string) => this.#turns.get(turn),
        newest: () => this.#newest,
        prompts: { get: () => undefined },
        isRunning: () => false,
        newestTurn: () => undefined,
        submit: ({ idempotencyKey = "", metadata }: PromptRequest) => {
          const isOutside = this.#planted.tellsOutside === true;
          const target = isOutside ? this.#outside : database;
          target.run("INSERT INTO told VALUES (?, ?)", String(metadata?.["approval"]), idempotencyKey);
          if (isOutside) boundary();
        },
      },
    };
    const later = (work: () => void): void => {
      queueMicrotask(() => {
        if (!isDead()) work();
      });
    };
    const resolveTarget = ({ userId }: { readonly userId: string }) =>
      Promise.resolve(
        userId === "dana"
          ? { kind: "found", address: addressOf({ messengerId: "telegram", thread: DANA }) }
          : { kind: "unknown" },
      );
    const host = {
      agent: consentBot(this, isDead),
      name: () => "thread",
      database,
      deps,
      log,
      env: {},
      thread,
      engine: { textSoFar: () => "", events: new TurnEvents(deps.clock) },
      runs: {
        rootOf: (turn: string) => turn,
        runs: { get: () => undefined, problemOf: () => undefined, setProblem: () => {} },
      },
      messengers: {
        find: () => TELEGRAM,
        isDeclared: () => true,
        all: () => [{ id: "telegram" }],
        surface: () => ({ capabilities: {}, limits: { maxLength: 4_096, maxEntities: 100 } }),
      },
      objects: {
        isRoot: () => false,
        conversation: () => "telegram:-5",
        address: () => "telegram:-5",
        root: () => ({ noteApproval: () => Promise.resolve() }),
        link: { resolveTarget },
      },
      botLedger: () => actions.ledger,
      messages: () => Promise.resolve([]),
      ready: () => Promise.resolve(),
      durable: () => Promise.resolve(),
      wakeSoon: () => {
        if (!isDead()) this.#wakeAt = Math.min(this.#wakeAt ?? Infinity, deps.clock.now() + HEARTBEAT_MS);
        later(poke);
      },
      later,
      get actions(): BotActions {
        return actions;
      },
      features: {
        actions: () => ({}),
        loadActions: () => Promise.resolve(),
        wrapActions: <Actions>(actions: Actions): Actions => actions,
        runOf: () => undefined,
        progressed: () => {},
        get consent(): ApprovalsFeature["consent"] {
          return approvals.consent;
        },
      },
    };
    const actions: BotActions = new BotActions(
      host as unknown as ConstructorParameters<typeof BotActions>[0],
    );
    const approvals: ApprovalsFeature = new ApprovalsFeature(
      host as unknown as ConstructorParameters<typeof ApprovalsFeature>[0],
    );
    poke();
    return { actions, approvals, cards };
  }

  /** Messages of the platform, stored as the outbox is: with what the object stores. */
  #delivery(database: Database, boundary: () => void): Delivery {
    const write = (id: string, body: CardBody, threadId = ""): boolean => {
      const isFrozen = this.#planted.drawsHereOnly === true && threadId === "" && /:\d+$/.test(id);
      if (isFrozen) return true;
      database.run(
        "INSERT INTO screen VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET body = excluded.body",
        id,
        JSON.stringify(body),
      );
      const known = this.cards.find((card) => card.id === id);
      const shown = (body.buttons ?? [])
        .flat()
        .flatMap((one) => (one.kind === "callback" ? { label: one.label, token: one.token } : []));
      if (known === undefined) this.cards.push({ id, threadId, text: JSON.stringify(body), buttons: shown });
      else if (isAboutSame(known, body))
        known.buttons.push(...shown.filter(({ token }) => known.buttons.every((one) => one.token !== token)));
      return true;
    };
    return {
      sendCard: ({ address, id }: ReplyStart, body: CardBody) => void write(id, body, address.threadId),
      send: ({ id }: ReplyStart) => {
        if (!id.includes(":reminder")) return;
        const target = this.#planted.remindsOutside === true ? this.#outside : database;
        const [state] = database.all<{ state: string }>(
          "SELECT state FROM approval_v1 WHERE id = ?",
          id.split(":")[1] ?? "",
        );
        target.run("INSERT INTO reminded VALUES (?, ?)", id, state?.state === "waiting" ? 0 : 1);
        if (target === this.#outside) boundary();
      },
      revise: (id: string, body: CardBody) => write(id, body),
      movedTo: () => undefined,
    } as Partial<Delivery> as Delivery;
  }

  #drawFirst(id: string, label: string): void {
    this.#outside.run(
      "INSERT INTO screen VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET body = excluded.body",
      id,
      JSON.stringify({ key: id, text: label }),
    );
  }
}

/** A later question may have taken the card. */
function isAboutSame({ text }: ShownCard, { fields = [] }: CardBody): boolean {
  return text.includes(JSON.stringify(fields.find(({ label }) => label === "Amount")));
}

function privateThread(person: string): MessengerThread {
  return { id: `telegram:${person}`, chatId: person, isDirectMessage: true };
}

function threadOf({ threadId }: ShownCard, place: Place): MessengerThread {
  return (place === "here" && THREADS.find(({ id }) => id === threadId)) || ELSEWHERE;
}

function resultOf(answer: unknown): PressResult {
  if (answer === "died") return "died";
  const text = typeof answer === "object" && answer !== null && "text" in answer ? answer.text : answer;
  return /^(Approved|Rejected|OK|Taken back)\b/.test(String(text)) ? "decided" : "refused";
}
