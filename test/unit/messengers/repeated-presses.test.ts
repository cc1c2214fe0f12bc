import { expect, it } from "vitest";
import type { CardContent } from "../../../src/core/message/content.ts";
import { createPressRig, DIRECT, pressOf, pressWith } from "./press-rig.ts";
import type { PressRig } from "./press-rig.ts";

const MENU: CardContent = {
  kind: "card",
  text: "Menu",
  buttons: [[{ kind: "callback", label: "Soup", payload: "soup" }]],
};

async function withMenu(rig: PressRig): Promise<string> {
  const id = rig.post(DIRECT, MENU);
  await rig.advance(500);
  return id;
}

it("answers the second tap on a button that the first one has replaced with nothing, and only to that person", async () => {
  let id = "";
  let isSlow = true;
  const rig = createPressRig({
    onAction: async () => {
      rig.object(DIRECT).cards.revise(id, { kind: "card", text: "Soup it is." });
      if (isSlow) await new Promise<void>((resolve) => rig.clock.setTimeout(resolve, 2_000));
      return "Ordered.";
    },
  });
  id = await withMenu(rig);
  const soup = pressOf(rig, DIRECT, "Soup");
  const token = soup.action?.data ?? "";
  const tap = (key: string, userId = "7") =>
    rig.receive(DIRECT, pressWith(DIRECT, token, { key, author: { userId } }));
  await rig.receive(DIRECT, soup);
  await tap("c:while-it-runs");
  await rig.advance(2_000);
  isSlow = false;
  await tap("c:after-it");
  await tap("c:another-person", "8");
  await rig.advance(60_000);
  await tap("c:much-later");
  const stale = "This button is no longer in use.";
  expect(Object.fromEntries(rig.answers())).toEqual({
    [soup.action?.id ?? ""]: "Ordered.",
    "query-c:while-it-runs": undefined,
    "query-c:after-it": undefined,
    "query-c:another-person": stale,
    "query-c:much-later": stale,
  });
  expect(rig.presses.length).toBe(1);
});

it("tells a person who presses a button again after its handler has failed that it is gone", async () => {
  let id = "";
  const rig = createPressRig({
    onAction: () => {
      rig.object(DIRECT).cards.revise(id, { kind: "card", text: "One moment." });
      throw new Error("The kitchen is closed.");
    },
  });
  id = await withMenu(rig);
  const soup = pressOf(rig, DIRECT, "Soup");
  await rig.receive(DIRECT, soup);
  await rig.receive(DIRECT, pressWith(DIRECT, soup.action?.data ?? "", { key: "c:again" }));
  const [, [, text] = []] = rig.answers();
  expect(text).toBe("This button is no longer in use.");
});
