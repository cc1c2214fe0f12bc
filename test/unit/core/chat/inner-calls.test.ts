import { expect, it } from "vitest";
import { SwitchboardError } from "../../../../src/core/base/errors.ts";
import { answerOf, callsOver } from "../../../../src/core/chat/inner-calls.ts";
import type { CallGroup, InnerDoor } from "../../../../src/core/chat/inner-calls.ts";
import { createVirtualClock } from "../../../support/virtual-clock.ts";

interface Calls {
  note(text: string): Promise<string>;
}

const NOTES: CallGroup<Calls> = { name: "notes" };

/** An object of an earlier version, which is replaced after a number of calls. */
function replacedAfter(calls: number, code: string): { readonly door: InnerDoor; readonly asked: string[] } {
  const asked: string[] = [];
  const inner = async (method: string, args: readonly unknown[]): Promise<unknown> => {
    asked.push(method);
    if (asked.length <= calls) throw new SwitchboardError(code, "unknown");
    return args[0];
  };
  return { door: { inner }, asked };
}

it.each(["unknown-call", "inner-call-unknown"])(
  "repeats a call until the other object is new, whatever that object says (%s)",
  async (code) => {
    const clock = createVirtualClock();
    const { asked, door } = replacedAfter(5, code);
    const answer = callsOver(NOTES, () => door, clock).note("kept");
    await clock.advance(20_000);
    expect(await answer).toBe("kept");
    expect(asked).toEqual(Array.from({ length: 6 }, () => "notes.note"));
  },
);

it("gives the call back to its caller when the other object stays as it is", async () => {
  const clock = createVirtualClock();
  const { asked, door } = replacedAfter(Infinity, "unknown-call");
  const answer = callsOver(NOTES, () => door, clock).note("kept");
  const failed = answer.catch((error: unknown) => error);
  await clock.advance(60_000);
  expect(await failed).toMatchObject({ code: "unknown-call" });
  expect(asked.length).toBeLessThan(20);
});

it("repeats no call that failed otherwise", async () => {
  const clock = createVirtualClock();
  const { asked, door } = replacedAfter(Infinity, "storage-full");
  await expect(callsOver(NOTES, () => door, clock).note("x")).rejects.toMatchObject({ code: "storage-full" });
  expect(asked).toHaveLength(1);
});

it("can be awaited itself, and then makes no call", async () => {
  const { asked, door } = replacedAfter(0, "");
  await Promise.resolve(callsOver(NOTES, () => door, createVirtualClock()));
  expect(asked).toEqual([]);
});

it("answers with the methods of an object, and with nothing that every object has", () => {
  class Notes {
    readonly words = ["a"];
    count(): number {
      return this.words.length;
    }
  }
  expect(answerOf(new Notes(), "count")?.()).toBe(1);
  const others = ["words", "constructor", "toString", "hasOwnProperty", "__proto__", "missing"];
  expect(others.filter((name) => answerOf(new Notes(), name) !== undefined)).toEqual([]);
});
