import type { LocationContent } from "../../src/core/message/content.ts";
import { REMOVED_TEXT, type ReplyPolicy } from "../../src/core/chat/delivery.ts";
import type { RichText } from "../../src/core/message/rich-text.ts";
import type { Address, OutgoingContent, Surface, SurfaceCapabilities } from "../../src/core/chat/surface.ts";
import { cardForms, cardLimits, formatOf, type CardForms } from "./card-forms.ts";
import { dressParts, emptyPart } from "./card-parts.ts";
import { blocksOf, cardText, linksText, refusalsText } from "./card-text.ts";
import { ReplyDraft } from "./reply-draft.ts";
import { laneKey } from "./lane-key.ts";
import type { OutboxEntry } from "./outbox-entry.ts";
import type { ReplyRecord } from "./reply-store.ts";
import { limitsWithRoom, resentMark } from "./resent-mark.ts";
import { isRich } from "./rich-refusal.ts";
import type { ReplyBody } from "./reply-body.ts";
import { repairMarkdown } from "../text/split/scan/repair.ts";
import { Planner, splitText, type Part, type PlannerOptions } from "../text/split/index.ts";
import { rendererOf, richWhereItShows } from "../text/render/index.ts";

/**
 * A reply in memory: its text so far, its parts and its messages. Text is only collected until the parts are requested,
 * so a streamed chunk costs almost nothing.
 */
export class Reply {
  record: ReplyRecord;
  laneKey: string;
  entries: OutboxEntry[];
  /** True if there may be something to send. */
  isDirty = true;
  /** Time of the last sign of life of its turn, in epoch milliseconds. */
  touchedAt: number;
  /** Time before which nothing of this reply is sent, in epoch milliseconds; for pacing. */
  notBefore = 0;
  /** True if everything is visible and only an abandoned edit may still change it. Later replies need not wait. */
  isWholeVisible = false;
  /** Length of the text from which the newest call was planned. */
  sentLength = 0;
  readonly draft = new ReplyDraft();
  /**
   * Number of rich calls, since the last accepted one, whose answers may mean that the platform does not know rich
   * messages.
   */
  richDoubts = 0;
  /** True if the platform refused to stream it. The reply continues with edits. */
  isStreamRefused = false;
  /** True while the typing indicator stands for progress. */
  isWorking = false;
  /** Ends the typing indicator. */
  stopTyping: () => void = () => {};
  #planner: Planner<RichText> | undefined;
  /** The text that the planner has read. */
  #planned = "";
  /** The text that the planner has not read yet. */
  #pending = "";
  /** The text of the current attempt, while the longer text of an interrupted attempt is shown. */
  #successor: string | undefined;
  /**
   * The parts of exactly the text in `#planned`. Kept because they are requested before and after each wait for the
   * budget.
   */
  #parts: readonly Part<RichText>[] | undefined;
  /** What the platform can show of the body, for the same parts. */
  #forms: CardForms | undefined;
  /** A line of Markdown below the text so far. In memory only. */
  #progress: string | undefined;

  constructor(record: ReplyRecord, entries: readonly OutboxEntry[], now: number) {
    this.record = record;
    this.laneKey = laneKey(record.address);
    this.entries = [...entries];
    this.touchedAt = now;
    // Until the text is whole, the turn says it again.
    if (this.isFinal) this.#pending = record.text ?? "";
  }

  /**
   * Restores the text of an interrupted attempt after a start. An earlier process has shown it, so it stays visible.
   */
  restore(): void {
    const { text } = this.record;
    if (this.isFinal || text === undefined) return;
    this.#pending = text;
    this.#successor = "";
    this.sentLength = text.length;
  }

  get isFinal(): boolean {
    return this.record.state === "final";
  }

  get isOpen(): boolean {
    return this.record.state === "streaming" || this.record.state === "final";
  }

  /** True if it continues when its chat comes back. It has a text as soon as that is whole. */
  get isAway(): boolean {
    return this.record.state === "gone" && this.record.isAwaited;
  }

  /** True if the text of an interrupted attempt is shown. */
  get isHeld(): boolean {
    return this.#successor !== undefined;
  }

  /** The text to be shown. */
  get text(): string {
    return this.#planned + this.#pending;
  }

  get textLength(): number {
    return this.#planned.length + this.#pending.length;
  }

  get mayHaveMessage(): boolean {
    return this.entries.some(
      ({ row: { state } }) => state === "sent" || state === "sending" || state === "unknown",
    );
  }

