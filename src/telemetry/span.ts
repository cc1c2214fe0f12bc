import { sha256Now } from "../core/bytes/sha256.ts";

/** A value of an attribute. Undefined ones are left out. */
export type AttributeValue = string | number | boolean | undefined;

export type Attributes = Readonly<Record<string, AttributeValue>>;

/** A span that has ended. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  /** `client`: a request to another system. */
  readonly kind: "internal" | "client";
  /** Epoch milliseconds, as the end. */
  readonly beganAt: number;
  readonly endedAt: number;
  readonly attributes: Attributes;
  readonly isFailed: boolean;
}

/** The trace of a turn, and the id of the turn's own span. They follow from the turn's id, so no process stores them. */
export function traceOf(turnId: string): { readonly traceId: string; readonly spanId: string } {
  const hash = sha256Now(`turn ${turnId}`);
  return { traceId: hash.slice(0, 32), spanId: hash.slice(32, 48) };
}

/** The id of another span of a turn. Equal names give equal ids. */
export function spanIdOf(turnId: string, name: string): string {
  return sha256Now(`span ${turnId} ${name}`).slice(0, 16);
}

const KINDS = { internal: 1, client: 3 } as const;
const FAILED = { code: 2 };
const UNSET = {};

/** Returns the body of a request that exports spans, as OTLP writes it in JSON. */
export function otlpBody(spans: readonly Span[], resource: Attributes): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: listOf(resource) },
        scopeSpans: [{ scope: { name: "switchboard" }, spans: spans.map(otlpSpan) }],
      },
    ],
  });
}

function otlpSpan({ attributes, beganAt, endedAt, isFailed, kind, parentSpanId, ...rest }: Span): object {
  return {
    ...rest,
    ...(parentSpanId !== undefined && { parentSpanId }),
    kind: KINDS[kind],
    startTimeUnixNano: nanoseconds(Math.min(beganAt, endedAt)),
    endTimeUnixNano: nanoseconds(endedAt),
    attributes: listOf(attributes),
    status: isFailed ? FAILED : UNSET,
  };
}

function nanoseconds(milliseconds: number): string {
  return `${Math.trunc(milliseconds)}000000`;
}

function listOf(attributes: Attributes): object[] {
  return Object.entries(attributes).flatMap(([key, value]) => {
    if (value === undefined) return [];
    if (typeof value === "string") return { key, value: { stringValue: value } };
    if (typeof value === "boolean") return { key, value: { boolValue: value } };
    return { key, value: Number.isInteger(value) ? { intValue: String(value) } : { doubleValue: value } };
  });
}
