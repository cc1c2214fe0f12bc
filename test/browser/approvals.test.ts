import type { Locator } from "playwright-core";
import { describe, expect, it } from "vitest";
import { useSupportBot } from "./support-bot-rig.ts";

const rig = useSupportBot();
const { log, screenshot, write } = rig;
const card = (summary: string) => log().getByRole("article").filter({ hasText: summary });
const press = (on: Locator, name: string) => on.getByRole("button", { name, exact: true }).press("Enter");
const toast = (text: string) => rig.page.getByRole("status").getByText(text).waitFor();
/** Reads the alert and closes it. */
const alert = async (text: string) => {
  await rig.page.getByRole("dialog").getByText(text).waitFor();
  await rig.page.getByRole("dialog").getByRole("button", { name: "OK" }).click();
};

/** Presses twice, as a person does whose client shows the buttons a moment longer. Returns the bot's two answers. */
const pressTwice = async (on: Locator, name: string) => {
  const before = rig.simulator.callbackAnswers().length;
  const messageId = Number(await on.getAttribute("data-message-id"));
  const [chatId] = /\d+$/.exec(rig.page.url()) ?? [];
  const data = (await on.getByRole("button", { name, exact: true }).getAttribute("value")) ?? "";
  for (let tap = 0; tap < 2; tap += 1)
    rig.simulator.pressData(Number(chatId), { id: Number(chatId) }, messageId, data);
  const answers = () => rig.simulator.callbackAnswers().slice(before);
  await rig.simulator.waitFor(() => answers().every(({ answeredAt }) => answeredAt !== undefined));
  return answers().map(({ showAlert, text }) => [text, showAlert]);
};

describe("a request for consent on the page", () => {
  it("is granted for an hour, also for the next call, until somebody ends it in the list", async () => {
    await write("refund 50 € for order 1001");
    const first = card("Refund 50.00 € for order 1001");
    await press(first, "More");
    await first.getByText(/Refunds up to 100\.00 €, in this chat, asked by/).waitFor();
    await screenshot("grant-offered");
    await press(first, "Allow for an hour");
    await alert("I won't ask again for this: Refunds up to 100.00 €");
    await first.getByText("Also allowed for an hour").waitFor();
    await log().getByText("Refund R-1 is refunded.").waitFor();

    await write("refund 60 € for order 1003");
    await log().getByText("Refund R-2 is refunded.").waitFor();
    expect(await card("Refund 60.00 € for order 1003").count()).toBe(0);
    await write("/grants");
    const grants = card("Allowed without asking");
    await grants.getByText(/for an hour .* used once/).waitFor();
    await screenshot("grants");
    await press(grants, "End 1");
    await toast("Ended. From now on I ask again.");
    await write("refund 70 € for order 1007");
    await card("Refund 70.00 € for order 1007?").waitFor();
    expect(rig.shop.orders.get("1007").answer).not.toHaveProperty("refundedCents");
  });

  it("opens no dialog at a second tap on the same button, nor on a button that the first tap has replaced", async () => {
    await write("refund 60 € for order 1007");
    const asked = card("Refund 60.00 € for order 1007");
    await asked.getByRole("button", { name: "Approve" }).waitFor();
    expect(await pressTwice(asked, "Approve")).toEqual([
      ["Approved.", undefined],
      ["Approved.", undefined],
    ]);
    await write("/menu");
    const menu = card("What can I help you with?");
    await menu.waitFor();
    expect(await pressTwice(menu, "Delivery")).toEqual([
      [undefined, undefined],
      [undefined, undefined],
    ]);
  });

  it("is replaced by a new one with the wanted changes", async () => {
    await write("refund 89 € for order 1002");
    const asked = card("Refund 89.00 € for order 1002").first();
    await press(asked, "More");
    await press(asked, "Ask for changes");
    await toast("OK. Reply to the card with what should change.");
    await asked.getByText("Changes wanted").waitFor();
    expect(await asked.getByRole("button", { name: "Approve" }).count()).toBe(0);
    await asked.getByRole("button", { name: "Message actions" }).press("Enter");
    await rig.page.getByRole("menuitem", { name: "Reply" }).press("Enter");
    await write("only 55 €, please");
    await log().getByText("Thanks, I'll propose it again.").waitFor();
    const proposed = card("Refund 55.00 € for order 1002");
    await proposed.getByRole("button", { name: "Approve" }).waitFor();
    await asked.getByText("Replaced by a newer request").waitFor();
    await screenshot("changes");
    await press(proposed, "Approve");
    await expect.poll(() => rig.shop.orders.get("1002").answer).toMatchObject({ refundedCents: 5500 });
  });

  it("is taken back by the person who asked", async () => {
    await write("cancel order 1009");
    const asked = card("Cancel order 1009");
    await press(asked, "More");
    await press(asked, "Take back");
    await toast("Taken back.");
    await asked.getByText("Taken back").first().waitFor();
    await screenshot("withdrawn");
    expect(await asked.getByRole("button", { name: "Approve" }).count()).toBe(0);
    expect(rig.shop.orders.get("1009").answer).toMatchObject({ status: "processing" });
  });
});
