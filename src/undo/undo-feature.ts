import { jsonSchema } from "ai";
import { failureKind, isFailure } from "../actions/declare/action-errors.ts";
import type { ActionFailure } from "../actions/declare/action-errors.ts";
import type { ActionContext, OfferContext } from "../actions/declare/action-context.ts";
import type { Action, ThinkActions } from "../actions/declare/action.ts";
import { defineAction } from "../actions/declare/define-action.ts";
import { toJson } from "../actions/declare/normalize-output.ts";
import { ledgerKeyOf } from "../actions/runs/ledger-key.ts";
import { actionWords } from "../actions/tools/action-words.ts";
import { revertActions, revertCallId, revertName } from "../actions/tools/revert-action.ts";
import { canonicalJson } from "../core/json/canonical-json.ts";
import type { CardPress, PressAnswer } from "../core/chat/card-press.ts";
import { codeCallOf, isCodeCall } from "../core/action/code-call.ts";
import type { CardContent, Json } from "../core/message/content.ts";
import { failureCode } from "../core/base/errors.ts";
import { escapeMarkdown } from "../core/message/plain-markdown.ts";
import { sha256Now } from "../core/bytes/sha256.ts";
import { Sweep } from "../core/store/sweep-store.ts";
import { getTurn } from "../core/turn/turn-context.ts";
import type { Feature } from "../feature/feature.ts";
import type { FeatureHost } from "../feature/feature-host.ts";
import { conversationNameOf, isThreadConversation } from "../messengers/declare/conversation-name.ts";
import { replyPolicy } from "../messengers/declare/texts.ts";
import type { CallFacts } from "../messengers/tools/action-rights.ts";
import { factsOfTurn, threadOf } from "../messengers/tools/call-facts.ts";
import { ENGLISH } from "./undo-options.ts";
import type { UndoOptions, UndoTexts } from "./undo-options.ts";
import { UndoStore } from "./undo-store.ts";
import type { UndoCall, UndoFailure } from "./undo-store.ts";

const TEN_MINUTES = 10 * 60 * 1000;
const CODE_CARD = "undo:code:";
const KEEP_MS = 30 * 24 * 60 * 60 * 1000;

/** The end of one undone call, for the model. */
interface Undone {
  readonly what: string;
  readonly end: "undone" | UndoFailure["end"];
  readonly why?: string;
}

/**
 * Undo of actions in one conversation.
 *
 * 1. The calls of one answer have one card, and those of one run of code. It comes below the answer that ends them, and its
 *    button undoes the newest call first.
 * 2. Nobody undoes but the person who asked and the one who agreed, and only for a while.
 * 3. A call is undone as an action of its own: with the permissions of the call, and once, under a key that follows from
 *    the call's.
 */
export class UndoFeature implements Feature {
  readonly name = "undo";
  readonly #host: FeatureHost<unknown>;
  readonly #store: UndoStore;
  readonly #texts: UndoTexts;
  readonly #undoForMs: number;
  readonly #undoing = new Set<string>();
  readonly #sweep: Sweep;

  constructor(host: FeatureHost<unknown>, { texts, undoForMs = TEN_MINUTES }: UndoOptions) {
    this.#host = host;
    this.#store = new UndoStore(host.database);
    this.#texts = { ...ENGLISH, ...texts };
    this.#undoForMs = undoForMs;
    const old = [{ table: "undo_v1", key: "id", since: "created_at", keepMs: KEEP_MS }];
    this.#sweep = new Sweep(host.database, host.deps.clock, old);
  }

