import { z } from "zod";
import type { ActionOptions } from "../../../src/actions/action.ts";
import { Attachments } from "../../../src/actions/attachments.ts";
import { defineAction } from "../../../src/actions/define-action.ts";
import type { Approval } from "../../../src/approvals/approval.ts";
import { parseCardToken } from "../../../src/core/card-token.ts";
import type { Database } from "../../../src/core/database.ts";
import type { CardBody, Delivery, ReplyStart } from "../../../src/core/delivery.ts";
import type { MessengerThread } from "../../../src/core/messenger-event.ts";
import { inTurnContext } from "../../../src/core/turn-context.ts";
import type { TurnInfo } from "../../../src/core/turn-info.ts";
import { AgentActions } from "../../../src/messengers/agent/agent-actions.ts";
import { normalizeMessengers } from "../../../src/messengers/declare/define-messengers.ts";
import { addressOf } from "../../../src/messengers/replies/address-of.ts";
import { Cards } from "../../../src/messengers/replies/cards.ts";
import { definitionOf, messageEvent } from "../../../lab/support/messenger-events.ts";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import type { VirtualClock } from "../../support/virtual-clock.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import { recordLog } from "../../support/log-recorder.ts";

const GROUP: MessengerThread = { id: "telegram:-5", chatId: "-5", isDirectMessage: false };
const ELSEWHERE: MessengerThread = { id: "telegram:-6", chatId: "-6", isDirectMessage: false };
const inputSchema = z.object({ order: z.string(), amount: z.number() });
const [TELEGRAM] = normalizeMessengers({ telegram: definitionOf() });
const PERMISSION = "billing:refund";

/** One call of the action by the model, in a turn of one person. */
export interface Call {
  readonly turn: string;
  readonly toolCall: string;
  readonly person: string;
  readonly order: string;
  readonly amount: number;
}

/** A card as it was first shown, with the buttons that it ever had. */
export interface ShownCard {
  readonly id: string;
  readonly text: string;
  readonly buttons: { readonly label: string; readonly token: string }[];
}

/** An effect of the action: money that was paid back. */
export interface Effect {
  readonly call: Pick<Call, "turn" | "order" | "amount">;
  readonly person: string | undefined;
  readonly at: number;
}

