import { describe, expect, it } from "vitest";
import {
  backoffMs,
  CALL_RULES,
  decide,
  GIVE_UP_AFTER_MS,
  GIVE_UP_MISCONFIGURED_AFTER_MS,
} from "../../../delivery/calls/call-policy.ts";
import type {
  CallContext,
  CallMethod,
  Decision,
  RowMethod,
  Rule,
} from "../../../delivery/calls/call-policy.ts";
import type { CallFailure } from "../../../src/core/chat/surface.ts";

const CONTEXT: CallContext = {
  isInterim: false,
  isPlain: false,
  isQuoting: false,
  doubts: 0,
  isReplacement: false,
  wasWhole: false,
  isSearchable: false,
  onUnknown: "resend-marked",
  canSearch: false,
  failingForMs: 0,
};

const KINDS = [
  "retry-after",
  "transient",
  "unknown",
  "gone",
  "moved",
  "missing",
  "unchanged",
  "rejected",
  "misconfigured",
] as const;

/** What follows from each failure of each kind of call, in the order of the kinds above. */
const RULES: Readonly<Record<CallMethod, readonly Rule[]>> = {
  post: ["wait", "retry", "doubt", "gone", "move", "refuse", "refuse", "refuse", "retry-slowly"],
  edit: ["wait", "retry", "retry", "gone", "move", "replace", "done", "refuse", "retry-slowly"],
  remove: ["wait", "retry", "retry", "gone", "move", "done", "done", "leave", "retry-slowly"],
  append: ["wait", "retry", "abandon", "gone", "move", "abandon", "abandon", "abandon", "abandon"],
  end: ["wait", "retry", "retry", "gone", "move", "abandon", "abandon", "insist", "retry-slowly"],
  draft: ["wait", "retry", "retry", "abandon", "abandon", "abandon", "done", "abandon", "abandon"],
  probe: ["wait", "retry", "retry", "gone", "move", "undecided", "undecided", "undecided", "retry"],
  typing: ["wait", "ignore", "ignore", "ignore", "ignore", "ignore", "ignore", "ignore", "ignore"],
  answer: ["wait", "retry", "retry", "ignore", "ignore", "ignore", "ignore", "ignore", "ignore"],
  mark: ["wait", "retry", "retry", "refuse", "refuse", "refuse", "done", "refuse", "retry-slowly"],
};

it.each(Object.entries(RULES))("has a rule for every failure of the call %s", (method, rules) => {
  expect(KINDS.map((kind) => CALL_RULES[method as CallMethod][kind])).toEqual(rules);
});

/** The first decision about a call of a row, in the order of the kinds above. */
const TABLE: Readonly<Record<RowMethod, readonly Decision["kind"][]>> = {
  post: ["wait", "retry", "resend", "gone", "move", "plain", "plain", "plain", "retry"],
  edit: ["wait", "retry", "retry", "gone", "move", "repost", "done", "plain", "retry"],
  remove: ["wait", "retry", "retry", "gone", "move", "done", "done", "fail", "retry"],
};

const CASES = Object.entries(TABLE).flatMap(([method, decisions]) =>
  KINDS.map((kind, index) => ({ method: method as RowMethod, kind, decision: decisions[index] })),
);

function failure(kind: CallFailure["kind"]): CallFailure {
  if (kind === "moved") return { kind, code: kind, to: { chatId: "8", threadId: "telegram:8" } };
  return kind === "retry-after" ? { kind, code: kind, retryAfterMs: 7_000 } : { kind, code: kind };
}

it.each(CASES)("answers a $method that is $kind with $decision", ({ method, kind, decision }) => {
  expect(decide(method, failure(kind), CONTEXT, 0).kind).toBe(decision);
});

