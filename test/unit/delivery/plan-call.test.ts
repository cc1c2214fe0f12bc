import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Doubt } from "../../../delivery/outbox/doubt.ts";
import { entryOf, plannedRow } from "../../../delivery/outbox/outbox-entry.ts";
import type { OutboxEntry } from "../../../delivery/outbox/outbox-entry.ts";
import { planCall } from "../../../delivery/lane/plan-call.ts";
import { Reply } from "../../../delivery/outbox/reply.ts";
import type { OutboxState, ReplyPolicy } from "../../../src/core/chat/delivery.ts";
import type { DeliveryMode } from "../../../src/core/chat/delivery-mode.ts";
import { createFakeSurface } from "../../support/fake-surface.ts";
import type { FakeSurface, FakeSurfaceOptions } from "../../support/fake-surface.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";
import { ADDRESS } from "./engine-harness.ts";

const NOW = 1_000_000;
const LIMITS = { maxLength: 120, maxEntities: 100 };
const TEXT = Array.from({ length: 8 }, (_, index) => `Paragraph ${index} of the text.`).join("\n\n");

interface Situation {
  readonly text: string;
  readonly isFinal: boolean;
  readonly mode: DeliveryMode;
  readonly onUnknown: NonNullable<ReplyPolicy["onUnknown"]>;
  readonly surface: Omit<FakeSurfaceOptions, "clock">;
  readonly entries: readonly OutboxEntry[];
  readonly draft: { readonly isShown: boolean; readonly refreshAt: number; readonly isRefused: boolean };
  readonly touchedAt: number;
}

function made(situation: Situation): { readonly reply: Reply; readonly surface: FakeSurface } {
  const { draft, entries, isFinal, mode, onUnknown, text, touchedAt } = situation;
  const surface = createFakeSurface({
    clock: createVirtualClock(NOW),
    limits: LIMITS,
    ...situation.surface,
  });
  const record = {
    id: "r1",
    position: 1,
    address: ADDRESS,
    policy: { mode, onUnknown },
    isAwaited: false,
    isNotice: false,
    content: "text" as const,
    state: isFinal ? ("final" as const) : ("streaming" as const),
    text: isFinal ? text : undefined,
    openedAt: 0,
  };
  const reply = new Reply(record, structuredClone(entries), touchedAt);
  if (!isFinal) reply.append(text);
  if (draft.isShown) reply.draft.shown(reply.parts(surface).at(-1)?.hash ?? "", draft.refreshAt);
  reply.draft.isRefused = draft.isRefused;
  return { reply, surface };
}

/** Everything of a reply that a later step of the loop goes by. */
function stateOf(reply: Reply, surface: FakeSurface): unknown {
  const { draft, entries, isDirty, isStreamRefused, isWholeVisible, notBefore, record, sentLength } = reply;
  const parts = reply.parts(surface);
  return structuredClone({
    record,
    entries,
    isDirty,
    isStreamRefused,
    isWholeVisible,
    notBefore,
    sentLength,
    touchedAt: reply.touchedAt,
    draft: {
      isRefused: draft.isRefused,
      refreshAt: draft.refreshAt,
      shown: parts.map(({ hash }) => draft.shows(hash)),
    },
    text: reply.text,
    parts,
    calls: surface.calls,
  });
}

const hashes = new Map<string, readonly string[]>();

/** The hashes of the parts of this text, so that some messages show what they should. */
function hashesOf(text: string): readonly string[] {
  const known = hashes.get(text);
  if (known !== undefined) return known;
  const { reply, surface } = made({ ...CALM, text, isFinal: true });
  const found = reply.parts(surface).map(({ hash }) => hash);
  hashes.set(text, found);
  return found;
}

const CALM: Situation = {
  text: "",
  isFinal: false,
  mode: "edit",
  onUnknown: "resend-marked",
  surface: {},
  entries: [],
  draft: { isShown: false, refreshAt: Infinity, isRefused: false },
  touchedAt: NOW,
};

const STATES: readonly OutboxState[] = ["planned", "sending", "sent", "unknown", "removed", "failed"];

const DOUBTS: readonly (Doubt | undefined)[] = [
  { kind: "landing", afterId: 100, landsBy: NOW + 1_000 },
  { kind: "searching", afterId: 100, beforeId: 104, asked: [101] },
  { kind: "unresolved" },
  undefined,
];

