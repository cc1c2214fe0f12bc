import type { MessageEntity } from "grammy/types";
import { badRequest } from "../bot-api-error.ts";
import { detectEntities, overlaps } from "./detect-entities.ts";

/** A text as Telegram stores it. Offsets and lengths count UTF-16 units. */
export interface FormattedText {
  readonly text: string;
  readonly entities: readonly MessageEntity[];
}

export const maxEntities = 100;

const splittable: ReadonlySet<string> = new Set(["bold", "italic", "underline", "strikethrough", "spoiler"]);
const quotes: ReadonlySet<string> = new Set(["blockquote", "expandable_blockquote"]);
const preformatted: ReadonlySet<string> = new Set(["pre", "code", "date_time"]);

/**
 * Brings a text and its entities into the form that Telegram stores:
 * - Invisible control characters and outer whitespace are removed, and the entities shift.
 * - Entities that must not overlap are dropped or cut.
 * - Entities that Telegram detects are added.
 * - Only the first 100 entities stay.
 *
 * @throws {BotApiError} when an entity is outside the text or cuts a surrogate pair
 */
export function fixFormattedText(text: string, entities: readonly MessageEntity[]): FormattedText {
  const given = entities.filter((entity) => entity.length !== 0);
  for (const entity of given) requireInside(entity, text);
  const cleaned = cleanText(text, nest(given));
  const trimmed = trim(cleaned);
  const merged = addDetected(trimmed.text, nest(trimmed.entities));
  return { text: trimmed.text, entities: merged.slice(0, maxEntities) };
}

function requireInside(entity: MessageEntity, text: string): void {
  const { offset, length } = entity;
  if (offset < 0 || offset > 1_000_000) throw badRequest(`receive an entity with incorrect offset ${offset}`);
  if (length < 0 || length > 1_000_000) throw badRequest(`receive an entity with incorrect length ${length}`);
  if (offset > text.length) {
    throw badRequest(`entity begins after the end of the text at UTF-16 offset ${offset}`);
  }
  const end = offset + length;
  if (end > text.length) {
    throw badRequest(
      `entity beginning at UTF-16 offset ${offset} ends after the end of the text at UTF-16 offset ${end}`,
    );
  }
  if (cutsSurrogatePair(text, offset)) {
    throw badRequest(
      `entity begins in a middle of a UTF-16 symbol at byte offset ${byteOffset(text, offset)}`,
    );
  }
  if (cutsSurrogatePair(text, end)) {
    throw badRequest(
      `entity beginning at UTF-16 offset ${offset} ends in a middle of a UTF-16 symbol at byte offset ${byteOffset(text, end)}`,
    );
  }
}

function cutsSurrogatePair(text: string, offset: number): boolean {
  return (text.codePointAt(offset - 1) ?? 0) > 0xffff;
}

function byteOffset(text: string, offset: number): number {
  return Buffer.byteLength(text.slice(0, offset));
}

/** Combining lines and a ring, with which people imitate struck or decorated text. */
const removedMarks: ReadonlySet<number> = new Set([0x0333, 0x033f, 0x030a]);

/** Returns a UTF-16 unit as Telegram stores it: unchanged, a space, or nothing (""). */
function cleanUnit(unit: string): string {
  const code = unit.charCodeAt(0);
  if (unit === "\r" || (code >= 0x2028 && code <= 0x202e) || removedMarks.has(code)) return "";
  return code < 0x20 && unit !== "\n" ? " " : unit;
}

function needsCleaning(text: string): boolean {
  for (let index = 0; index < text.length; index += 1) {
    const code = text.charCodeAt(index);
    if (code < 0x20 ? code !== 0x0a : code >= 0x030a && cleanUnit(text.charAt(index)) === "") return true;
  }
  return false;
}

/** Removes carriage returns, line separators and direction overrides. Other control characters become spaces. */
export function cleanText(text: string, entities: readonly MessageEntity[]): FormattedText {
  if (!needsCleaning(text)) return { text, entities };
  const newOffset: number[] = [];
  let result = "";
  for (const unit of text.split("")) {
    newOffset.push(result.length);
    result += cleanUnit(unit);
  }
  newOffset.push(result.length);
  const at = (offset: number): number => newOffset[offset] ?? result.length;
  const moved = entities.map((entity) => ({
    ...entity,
    offset: at(entity.offset),
    length: at(entity.offset + entity.length) - at(entity.offset),
  }));
  return { text: result, entities: moved.filter((entity) => entity.length > 0) };
}

