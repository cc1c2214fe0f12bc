import type { IncomingEvent } from "../../../src/core/chat/messenger.ts";
import type {
  MessengerAttachment,
  MessengerEvent,
  MessengerEventKind,
  QuotedMessage,
} from "../../../src/core/chat/messenger-event.ts";
import { ADA, authorOf, BOB } from "./authors.ts";
import { CardPeople } from "./card-people.ts";
import { ChildPeople } from "./child-people.ts";
import { CodePeople } from "./code-people.ts";
import type { CardUpdates } from "./card-people.ts";
import { FormPeople } from "./form-people.ts";
import { observeIds } from "./observe-ids.ts";
import { QuestionPeople } from "./question-people.ts";
import type { Written } from "../oracle/end-state.ts";
import type { Life } from "../machine/life.ts";
import type { Mutant } from "../machine/mutant.ts";
import type { Place, PlanItem } from "../plan/plan.ts";
import type { Random } from "../../support/random.ts";
import { withArgs, withQuote } from "./event-details.ts";
import { sayUntilStored, tell } from "./say-until-stored.ts";
import { askUntilStored } from "./ask-until-stored.ts";
import { submitUntilStored } from "./submit-until-stored.ts";
import { newestDigest } from "./newest-digest.ts";
import { START_AT } from "./world.ts";
import type { Update } from "./update.ts";
import type { World } from "./world.ts";

/** A person who wants to reply to a digest looks for one this often. */
const MOST_LOOKS = 12;
const LOOK_EVERY_MS = 2_000;
const LONGEST_BACKOFF_MS = 4_000;

/** How a message is written. */
interface HowWritten {
  /** Name of a command, and the words behind it. */
  readonly command?: string;
  readonly args?: string;
  readonly quoted?: QuotedMessage | undefined;
  readonly attachments?: readonly MessengerAttachment[];
  /** The author. @default in a group the id of the message decides */
  readonly userId?: string;
}

/**
 * The actions of people. The platform reports them to the bot in order per chat, and repeats each report until it is
 * answered.
 */
export class People {
  readonly written: Written[] = [];
  readonly blockedChats = new Set<string>();
  /** Threads in which somebody wrote after they had blocked the bot. */
  readonly backIn = new Set<string>();
  readonly #world: World;
  readonly #random: Random;
  readonly #mutant: Mutant | undefined;
  readonly #lanes = new Map<string, Update[]>();
  readonly #messages = new Map<string, { readonly place: Place; readonly event: MessengerEvent }>();
  readonly #versions = new Map<string, number>();
  readonly #cards: CardPeople;
  readonly #code: CodePeople;
  readonly #children: ChildPeople;
  readonly #questions: QuestionPeople;
  readonly #forms: FormPeople;
  #updates = 0;