  append(delta: string): void {
    if (this.#successor !== undefined) {
      this.#succeed(this.#successor + delta);
      return;
    }
    this.#pending += delta;
    this.isDirty = true;
  }

  replace(text: string): void {
    if (this.#successor === undefined) this.#show(text);
    else this.#succeed(text);
  }

  /** Notes that the attempt was interrupted. Its text stays until the text of the next attempt is as long, or whole. */
  interrupt(): void {
    if (this.textLength === 0) return;
    this.#successor = "";
    // An earlier process may have shown the whole text.
    if (this.sentLength === 0) this.sentLength = this.textLength;
  }

  #succeed(text: string): void {
    if (text.length < this.textLength) {
      this.#successor = text;
      return;
    }
    this.#successor = undefined;
    this.#show(text);
  }

  #show(text: string): void {
    const whole = this.text;
    this.isDirty = true;
    if (text.startsWith(whole)) {
      this.#pending += text.slice(whole.length);
      return;
    }
    this.#planAgain(text);
  }

  /** Changes the policy. The new one applies to the whole text. */
  setPolicy(policy: ReplyPolicy): void {
    this.record = { ...this.record, policy };
    this.isDirty = true;
    this.#planAgain(this.text);
  }

  get progress(): string | undefined {
    return this.#progress;
  }

  /** Sets the line below the text so far. */
  set progress(line: string | undefined) {
    this.#progress = line;
    this.#parts = undefined;
    this.isDirty = true;
  }

  /** Continues with another record: a new revision of a card, or a reply whose chat is back. */
  revise(record: ReplyRecord): void {
    this.record = record;
    this.laneKey = laneKey(record.address);
    this.isWholeVisible = false;
    this.isDirty = true;
    this.notBefore = 0;
    this.#planAgain(record.text ?? "");
  }

  /** Takes another form of the reply's files. */
  setBody(body: ReplyBody): void {
    this.record = { ...this.record, body };
    this.isDirty = true;
    this.#planAgain(this.record.text ?? "");
  }

  /** Moves the reply to another chat. */
  move(address: Address, laneKey: string): void {
    this.record = { ...this.record, address, replyTo: undefined, seenMessageId: undefined };
    this.laneKey = laneKey;
    this.isWholeVisible = false;
    this.isDirty = true;
    this.notBefore = 0;
  }

  #planAgain(text: string): void {
    this.#planner = undefined;
    this.#parts = undefined;
    this.#planned = "";
    this.#pending = text;
    this.sentLength = 0;
  }

  /** Sets the whole text. A wait for pacing ends, because a call is reserved for the final text. */
  finish(text: string, finishedAt: number): void {
    this.#successor = undefined;
    this.#show(text);
    this.record = { ...this.record, state: "final", text, finishedAt };
    this.#parts = undefined;
    this.notBefore = 0;
  }

  /** Returns the text so far, cut into parts for this surface. */
  parts(surface: Surface): readonly Part<OutgoingContent>[] {
    const { body } = this.record;
    return body === undefined ? this.#textParts(surface) : this.#cardParts(surface, body);
  }

  /**
   * Returns the parts of a card, of files or of a place. They are planned at once, because the text depends on the
   * platform's abilities.
   */
  #cardParts(surface: Surface, body: ReplyBody): readonly Part<OutgoingContent>[] {
    if (this.#parts === undefined || this.#forms === undefined) {
      this.#forms = cardForms(body, surface);
      const { capabilities, isWhole } = this.#forms;
      const hasImage =
        (body.kind === "files" && capabilities.files !== undefined) ||
        (body.kind === "card" && body.card.image !== undefined && capabilities.images === true);
      const text = wordsOf(body, this.text, capabilities);
      const ownLimits = isWhole ? cardLimits(surface) : surface.limits;
      const limits = hasImage ? (surface.captionLimits ?? ownLimits) : ownLimits;
      const options = plannerOptions(this.record.policy, surface, {
        limits,
        format: formatOf(surface, { isCard: isWhole }),
      });
      const parts = splitText(text, { ...options, final: true });
      // A file without a caption is still a message.
      this.#parts = parts.length === 0 && body.kind === "files" ? [emptyPart()] : parts;
    }
    const sent = this.entries
      .map(({ row }) => row)
      .filter(({ formerChatId, state }) => state === "sent" && formerChatId === undefined);
    return dressParts(
      this.#parts,
      body,
      this.#forms,
      sent,
      this.#leftover(surface, this.#parts),
      (text) => splitText(text, { ...plannerOptions(this.record.policy, surface), final: true })[0],
    );
  }

  /** Returns the part for messages that should be gone, if the platform no longer removes them. */
  #leftover(surface: Surface, parts: readonly Part<RichText>[]): Part<RichText> | undefined {
    const { body, policy } = this.record;
    if (!isLocked(body)) return undefined;
    if (body?.kind === "removed") return parts[0];
    return splitText(REMOVED_TEXT, { ...plannerOptions(policy, surface), final: true })[0];
  }

  /** Whether a part is that of a message that should be gone. It is never posted. */
  isLeftover(index: number): boolean {
    const { body } = this.record;
    if (!isLocked(body)) return false;
    return body?.kind === "removed" || this.#parts?.some((part) => part.index === index) === false;
  }

  #textParts(surface: Surface): readonly Part<RichText>[] {
    this.#planner ??= new Planner(plannerOptions(this.record.policy, surface));
    if (this.#pending !== "") {
      this.#planner.append(this.#pending);
      this.#planned += this.#pending;
      this.#pending = "";
      this.#parts = undefined;
    }
    if (this.#parts !== undefined) return this.#parts;
    if (this.isFinal) this.#planner.finish();
    this.#parts = this.#withProgress(this.#planner.parts(), surface);
    return this.#parts;
  }

  /** Adds the line of progress to the last part, if it has room. */
  #withProgress(parts: readonly Part<RichText>[], surface: Surface): readonly Part<RichText>[] {
    if (this.#progress === undefined || this.isFinal) return parts;
    const { source } = repairMarkdown(this.#planned.trimEnd());
    const text = source === "" ? this.#progress : `${source}\n\n${this.#progress}`;
    const longer = splitText(text, { ...plannerOptions(this.record.policy, surface), final: false });
    return longer.length === Math.max(1, parts.length) ? longer : parts;
  }

  /** Notes that a call begins that shows some of the planned text. */
  sends(): void {
    this.sentLength = this.#planned.length;
  }

  /** Releases the text, because nothing more will be planned. */
  release(): void {
    this.stopTyping();
    this.#successor = undefined;
    this.#planner = undefined;
    this.#parts = undefined;
    this.#planned = "";
    this.#pending = "";
    this.draft.hide();
    this.isDirty = false;
  }
}

