import { describe, expect, it } from "vitest";
import { usePage } from "./page-rig.ts";

const rig = usePage({ keeps: true });

describe("a message that grows", () => {
  it("stays one node that is busy until it rests, so that it is announced once", async () => {
    await rig.page.getByText("No messages here yet").waitFor();
    await rig.page.evaluate(`
      window.added = 0;
      new MutationObserver((records) => {
        for (const record of records) for (const node of record.addedNodes)
          if (node.nodeName === "ARTICLE") window.added += 1;
      }).observe(document.querySelector("#messages"), { childList: true, subtree: true });
    `);
    rig.timeMs = Date.now();
    const { message_id } = await rig.api.sendMessage(rig.chat.id, "One");
    const article = rig.page.locator("#messages article");
    await article.getByText("One", { exact: true }).waitFor();
    expect(await article.getAttribute("aria-busy")).toBe("true");
    await rig.page.evaluate(`document.querySelector("#messages article").isFirst = true`);
    for (const text of ["One two", "One two *three*", "One two *three* four"]) {
      await rig.api.editMessageText(rig.chat.id, message_id, text, { parse_mode: "Markdown" });
      const shown = text.replaceAll("*", "");
      await expect.poll(() => rig.page.locator("#messages .text").textContent()).toBe(shown);
    }
    expect(await article.locator("strong").textContent()).toBe("three");
    expect(await rig.page.evaluate(`document.querySelector("#messages article").isFirst`)).toBe(true);
    expect(await rig.page.evaluate("window.added")).toBe(1);
    expect(await article.getAttribute("aria-busy")).toBe("true");
    rig.timeMs += 60_000;
    await rig.page.locator("#messages article:not([aria-busy])").waitFor();
    expect(await rig.page.evaluate("window.added")).toBe(1);
  });

  it("only gets the text that is new", async () => {
    const { message_id } = await rig.api.sendMessage(rig.chat.id, "The answer");
    await rig.page.locator("#messages .text").getByText("The answer").waitFor();
    await rig.page.evaluate(`
      window.seen = [];
      new MutationObserver((records) => {
        for (const record of records) window.seen.push(record.type);
      }).observe(document.querySelector("#messages .text"), { childList: true, subtree: true, characterData: true });
    `);
    await rig.api.editMessageText(rig.chat.id, message_id, "The answer is 42");
    await rig.page.locator("#messages .text").getByText("The answer is 42").waitFor();
    expect(await rig.page.evaluate("window.seen")).toEqual(["characterData"]);
  });

  it("keeps its buttons' present data and its menu's present text", async () => {
    const keyboard = (data: string) => ({ inline_keyboard: [[{ text: "Go", callback_data: data }]] });
    const { message_id } = await rig.api.sendMessage(rig.chat.id, "Before", { reply_markup: keyboard("a") });
    await rig.page.getByRole("button", { name: "Go" }).waitFor();
    await rig.api.editMessageText(rig.chat.id, message_id, "After", { reply_markup: keyboard("b") });
    await rig.page.locator("#messages .text").getByText("After").waitFor();
    await rig.page.getByRole("button", { name: "Go" }).click();
    await rig.simulator.waitFor(() => rig.webhook.received.length === 1);
    expect(rig.webhook.received[0]?.update.callback_query?.data).toBe("b");
    await rig.page.locator("#messages .bubble").hover();
    await rig.page.getByRole("button", { name: "Message actions" }).click();
    await rig.page.getByRole("menuitem", { name: "Reply" }).click();
    await rig.page.locator("#context-text").getByText("After").waitFor();
  });

  it("keeps a hidden text revealed while it grows", async () => {
    const { message_id } = await rig.api.sendMessage(rig.chat.id, "||secret|| a", {
      parse_mode: "MarkdownV2",
    });
    await rig.page.getByRole("button", { name: "Hidden text" }).click();
    await rig.api.editMessageText(rig.chat.id, message_id, "||secret|| a b", { parse_mode: "MarkdownV2" });
    await expect.poll(() => rig.page.locator("#messages .text").textContent()).toBe("secret a b");
    expect(await rig.page.locator(".spoiler.revealed").textContent()).toBe("secret");
  });
});
