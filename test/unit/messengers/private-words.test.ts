import { expect, it } from "vitest";
import type { CardContent } from "../../../src/core/message/content.ts";
import { alert } from "../../../src/core/chat/card-press.ts";
import { cardToken } from "../../../src/core/chat/card-token.ts";
import type { CallFailure, PrivateWords } from "../../../src/core/chat/surface.ts";
import { createPressRig, DIRECT, GROUP, pressOf, pressWith } from "./press-rig.ts";
import type { PressRig, PressRigOptions } from "./press-rig.ts";

const MENU: CardContent = {
  kind: "card",
  text: "Menu",
  buttons: [[{ kind: "callback", label: "Soup", payload: "soup" }]],
};

async function menuWith(
  privateWords: PrivateWords,
  thread = GROUP,
  options: PressRigOptions = {},
): Promise<PressRig> {
  const capabilities = { typing: false, privateWords };
  const rig = createPressRig({ ...options, surface: { ...options.surface, capabilities } });
  rig.post(thread, MENU);
  await rig.advance(500);
  return rig;
}

const STALE = "This button is no longer in use.";
const forged = cardToken({ key: "forged", button: "x" });

it.each(["note", "message"] as const)("tells one person of a group in private: %s", async (privateWords) => {
  const rig = await menuWith(privateWords, GROUP, { onAction: () => "Soup it is." });
  await rig.receive(GROUP, pressOf(rig, GROUP, "Soup", { key: "c:1" }));
  await rig.receive(GROUP, pressWith(GROUP, forged, { key: "c:2" }));
  expect(rig.answers()).toEqual([
    ["query-c:1", "Soup it is."],
    ["query-c:2", STALE],
  ]);
  expect(rig.surface.visible("-5")).toEqual(["Menu"]);
});

it.each(["message", "none"] as const)(
  "answers in a private chat with a message: %s",
  async (privateWords) => {
    const rig = await menuWith(privateWords, DIRECT, { onAction: () => "Soup it is." });
    await rig.receive(DIRECT, pressOf(rig, DIRECT, "Soup"));
    expect(rig.answers()).toEqual([]);
    expect(rig.surface.visible("1")).toEqual(["Menu", "Soup it is."]);
  },
);

it("shows no markup of a name in a message that answers a press", async () => {
  const onAction = (): string => "It's up to [Eve](https://evil.example) **Boss**.";
  const rig = await menuWith("none", DIRECT, { onAction });
  await rig.receive(DIRECT, pressOf(rig, DIRECT, "Soup"));
  expect(rig.surface.visible("1")).toEqual(["Menu", "It's up to [Eve](https://evil.example) **Boss**."]);
});

it("asks the platform for nothing when there is nothing to say", async () => {
  const rig = await menuWith("message");
  await rig.receive(GROUP, pressOf(rig, GROUP, "Soup"));
  await rig.advance(30_000);
  expect(rig.presses.length).toBe(1);
  expect(rig.answers()).toEqual([]);
});

it("shows a slow handler's answer on a platform that does not wait for it", async () => {
  let finish = (_text: string): void => {};
  const slow = new Promise<string>((resolve) => (finish = resolve));
  const rig = await menuWith("message", GROUP, { onAction: () => slow });
  await rig.receive(GROUP, pressOf(rig, GROUP, "Soup", { key: "c:1" }));
  await rig.advance(15_000);
  finish("Soup it is.");
  await rig.advance(1_000);
  expect(rig.answers()).toEqual([["query-c:1", "Soup it is."]]);
});

it.each<CallFailure>([
  { kind: "unknown", code: "connection-lost" },
  { kind: "transient", code: "server-unavailable" },
])("posts a private message again only if it was certainly not posted: $kind (I6)", async (failure) => {
  const rig = await menuWith("message", GROUP, { onAction: () => "Soup it is." });
  rig.surface.fault("answer", { kind: "fail", failure });
  await rig.receive(GROUP, pressOf(rig, GROUP, "Soup"));
  await rig.advance(60_000);
  expect(rig.answers().length).toBe(failure.kind === "unknown" ? 1 : 2);
  expect(rig.surface.visible("-5")).toEqual(["Menu"]);
});

it.each(["none", "message"] as const)(
  "warns a person by name in the chat, once for each card and person, without private words: %s",
  async (privateWords) => {
    const rig = await menuWith(privateWords, GROUP, { definition: { allow: ["8"] } });
    rig.surface.faultAlways("answer", { kind: "fail", failure: { kind: "rejected", code: "not-supported" } });
    const ann = { userId: "9", fullName: "Ann *B*" };
    const bob = { userId: "10", userName: "bob" };
    for (const author of [ann, bob, ann, ann])
      await rig.receive(GROUP, pressOf(rig, GROUP, "Soup", { author }));
    const refused = "Sorry, this bot is private, so I can't help you here.";
    expect(rig.surface.visible("-5")).toEqual(["Menu", `Ann *B*: ${refused}`, `bob: ${refused}`]);
  },
);

it("keeps what the bot's own code says to one person out of the chat", async () => {
  const rig = await menuWith("none", GROUP, { onAction: () => alert("Your balance is 12 €.") });
  await rig.receive(GROUP, pressOf(rig, GROUP, "Soup"));
  expect(rig.presses.length).toBe(1);
  expect(rig.surface.visible("-5")).toEqual(["Menu"]);
});