describe("decides by what happened before", () => {
  const REFINED: readonly [string, RowMethod, CallFailure["kind"], Partial<CallContext>, Decision["kind"]][] =
    [
      ["looks for a post that can be found", "post", "unknown", { isSearchable: true }, "search"],
      [
        "looks for it however often a post was lost, and whatever would follow",
        "post",
        "unknown",
        { isSearchable: true, doubts: 9, onUnknown: "leave" },
        "search",
      ],
      [
        "leaves what is lost where that is wanted",
        "post",
        "unknown",
        { onUnknown: "leave" },
        "leave-unknown",
      ],
      ["sends again what is in doubt for the second time", "post", "unknown", { doubts: 1 }, "resend"],
      ["leaves a row that is in doubt for the third time", "post", "unknown", { doubts: 2 }, "leave-unknown"],
      [
        "bears more where most lost posts are found",
        "post",
        "unknown",
        { doubts: 3, canSearch: true },
        "resend",
      ],
      ["but not without end", "post", "unknown", { doubts: 4, canSearch: true }, "leave-unknown"],
      [
        "sends again only once where nothing says so",
        "post",
        "unknown",
        { doubts: 1, onUnknown: "resend" },
        "leave-unknown",
      ],
      ["fails content that is refused as plain text", "post", "rejected", { isPlain: true }, "fail"],
      [
        "skips interim content that is refused as plain text",
        "edit",
        "rejected",
        { isPlain: true, isInterim: true },
        "skip",
      ],
      ["posts again what is refused as an edit only", "edit", "rejected", { isPlain: true }, "repost"],
      [
        "fails what was posted again and is refused again",
        "edit",
        "rejected",
        { isPlain: true, isReplacement: true },
        "fail",
      ],
      ["does without a quote that is missing", "post", "missing", { isQuoting: true }, "unquoted"],
      [
        "keeps a quote while the formatting may be what is refused",
        "post",
        "rejected",
        { isQuoting: true },
        "plain",
      ],
      [
        "does without the quote of what is refused as plain text",
        "post",
        "rejected",
        { isQuoting: true, isPlain: true },
        "unquoted",
      ],
      ["respects that a person deleted what they had read", "edit", "missing", { wasWhole: true }, "forget"],
      ["posts a deleted message again only once", "edit", "missing", { isReplacement: true }, "forget"],
      ["keeps trying within a day", "post", "transient", { failingForMs: GIVE_UP_AFTER_MS }, "retry"],
      ["gives up after a day", "post", "transient", { failingForMs: GIVE_UP_AFTER_MS + 1 }, "give-up"],
      [
        "never gives up an interim edit",
        "edit",
        "transient",
        { failingForMs: GIVE_UP_AFTER_MS + 1, isInterim: true },
        "retry",
      ],
      [
        "leaves the owner a weekend",
        "post",
        "misconfigured",
        { failingForMs: GIVE_UP_AFTER_MS + 1 },
        "retry",
      ],
      [
        "gives up a wrong token in the end",
        "post",
        "misconfigured",
        { failingForMs: GIVE_UP_MISCONFIGURED_AFTER_MS + 1 },
        "give-up",
      ],
    ];

  it.each(REFINED)("%s", (_name, method, kind, more, expected) => {
    expect(decide(method, failure(kind), { ...CONTEXT, ...more }, 0).kind).toBe(expected);
  });
});

it("waits as long as the platform says", () => {
  expect(decide("edit", failure("retry-after"), CONTEXT, 0.5)).toEqual({ kind: "wait", delayMs: 7_000 });
});

it("retries after as long as the call has been failing, from half a second to a minute", () => {
  const delayAfter = (failingForMs: number): unknown =>
    decide("edit", failure("transient"), { ...CONTEXT, failingForMs }, 0);
  expect([0, 700, 9_000, 600_000].map(delayAfter)).toMatchObject([
    { delayMs: 500 },
    { delayMs: 700 },
    { delayMs: 9_000 },
    { delayMs: 60_000 },
  ]);
});

it("retries a refused token soon at first, then each minute", () => {
  const delayAfter = (failingForMs: number): unknown =>
    decide("post", failure("misconfigured"), { ...CONTEXT, failingForMs }, 0);
  expect([0, 9_000, 600_000].map(delayAfter)).toMatchObject([
    { delayMs: 2_000 },
    { delayMs: 9_000 },
    { delayMs: 60_000 },
  ]);
});

it("tells the owner about a wrong configuration and about nothing else", () => {
  expect(decide("post", failure("misconfigured"), CONTEXT, 0)).toMatchObject({ tellOwner: true });
  expect(decide("post", failure("transient"), CONTEXT, 0)).toMatchObject({ tellOwner: false });
});

it("doubles the backoff up to a minute, and spreads it downwards", () => {
  expect([0, 1, 2, 3, 7, 500].map((failures) => backoffMs(failures, 0))).toEqual([
    500, 1_000, 2_000, 4_000, 60_000, 60_000,
  ]);
  expect(backoffMs(7, 0.999_999)).toBe(30_000);
});
