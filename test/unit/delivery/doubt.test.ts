import { expect, it } from "vitest";
import {
  answered,
  DOUBT_TRANSITIONS,
  isSearchable,
  nextDoubt,
  parseDoubt,
} from "../../../delivery/outbox/doubt.ts";
import type { Doubt, DoubtEvent, DoubtKind } from "../../../delivery/outbox/doubt.ts";

const EVENTS: readonly DoubtEvent[] = [
  "begin",
  "answered",
  "lost",
  "settled",
  "asked",
  "not-found",
  "undecided",
];

const DOUBTS: Readonly<Record<DoubtKind, Doubt | undefined>> = {
  none: undefined,
  posting: { kind: "posting", afterId: 100, landsBy: 8_000 },
  landing: { kind: "landing", afterId: 100, landsBy: 8_000 },
  searching: { kind: "searching", afterId: 100, beforeId: 104, asked: [101, 102] },
  unresolved: { kind: "unresolved" },
};
const KINDS = Object.keys(DOUBTS) as DoubtKind[];

/** The whole table: one row for each kind, one column for each of the events above. */
const TABLE: Readonly<Record<DoubtKind, readonly (DoubtKind | "-")[]>> = {
  none: ["posting", "none", "-", "-", "-", "-", "-"],
  posting: ["-", "none", "landing", "-", "-", "-", "-"],
  landing: ["-", "none", "-", "searching", "landing", "none", "unresolved"],
  searching: ["-", "none", "-", "-", "searching", "none", "unresolved"],
  unresolved: ["posting", "none", "-", "-", "-", "-", "-"],
};

const CASES = KINDS.flatMap((from) =>
  EVENTS.flatMap((event, index) =>
    KINDS.map((to) => ({ from, event, to, isAllowed: TABLE[from][index] === to })),
  ),
);

it.each(CASES)("takes $from by $event to $to: $isAllowed", ({ from, event, to, isAllowed }) => {
  const change = (): Doubt | undefined => nextDoubt(DOUBTS[from], event, DOUBTS[to]);
  if (isAllowed) expect(change()).toEqual(DOUBTS[to]);
  else expect(change).toThrow(TypeError);
});

it("knows no kind and no event but these", () => {
  expect(Object.keys(DOUBT_TRANSITIONS)).toEqual(KINDS);
  for (const row of Object.values(DOUBT_TRANSITIONS))
    expect(EVENTS).toEqual(expect.arrayContaining(Object.keys(row)));
});

it("ends with an answer, whatever the state was", () => {
  for (const kind of KINDS) expect(answered(DOUBTS[kind])).toBeUndefined();
});

it.each(KINDS)("is searched for only before it is decided: %s", (kind) => {
  expect(isSearchable(DOUBTS[kind])).toBe(kind === "landing" || kind === "searching");
});

it("is read from the storage unchanged", () => {
  const post = { key: "k1", since: 1_000, hash: "h", words: ["w"], isRepeated: true };
  const keyed: Doubt[] = [
    { kind: "posting", afterId: 0, landsBy: 8_000, post },
    { kind: "landing", afterId: 0, landsBy: 8_000, post: { key: "k1", since: 1_000, words: [] } },
    { kind: "unresolved", post },
  ];
  const known = [...keyed, ...Object.values(DOUBTS).filter((doubt) => doubt !== undefined)];
  expect(known.map((doubt) => parseDoubt(JSON.stringify(doubt)))).toEqual(known);
});

it.each(["{}", "null", '{"kind":"lost"}', '{"kind":"landing","afterId":"100","landsBy":1}'])(
  "is never made of something else: %s",
  (stored) => {
    expect(() => parseDoubt(stored)).toThrow(/invalid/i);
  },
);
