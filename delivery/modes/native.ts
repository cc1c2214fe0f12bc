import type { RichText, TextEntity } from "../../src/core/message/rich-text.ts";
import type { Surface } from "../../src/core/chat/surface.ts";
import { applyFailure } from "../calls/apply-failure.ts";
import { backoffMs, CALL_RULES } from "../calls/call-policy.ts";
import { callWithin } from "../calls/call-within.ts";
import { keepLatePenalty } from "../calls/keep-late-penalty.ts";
import { failureOf } from "../calls/delivery-context.ts";
import { callTimeoutMs } from "../outbox/reply-timing.ts";
import type { DeliveryContext } from "../calls/delivery-context.ts";
import { shown, store } from "../outbox/outbox-change.ts";
import type { OutboxEntry } from "../outbox/outbox-entry.ts";
import type { Reply } from "../outbox/reply.ts";
import type { Part } from "../text/split/index.ts";

/** If the platform refuses this many times to end a stream, the message is edited. */
const MOST_END_REFUSALS = 5;

/** One step of streaming into a message, instead of an edit. */
export interface StreamAction {
  readonly kind: "stream";
  readonly part: Part<RichText>;
  readonly entry: OutboxEntry;
  readonly isInterim: boolean;
  /** The text to add. If it is missing, the stream ends. */
  readonly more: RichText | undefined;
  /** The text that the message should show. */
  readonly target: RichText;
}

/**
 * Returns the step that a message of a streamed reply needs to show `target`. If the target does not continue the
 * streamed text, the stream ends, and the message is edited from then on.
 */
export function nextStreamStep(
  action: { readonly part: Part<RichText>; readonly entry: OutboxEntry; readonly isInterim: boolean },
  target: RichText,
): StreamAction | "edit" | "none" {
  const { stream } = action.entry;
  if (stream?.state === "ended") return "edit";
  const step = { kind: "stream", ...pick(action), target } as const;
  if (stream === undefined || !target.text.startsWith(stream.content.text))
    return { ...step, more: undefined };
  const from = stream.content.text.length;
  if (from < target.text.length) return { ...step, more: sliceFrom(target, from) };
  return action.isInterim ? "none" : { ...step, more: undefined };
}

/**
 * Makes the step's one call. Returns the time (epoch milliseconds) before which nothing may be sent to the address, if
 * there is one.
 */
export async function performStreamStep(
  context: DeliveryContext,
  reply: Reply,
  surface: Surface,
  step: StreamAction,
): Promise<number | undefined> {
  const { entry, part, more, target, isInterim } = step;
  const { messageId } = entry.row;
  const { stream } = surface;
  const { address, policy } = reply.record;
  if (messageId === undefined || stream === undefined)
    throw new TypeError("The message cannot be streamed into.");
  const outcome = await callWithin(context.deps.clock, callTimeoutMs(policy, surface), async (signal) =>
    more === undefined
      ? await stream.end(address, messageId, { signal })
      : await stream.append(address, messageId, more, { signal }),
  );
  keepLatePenalty(context, surface, address, outcome);
  const failure = outcome.kind === "done" ? undefined : failureOf(surface, outcome);
  const before = entry.stream?.content ?? { text: "", entities: [] };
  if (failure === undefined) {
    context.access.works(address);
    if (more !== undefined) entry.stream = { state: "open", content: join(before, more) };
    else endStream(context, entry, part, isInterim, isSame(before, target));
    return undefined;
  }
  const rule = CALL_RULES[more === undefined ? "end" : "append"][failure.kind];
  const isInsisting = rule === "insist" && (entry.endRefusals ?? 0) < MOST_END_REFUSALS - 1;
  if (isInsisting) {
    const { clock, random } = context.deps;
    entry.endRefusals = (entry.endRefusals ?? 0) + 1;
    store(context, entry, { retryAt: clock.now() + backoffMs(entry.endRefusals, random()) });
    return undefined;
  }
  if (rule === "insist" || rule === "abandon") {
    // The stream is closed, or its visible text is not known. From here on the message is edited.
    entry.stream = more === undefined ? { state: "ended", content: before } : undefined;
    return undefined;
  }
  return applyFailure(context, reply, { method: "edit", address, entry, isInterim }, failure);
}

function endStream(
  context: DeliveryContext,
  entry: OutboxEntry,
  part: Part<RichText>,
  isInterim: boolean,
  isTarget: boolean,
): void {
  entry.stream = { state: "ended", content: { text: "", entities: [] } };
  if (isTarget && !isInterim) shown(context, entry, part);
}

function pick<Action extends { part: unknown; entry: unknown; isInterim: unknown }>({
  part,
  entry,
  isInterim,
}: Action): Pick<Action, "part" | "entry" | "isInterim"> {
  return { part, entry, isInterim };
}

function sliceFrom({ text, entities }: RichText, from: number): RichText {
  return {
    text: text.slice(from),
    entities: entities.flatMap((entity) => {
      const offset = Math.max(0, entity.offset - from);
      const length = entity.offset + entity.length - from - offset;
      return length > 0 ? [{ ...entity, offset, length }] : [];
    }),
  };
}

/** Joins two texts. Formatting that continues across them becomes one entity. */
function join(before: RichText, more: RichText): RichText {
  const shift = before.text.length;
  const entities = [...before.entities];
  for (const entity of more.entities) {
    const added = { ...entity, offset: entity.offset + shift };
    const at = entities.findIndex(
      (known) => known.offset + known.length === added.offset && isAlike(known, added),
    );
    const known = entities[at];
    if (known === undefined) entities.push(added);
    else entities[at] = { ...known, length: known.length + added.length };
  }
  return { text: before.text + more.text, entities };
}

function isAlike(left: TextEntity, right: TextEntity): boolean {
  return left.type === right.type && left.url === right.url && left.language === right.language;
}

function isSame(left: RichText, right: RichText): boolean {
  return left.text === right.text && keyOf(left) === keyOf(right);
}

function keyOf({ entities }: RichText): string {
  const keys = entities.map(({ type, offset, length, url = "", language = "" }) =>
    JSON.stringify([offset, length, type, url, language]),
  );
  return keys.toSorted().join();
}