function isLocked(body: ReplyBody | undefined): boolean {
  return (body?.kind === "card" || body?.kind === "removed") && body.isLocked === true;
}

function wordsOf(body: ReplyBody, text: string, capabilities: SurfaceCapabilities): string {
  if (body.kind === "card") return cardText(body.card, capabilities);
  if (body.kind === "files" && capabilities.files === undefined) return linksText(body.files, text);
  if (body.kind === "files")
    return blocksOf([text, refusalsText(body.files.slice(0, capabilities.files?.maxAlbumSize))]);
  return body.kind === "location" && capabilities.location !== true ? placeText(body.location) : text;
}

export function plannerOptions(
  policy: ReplyPolicy,
  surface: Surface,
  own: Pick<Surface, "format" | "limits"> = surface,
): PlannerOptions<RichText> {
  const mark = resentMark(policy);
  const renderer = rendererOf(own.format, own.limits.unit);
  const limits = limitsWithRoom(own.limits, mark, own.format);
  if (surface.rich === undefined || !isRich(policy, surface)) return { renderer, limits };
  const { maxLength, maxEntities } = limitsWithRoom(surface.rich.limits, mark);
  return {
    renderer: richWhereItShows(renderer, limits),
    // The mark takes one block.
    limits: { maxLength, maxEntities: maxEntities - 1 },
  };
}

/** Describes a place in Markdown, for platforms whose messages have no maps. */
function placeText({ address, latitude, longitude, title }: Omit<LocationContent, "kind">): string {
  const map = `https://www.openstreetmap.org/?mlat=${latitude}&mlon=${longitude}#map=17/${latitude}/${longitude}`;
  const words = [title, address].filter((word) => word !== undefined).map(plain);
  return [...words, map].join("  \n");
}

/** Escapes plain text for Markdown. */
function plain(words: string): string {
  return words.replaceAll(/[\\`*_[\]<>#]/g, "\\$&").replaceAll(/\s+/g, " ");
}
