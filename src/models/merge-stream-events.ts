import type { Clock, Timer } from "../core/base/deps.ts";
import { mergeWindowMs } from "./merge-window.ts";
import { parseJson } from "../core/json/parse-json.ts";
import { isRecord } from "../core/json/is-record.ts";

export interface MergeEventsOptions {
  readonly clock: Clock;
  /** Deltas within this time are joined, in milliseconds. The time is shorter at the start of the text. */
  readonly mergeMs: number;
}

/** The only fields of a delta that are joined. An event with any other field passes unchanged. */
const TEXT_FIELDS: ReadonlySet<string> = new Set(["content", "reasoning_content", "reasoning"]);
const PREFIX = "data: ";
/** The end of an event. */
const GAP = /\r\n\r\n|\n\n|\r\r/;

type JsonObject = Record<string, unknown>;

/**
 * Returns a `fetch` whose chat completion streams have fewer, larger deltas. The provider parses, validates and wraps
 * every single event, which costs more than everything else about a streamed token. Joining the text before that is
 * cheap.
 *
 * Nothing is lost: the order stays, and the joined text is the same. An event that is more than plain text of one
 * choice passes unchanged and at once, after the held text. The first delta, and any delta after `mergeMs` of silence,
 * also passes at once.
 */
export function mergeStreamEvents(fetch: typeof globalThis.fetch, options: MergeEventsOptions): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    if (!isStream || response.body === null || !response.ok) return response;
    return new Response(mergedBody(response.body, options), {
      status: response.status,
      statusText: response.statusText,
      headers: response.headers,
    });
  };
}

function mergedBody(
  body: ReadableStream<Uint8Array>,
  { clock, mergeMs }: MergeEventsOptions,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  const encoder = new TextEncoder();
  let ended = false;
  let unread = "";
  let held: TextEvent | undefined;
  let timer: Timer;
  let emittedAt = -Infinity;
  let pieces = 0;

  async function pump(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const emit = (event: string): void => {
      if (!ended && event !== "") controller.enqueue(encoder.encode(event));
    };
    const flush = (): void => {
      if (timer !== undefined) clock.clearTimeout(timer);
      timer = undefined;
      if (held === undefined) return;
      emit(`${PREFIX}${JSON.stringify(held.chunk)}\n\n`);
      held = undefined;
      emittedAt = clock.now();
      pieces += 1;
    };
    const take = (event: string): void => {
      const next = textEventOf(event);
      if (next === undefined) {
        flush();
        emit(event);
        return;
      }
      if (held !== undefined && isSameBlock(held, next)) {
        held.delta[held.field] = textIn(held) + textIn(next);
        return;
      }
      flush();
      const waitMs = emittedAt + mergeWindowMs(pieces, mergeMs) - clock.now();
      if (waitMs <= 0) {
        emittedAt = clock.now();
        pieces += 1;
        emit(event);
        return;
      }
      held = next;
      timer = clock.setTimeout(flush, waitMs);
    };

    try {
      for (;;) {
        const { done, value } = await reader.read();
        unread += done ? decoder.decode() : decoder.decode(value, { stream: true });
        for (let gap = GAP.exec(unread); gap !== null; gap = GAP.exec(unread)) {
          const event = unread.slice(0, gap.index + gap[0].length);
          unread = unread.slice(event.length);
          take(event);
        }
        if (!done) continue;
        flush();
        emit(unread);
        break;
      }
      if (!ended) controller.close();
    } catch (error) {
      flush();
      if (!ended) controller.error(error);
    }
    ended = true;
  }

  return new ReadableStream<Uint8Array>({
    start: (controller) => {
      void pump(controller);
    },
    cancel: async (reason) => {
      ended = true;
      if (timer !== undefined) clock.clearTimeout(timer);
      await reader.cancel(reason);
    },
  });
}

/** An event with only text of one choice. `delta` is the object inside `chunk`. */
interface TextEvent {
  readonly chunk: JsonObject;
  readonly index: unknown;
  readonly delta: JsonObject;
  readonly field: string;
}

function textEventOf(event: string): TextEvent | undefined {
  // Only events with one line of data are joined. Anything else (comments, names, several lines) is rare and passes.
  if (!event.startsWith(`${PREFIX}{`) || event.indexOf("\n") !== event.length - 2) return undefined;
  // The provider reports an event that is no JSON.
  const chunk = parseJson(event.slice(PREFIX.length));
  if (!isRecord(chunk) || !isAbsent(chunk.usage) || "error" in chunk || !Array.isArray(chunk.choices))
    return undefined;
  const choice: unknown = chunk.choices[0];
  if (chunk.choices.length !== 1 || !isRecord(choice) || !isAbsent(choice.finish_reason)) return undefined;
  const { delta } = choice;
  if (!isRecord(delta) || !isAbsent(choice.logprobs)) return undefined;
  const fields = Object.keys(delta).filter((name) => name !== "role" && !isAbsent(delta[name]));
  const [field] = fields;
  if (fields.length !== 1 || field === undefined || !TEXT_FIELDS.has(field)) return undefined;
  if (typeof delta[field] !== "string" || delta[field] === "") return undefined;
  return { chunk, index: choice.index, delta, field };
}

function isSameBlock(left: TextEvent, right: TextEvent): boolean {
  return left.field === right.field && left.index === right.index && left.chunk.id === right.chunk.id;
}

function textIn(event: TextEvent): string {
  const text = event.delta[event.field];
  return typeof text === "string" ? text : "";
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}
