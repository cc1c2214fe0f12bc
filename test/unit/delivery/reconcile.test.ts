import * as fc from "fast-check";
import { expect, it } from "vitest";
import { isSearchable } from "../../../delivery/outbox/doubt.ts";
import type { Doubt } from "../../../delivery/outbox/doubt.ts";
import { entryOf, plannedRow } from "../../../delivery/outbox/outbox-entry.ts";
import type { OutboxEntry } from "../../../delivery/outbox/outbox-entry.ts";
import { reconcile } from "../../../delivery/lane/reconcile.ts";
import type { DesiredPart, NextAction, ReconcileInput } from "../../../delivery/lane/reconcile.ts";
import type { OutboxState } from "../../../src/core/chat/delivery.ts";

interface Situation extends ReconcileInput<DesiredPart> {
  readonly entries: OutboxEntry[];
}

const STATES: readonly OutboxState[] = ["planned", "sending", "sent", "unknown", "removed", "failed"];

const parts = fc.array(fc.constantFrom("alpha", "beta", "gamma", " "), { maxLength: 5 }).map((texts) =>
  texts.map((text, index): DesiredPart => ({
    index,
    complete: index < texts.length - 1,
    hash: text,
    content: { text },
  })),
);

const entries = fc.array(
  fc.record({
    state: fc.constantFrom(...STATES),
    shownHash: fc.constantFrom("alpha", "beta", "old", undefined),
    doubts: fc.integer({ min: 0, max: 2 }),
    code: fc.constantFrom("not-found", undefined),
    doubt: fc.constantFrom<Doubt | undefined>(
      { kind: "landing", afterId: 10, landsBy: 8_000 },
      { kind: "landing", afterId: 11, landsBy: 8_000 },
      { kind: "searching", afterId: 12, beforeId: 15, asked: [] },
      { kind: "unresolved" },
      undefined,
    ),
  }),
  { maxLength: 6 },
);

const situation: fc.Arbitrary<Situation> = fc.record({
  parts,
  entries: entries.map((rows) =>
    rows.map(({ state, shownHash, doubts, code, doubt }, part) => {
      const isThere = state === "sent";
      // A row that is unknown was in doubt at least once.
      const count = state === "unknown" ? Math.max(1, doubts) : Math.min(1, doubts);
      return entryOf({
        ...plannedRow("r", part),
        state,
        doubts: count,
        code,
        doubt: state === "unknown" ? doubt : undefined,
        shownHash: isThere ? shownHash : undefined,
        messageId: isThere ? `m${part}` : undefined,
      });
    }),
  ),
  isFinal: fc.boolean(),
  canEdit: fc.boolean(),
  canRemove: fc.boolean(),
  canSearch: fc.boolean(),
  now: fc.constant(0),
  onUnknown: fc.constantFrom("resend-marked", "resend", "leave"),
});

/** A platform that does what it is told, on the entries. */
function perform(entries: OutboxEntry[], action: NextAction<DesiredPart>): void {
  switch (action.kind) {
    case "post": {
      const entry = action.entry ?? entryOf(plannedRow("r", action.part.index));
      if (action.entry === undefined) entries.push(entry);
      entry.row = { ...entry.row, state: "sent", messageId: "new", code: undefined };
      entry.shownHash = action.part.hash;
      break;
    }
    case "edit":
      action.entry.shownHash = action.part.hash;
      break;
    case "remove":
      action.entry.row = { ...action.entry.row, state: "removed", code: undefined };
      break;
    case "probe": {
      // Found, not there, or not to be told.
      const { row } = action.entry;
      const doubts = row.doubts - 1;
      const afterId = isSearchable(row.doubt) ? row.doubt.afterId : undefined;
      const doubt = undefined;
      if (afterId === 10) action.entry.row = { ...row, state: "sent", messageId: "found", doubts, doubt };
      else if (afterId === 11) action.entry.row = { ...row, state: "planned", doubts, doubt };
      else action.entry.row = { ...row, doubt: { kind: "unresolved" } };
      break;
    }
    case "lost":
      action.entry.row = { ...action.entry.row, state: "unknown", doubts: action.entry.row.doubts + 1 };
      break;
    case "superseded": {
      const from = action.entry.row.part;
      const lowest = Math.min(0, ...entries.map(({ row }) => row.part));
      const old = entries.filter(({ row }) => row.state === "sent" && row.part >= from);
      for (const [index, entry] of old.entries()) entry.row = { ...entry.row, part: lowest - 1 - index };
      break;
    }
    case "idle":
    case "ended":
      break;
    default:
      action satisfies never;
  }
}

