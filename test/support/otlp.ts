import { z } from "zod";

const value = z.union([
  z.strictObject({ stringValue: z.string() }),
  z.strictObject({ boolValue: z.boolean() }),
  z.strictObject({ intValue: z.string().regex(/^-?\d+$/) }),
  z.strictObject({ doubleValue: z.number() }),
]);
const attributes = z.array(z.strictObject({ key: z.string().min(1), value }));
const id = (bytes: number) => z.string().regex(new RegExp(`^(?!0+$)[0-9a-f]{${bytes * 2}}$`));
const time = z.string().regex(/^\d{19}$/);

const span = z.strictObject({
  traceId: id(16),
  spanId: id(8),
  parentSpanId: id(8).optional(),
  name: z.string().min(1),
  kind: z.number().int().min(1).max(5),
  startTimeUnixNano: time,
  endTimeUnixNano: time,
  attributes,
  status: z.strictObject({ code: z.number().int().min(0).max(2).optional() }),
});

/** The body of a request that exports traces, as the specification of OTLP has it in JSON. */
const request = z.strictObject({
  resourceSpans: z.array(
    z.strictObject({
      resource: z.strictObject({ attributes }),
      scopeSpans: z.array(
        z.strictObject({ scope: z.strictObject({ name: z.string() }), spans: z.array(span) }),
      ),
    }),
  ),
});

/** A span as a collector reads it. */
export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string | undefined;
  readonly name: string;
  readonly isFailed: boolean;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** Reads the body of an export, and refuses any other shape. */
export function readSpans(body: string): readonly CollectedSpan[] {
  return request.parse(JSON.parse(body)).resourceSpans.flatMap(({ scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) =>
      spans.map((one) => {
        if (BigInt(one.endTimeUnixNano) < BigInt(one.startTimeUnixNano)) throw new Error("It ends first.");
        const { name, parentSpanId, spanId, status, traceId } = one;
        const pairs = one.attributes.map(({ key, value: of }) => [key, Object.values(of)[0] as unknown]);
        const isFailed = status.code === 2;
        return { name, parentSpanId, spanId, traceId, isFailed, attributes: Object.fromEntries(pairs) };
      }),
    ),
  );
}
