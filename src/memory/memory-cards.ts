import { z } from "zod";
import { localText, sayIn } from "../core/text/bot-texts.ts";
import type { BotTexts, Say } from "../core/text/bot-texts.ts";
import type { FeaturePress, PressAnswer } from "../core/chat/card-press.ts";
import type { CallbackButton, CardContent } from "../core/message/content.ts";
import type { MessengerAuthor, MessengerEvent } from "../core/chat/messenger-event.ts";
import { inOneLine } from "../core/text/one-line.ts";
import { escapeMarkdown } from "../core/message/plain-markdown.ts";
import { sha256Now } from "../core/bytes/sha256.ts";
import { addressOf } from "../messengers/replies/address-of.ts";
import type { FeatureHost } from "../feature/feature-host.ts";
import type { PersonOf } from "../feature/session.ts";
import type { CommandResult, ThinkCommands } from "../messengers/declare/commands.ts";
import { isReply } from "../messengers/intake/presses.ts";
import type { OpenQuestions } from "../messengers/intake/open-questions.ts";
import { MOST_CHARACTERS, withoutEntry } from "./entries.ts";
import type { MemoryPlaces } from "./memory-places.ts";
import { changeRecord, readRecord } from "./memory-record.ts";
import type { MemoryEntry, MemoryPlace, MemoryRecord } from "./memory-record.ts";

export const MEMORY = "memory";
const CHANGE = "memory-change";
/** A card has at most 100 buttons, and each entry two. */
const MOST_LISTED = 45;

const ownerSchema = { messenger: z.string(), userId: z.string() };
const pressSchema = z.discriminatedUnion("memory", [
  z.strictObject({
    memory: z.enum(["forget", "change"]),
    id: z.string(),
    messenger: z.string().optional(),
    userId: z.string().optional(),
  }),
  z.strictObject({ memory: z.literal("groups"), isOn: z.boolean(), ...ownerSchema }),
]);

/** The memory, as its cards use it. */
interface CardsMemory {
  readonly places: Pick<MemoryPlaces, "person" | "conversation">;
  /** The blocks have another text now. */
  changed(): void;
}

/** Whose list a card is: that of a person, or of all people of a group. */
type Reader = PersonOf | "group";

/**
 * People's own view of what is kept.
 *
 * 1. A private chat shows what is kept about its person and in that chat.
 * 2. A group shows what is kept in it alone. Everybody whom the bot answers there may correct it, as they may tell the
 *    model to, and write /new.
 */
export class MemoryCards implements OpenQuestions {
  readonly #host: FeatureHost<{ readonly texts?: BotTexts }>;
  readonly #memory: CardsMemory;

  constructor(host: FeatureHost<{ readonly texts?: BotTexts }>, memory: CardsMemory) {
    this.#host = host;
    this.#memory = memory;
  }

  commands(): ThinkCommands {
    return {
      memory: {
        description: localText(this.#host.agent.texts ?? {}, "memoryCommand"),
        handler: ({ args, event }) => this.#command(event, args.trim()),
      },
    };
  }

  /** Takes a press of its cards. Undefined if the card is another one's. */
  pressed(press: FeaturePress): Promise<PressAnswer> | undefined {
    const { cardId, event, handled, payload, person } = press;
    if (isReply(payload)) {
      const id = this.#changedBy(cardId, event);
      return id === undefined ? undefined : this.#changeOnce(event, id, handled);
    }
    const parsed = pressSchema.safeParse(payload);
    if (!parsed.success) return undefined;
    const { messenger, userId } = parsed.data;
    const isOwn = person?.userId === userId && event.messengerId === messenger;
    const reader = messenger === undefined || userId === undefined ? "group" : { messenger, userId };
    if (reader !== "group" && !isOwn) return Promise.resolve();
    if (parsed.data.memory === "change") return this.#askForText(press, parsed.data.id, reader);
    return this.#apply(press, parsed.data, reader);
  }

  /** A press does no more if it is handled again, until its effect is on a card. */
  storesPress(): boolean {
    return true;
  }

  takesReply(cardId: string, event: MessengerEvent): boolean {
    return this.#changedBy(cardId, event) !== undefined;
  }

  isBareWord(): boolean {
    return false;
  }

  hint(): undefined {
    return undefined;
  }

  hintAt(): undefined {
    return undefined;
  }

  waitingIn(): number {
    return 0;
  }

  messageDeleted(): void {
    // A question for a new text loses nothing when its message goes.
  }

  async #command(event: MessengerEvent, args: string): Promise<CommandResult> {
    const reader = readerOf(event);
    if (reader === undefined) return undefined;
    const [, id, text] = /^([0-9a-f]{6})\s+(\S[^]*)$/.exec(args) ?? [];
    if (id !== undefined && text !== undefined) return this.#change(event, id, text);
    return this.#list(reader, this.#sayTo(event.author));
  }

  async #list(reader: Reader, say: Say): Promise<CardContent> {
    const records = await Promise.all(this.#placesOf(reader).map(readRecord));
    const isForGroups = records.some((record) => record.isForGroups === true);
    return listCard(
      records.flatMap(({ entries }) => entries),
      { reader, isForGroups, say },
    );
  }

