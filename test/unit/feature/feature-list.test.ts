import { describe, expect, it } from "vitest";
import type { FeaturePress } from "../../../src/core/chat/card-press.ts";
import type { Feature } from "../../../src/feature/feature.ts";
import { FeatureList } from "../../../src/feature/feature-list.ts";
import { FEATURES } from "../../../src/agent/features.ts";
import { messageEvent } from "../../../lab/support/messenger-events.ts";
import { recordLog } from "../../support/log-recorder.ts";

const press: FeaturePress = {
  handled: () => {},
  cardId: "1",
  payload: { any: true },
  label: "Go",
  person: { userId: "ada" },
  chat: messageEvent().thread,
  isTyped: false,
  event: messageEvent(),
};

function listOf(...features: readonly Feature[]): FeatureList {
  return new FeatureList(features, { log: recordLog().log, runs: { runOf: () => undefined } });
}

/** A feature that takes each press, and says so. */
function taking(name: string): Feature {
  return { name, pressed: () => Promise.resolve(name) };
}

describe("a press of a card", () => {
  it("goes to the owner that is stored with the card, whatever its payload is", async () => {
    const list = listOf(taking("first"), taking("second"));
    expect(await list.pressed(press, "second")).toBe("second");
  });

  it("goes to the bot's own code if the card has no feature, or one that the bot has no more", () => {
    const list = listOf(taking("first"));
    expect(list.pressed(press, "")).toBeUndefined();
    expect(list.pressed(press, "gone")).toBeUndefined();
  });

  it("is offered to all features if the card is older than its owners, schedules first", async () => {
    const isAsked = FEATURES.map(({ name }) => name).filter((name) =>
      ["approvals", "schedules"].includes(name),
    );
    expect(isAsked).toEqual(["schedules", "approvals"]);
    const list = listOf(...isAsked.map(taking));
    expect(await list.pressed(press, undefined)).toBe("schedules");
    expect(await listOf({ name: "silent" }, taking("approvals")).pressed(press, undefined)).toBe("approvals");
  });
});

it("owns the commands of its features", () => {
  const list = listOf({ name: "a", commands: () => ({ go: { description: "", handler: () => "" } }) });
  expect(list.ownerOf("go")).toBe("a");
  expect(list.ownerOf("other")).toBe("");
});

it("goes on with the work of other features when one fails", async () => {
  const done: string[] = [];
  const list = listOf(
    { name: "a", work: () => Promise.reject(new Error("broken")) },
    {
      name: "b",
      work: () => {
        throw new Error("broken");
      },
    },
    { name: "c", work: () => void done.push("c") },
  );
  list.work();
  await Promise.resolve();
  expect(done).toEqual(["c"]);
});

it("wakes for the earliest of its features", () => {
  expect(listOf().nextWakeAt()).toBeUndefined();
  const at = (time: number | undefined): Feature => ({ name: String(time), nextWakeAt: () => time });
  expect(listOf(at(undefined), at(7), at(3)).nextWakeAt()).toBe(3);
});

it("names a feature that the bot does not have", () => {
  const approvals = FEATURES.find(({ name }) => name === "approvals");
  expect(() => listOf().get(approvals ?? { name: "", create: () => ({ name: "" }) })).toThrow(
    'This bot was built without "approvals".',
  );
});
