import { setTimeout as pause } from "node:timers/promises";
import { InlineKeyboard } from "grammy";
import type { CallbackQuery } from "grammy/types";
import { describe, expect, it } from "vitest";
import { usePage } from "./page-rig.ts";

const rig = usePage({ keeps: true });

/** From a press to the first key. The bot answers within this time. */
const DELAYS_MS = Array.from({ length: 10 }, (_, index) => index * 30);
const SOME_DELAYS_MS = DELAYS_MS.filter((_, index) => index % 2 === 0);
const STALE = "This button is no longer in use.";

const button = (name: string) => rig.page.getByRole("button", { name, exact: true });

/** The messages of the person: the text, and the message that it answers. */
const written = () =>
  rig.simulator
    .messages(rig.chat)
    .filter(({ from }) => !from.isBot)
    .map(({ replyToId, text }) => [text, replyToId]);

/** The presses in the open chat. */
const presses = () => rig.simulator.callbackAnswers().filter(({ chatId }) => chatId === rig.chat.id);

/** Has the bot answer the first press of each message, after a while, and all others with a dialog. */
function answerPresses(answer: (query: CallbackQuery, messageId: number) => Promise<unknown>): void {
  const pressed = new Set<number>();
  rig.behave = async ({ callback_query: query }) => {
    if (query === undefined) return;
    const messageId = query.message?.message_id ?? 0;
    await pause(60);
    if (pressed.has(messageId))
      await rig.api.answerCallbackQuery(query.id, { text: STALE, show_alert: true });
    else {
      pressed.add(messageId);
      await answer(query, messageId);
    }
  };
}

/** Types with real keys, sends, and expects the whole text to arrive as a message of its own. */
async function typeAfter(delayMs: number, number: number): Promise<void> {
  await pause(delayMs);
  const text = `on my way ${number}`;
  await rig.page.keyboard.type(text, { delay: 5 });
  await rig.page.keyboard.press("Enter");
  await expect.poll(() => written().at(-1)).toEqual([text, undefined]);
}

describe("a text that is typed after a press, without a click into the field", () => {
  it("is sent whole when the card loses its buttons", async () => {
    answerPresses(async (query, messageId) => {
      await rig.api.answerCallbackQuery(query.id, { text: "Approved." });
      await pause(30);
      await rig.api.editMessageText(rig.chat.id, messageId, `Approved: ${query.data}`);
    });
    for (const [number, delayMs] of DELAYS_MS.entries()) {
      const reply_markup = new InlineKeyboard()
        .text(`Approve ${number}`, `yes ${number}`)
        .text("Reject", "no");
      await rig.api.sendMessage(rig.chat.id, "Is this OK?", { reply_markup });
      await button(`Approve ${number}`).dblclick();
      await typeAfter(delayMs, number);
    }
    expect(written()).toHaveLength(DELAYS_MS.length);
    const received = rig.webhook.received.filter(({ update }) => update.callback_query !== undefined);
    expect(received).toHaveLength(DELAYS_MS.length);
  });

  it("is sent whole when the card shows another page of a menu", async () => {
    answerPresses(async (query, messageId) => {
      const reply_markup = new InlineKeyboard().text("Back to the menu", "back");
      await rig.api.editMessageText(rig.chat.id, messageId, "Parcels leave us at noon", { reply_markup });
      await pause(30);
      await rig.api.answerCallbackQuery(query.id);
    });
    for (const [number, delayMs] of DELAYS_MS.entries()) {
      const reply_markup = new InlineKeyboard().text(`Delivery ${number}`, `delivery ${number}`);
      await rig.api.sendMessage(rig.chat.id, "What can I help you with?", { reply_markup });
      await button(`Delivery ${number}`).dblclick();
      await typeAfter(delayMs, number);
    }
    expect(written()).toHaveLength(DELAYS_MS.length);
  });

  it("is sent whole when the bot opens a dialog meanwhile, which waits", async () => {
    answerPresses((query) =>
      rig.api.answerCallbackQuery(query.id, { text: "It's up to Ann.", show_alert: true }),
    );
    for (const [number, delayMs] of SOME_DELAYS_MS.entries()) {
      const reply_markup = new InlineKeyboard().text(`Approve ${number}`, `yes ${number}`);
      await rig.api.sendMessage(rig.chat.id, "Is this OK?", { reply_markup });
      await button(`Approve ${number}`).click();
      await typeAfter(delayMs, number);
      const dialog = rig.page.getByRole("dialog");
      await dialog.getByText("It's up to Ann.").waitFor();
      await rig.page.keyboard.press("Escape");
      await dialog.waitFor({ state: "hidden" });
    }
    expect(written()).toHaveLength(SOME_DELAYS_MS.length);
  });

  it("is sent whole after a press with the keyboard", async () => {
    answerPresses(async (query, messageId) => {
      await rig.api.editMessageText(rig.chat.id, messageId, "Approved");
      await pause(30);
      await rig.api.answerCallbackQuery(query.id, { text: "You may go on.", show_alert: true });
    });
    for (const [number, delayMs] of SOME_DELAYS_MS.entries()) {
      const reply_markup = new InlineKeyboard().text(`Approve ${number}`, `yes ${number}`);
      await rig.api.sendMessage(rig.chat.id, "Is this OK?", { reply_markup });
      await button(`Approve ${number}`).press("Enter");
      await typeAfter(delayMs, number);
      const dialog = rig.page.getByRole("dialog");
      await dialog.getByRole("button", { name: "OK" }).click();
      await dialog.waitFor({ state: "hidden" });
    }
    expect(written()).toHaveLength(SOME_DELAYS_MS.length);
  });
});