/** Steps until there is nothing to do. */
function steps(input: Situation): NextAction<DesiredPart>[] {
  const taken: NextAction<DesiredPart>[] = [];
  for (;;) {
    const action = reconcile(input);
    taken.push(action);
    if (action.kind === "idle" || action.kind === "ended") return taken;
    if (taken.length > 100) throw new Error("It does not come to an end.");
    perform(input.entries, action);
  }
}

const isLostPost = ({ row: { state, doubt } }: OutboxEntry): boolean =>
  state === "unknown" && (doubt?.kind === "landing" || doubt?.kind === "searching");

const isBlank = ({ content }: DesiredPart): boolean => content.text.trim() === "";

it("ends from every situation, with at most one call for each message", () => {
  fc.assert(
    fc.property(situation, (input) => {
      const taken = steps(input);
      const calls = taken.filter(({ kind }) => kind === "post" || kind === "edit" || kind === "remove");
      // A message that cannot be edited is taken away, and another one posted.
      const replaced = input.entries.filter(({ row }) => row.part < 0).length;
      expect(calls.length).toBeLessThanOrEqual(Math.max(input.parts.length, input.entries.length) + replaced);
      expect(taken.at(-1)?.kind).toBe(input.isFinal ? "ended" : "idle");
    }),
  );
});

it("leaves exactly the desired messages visible, except those it may not touch", () => {
  fc.assert(
    fc.property(situation, (input) => {
      const isFinal = true;
      const last = steps({ ...input, isFinal }).at(-1);
      let failures = 0;
      for (const part of input.parts) {
        const entry = input.entries.find(({ row }) => row.part === part.index);
        if (isBlank(part)) {
          if (input.canRemove) expect(entry?.row.state).not.toBe("sent");
        } else if (entry?.row.state === "sent") {
          if (input.canEdit) expect(entry.shownHash).toBe(part.hash);
        } else if (entry?.row.state === "removed") {
          expect(entry.row.code).toBeDefined();
        } else {
          failures += 1;
          const isLeft = input.onUnknown === "leave" || (entry?.row.doubts ?? 0) >= 2;
          expect(entry?.row.state === "failed" || isLeft).toBe(true);
        }
      }
      const surplus = input.entries.filter(
        ({ row }) => row.state === "sent" && row.part >= input.parts.length,
      );
      if (input.canRemove) expect(surplus).toEqual([]);
      expect(last?.kind === "ended" && last.code !== undefined).toBe(failures > 0);
    }),
  );
});

it("brings an earlier part up to date before it posts a later one", () => {
  fc.assert(
    fc.property(situation, (input) => {
      for (;;) {
        const action = reconcile(input);
        if (action.kind === "idle" || action.kind === "ended") return;
        if (action.kind === "post") {
          for (const part of input.parts.slice(0, action.part.index)) {
            const entry = input.entries.find(({ row }) => row.part === part.index);
            const isSettled =
              isBlank(part) ||
              entry?.row.state === "failed" ||
              entry?.row.state === "removed" ||
              entry?.row.state === "unknown" ||
              (entry?.row.state === "sent" && (!input.canEdit || entry.shownHash === part.hash));
            expect(isSettled).toBe(true);
          }
        }
        perform(input.entries, action);
      }
    }),
  );
});

it("touches nothing while there is no text yet, so that what is visible can be edited to it", () => {
  fc.assert(
    fc.property(situation, (input) => {
      const entries = input.entries.filter(({ row }) => row.state !== "sending");
      const isLost = input.canSearch && entries.some(isLostPost);
      // A question changes nothing.
      expect(reconcile({ ...input, entries, parts: [], isFinal: false }).kind).toBe(
        isLost ? "probe" : "idle",
      );
    }),
  );
});

