import { expect, it } from "vitest";
import { googleChatCard, googleChatText } from "../../../providers/chat-sdk/markup/google-chat.ts";
import { blockMarkdown } from "../../../providers/chat-sdk/markup/markdown.ts";
import { createHarness } from "./engine-harness.ts";

/* What a surface says holds for replies whose policy says nothing. */

it("posts once where the platform asks for it, and edits where the bot does", async () => {
  const { advance, delivery, start, surface } = createHarness({
    surface: { defaults: { mode: "final-only" } },
  });
  delivery.open(start("r1"));
  delivery.append("r1", "Some words already.");
  await advance(5_000);
  expect(surface.calls.every(({ method }) => method === "typing")).toBe(true);
  delivery.finish("r1", "Some words already. And all.");
  await advance(5_000);
  delivery.open({ ...start("r2"), policy: { mode: "edit" } });
  delivery.append("r2", "Some words already.");
  await advance(5_000);
  expect(surface.calls.filter(({ method }) => method !== "typing").map(({ method }) => method)).toEqual([
    "post",
    "post",
  ]);
});

it("edits no more often than the platform asks", async () => {
  const { advance, delivery, start, surface } = createHarness({
    surface: { defaults: { editEveryMs: 2000 } },
  });
  delivery.open(start("r1"));
  for (let word = 0; word < 40; word += 1) {
    delivery.append("r1", `word${word} `);
    await advance(250);
  }
  const times = surface.calls.filter(({ method }) => method !== "typing").map(({ at }) => at);
  expect(times.length).toBeGreaterThan(3);
  for (const [index, at] of times.entries())
    if (index > 0) expect(at - (times[index - 1] ?? 0)).toBeGreaterThanOrEqual(2000);
});

it("begins a message of Markdown that is sent again with a paragraph", async () => {
  const { advance, delivery, start, surface, visible } = createHarness({
    surface: { format: blockMarkdown, capabilities: { edit: false } },
  });
  surface.fault("post", { kind: "lose", done: false });
  delivery.send(start("r1"), "| a | b |\n| --- | --- |\n| 1 | 2 |");
  await advance(60_000);
  expect(visible().at(-1)).toBe(
    "(sent again after a connection problem)\n\n| a | b |\n| --- | --- |\n| 1 | 2 |",
  );
});

it("writes cards as the platform wants them, in all of their messages", async () => {
  const buttonLimits = { maxRows: 1, maxPerRow: 2, maxTextLength: 60, maxLabelLength: 20 };
  const { advance, delivery, start, visible } = createHarness({
    surface: {
      format: googleChatText,
      defaults: { cardFormat: googleChatCard },
      capabilities: { buttons: true, buttonLimits },
    },
  });
  const buttons = [[{ kind: "callback", label: "Yes", token: "t1" }]] as const;
  delivery.sendCard(start("c1"), { key: "k", text: "**Sure?**", buttons });
  await advance(1_000);
  delivery.sendCard(start("c2"), { key: "l", text: `**${"long ".repeat(20).trim()}**`, buttons });
  await advance(5_000);
  const [short, ...long] = visible();
  expect(short).toBe("<b>Sure?</b>");
  expect(long.length).toBeGreaterThan(1);
  for (const message of long.slice(0, -1)) expect(message).toMatch(/^<b>long .*<\/b>$/);
  expect(long.join()).toContain("1. Yes");
  delivery.open(start("r1"));
  delivery.finish("r1", "**Done**");
  await advance(1_000);
  expect(visible().at(-1)).toBe("*Done*");
});