  #placesOf(reader: Reader): readonly MemoryPlace[] {
    const { places } = this.#memory;
    return reader === "group" ? [places.conversation()] : [places.person(reader), places.conversation()];
  }

  /** Changes the entry with an id, wherever it is. Returns `false` if there is none. */
  async #edit(reader: Reader, id: string, edit: (record: MemoryRecord) => MemoryRecord): Promise<boolean> {
    let isFound = false;
    for (const place of this.#placesOf(reader)) {
      const hasIt = await changeRecord(place, (record) => {
        const isHere = record.entries.some((entry) => entry.id === id);
        return { record: isHere ? edit(record) : record, result: isHere };
      });
      isFound ||= hasIt;
    }
    this.#memory.changed();
    return isFound;
  }

  async #apply(
    { cardId, handled, person: author }: FeaturePress,
    press: z.infer<typeof pressSchema>,
    reader: Reader,
  ): Promise<PressAnswer> {
    const say = this.#sayTo(author);
    if (press.memory !== "groups")
      await this.#edit(reader, press.id, (record) => withoutEntry(record, press.id));
    else
      await changeRecord(this.#memory.places.person(press), (record) => ({
        record: { ...record, isForGroups: press.isOn },
        result: undefined,
      }));
    const card = await this.#list(reader, say);
    this.#host.database.transaction(() => {
      handled();
      this.#host.thread.cards.revise(cardId, card, "leave", (card.buttons ?? []).length === 0);
    });
    return say(press.memory === "groups" ? "memoryChanged" : "memoryForgotten");
  }

  async #askForText(
    { event, handled, person: author }: FeaturePress,
    id: string,
    reader: Reader,
  ): Promise<PressAnswer> {
    const say = this.#sayTo(author);
    const records = await Promise.all(this.#placesOf(reader).map(readRecord));
    const entry = records.flatMap(({ entries }) => entries).find((one) => one.id === id);
    if (entry === undefined) return say("memoryGone");
    const cardId = `${CHANGE}:${id}:${sha256Now(event.key).slice(0, 16)}`;
    const text = say("memoryHow", {
      text: escapeMarkdown(inOneLine(entry.text)),
      command: `/memory ${id} …`,
    });
    this.#host.database.transaction(() => {
      handled();
      this.#host.thread.postCard(cardId, addressOf(event), { kind: "card", text }, MEMORY);
    });
    this.#host.wakeSoon();
    return undefined;
  }

  async #changeOnce(event: MessengerEvent, id: string, handled: () => void): Promise<string> {
    const words = await this.#change(event, id, event.message?.text ?? "");
    handled();
    return words;
  }

  /** Stores the text that a person has written in the place of an entry. */
  async #change(event: MessengerEvent, id: string, written: string): Promise<string> {
    const reader = readerOf(event);
    if (reader === undefined) return "";
    const source = reader === "group" ? "written" : "agreed";
    const say = this.#sayTo(event.author);
    const text = written.trim();
    if (text === "" || text.length > MOST_CHARACTERS) return say("memoryLength", { most: MOST_CHARACTERS });
    const at = this.#host.deps.clock.now();
    const isKnown = await this.#edit(reader, id, (record) => ({
      ...record,
      entries: record.entries.map((one) => (one.id === id ? changedEntry(one, { text, source, at }) : one)),
    }));
    return say(isKnown ? "memoryChanged" : "memoryGone");
  }

  /** Returns the id of the entry for which a card asks, if a message is from the person who was asked. */
  #changedBy(cardId: string, { author, thread }: MessengerEvent): string | undefined {
    const [kind, id] = cardId.split(":");
    return kind === CHANGE && (author !== undefined || !thread.isDirectMessage) ? id : undefined;
  }

  #sayTo(person: Pick<MessengerAuthor, "language"> | undefined): Say {
    return sayIn(this.#host.agent.texts ?? {}, person?.language);
  }
}

/** The person has written it, so it is not the words of an earlier message any more. */
function changedEntry(
  { said: _said, ...entry }: MemoryEntry,
  change: Pick<MemoryEntry, "text" | "source" | "at">,
): MemoryEntry {
  return { ...entry, ...change };
}

function readerOf({ author, messengerId, thread }: MessengerEvent): Reader | undefined {
  if (!thread.isDirectMessage) return "group";
  return author === undefined || author.isChat === true
    ? undefined
    : { messenger: messengerId, userId: author.userId };
}

function listCard(
  all: readonly MemoryEntry[],
  { isForGroups, reader, say }: { readonly reader: Reader; readonly isForGroups: boolean; readonly say: Say },
): CardContent {
  const isGroup = reader === "group";
  if (all.length === 0) return { kind: "card", text: say(isGroup ? "memoryChatEmpty" : "memoryEmpty") };
  const entries = all.slice(0, MOST_LISTED);
  const lines = entries.map((entry, index) => `${index + 1}\\. ${lineOf(entry, say)}`);
  if (all.length > entries.length) lines.push("…");
  const button = (label: string, press: Record<string, string | boolean>): CallbackButton => ({
    kind: "callback",
    label,
    payload: isGroup ? press : { ...press, ...reader },
  });
  const rows = entries.map(({ id }, index) => {
    const number = index + 1;
    return [
      button(say("memoryChangeButton", { number }), { memory: "change", id }),
      button(say("memoryForgetButton", { number }), { memory: "forget", id }),
    ];
  });
  const groups = button(say(isForGroups ? "memoryGroupsOffButton" : "memoryGroupsOnButton"), {
    memory: "groups",
    isOn: !isForGroups,
  });
  const text = [say(isGroup ? "memoryChatTitle" : "memoryTitle"), ...lines].join("\n");
  return { kind: "card", text, buttons: isGroup ? rows : [...rows, [groups]] };
}

function lineOf({ said, source, text }: MemoryEntry, say: Say): string {
  const shown = escapeMarkdown(inOneLine(text));
  if (said !== undefined)
    return `${shown} – ${say("memorySaid", { words: escapeMarkdown(inOneLine(said)) })}`;
  return source === "noted" ? `${shown} – ${say("memoryNoted")}` : shown;
}