  /** Lets the model undo for a person who asks for it in words. */
  actions(): ThinkActions {
    const undo = defineAction<ReturnType<typeof jsonSchema>, unknown, ActionContext>({
      description: "Undoes what you did last for the person who writes. Call it when they ask for that.",
      inputSchema: jsonSchema({ type: "object", properties: {} }),
      enabled: (offer: OfferContext) => this.#newestOf(offer) !== undefined,
      execute: async (_input, ctx) => {
        const card = this.#newestOf(ctx);
        if (card === undefined) return this.#texts.late;
        return { outcome: await this.#undo(card) };
      },
    });
    return { undo };
  }

  wrapActions(actions: ThinkActions): ThinkActions {
    const watched = Object.entries(actions).map(
      ([key, action]) =>
        [key, action.revert === undefined ? action : this.#watched(action.name ?? key, action)] as const,
    );
    return { ...Object.fromEntries(watched), ...revertActions(actions) };
  }

  work(): void {
    const now = this.#host.deps.clock.now();
    for (const [card, calls] of this.#ready()) {
      if (this.#isToOffer(card, calls)) {
        this.#store.begin(card, now);
        this.#offer(card);
        continue;
      }
      const late = calls.filter(({ createdAt }) => now >= createdAt + this.#undoForMs);
      for (const { id } of late) this.#store.change(id, { state: "over" });
      if (late.length > 0) this.#draw(card);
    }
    this.#sweep.run();
  }

  nextWakeAt(): number | undefined {
    const ready = [...this.#ready()];
    if (ready.some(([card, calls]) => this.#isToOffer(card, calls))) return this.#host.deps.clock.now();
    const times = ready.flatMap(([, calls]) => calls).map(({ createdAt }) => createdAt + this.#undoForMs);
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Returns the open calls by their cards, without those of code that goes on. */
  #ready(): ReadonlyMap<string, readonly UndoCall[]> {
    const calls = Map.groupBy(this.#store.open(), ({ card }) => card);
    for (const card of calls.keys()) if (this.#isHeld(card)) calls.delete(card);
    return calls;
  }

  pressed(press: CardPress): Promise<PressAnswer> | undefined {
    const { payload } = press;
    if (typeof payload !== "object" || payload === null || !("undo" in payload)) return undefined;
    return typeof payload.undo === "string" ? this.#press(payload.undo, press) : undefined;
  }

  async #press(card: string, { event, person }: CardPress): Promise<PressAnswer> {
    const calls = this.#store.ofCard(card);
    const { messengerId } = event;
    const isTheirs = calls.some((call) => call.messengerId === messengerId && isOf(call, person?.userId));
    if (!isTheirs || person === undefined) return { text: this.#texts.notYours, alert: true };
    if (calls.every(({ state }) => state === "undone")) return this.#texts.twice;
    if (!calls.some((call) => this.#isOpen(call))) return this.#texts.late;
    await this.#undo(card);
    return undefined;
  }

  /** Undoes the open calls of a card, the newest first. */
  async #undo(card: string): Promise<readonly Undone[]> {
    if (this.#undoing.has(card)) return [];
    this.#undoing.add(card);
    try {
      const outcomes: Undone[] = [];
      for (const call of this.#store.ofCard(card)) {
        if (!this.#isOpen(call)) continue;
        const failure = await this.#revert(call);
        this.#store.change(call.id, failure === undefined ? { state: "undone" } : { failure });
        outcomes.push({ what: call.summary, ...(failure ?? { end: "undone" }) });
      }
      this.#draw(card);
      this.#tellModel(card, outcomes);
      return outcomes;
    } finally {
      this.#undoing.delete(card);
    }
  }

  /** Undoes a call. Returns how it failed. */
  async #revert(call: UndoCall): Promise<UndoFailure | undefined> {
    const { action, facts, id, input, inputHash, requestId } = call;
    const { actions } = this.#host;
    const found = await actions.outputOf(id, action, inputHash);
    if (found === undefined) return { end: "failed", why: this.#texts.running };
    if (isFailure(found.output)) return this.#failureOf(found.output);
    const output = await actions.runConsented({
      name: revertName(action),
      input: { of: id, input, output: found.output },
      requestId,
      toolCallId: revertCallId(id),
      consent: undefined,
      facts: { ...(facts as unknown as CallFacts), chat: threadOf((facts as unknown as CallFacts).address) },
      owner: requestId,
    });
    return isFailure(output) ? this.#failureOf(output) : undefined;
  }

  /** Messages of failures are for models, but for those of the bot's own code. */
  #failureOf(failure: ActionFailure): UndoFailure {
    const { message, name } = failure.error;
    const kind = failureKind(failure);
    if (kind === "unknown") return { end: "unknown", why: "" };
    if (kind === "refused") return { end: "failed", why: this.#texts.notAllowed };
    return { end: "failed", why: name === "ActionError" ? message : "" };
  }

  #isOpen(call: UndoCall): boolean {
    const { card, createdAt, state } = call;
    if (state !== "open" || this.#isHeld(card)) return false;
    return !this.#isOffered(card) || this.#host.deps.clock.now() < createdAt + this.#undoForMs;
  }

  /** Whether calls are of a run of code that still goes on. It may need what they did. */
  #isHeld(card: string): boolean {
    return card.startsWith(CODE_CARD) && this.#host.features.isCodeOpen(card.slice(CODE_CARD.length));
  }

  #isOffered(card: string): boolean {
    return this.#host.thread.cards.store.read(card) !== undefined;
  }

  /** Whether a card is still to be posted, and can be: its messenger may be declared no more. */
  #isToOffer(card: string, [call]: readonly UndoCall[]): boolean {
    if (call === undefined || this.#isOffered(card)) return false;
    return this.#host.messengers.isDeclared(call.messengerId);
  }

  /** Returns the newest card whose calls everybody may undo whom the turn answers: any of them may have asked for it. */
  #newestOf({ client, people }: OfferContext): string | undefined {
    if (people.length === 0) return undefined;
    const mayUndo = (call: UndoCall): boolean =>
      call.messengerId === client.messengerId && people.every(({ userId }) => isOf(call, userId));
    return this.#store.open().find((call) => this.#isOpen(call) && mayUndo(call))?.card;
  }

  #watched(name: string, action: Action): Action {
    const execute = async (input: unknown, ctx: ActionContext): Promise<unknown> => {
      const output: unknown = await action.execute(input as never, ctx as never);
      try {
        await this.#note(name, action, input, ctx);
      } catch (error) {
        // The action has had its effect. It only cannot be undone.
        this.#host.log.warn("undo.failed", { action: name, code: failureCode(error) });
      }
      return output;
    };
    return { ...action, execute: execute };
  }

  /** Stores a call that has just run, and offers to undo it below the answer. */
  async #note(name: string, action: Action, input: unknown, ctx: ActionContext): Promise<void> {
    const { deps, features, runs, thread } = this.#host;
    const { approver, person, requestId, toolCallId } = ctx;
    const known = factsOfTurn(thread.own.info(requestId), features, runs.runs.get(requestId));
    const facts = known.address === undefined ? this.#factsOf(ctx) : known;
    const { address } = facts ?? {};
    // Nobody sees a card of a turn without a chat, or of another system's call.
    if (facts === undefined || address === undefined || person?.isChat === true) return;
    const call = { input, ctx } as never;
    const id = await ledgerKeyOf({ action, name, requestId, toolCallId } as never, call);
    const card = cardIdOf(ctx);
    const isNew = this.#store.add({
      id,
      card,
      action: name,
      summary: actionWords(name, action, input),
      input: toJson(input),
      inputHash: sha256Now(canonicalJson(input)),
      requestId,
      messengerId: address.messengerId,
      requester: person?.userId,
      approver: approver?.userId,
      facts: JSON.parse(JSON.stringify({ ...facts, chat: undefined })) as Json,
      state: "open",
      failure: undefined,
      createdAt: deps.clock.now(),
    });
    if (isNew && !this.#isHeld(card)) this.#offer(card);
  }

  /** A call to which somebody has agreed may run long after its turn. */
  #factsOf({ chat, person }: ActionContext): CallFacts | undefined {
    const name = conversationNameOf(this.#host.name()) ?? "";
    if (chat === undefined || !isThreadConversation(name)) return undefined;
    const messengerId = decodeURIComponent(name.split(":")[1] ?? "");
    const { chatId, id: threadId, isDirectMessage, topicId } = chat;
    const address = {
      messengerId,
      threadId,
      chatId,
      isDirectMessage,
      ...(topicId !== undefined && { topicId }),
    };
    return { people: person === undefined ? [] : [person], person, address, chat };
  }

  #offer(card: string): void {
    const { messengers, thread } = this.#host;
    const [call] = this.#store.ofCard(card);
    const { address } = (call?.facts ?? {}) as Partial<CallFacts>;
    if (this.#isOffered(card)) this.#draw(card);
    else if (address !== undefined && messengers.isDeclared(address.messengerId)) {
      const policy = replyPolicy(messengers.find(address.messengerId)?.delivery ?? {});
      const posting = { id: card, address, policy, owner: this.name, waitsForAnswer: true };
      thread.cards.post(posting, this.#cardOf(card));
    }
    this.#host.wakeSoon();
  }

  #draw(card: string): void {
    this.#host.thread.cards.revise(card, this.#cardOf(card), "leave", true);
  }

  #cardOf(card: string): CardContent {
    const calls = this.#store.ofCard(card).toReversed();
    const undone = calls.filter(({ state }) => state === "undone");
    const others = calls.filter(({ state }) => state !== "undone");
    const kept = others.filter(({ failure }) => failure === undefined);
    const failed = others.flatMap(({ failure, summary: what }) => (failure ? [{ ...failure, what }] : []));
    const words = (all: readonly UndoCall[]): string => all.map(({ summary }) => summary).join("; ");
    const lines = [
      ...(kept.length > 0 ? [filled(this.#texts.offer, { what: words(kept) })] : []),
      ...(undone.length > 0 ? [filled(this.#texts.undone, { what: words(undone) })] : []),
      ...failed.map(({ end, what, why }) =>
        filled(end === "unknown" ? this.#texts.unknown : this.#texts.failed, { what, why }).trimEnd(),
      ),
    ];
    const text = lines.map(escapeMarkdown).join("\n\n");
    const canUndo = calls.some((call) => this.#isOpen(call));
    const button = { kind: "callback", label: this.#texts.button, payload: { undo: card } } as const;
    return { kind: "card", text, ...(canUndo && { buttons: [[button]] }) };
  }

  /** The model knows it from its next turn on. */
  #tellModel(card: string, outcomes: readonly Undone[]): void {
    const { deps, thread } = this.#host;
    const words = outcomes.map(({ end, what }) =>
      end === "unknown"
        ? `Not known whether it is undone: ${what}`
        : `${end === "undone" ? "Undone" : "Not undone"}: ${what}`,
    );
    const now = deps.clock.now();
    if (words.length > 0) thread.own.notes.add(`${card}:${now}`, { text: words.join("\n"), at: now });
  }
}

/** Calls of one turn have one card, and so have those of a run of code, which may go on behind its turn. */
function cardIdOf({ requestId, toolCallId }: ActionContext): string {
  if (isCodeCall(toolCallId)) return `${CODE_CARD}${codeCallOf(toolCallId).run}`;
  return getTurn()?.id === requestId ? `undo:${requestId}` : `undo:${requestId}:${toolCallId}`;
}

function isOf({ approver, requester }: UndoCall, userId: string | undefined): boolean {
  return userId !== undefined && (userId === requester || userId === approver);
}

function filled(text: string, values: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
}