/** Defects that a test plants around the real parts. Those inside of a part replace its module. */
export interface Planted {
  readonly database?: (real: Database) => Database;
  /** How much a person's press takes for earlier than it is, in milliseconds. */
  readonly pressedBeforeMs?: number;
  /** Outcomes are stored at once, also in a transaction that fails. */
  readonly tellsOutside?: boolean;
  /** A press shows its decision before anything is stored. */
  readonly drawsFirst?: boolean;
  /** A press counts in any chat. */
  readonly findsAnywhere?: boolean;
}

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
  #death = Promise.withResolvers<"died">();
  #live: { readonly actions: AgentActions; readonly cards: Cards } | undefined;
  #wakeAt: number | undefined;
  #isPressing = false;

  constructor(planted: Planted = {}) {
    this.#planted = planted;
    const schema = "CREATE TABLE told (approval TEXT NOT NULL)";
    this.#data.run(schema);
    this.#outside.run(schema);
    this.#data.run("CREATE TABLE screen (id TEXT PRIMARY KEY, body TEXT NOT NULL)");
    this.#outside.run("CREATE TABLE screen (id TEXT PRIMARY KEY, body TEXT NOT NULL)");
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
  async ask({ amount, order, person, toolCall, turn }: Call): Promise<unknown> {
    const info: TurnInfo = {
      id: turn,
      kind: "messages",
      authors: [{ userId: person }],
      answerTo: [addressOf({ messengerId: "telegram", thread: GROUP })],
      event: messageEvent({ thread: GROUP, author: { userId: person } }),
    };
    this.#turns.set(turn, info);
    return this.#settled(async ({ actions }) => {
      const { log } = recordLog();
      const tools = await actions.tools({ clock: this.clock, log });
      const call = { toolCallId: toolCall, messages: [], context: undefined as never };
      return inTurnContext(info, undefined, () => tools["refund"]?.execute?.({ order, amount }, call));
    });
  }

  /** A person presses a button that a card has, or once had. */
  async press(token: string, person: string, place: "here" | "elsewhere"): Promise<PressResult> {
    const thread = place === "here" ? GROUP : ELSEWHERE;
    this.#isPressing = true;
    const answer = await this.#settled(async ({ actions, cards }) => {
      const { button: wanted, key } = parseCardToken(token) ?? { button: "", key: "" };
      const { messengerId, chatId } = addressOf({ messengerId: "telegram", thread });
      const card = this.#planted.findsAnywhere
        ? cards.store.byKey(key)
        : cards.find(key, { messengerId, chatId });
      const button = card?.buttons.find((one) => one.button === wanted);
      if (card === undefined || button === undefined) return "stale";
      if (this.#planted.drawsFirst) this.#drawFirst(card.id, button.label);
      const event = messageEvent({ thread, author: { userId: person } });
      const { id: cardId } = card;
      const press = { cardId, payload: button.payload, label: button.label, isTyped: false, event };
      return actions.desk.pressed({ ...press, person: { userId: person }, chat: thread });
    });
    this.#isPressing = false;
    if (answer === "died") return "died";
    const text = typeof answer === "object" && answer !== null && "text" in answer ? answer.text : answer;
    return /^(Approved|Rejected|OK|Taken back)\b/.test(String(text)) ? "decided" : "refused";
  }

  /** Somebody ends a grant. */
  async revoke(nth: number, person: string): Promise<string | undefined> {
    let given: string | undefined;
    await this.#settled(({ actions }) => {
      const { grants } = actions.desk.approvals;
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
      await this.#settled(({ actions }) => actions.work.work());
      const next = this.#live?.actions.work.nextWakeAt();
      if (next !== undefined) this.#wakeAt = Math.min(this.#wakeAt ?? Infinity, Math.max(next, at + 1));
    }
    await this.clock.advance(Math.max(0, end - this.clock.now()));
  }

  /** Leaves the object alone until nothing is left to do, also after a start. */
  async rest(): Promise<void> {
    this.kill();
    for (let round = 0; round < 2; round += 1) {
      await this.#settled(({ actions }) => actions.work.work());
      await this.pass(90);
    }
  }

  approvals(): readonly Approval[] {
    return this.#ensure().actions.desk.approvals.list({ limit: 1_000 });
  }

  /** What people see of a card now. */
  shown(id: string): CardBody | undefined {
    const query = "SELECT body FROM screen WHERE id = ?";
    const row = [this.#outside, this.#data].flatMap((one) => one.all<{ body: string }>(query, id))[0];
    return row === undefined ? undefined : (JSON.parse(row.body) as CardBody);
  }

  /** How often the conversation was told the outcome of an approval. */
  told(id: string): number {
    const query = "SELECT approval FROM told WHERE approval = ?";
    return [this.#data, this.#outside].flatMap((one) => one.all(query, id)).length;
  }

  /** Runs work in the present life of the object, and waits until it is done, or the object has died. */
  async #settled(
    work: (live: { readonly actions: AgentActions; readonly cards: Cards }) => Promise<unknown>,
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
    return this.#live?.actions.work.isBusy() === true;
  }

  #ensure(): { readonly actions: AgentActions; readonly cards: Cards } {
    return (this.#live ??= this.#start());
  }

  #start(): { readonly actions: AgentActions; readonly cards: Cards } {
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
    const cards = new Cards({ database, deps, delivery: this.#delivery(database) });
    const { log } = recordLog();
    const recorded = new Attachments({
      database,
      clock: deps.clock,
      files: { addBytes: () => Promise.reject(new Error()), hold: () => {}, release: () => {} },
      onRefused: () => {},
    });
    const poke = (): void => void actions.work.work().catch(() => {});
    const thread = {
      cards,
      poke,
      attachments: { recorded },
      delivery: { receipt: () => undefined },
      own: {
        calls: { park: () => {} },
        info: (turn: string) => this.#turns.get(turn),
        newest: () => undefined,
        isRunning: () => false,
        newestTurn: () => undefined,
        submit: ({ metadata }: { readonly metadata: { readonly approval: string } }) => {
          const isOutside = this.#planted.tellsOutside === true;
          (isOutside ? this.#outside : database).run("INSERT INTO told VALUES (?)", metadata.approval);
          if (isOutside) boundary();
        },
      },
    };
    const options = {
      agent: this.#agent(isDead),
      name: () => "thread",
      database,
      deps,
      log,
      env: {},
      thread: () => thread,
      messengers: { find: () => TELEGRAM, isDeclared: () => true },
      switchedOn: () => ({}),
      conversation: () => "telegram:-5",
      index: () => ({ noteApproval: () => Promise.resolve() }),
      botLedger: () => actions.ledger,
      messages: () => Promise.resolve([]),
      resolveTarget: () => Promise.reject(new Error("No target is named.")),
      textSoFar: () => "",
      wake: {
        at: (at: number) => {
          if (!isDead()) this.#wakeAt = Math.min(this.#wakeAt ?? Infinity, at);
        },
      },
      later: (work: () => void) => {
        queueMicrotask(() => {
          if (!isDead()) work();
        });
      },
    };
    const actions: AgentActions = new AgentActions(
      options as unknown as ConstructorParameters<typeof AgentActions>[0],
    );
    poke();
    return { actions, cards };
  }

  /** Messages of the platform, stored as the outbox is: with what the object stores. */
  #delivery(database: Database): Delivery {
    const write = (id: string, body: CardBody): boolean => {
      database.run(
        "INSERT INTO screen VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET body = excluded.body",
        id,
        JSON.stringify(body),
      );
      const known = this.cards.find((card) => card.id === id);
      const shown = (body.buttons ?? [])
        .flat()
        .flatMap((one) => (one.kind === "callback" ? { label: one.label, token: one.token } : []));
      if (known === undefined) this.cards.push({ id, text: JSON.stringify(body), buttons: shown });
      return true;
    };
    return {
      sendCard: ({ id }: ReplyStart, body: CardBody) => void write(id, body),
      revise: write,
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

  /** The bot's own class: who may do what, and the action. */
  #agent(isDead: () => boolean): object {
    const options: ActionOptions<typeof inputSchema, unknown> = {
      kind: "approval-gated",
      description: "Refund an order.",
      inputSchema,
      idempotencyKey: ({ input }) => input.order,
      permissions: [PERMISSION],
      approval: true,
      approvers: ["dana", "eli"],
      requesterMayApprove: false,
      expiresAfterMs: 60 * 60_000,
      grantable: ({ input }) => ({
        scope: scopeOf(input.amount),
        words: `Refunds: ${scopeOf(input.amount)}`,
      }),
      execute: async ({ amount, order }, ctx) => {
        await Promise.resolve();
        if (isDead()) return new Promise(() => {});
        const call = { turn: ctx.requestId, order, amount };
        this.effects.push({ call, person: ctx.person?.userId, at: this.clock.now() });
        await Promise.resolve();
        return { paid: amount };
      },
      verify: ({ input: { order } }) => {
        const made = this.effects.find(({ call }) => call.order === order);
        return made === undefined ? { done: false } : { done: true, output: { paid: made.call.amount } };
      },
    };
    const refund = defineAction(options);
    return {
      actionLedgerPendingRetryLeaseMs: 300_000,
      approvalWords: { approve: ["yes"], reject: ["no"] },
      getActions: () => ({ refund }),
      getTools: () => ({}),
      authorizeTurn: ({ person }: { readonly person?: { readonly userId: string } }) => ({
        allowed: true,
        grantedPermissions: this.holders.has(person?.userId ?? "") ? [PERMISSION] : [],
      }),
      authorizeAction: ({ isGranted }: { readonly isGranted: boolean }) => isGranted,
    };
  }
}

/** The calls that one grant covers. */
export function scopeOf(amount: number): string {
  return amount < 10_000 ? "small" : "large";
}