/** Removes all whitespace at the right end. At the left end only whitespace before the first entity is removed. */
function trim({ text, entities }: FormattedText): FormattedText {
  const right = text.replace(/[ \n]+$/, "");
  const firstEntity = entities[0]?.offset ?? right.length;
  const leading = Math.min(/^[ \n]*/.exec(right)?.[0].length ?? 0, firstEntity);
  const kept = entities
    .filter((entity) => entity.offset < right.length)
    .map((entity) => ({
      ...entity,
      offset: entity.offset - leading,
      length: Math.min(entity.length, right.length - entity.offset),
    }));
  return { text: right.slice(leading), entities: kept };
}

/**
 * Makes entities nest as Telegram requires:
 * - Emphasis may overlap, and is cut at the borders of everything else.
 * - Code and links must not overlap their own kind. The first one wins.
 * - Quotes do not nest.
 * - Code has nothing inside.
 */
function nest(entities: readonly MessageEntity[]): MessageEntity[] {
  const sorted = sort(entities);
  const blocks = withoutOverlaps(sorted.filter((entity) => quotes.has(entity.type)));
  const solid = withoutOverlaps(
    sorted.filter((entity) => !quotes.has(entity.type) && !splittable.has(entity.type)),
  ).filter((entity) => blocks.every((block) => !overlaps(block, entity) || contains(block, entity)));
  const emphasis = sorted.filter((entity) => splittable.has(entity.type));
  return sort([...blocks, ...solid, ...cutEmphasis(emphasis, [...blocks, ...solid])]);
}

function withoutOverlaps(sorted: readonly MessageEntity[]): MessageEntity[] {
  const kept: MessageEntity[] = [];
  let end = 0;
  for (const entity of sorted) {
    if (entity.offset < end) continue;
    kept.push(entity);
    end = entity.offset + entity.length;
  }
  return kept;
}

function cutEmphasis(emphasis: readonly MessageEntity[], others: readonly MessageEntity[]): MessageEntity[] {
  const runs = [...splittable].flatMap((type) => joinRuns(emphasis.filter((entity) => entity.type === type)));
  const cuts = new Set(runs.map((run) => run.offset));
  for (const other of others) cuts.add(other.offset).add(other.offset + other.length);
  const positions = [...cuts].sort((left, right) => left - right);
  const code = others.filter((entity) => preformatted.has(entity.type));
  return runs.flatMap((run) => {
    const end = run.offset + run.length;
    const inner = positions.filter((position) => position > run.offset && position < end);
    const starts = [run.offset, ...inner];
    return starts
      .map((start, index) => ({ ...run, offset: start, length: (starts[index + 1] ?? end) - start }))
      .filter((piece) => !code.some((entity) => overlaps(entity, piece)));
  });
}

function joinRuns(sorted: readonly MessageEntity[]): MessageEntity[] {
  const runs: MessageEntity[] = [];
  for (const entity of sorted) {
    const last = runs.at(-1);
    if (last !== undefined && entity.offset <= last.offset + last.length) {
      last.length = Math.max(last.length, entity.offset + entity.length - last.offset);
    } else {
      runs.push({ ...entity });
    }
  }
  return runs;
}

function addDetected(text: string, entities: readonly MessageEntity[]): MessageEntity[] {
  const taken = entities.filter((entity) => !splittable.has(entity.type) && !quotes.has(entity.type));
  const found = detectEntities(text).filter((entity) => !taken.some((other) => overlaps(other, entity)));
  return found.length === 0 ? [...entities] : nest([...entities, ...found]);
}

function contains(outer: MessageEntity, inner: MessageEntity): boolean {
  return outer.offset <= inner.offset && inner.offset + inner.length <= outer.offset + outer.length;
}

const order = [
  "blockquote",
  "expandable_blockquote",
  "pre",
  "code",
  "text_link",
  "text_mention",
  "bold",
  "italic",
  "underline",
  "strikethrough",
  "spoiler",
];

function sort(entities: readonly MessageEntity[]): MessageEntity[] {
  return [...entities].sort(
    (left, right) =>
      left.offset - right.offset ||
      right.length - left.length ||
      order.indexOf(left.type) - order.indexOf(right.type),
  );
}