describe("a press", () => {
  it("counts once while the bot has not answered it", async () => {
    let answer = (): void => {};
    const mayAnswer = new Promise<void>((resolve) => (answer = resolve));
    answerPresses(async (query) => {
      await mayAnswer;
      await rig.api.answerCallbackQuery(query.id, { text: "Counted." });
    });
    const reply_markup = new InlineKeyboard().text("Count", "count");
    await rig.api.sendMessage(rig.chat.id, "Press me", { reply_markup });
    await button("Count").dblclick();
    await rig.page.locator(".inline-button[aria-busy]").waitFor();
    await button("Count").click();
    await button("Count").press("Enter");
    expect(presses()).toHaveLength(1);
    answer();
    await rig.page.getByRole("status").getByText("Counted.").waitFor();
    await rig.page.locator(".inline-button:not([aria-busy])").waitFor();
    await button("Count").click();
    await rig.page.getByRole("dialog").getByText(STALE).waitFor();
    expect(presses()).toHaveLength(2);
  });

  it("moves the focus from buttons that are gone to the field, and never to the menu of the message", async () => {
    answerPresses(async (query, messageId) => {
      await rig.api.editMessageText(rig.chat.id, messageId, "Approved");
      await rig.api.answerCallbackQuery(query.id);
    });
    const reply_markup = new InlineKeyboard().text("Approve", "yes");
    await rig.api.sendMessage(rig.chat.id, "Is this OK?", { reply_markup });
    await button("Approve").press("Enter");
    await rig.page.locator("#messages").getByText("Approved").waitFor();
    await expect.poll(() => rig.page.locator(":focus").getAttribute("id")).toBe("message-input");
  });

  it("leaves a dialog of a person who does not type to the keyboard, and the focus where it was", async () => {
    answerPresses((query) =>
      rig.api.answerCallbackQuery(query.id, { text: "It's up to Ann.", show_alert: true }),
    );
    const reply_markup = new InlineKeyboard().text("Approve", "yes");
    await rig.api.sendMessage(rig.chat.id, "Is this OK?", { reply_markup });
    await button("Approve").press("Enter");
    await rig.page.getByRole("dialog").getByText("It's up to Ann.").waitFor();
    await expect.poll(() => rig.page.locator(":focus").textContent()).toBe("OK");
    await rig.page.keyboard.press("Space");
    await rig.page.getByRole("dialog").waitFor({ state: "hidden" });
    await expect.poll(() => rig.page.locator(":focus").textContent()).toBe("Approve");
  });
});