it("edits nothing where messages cannot be edited", () => {
  fc.assert(
    fc.property(situation, (input) => {
      for (const { kind } of steps({ ...input, canEdit: false })) expect(kind).not.toBe("edit");
    }),
  );
});

/** What is known of a lost post, in a row that is `unknown`. */
const LOST = {
  landing: { kind: "landing", afterId: 9, landsBy: 8_000 },
  searching: { kind: "searching", afterId: 9, beforeId: 14, asked: [10] },
  unresolved: { kind: "unresolved" },
} as const satisfies Record<string, Doubt>;

const lostPart = (part: number, doubt: Doubt | undefined): OutboxEntry =>
  entryOf({ ...plannedRow("r", part), state: "unknown", doubts: 1, doubt });

const shownPart = (part: number, shownHash: string): OutboxEntry =>
  entryOf({ ...plannedRow("r", part), state: "sent", shownHash, messageId: `m${part}` });

const situationOf = (
  texts: readonly string[],
  entries: readonly OutboxEntry[],
  more: Partial<ReconcileInput<DesiredPart>> = {},
): ReconcileInput<DesiredPart> => ({
  entries,
  parts: texts.map((text, index) => ({ index, complete: true, hash: text, content: { text } })),
  isFinal: true,
  canEdit: true,
  canRemove: true,
  canSearch: true,
  now: 0,
  onUnknown: "resend-marked",
  ...more,
});

it.each(["landing", "searching"] as const)(
  "asks about a lost post (%s) before it posts anything, also one that the text does not need any more",
  (kind) => {
    const wanted = lostPart(1, LOST[kind]);
    expect(reconcile(situationOf(["alpha", "beta", "gamma"], [shownPart(0, "alpha"), wanted]))).toMatchObject(
      { kind: "probe", entry: { row: { part: 1 } } },
    );
    // The text has become shorter since: a notice of it is not needed any more, and may be there.
    const surplus = lostPart(1, LOST[kind]);
    expect(reconcile(situationOf(["alpha"], [shownPart(0, "alpha"), surplus]))).toMatchObject({
      kind: "probe",
      entry: { row: { part: 1 } },
    });
    // It was the first attempt's last part; the new text begins with a part that is no message yet.
    const taken = lostPart(-1, LOST[kind]);
    expect(reconcile(situationOf(["alpha"], [taken]))).toMatchObject({
      kind: "probe",
      entry: { row: { part: -1 } },
    });
  },
);

it("keeps editing visible messages while a post is lost", () => {
  const entries = [shownPart(0, "old"), lostPart(1, LOST.landing)];
  expect(reconcile(situationOf(["alpha", "beta"], entries))).toMatchObject({
    kind: "edit",
    entry: { row: { part: 0 } },
  });
});

it("asks about a lost post while there is no text yet", () => {
  const input = situationOf([], [lostPart(0, LOST.landing)], { isFinal: false });
  expect(reconcile(input)).toMatchObject({ kind: "probe" });
});

it.each([
  ["resend-marked", { kind: "post", part: { index: 0 } }],
  ["resend", { kind: "post", part: { index: 0 } }],
  ["leave", { kind: "ended", code: "unknown" }],
] as const)("leaves to the policy (%s) what nobody can tell", (onUnknown, action) => {
  for (const doubt of [LOST.unresolved, undefined]) {
    expect(reconcile(situationOf(["alpha"], [lostPart(0, doubt)], { onUnknown }))).toMatchObject(action);
  }
  // Where messages cannot be looked for, a stored doubt decides nothing.
  const stored = situationOf(["alpha"], [lostPart(0, LOST.landing)], { onUnknown, canSearch: false });
  expect(reconcile(stored)).toMatchObject(action);
});

it("posts nothing in any situation while a post is lost", () => {
  fc.assert(
    fc.property(situation, (input) => {
      fc.pre(input.canSearch && input.entries.some(isLostPost));
      expect(reconcile(input).kind).not.toBe("post");
    }),
  );
});
