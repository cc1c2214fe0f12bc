import { expect, it } from "vitest";
import { createHarness, expectedMessages } from "./engine-harness.ts";
import { discordMarkdown } from "../../../providers/chat-sdk/markup/discord-markdown.ts";
import { markdown } from "../../../providers/chat-sdk/markup/markdown.ts";
import { slackMrkdwn } from "../../../providers/chat-sdk/markup/slack-mrkdwn.ts";
import { whatsAppText } from "../../../providers/chat-sdk/markup/whatsapp-text.ts";

const WORDS = "The lamp went out at nine, and nobody in the house noticed until the morning came.".split(" ");

it("shows the first word at once and the whole text in the same message at the end", async () => {
  const { delivery, surface, clock, start, visible } = createHarness();
  delivery.open(start("r1"));
  delivery.append("r1", "The");
  await clock.advance(50);
  expect(visible()).toEqual(["The"]);
  for (const word of WORDS.slice(1)) {
    delivery.append("r1", ` ${word}`);
    await clock.advance(40);
  }
  delivery.finish("r1", WORDS.join(" "));
  await clock.advance(100);
  expect(visible()).toEqual([WORDS.join(" ")]);
  expect(await delivery.settled("r1")).toBe("delivered");
  expect(surface.messages("7")).toHaveLength(1);
});

it("cuts a long reply into messages, each finished before the next begins", async () => {
  const limits = { maxLength: 200, maxEntities: 100 };
  const { delivery, surface, clock, start, visible } = createHarness({ surface: { limits } });
  const paragraphs = Array.from(
    { length: 12 },
    (_, index) => `Paragraph ${index} says **something** of its own.`,
  );
  delivery.open(start("r1"));
  for (const paragraph of paragraphs) {
    delivery.append("r1", `${paragraph}\n\n`);
    await clock.advance(200);
  }
  const text = paragraphs.map((paragraph) => `${paragraph}\n\n`).join("");
  delivery.finish("r1", text);
  await clock.advance(2_000);
  expect(visible()).toEqual(expectedMessages(text, limits));
  const posts = surface.calls.filter(({ method }) => method === "post");
  expect(posts).toHaveLength(visible().length);
  expect(delivery.nextWakeAt()).toBeUndefined();
});

it.each([
  ["Markdown", markdown, "some **bold** a_b"],
  ["Slack's mrkdwn", slackMrkdwn, "some *bold* a_b"],
  ["Discord's Markdown", discordMarkdown, "some **bold** a_b"],
  ["WhatsApp's", whatsAppText, "some *bold* a_b"],
  ["none", "plain", "some bold a_b"],
] as const)("writes formatting as the surface wants it: %s", async (_name, format, shown) => {
  const { delivery, clock, start, visible } = createHarness({ surface: { format } });
  delivery.open(start("r1"));
  delivery.finish("r1", "some **bold** a_b");
  await clock.advance(2000);
  expect(visible()).toEqual([shown]);
});

it("shows the whole text at once even if interim edits have failed for a while", async () => {
  const { surface, delivery, clock, advance, start, visible } = createHarness();
  delivery.open(start("r1"));
  delivery.append("r1", "One");
  await advance(1_000);
  surface.faultAlways("edit", { kind: "fail", failure: { kind: "transient", code: "server-error" } });
  for (let word = 0; word < 60; word += 1) {
    delivery.append("r1", ` word${word}`);
    await advance(1_000);
  }
  const isUnderWay = (): boolean => surface.calls.some(({ outcome }) => outcome === "pending");
  while (!isUnderWay()) {
    delivery.append("r1", " more");
    await clock.advance(10);
  }
  surface.faultAlways("edit", undefined);
  delivery.finish("r1", "One and all.");
  await advance(1_000);
  expect(surface.calls.at(-2)?.outcome).toBe("transient");
  expect(visible()).toEqual(["One and all."]);
});

it("posts an answer whole in place of its first words when no message can be changed", async () => {
  const { clock, delivery, start, surface, visible } = createHarness();
  delivery.open(start("r1"));
  for (const [index, word] of WORDS.entries()) {
    delivery.append("r1", index === 0 ? word : ` ${word}`);
    await clock.advance(200);
    surface.lockMessages("7");
  }
  delivery.finish("r1", WORDS.join(" "));
  await clock.advance(5_000);
  expect(visible()).toEqual([WORDS.join(" ")]);
  expect(await delivery.settled("r1")).toBe("delivered");
});
