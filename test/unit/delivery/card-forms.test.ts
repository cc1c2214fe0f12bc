import { describe, expect, it } from "vitest";
import { cardText, shownButtons } from "../../../delivery/outbox/card-text.ts";
import type { CardBody } from "../../../src/core/chat/delivery.ts";
import type { OutgoingButton } from "../../../src/core/chat/surface.ts";
import { createHarness, ADDRESS } from "./engine-harness.ts";

/* What people see of each form of a card, on platforms that can show it and on platforms that cannot. */

const YES: OutgoingButton = { kind: "callback", label: "Yes", token: "t1" };
const NO: OutgoingButton = { kind: "callback", label: "No, thanks!", token: "t2" };
const SHOP: OutgoingButton = { kind: "link", label: "Shop", url: "https://shop.example/a_b" };
const CODE: OutgoingButton = { kind: "copy", label: "Code", text: "SAVE_10" };

const PLATFORMS = {
  telegram: { buttons: true, copyButtons: true, images: true },
  "SDK cards": { buttons: true },
  "no buttons": { buttons: false },
} as const;

interface Seen {
  readonly text: string;
  readonly buttons?: readonly (readonly string[])[];
}

interface Form {
  readonly form: string;
  readonly card: Omit<CardBody, "key">;
  readonly seen: Readonly<Record<keyof typeof PLATFORMS, Seen>>;
}

const FORMS: readonly Form[] = [
  {
    form: "text",
    card: { text: "Hello" },
    seen: { telegram: { text: "Hello" }, "SDK cards": { text: "Hello" }, "no buttons": { text: "Hello" } },
  },
  {
    form: "fields",
    card: { text: "Order", fields: [{ label: "To_tal", value: "5 * 2 €" }] },
    seen: {
      telegram: { text: "Order\n\nTo_tal: 5 * 2 €" },
      "SDK cards": { text: "Order\n\nTo_tal: 5 * 2 €" },
      "no buttons": { text: "Order\n\nTo_tal: 5 * 2 €" },
    },
  },
  {
    form: "callback buttons",
    card: { text: "Sure?", buttons: [[YES], [NO]] },
    seen: {
      telegram: { text: "Sure?", buttons: [["Yes"], ["No, thanks!"]] },
      "SDK cards": { text: "Sure?", buttons: [["Yes"], ["No, thanks!"]] },
      "no buttons": { text: "Sure?\n\n1. Yes\n2. No, thanks!" },
    },
  },
  {
    form: "numbered options",
    card: { text: "Sure?", buttons: [[YES, NO]], numbered: true },
    seen: {
      telegram: { text: "Sure?\n\n1. Yes\n2. No, thanks!", buttons: [["Yes", "No, thanks!"]] },
      "SDK cards": { text: "Sure?\n\n1. Yes\n2. No, thanks!", buttons: [["Yes", "No, thanks!"]] },
      "no buttons": { text: "Sure?\n\n1. Yes\n2. No, thanks!" },
    },
  },
  {
    form: "a link and a text to copy",
    card: { text: "Sale", buttons: [[SHOP, CODE]] },
    seen: {
      telegram: { text: "Sale", buttons: [["Shop", "Code"]] },
      "SDK cards": { text: "Sale\n\nCode: SAVE_10", buttons: [["Shop"]] },
      "no buttons": { text: "Sale\n\nShop (https://shop.example/a_b)\nCode: SAVE_10" },
    },
  },
  {
    form: "a picture by address",
    card: { text: "Lamp", image: { url: "https://shop.example/lamp.jpg" } },
    seen: {
      telegram: { text: "Lamp" },
      "SDK cards": { text: "Lamp\n\nhttps://shop.example/lamp.jpg" },
      "no buttons": { text: "Lamp\n\nhttps://shop.example/lamp.jpg" },
    },
  },
];

describe.each(FORMS)("a card with $form", ({ card, seen }) => {
  it.each(Object.keys(PLATFORMS) as (keyof typeof PLATFORMS)[])("is readable on %s", async (name) => {
    const capabilities = PLATFORMS[name];
    const body = { key: "k", ...card };
    const { advance, delivery, start, surface, visible } = createHarness({
      surface: { format: "plain", capabilities: { copyButtons: false, images: false, ...capabilities } },
    });
    delivery.sendCard(start("c1"), body);
    await advance(1_000);
    const { buttons, text } = seen[name];
    expect(visible()).toEqual([text]);
    expect(surface.keyboards(ADDRESS.chatId)).toEqual([buttons]);
    // Nothing is lost on the way from the card to the message.
    expect(cardText(body, capabilities)).not.toBe("");
    expect(shownButtons(body, capabilities).map((row) => row.map(({ label }) => label))).toEqual(
      buttons ?? [],
    );
  });
});

describe("a card that does not fit a message with buttons", () => {
  const buttonLimits = { maxRows: 2, maxPerRow: 2, maxTextLength: 40, maxLabelLength: 10 };
  const options = (...labels: readonly string[]): OutgoingButton[][] =>
    labels.map((label, index) => [{ kind: "callback", label, token: `t${index}` }]);

  it.each([
    ["fits", { text: "Sure?", buttons: options("Yes", "No") }, ["Yes", "No"]],
    [
      "has links besides",
      { text: "Sure?", buttons: [...options("Yes", "No"), [SHOP]] },
      ["Yes", "No", "Shop"],
    ],
    ["has many rows", { text: "Sure?", buttons: options("Yes", "No", "Later") }, ["Yes", "No", "Later"]],
    ["has too many buttons", { text: "Sure?", buttons: options("Yes", "No", "1", "2", "3") }, undefined],
    ["has a long label", { text: "Sure?", buttons: options("Yes", "Not this time") }, undefined],
    ["has a long text", { text: "Sure? ".repeat(8).trim(), buttons: options("Yes", "No") }, undefined],
    [
      "has long fields",
      { text: "Sure?", fields: [{ label: "a", value: "b".repeat(40) }], buttons: options("Yes") },
      undefined,
    ],
  ] as const)("has buttons or numbered options: %s", async (_case, card, labels) => {
    const harness = createHarness({
      surface: {
        format: "plain",
        capabilities: { buttons: true, copyButtons: false, images: false, buttonLimits },
      },
    });
    harness.delivery.sendCard(harness.start("c1"), { key: "k", ...card });
    await harness.advance(1_000);
    const shown = harness.surface.keyboards(ADDRESS.chatId)[0]?.flat();
    expect(shown).toEqual(labels);
    const [text = ""] = harness.visible();
    expect(text.includes("1. Yes")).toBe(labels === undefined);
  });
});