const situations: fc.Arbitrary<Situation> = fc
  .record({
    length: fc.integer({ min: 0, max: TEXT.length }),
    isFinal: fc.boolean(),
    mode: fc.constantFrom<DeliveryMode>("edit", "draft", "native", "buffered", "final-only"),
    onUnknown: fc.constantFrom("resend-marked", "resend", "leave"),
    canEdit: fc.boolean(),
    canRemove: fc.boolean(),
    probing: fc.boolean(),
    streams: fc.boolean(),
    hasDrafts: fc.boolean(),
    rows: fc.array(
      fc.record({
        state: fc.constantFrom(...STATES),
        doubt: fc.constantFrom(...DOUBTS),
        shows: fc.constantFrom("it", "other", "unknown"),
        isSurplus: fc.boolean(),
        strayMs: fc.constantFrom(-1, 5_000, undefined),
        stream: fc.constantFrom("open", "ended", undefined),
        failingForMs: fc.constantFrom(1_000, 3_600_000, undefined),
      }),
      { maxLength: 4 },
    ),
    draft: fc.record({
      isShown: fc.boolean(),
      refreshAt: fc.constantFrom(NOW - 1, NOW + 5_000),
      isRefused: fc.boolean(),
    }),
    silentForMs: fc.constantFrom(0, 9 * 60_000, 11 * 60_000),
  })
  .map(({ canEdit, canRemove, hasDrafts, length, probing, rows, silentForMs, streams, ...rest }) => {
    const text = TEXT.slice(0, length);
    const hashesNow = hashesOf(text);
    const entries = rows.map(
      ({ state, doubt, shows, isSurplus, strayMs, stream, failingForMs }, index): OutboxEntry => {
        const isThere = state === "sent";
        const hash = shows === "it" ? hashesNow[index] : shows === "other" ? "other" : undefined;
        const entry = entryOf({
          ...plannedRow("r1", isSurplus ? -1 - index : index),
          state,
          doubts: state === "unknown" ? 1 : 0,
          doubt: state === "unknown" ? doubt : undefined,
          messageId: isThere ? `${101 + index}` : undefined,
          shownHash: isThere ? hash : undefined,
          ...(failingForMs !== undefined && {
            failingSince: NOW - failingForMs,
            retryAt: NOW + 60_000,
          }),
        });
        if (isThere && strayMs !== undefined) entry.strayEdit = { hash: undefined, until: NOW + strayMs };
        if (isThere && stream !== undefined)
          entry.stream = { state: stream, content: { text: text.slice(0, 10), entities: [] } };
        return entry;
      },
    );
    return {
      ...rest,
      text,
      entries,
      touchedAt: NOW - silentForMs,
      surface: {
        probing,
        streams,
        capabilities: { edit: canEdit, remove: canRemove },
        ...(hasDrafts && { draftLastsMs: 30_000 }),
      },
    };
  });

it("changes nothing, and gives the same plan when called again", () => {
  fc.assert(
    fc.property(situations, (situation) => {
      const { reply, surface } = made(situation);
      const before = stateOf(reply, surface);
      const first = structuredClone(planCall(reply, surface, NOW));
      expect(stateOf(reply, surface)).toEqual(before);
      expect(structuredClone(planCall(reply, surface, NOW))).toEqual(first);
    }),
    { numRuns: 1_000 },
  );
});

it("leaves a draft alone that has been silent long enough to fade", () => {
  const { reply, surface } = made({
    ...CALM,
    text: "Let me think about it",
    mode: "draft",
    surface: { draftLastsMs: 30_000 },
    draft: { isShown: true, refreshAt: NOW - 1, isRefused: false },
    touchedAt: NOW - 11 * 60_000,
  });
  const before = stateOf(reply, surface);
  const first = planCall(reply, surface, NOW);
  expect(stateOf(reply, surface)).toEqual(before);
  expect(planCall(reply, surface, NOW)).toEqual(first);
});

it("plans no call for the whole text of a message that shows it", () => {
  const [hash = ""] = hashesOf("Hello.");
  const entry = entryOf({ ...plannedRow("r1", 0), state: "sent", messageId: "101", shownHash: hash });
  const { reply, surface } = made({ ...CALM, text: "Hello.", isFinal: true, entries: [entry] });
  expect(planCall(reply, surface, NOW)).toMatchObject({ kind: "ended", settled: { code: undefined } });
});

describe("names the change that must be stored first", () => {
  const plan = (entry: Partial<OutboxEntry["row"]>, more: Partial<Situation> = {}, stray?: number) => {
    const known = entryOf({ ...plannedRow("r1", 0), ...entry });
    if (stray !== undefined) known.strayEdit = { hash: undefined, until: stray };
    const { reply, surface } = made({
      ...CALM,
      text: "Hello.",
      isFinal: true,
      entries: [known],
      ...more,
    });
    return planCall(reply, surface, NOW);
  };

  it("a post whose process died", () => {
    expect(plan({ state: "sending" })).toMatchObject({
      kind: "lost",
      settled: { kind: "lost", entry: { row: { part: 0 } } },
    });
  });

  it("a message of an earlier attempt that cannot be edited", () => {
    const surface = { capabilities: { edit: false } };
    expect(plan({ state: "sent", messageId: "101", shownHash: "other" }, { surface })).toMatchObject({
      kind: "superseded",
    });
  });

  it("an edit that may still land, until it no longer can", () => {
    const [hash = ""] = hashesOf("Hello.");
    const sent = { state: "sent", messageId: "101", shownHash: hash } as const;
    expect(plan(sent, {}, NOW + 3_000)).toEqual({ kind: "await-late-news", until: NOW + 3_000 });
    expect(plan(sent, {}, NOW)).toMatchObject({ kind: "stray-edits" });
  });

  it("a part that failed", () => {
    expect(plan({ state: "failed", code: "too-long" })).toMatchObject({
      kind: "ended",
      settled: { kind: "ended", code: "too-long" },
    });
  });

  it("a text that cannot be cut", () => {
    const { reply, surface } = made({ ...CALM, text: "Hello.", isFinal: true });
    const broken = new Error("broken");
    reply.parts = () => {
      throw broken;
    };
    expect(planCall(reply, surface, NOW)).toEqual({
      kind: "broken",
      settled: { kind: "broken", error: broken },
    });
  });
});