  constructor(world: World, mutant: Mutant | undefined) {
    this.#world = world;
    this.#random = world.random.fork("people");
    this.#mutant = mutant;
    const hands: CardUpdates = {
      writeCommand: (place, token) =>
        this.#write(place, `c-${token}`, `/card ${token}`, { command: "card", args: token }),
      tellPress: (place, id, pressed, person) => {
        const drawn = this.#event("action", `p:${id}`, place, Number(id.slice(1)), "");
        const event = person === undefined ? drawn : { ...drawn, author: authorOf(person) };
        this.#tell(place, { ...event, message: undefined, action: { id, ...pressed } });
        return event.author?.userId ?? "";
      },
    };
    this.#cards = new CardPeople(world, this.#random, hands);
    const write = (at: Place, token: string, userId: string) => this.#write(at, token, token, { userId });
    this.#code = new CodePeople(world, { ...hands, write });
    this.#children = new ChildPeople(world, hands);
    this.#questions = new QuestionPeople(world, hands);
    this.#forms = new FormPeople(world, {
      ...hands,
      write: (place, token, { attachments, text }, userId, quoted) =>
        this.#write(place, token, text, { attachments, quoted, userId }),
    });
  }

  /** Schedules all actions of people. */
  start(): void {
    const { plan, scheduler } = this.#world;
    for (const item of plan.items) {
      if ("at" in item) scheduler.after(item.at, () => this.#do(item));
    }
  }

  #do(item: Extract<PlanItem, { at: number }>): void {
    const { plan, platform, scheduler, trace } = this.#world;
    const place = "place" in item ? plan.places[item.place] : undefined;
    switch (item.kind) {
      case "message":
        if (place !== undefined) this.#write(place, item.token, item.token);
        return;
      case "command":
        if (place !== undefined) this.#write(place, item.token, `/${item.name}`, { command: item.name });
        return;
      case "edit":
        this.#edit(item.token);
        return;
      case "noise":
        if (place === undefined) return;
        for (let left = item.count; left > 0; left -= 1) platform.write(place);
        trace.add("others", () => `${item.count} messages take ids`);
        return;
      case "block":
        if (place === undefined) return;
        trace.add("person", () => `blocks the bot in ${place.chatId}`);
        this.blockedChats.add(place.chatId);
        platform.setBlocked(place.chatId, true);
        scheduler.after(item.forMs, () => {
          trace.add("person", () => `comes back to ${place.chatId}`);
          platform.setBlocked(place.chatId, false);
          this.backIn.add(place.threadId);
          this.#write(place, item.token, item.token);
        });
        return;
      case "stop-button": {
        const draft = place === undefined ? undefined : platform.draft(place.threadId);
        if (place === undefined || draft === undefined) return;
        trace.add("person", () => `presses the stop button of draft ${draft.id} in ${place.threadId}`);
        this.written.push({ token: "", threadId: place.threadId, kind: "command", name: "stop-button" });
        const key = `s:${place.chatId}:${draft.id}`;
        this.#tell(place, {
          ...this.#event("stop", key, place, 0, ""),
          message: undefined,
          stop: { draftId: draft.id },
        });
        return;
      }
      case "delete": {
        const message = place === undefined ? undefined : platform.deleteByPerson(place.threadId, item.back);
        if (message === undefined) return;
        trace.add("person", () => `deletes the bot's message ${message.id} in ${message.threadId}`);
        return;
      }
      case "press":
        if (place !== undefined) this.#press(place, item.token);
        return;
      case "card":
        if (place !== undefined) this.#cards.post(item, place);
        return;
      case "type-number":
        if (place !== undefined) this.#typeNumber(item, place);
        return;
      case "album":
        if (place !== undefined) this.#sendAlbum(item, place);
        return;
      case "tell":
        if (place !== undefined) tell(this.#world, this.#random, item.token, place);
        return;
      case "forget-files":
        trace.add("platform", () => "forgets all files");
        platform.forgetFiles();
        return;
      case "revise-card":
      case "remove-card":
        this.#cards.change(item);
        return;
      case "press-card":
        this.#cards.press(item);
        return;
      case "answer":
        this.#questions.answer(item);
        return;
      case "bot-question":
        if (place !== undefined) askUntilStored(this.#world, this.#random, item, place);
        return;
      case "fill-in":
        this.#forms.fillIn(item);
        return;
      case "press-code":
      case "roll-back":
      case "undo-words":
        this.#code.act(item, place);
        return;
      case "press-child":
        this.#children.press(item);
        return;
      case "decide":
        this.#cards.decide(item);
        return;
      case "change-input":
        this.#cards.changeInput(item);
        return;
      case "prompt":
        if (place !== undefined)
          submitUntilStored(this.#world, this.#random, { place, token: item.token }, item.again);
        return;
      case "take-back":
        this.#takeBack(item.token);
        return;
      case "quote-digest":
        if (place !== undefined) this.#quoteDigest(place, item.token);
        return;
      case "crash-at":
        this.#world.crash(
          item.victim,
          place === undefined ? undefined : this.#world.thread(place).name,
          item.downMs,
        );
        return;
      case "storm":
        return;
      default:
        item satisfies never;
    }
  }

  /** Writes a number in a group, not to the bot. */
  #typeNumber({ number, token }: Extract<PlanItem, { kind: "type-number" }>, place: Place): void {
    const { oracle, platform, trace } = this.#world;
    const id = platform.write(place);
    trace.add("person", () => `writes the number ${number} (${token}) in ${place.threadId} as message ${id}`);
    oracle.presses.wrote(token, place.threadId, id, number);
    this.#tell(place, this.#event("message", `n:${token}`, place, id, String(number)));
  }

  /** Replies to the newest digest of a place, or waits for one. */
  #quoteDigest(place: Place, token: string, looks = 1): void {
    const { scheduleWatch, scheduler } = this.#world;
    const newest = newestDigest(this.#world, place);
    if (newest === undefined) {
      if (looks < MOST_LOOKS)
        scheduler.after(LOOK_EVERY_MS, () => this.#quoteDigest(place, token, looks + 1));
      return;
    }
    const { digest, quoted } = newest;
    scheduleWatch.quotes.push({ threadId: place.threadId, token, digest });
    this.#write(place, token, token, { quoted });
  }

  #sendAlbum({ by, from, token }: Extract<PlanItem, { kind: "album" }>, place: Place): void {
    if (by === "command") {
      this.#write(place, `c-${token}`, `/files ${token}`, { command: "files", args: token });
      return;
    }
    const { bot, plan } = this.#world;
    const said = { speaker: plan.places[from] ?? place, place, token, content: () => bot.album(token) };
    sayUntilStored(this.#world, this.#random, said);
  }

  /** The outcome of a message, if it is over: in its conversation, or in the one whose question it is about. */
  outcomeOf(token: string): string | undefined {
    const { event } = this.#messages.get(token) ?? {};
    if (event === undefined) return undefined;
    const outcomes = [...this.#world.threads.values()].map((thread) => thread.outcomeOf(event.key));
    return outcomes.find((outcome) => outcome?.startsWith("passed on to") === false);
  }

  #write(
    place: Place,
    token: string,
    text: string,
    { args = "", attachments = [], command, quoted, userId }: HowWritten = {},
  ): void {
    const id = this.#world.platform.write(place);
    const kind = place.isDirectMessage ? "direct-message" : "mention";
    const files = command === undefined ? [...this.#filesOf(token), ...attachments] : [];
    const written = this.#event(kind, `m:${place.chatId}:${id}`, place, id, text, command, files);
    const said = args === "" ? withQuote(written, quoted) : withArgs(written, args);
    const event = userId === undefined ? said : { ...said, author: authorOf(userId) };
    this.#world.trace.add(
      "person",
      () => `writes ${JSON.stringify(text)} to ${place.threadId} as message ${id}`,
    );
    this.written.push({
      token,
      threadId: place.threadId,
      kind: command === undefined ? "message" : "command",
      name: command,
    });
    this.#messages.set(token, { place, event });
    this.#world.oracle.children.wrote(token, event.author?.userId);
    this.#tell(place, event, command === undefined ? token : undefined);
  }

  /** Presses a button. If presses start turns, the press is a question like any other. */
  #press(place: Place, token: string): void {
    const { oracle, plan, trace } = this.#world;
    trace.add("person", () => `presses ${token} in ${place.threadId}`);
    oracle.presses.pressed(token, place.threadId);
    const kind = plan.policy.answersPresses ? "message" : "command";
    this.written.push({ token, threadId: place.threadId, kind });
    const event = this.#event("action", `p:${token}`, place, 0, "");
    const press = { ...event, message: undefined, action: { id: token, data: token } };
    this.#tell(place, press, kind === "message" ? token : undefined);
  }

  #takeBack(token: string): void {
    const { place, event } = this.#messages.get(token) ?? {};
    if (place === undefined || event?.message === undefined) return;
    this.#world.trace.add("person", () => `deletes ${token}`);
    const key = `d:${place.chatId}:${event.message.id}`;
    this.#tell(place, this.#event("message-deleted", key, place, Number(event.message.id), ""), token);
  }

  #edit(token: string): void {
    const { place, event } = this.#messages.get(token) ?? {};
    if (place === undefined || event?.message === undefined) return;
    const version = (this.#versions.get(token) ?? 1) + 1;
    this.#versions.set(token, version);
    const key = `e:${place.chatId}:${event.message.id}:${version}`;
    this.#world.trace.add("person", () => `edits ${token}: v${version}`);
    const edited = this.#event(
      "message-edited",
      key,
      place,
      Number(event.message.id),
      `${token} v${version}`,
      undefined,
      event.message.attachments,
    );
    this.#tell(place, edited, token, version);
  }

  #event(
    kind: MessengerEventKind,
    key: string,
    place: Place,
    id: number,
    text: string,
    command?: string,
    attachments: readonly MessengerAttachment[] = [],
  ): MessengerEvent {
    const { threadId, chatId, topicId, isDirectMessage, userId = "7" } = place;
    const now = this.#world.scheduler.now();
    return {
      key,
      kind,
      messengerId: "sim",
      provider: "sim",
      thread: { id: threadId, chatId, isDirectMessage, ...(topicId !== undefined && { topicId }) },
      author: isDirectMessage ? authorOf(userId) : id % 3 === 1 ? BOB : ADA,
      message: {
        id: String(id),
        text,
        sentAt: now - ((now - START_AT) % 1_000),
        isMention: !isDirectMessage,
        attachments,
        ...(command !== undefined && { command: { name: command, args: "" } }),
      },
      capabilities: {
        canEditMessages: true,
        canStream: true,
        maxMessageLength: 150,
        supportsActions: true,
        supportsAttachments: true,
      },
    };
  }

  #filesOf(token: string): readonly MessengerAttachment[] {
    const hasFile = this.#world.plan.items.some((item) => item.kind === "file" && item.token === token);
    return hasFile ? [{ kind: "image", mediaType: "image/png", reference: { fileId: token } }] : [];
  }

  /** @param token of the message that it is, or is about; @param version of an edit */
  #tell(place: Place, event: MessengerEvent, token?: string, version?: number): void {
    this.#updates += 1;
    const update: Update = {
      id: this.#updates,
      place,
      event,
      token,
      version,
      isForGate: event.action !== undefined && event.action.data !== event.action.id,
      attempts: 0,
      findsWaiting: false,
    };
    const lane = this.#lanes.get(place.chatId) ?? [];
    this.#lanes.set(place.chatId, lane);
    lane.push(update);
    if (lane.length === 1) this.#deliver(lane);
  }

  #deliver(lane: Update[]): void {
    this.#world.scheduler.after(this.#random.int(3, 60), () => this.#post(lane));
  }

  #post(lane: Update[]): void {
    const [update] = lane;
    if (update === undefined) return;
    const { isDown, trace } = this.#world;
    update.attempts += 1;
    trace.add(
      "webhook",
      () => `update ${update.id} (${update.event.key})${isDown ? ": nobody listens" : ""}`,
    );
    let isSettled = false;
    const settle = (isStored: boolean): void => {
      if (isSettled) return;
      isSettled = true;
      if (isStored) this.#stored(lane, update);
      else this.#again(lane, update);
    };
    if (isDown) {
      settle(false);
      return;
    }
    const key = this.#mutant?.eventKey?.(update.id) ?? update.event.key;
    const isNew = update.event.kind !== "message-edited" && update.event.kind !== "message-deleted";
    const incoming: IncomingEvent = {
      key,
      thread: update.event.thread,
      raw: update.event,
      ...(isNew && { messageId: update.event.message?.id }),
    };
    const gate = update.isForGate ? this.#world.gateThread(update.place) : undefined;
    const thread = gate ?? this.#world.thread(update.place);
    const receive = async (): Promise<void> => {
      observeIds(this.#world, incoming);
      await thread.receive([incoming]);
    };
    this.#arrives(update);
    receive().then(
      () => {
        this.#isStored(update, thread.life);
        settle(true);
      },
      () => settle(false),
    );
    // A process that dies never answers.
    this.#world.scheduler.after(5_000, () => settle(false));
  }

  #arrives(update: Update): void {
    const { event, place, token } = update;
    if (token === undefined) return;
    const { oracle } = this.#world;
    if (event.kind !== "message-edited" && event.kind !== "message-deleted") {
      oracle.inbox.arrives(token, place.threadId, event.message);
      return;
    }
    if (event.kind === "message-deleted") oracle.inbox.takeBackArrives(token);
    // For an update that was stored before, its first storing counts.
    if (this.#world.thread(place).inboxState(event.key) !== undefined) return;
    const state = this.#stateOf(update);
    update.findsWaiting = state === "received" || state === "queued";
  }

  /** Returns the state of the message that an edit or a deletion is about. */
  #stateOf({ event, place }: Update): string | undefined {
    return this.#world.thread(place).inboxState(`m:${place.chatId}:${event.message?.id ?? ""}`);
  }

  #isStored(update: Update, by: Life | undefined): void {
    const { event, token, version } = update;
    const { inbox, presses } = this.#world.oracle;
    if (event.action !== undefined) presses.stored(event.action.id, by);
    // A repeated update was stored before, and may have been read since.
    const isFirst = update.attempts === 1;
    if (isFirst && event.message?.command?.name === "stop") inbox.stopStored(update.place.threadId);
    if (token === undefined) return;
    // It may have been taken into a turn at the same moment.
    const findsWaiting = update.findsWaiting && this.#stateOf(update) !== "taken";
    if (version !== undefined) inbox.edited(token, version, findsWaiting);
    else if (event.kind === "message-deleted") inbox.takenBack(token, findsWaiting);
    else inbox.stored(token);
  }

  /** Handles a stored update: the bot answered 200, even if that answer was lost. */
  #stored(lane: Update[], update: Update): void {
    const { plan, trace } = this.#world;
    const again = plan.items.find((item) => item.kind === "again" && item.update === update.id);
    const how = again?.kind === "again" && update.attempts < 3 ? again.how : undefined;
    if (how === "answer-lost") {
      trace.add("webhook", () => `the answer to update ${update.id} is lost`);
      this.#again(lane, update);
      return;
    }
    lane.shift();
    if (how !== undefined) {
      const id = how === "twice" ? update.id : update.id + 1_000;
      trace.add("webhook", () => `update ${update.id} comes again as ${id}`);
      lane.unshift({ ...update, id, attempts: update.attempts + 2 });
    }
    if (lane.length > 0) this.#deliver(lane);
  }

  #again(lane: Update[], update: Update): void {
    const delayMs = Math.min(LONGEST_BACKOFF_MS, 300 * 2 ** update.attempts);
    this.#world.scheduler.after(delayMs, () => this.#post(lane));
  }
}
