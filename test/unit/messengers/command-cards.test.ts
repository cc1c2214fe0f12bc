import { expect, it } from "vitest";
import { messageEvent } from "../../../lab/support/messenger-events.ts";
import { createPressRig, DIRECT, MENU, pressOf } from "./press-rig.ts";

it("answers a command with a card, which the handler of presses can revise", async () => {
  const rig = createPressRig({
    commands: { menu: { description: "Show the menu", handler: () => MENU } },
    onAction: ({ cardId, label }) => {
      rig.object(DIRECT).cards.revise(cardId, `You chose ${label}.`);
    },
  });
  const command = { name: "menu", args: "" };
  await rig.receive(DIRECT, messageEvent({ key: "m:menu", message: { id: "5", text: "/menu", command } }));
  await rig.receive(DIRECT, pressOf(rig, DIRECT, "Soup"));
  await rig.advance(500);
  expect(rig.surface.visible("1")).toEqual(["You chose Soup."]);
  expect(rig.surface.keyboards("1")).toEqual([undefined]);
});

it("answers a command with a card whose picture is given by its bytes", async () => {
  const image = new TextEncoder().encode("png");
  const rig = createPressRig({
    surface: {
      capabilities: { images: true, files: { maxBytes: () => 100, maxAlbumSize: 1, callTimeoutMs: 100 } },
    },
    commands: { menu: { description: "Show the menu", handler: () => ({ ...MENU, image }) } },
  });
  const command = { name: "menu", args: "" };
  await rig.receive(DIRECT, messageEvent({ key: "m:menu", message: { id: "5", text: "/menu", command } }));
  await rig.advance(500);
  expect(rig.surface.visible("1")).toEqual(["Menu"]);
  expect(rig.surface.messages("1")[0]?.image).toMatchObject({ source: { kind: "bytes", sizeBytes: 3 } });
});
