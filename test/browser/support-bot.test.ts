import { readFile } from "node:fs/promises";
import type { User } from "grammy/types";
import { describe, expect, it } from "vitest";
import { SUGGESTIONS } from "../../playground/shop/beside.ts";
import { oggVoice } from "./sounds.ts";
import { PICTURE } from "./person-page.ts";
import { useSupportBot } from "./support-bot-rig.ts";

const rig = useSupportBot();
const { as, button, log, openGroup, screenshot, send, write } = rig;

describe("the support bot", () => {
  it("shows an order as a card with a picture, which buttons refresh and which sends its invoice", async () => {
    await write("track order 1001");
    const card = log().getByRole("article").filter({ hasText: "Status: shipped" });
    await card.getByText("2 × House espresso, 1 kg").waitFor();
    await expect
      .poll(() =>
        card.getByRole("img", { name: "Photo" }).evaluate((one) => Reflect.get(one, "naturalWidth")),
      )
      .toBe(640);
    await button("Refresh").press("Enter");
    await rig.page.getByRole("status").getByText("Your order is shipped.").waitFor();
    await button("Invoice (PDF)").press("Enter");
    await rig.page.getByRole("status").getByText("Here is your invoice.").waitFor();
    await log().getByText("Invoice for order 1001: 53.70 EUR").waitFor();
    const download = rig.page.waitForEvent("download");
    await log()
      .getByRole("link", { name: /^Download invoice-1001\.pdf/ })
      .press("Enter");
    const file = await download;
    expect(file.suggestedFilename()).toBe("invoice-1001.pdf");
    const bytes = await readFile(await file.path());
    expect(bytes.subarray(0, 5).toString()).toBe("%PDF-");
  });

  it("understands a sentence that asks for an invoice, and one for an order that does not exist", async () => {
    await write("Please send me the invoice for order 1003");
    await log().getByText("Invoice for order 1003: 73.20 EUR").waitFor();
    await write("Can I have an invoice for 9999?");
    await log().getByText("There is no order with the number 9999.").waitFor();
    expect(
      await log()
        .getByRole("link", { name: /^Download/ })
        .count(),
    ).toBe(1);
  });

  it("takes an order back: a reason by a button, a photo, and everything once more before it is sent", async () => {
    await write("return order 1003");
    const card = (words: string) => log().getByRole("article").filter({ hasText: words }).last();
    const press = (words: string, name: string) =>
      card(words).getByRole("button", { name, exact: true }).press("Enter");
    await press("Why do you return it", "It arrived broken");
    await card("A photo of its condition").waitFor();
    await screenshot("return-photo");
    await send(PICTURE);
    await press("Anything else", "Skip");
    await press("Is this right?", "Change");
    await press("What would you like to change?", "Why do you return it");
    await press("Why do you return it", "It is not what I ordered");
    await card("Is this right?").getByText("It is not what I ordered").waitFor();
    await screenshot("return-summary");
    await press("Is this right?", "Send");
    await log().getByText("The return of order 1003 is noted: It is not what I ordered.").waitFor();
    expect(rig.shop.orders.returnOf("1003")).toMatchObject({ reason: "wrong" });
    expect(rig.shop.orders.returnOf("1003")?.photo).not.toBe("");
  });

  it("says below its answer how far an export is, until the invoices are there", async () => {
    const goOn = rig.holdShop("/orders/1002");
    await write("Export the invoices of orders 1001 and 1002");
    await log().getByText("⏳ Invoice 2 of 2 50 %").waitFor();
    expect(await log().getByText("invoice-1001.pdf").count()).toBe(0);
    await screenshot("export-progress");
    goOn();
    await log().getByText("invoice-1001.pdf").waitFor();
    await log().getByText("invoice-1002.pdf").waitFor();
    expect(await log().getByText("⏳").count()).toBe(0);
  });

  it("sends the place of the shop", async () => {
    await write("Where is your shop?");
    await log().getByText("You find our shop at Kungsgatan 12, Gothenburg.").waitFor();
    await log()
      .getByRole("link", { name: "Open on a map: Coffee & Tea Kungsgatan 12, Gothenburg" })
      .waitFor();
    await write("/shop");
    await expect
      .poll(() =>
        log()
          .getByRole("link", { name: /^Open on a map/ })
          .count(),
      )
      .toBe(2);
  });

  it("has a menu for the keyboard alone, whose pages turn in place", async () => {
    await write("/menu");
    await button("Delivery").press("Enter");
    await log().getByText("Parcels leave us within one working day").waitFor();
    await expect.poll(() => rig.page.locator(":focus").textContent()).toBe("Back to the menu");
    await rig.page.keyboard.press("Enter");
    await button("Returns").waitFor();
    expect(await log().getByRole("article").count()).toBe(2);
  });

  it("sends a voice note that can be played, after its text", async () => {
    await write("Voice summary of order 1001");
    const voice = log().getByLabel("Voice message");
    await voice.waitFor();
    await voice.evaluate((audio) => Reflect.get(audio, "play").call(audio));
    await expect.poll(() => voice.evaluate((audio) => Reflect.get(audio, "currentTime"))).toBeGreaterThan(0);
    expect(await voice.evaluate((audio) => Reflect.get(audio, "duration"))).toBeCloseTo(2.4, 0);
    expect(await log().getByRole("article").last().getByLabel("Voice message").count()).toBe(1);
    await log().getByText("Order 1001 is shipped, expected on 2026-11-24.").waitFor();
    await screenshot("voice");
  });

  it("sends the photos of two orders as an album, after the text", async () => {
    await write("Photos of the orders 1001 and 1003");
    const album = log().getByRole("group", { name: "Album of 2" });
    await album.waitFor();
    expect(await album.locator("img").count()).toBe(2);
    expect(await log().getByRole("article").last().getByRole("group", { name: "Album of 2" }).count()).toBe(
      1,
    );
    await screenshot("album");
  });

  it("drafts an e-mail whose button opens the mail program, by a page that sees nothing of it", async () => {
    await write("Draft an e-mail about order 1002");
    const open = log().getByRole("link", { name: "Open in mail program" });
    await open.waitFor();
    const url = new URL((await open.getAttribute("href")) ?? "");
    expect(`${url.origin}${url.pathname}`).toBe("https://bot.shop.example/messengers/mail");
    expect(decodeURIComponent(url.hash)).toContain("help@shop.example?subject=Order 1002&body=Hello,");
    await button("Copy address").waitFor();
    const served = await fetch(`${rig.bot.url}/messengers/mail`);
    expect(await served.text()).toContain("mailto:");
    await screenshot("email");
  });

  it("says when it is open, where it is, and what it sells, and cancels an order", async () => {
    await write("are you open today?");
    await log().getByText("Our shop and our team are there Monday to Friday").waitFor();
    await write("What do you sell?");
    await log().getByText("Hand grinder: 89.00 €").waitFor();
    await write("Where are you?");
    await log().getByText("You find our shop at Kungsgatan 12, Gothenburg.").waitFor();
    await write("cancel order 1002");
    const card = log().getByRole("article").filter({ hasText: "Cancel order 1002" });
    await card.getByText(/processing.*cancelled/).waitFor();
    await screenshot("cancel");
    await button("Approve").press("Enter");
    await log().getByText("Order 1002 is cancelled.").last().waitFor();
    expect(rig.shop.orders.get("1002").answer).toMatchObject({ status: "cancelled" });
  });

  it("offers sentences to try in an empty chat, which are sent when somebody presses them", async () => {
    const group = rig.page.getByRole("group", { name: "Sentences to try" });
    await group.waitFor();
    expect(await group.getByRole("button").allTextContents()).toEqual(SUGGESTIONS);
    await screenshot("starters");
    await group.getByRole("button", { name: "Are you open today?" }).press("Enter");
    await log().getByText("Our shop and our team are there Monday to Friday").waitFor();
    expect(await group.count()).toBe(0);
  });

  it("makes a reminder, and a digest of each week for people who subscribe", async () => {
    await write("remind me to order coffee every day at nine");
    await log().getByText("Which time zone are you in?").waitFor();
    await button("Berlin, Paris").press("Enter");
    await log().getByText("I'll remind you: order coffee").waitFor();
    await write("/schedules");
    await button("Run #1 now").press("Enter");
    await log().getByText("⏰ order coffee").waitFor();
    await button("Done").press("Enter");
    await log().getByText("Done.").waitFor();
    await write("/subscribe");
    await log().getByText("You're subscribed").waitFor();
    expect(await log().getByText("⏰ order coffee").count()).toBe(1);
  });

  it("refunds in a group when another of the team agrees, and refuses the press of a stranger", async () => {
    await openGroup("Coffee team");
    await screenshot("group");
    const at = `@${rig.simulator.bot.username}`;
    await as("Eve");
    await write(`${at} refund 60 € for order 1003`);
    await log().getByText("Ask somebody of the shop's team.").waitFor();
    await as("Ann");
    await write(`${at} refund 60 € for order 1003`);
    const card = log().getByRole("article").filter({ hasText: "Refund 60.00 € for order 1003" });
    await card.getByText(/0\.00 €.*60\.00 €/).waitFor();
    await as("Eve");
    await button("Approve").press("Enter");
    await rig.page.getByRole("dialog").getByText("You can't decide this.").waitFor();
    await screenshot("stranger");
    await rig.page.getByRole("dialog").getByRole("button", { name: "OK" }).click();
    await as("Bob");
    await button("More").press("Enter");
    await button("Take back").press("Enter");
    await rig.page.getByRole("dialog").getByText("Only the person who asked can take this back.").waitFor();
    await rig.page.getByRole("dialog").getByRole("button", { name: "OK" }).click();
    await button("Approve").press("Enter");
    await card.getByText("Decided by: Bob").waitFor();
    await log().getByText("Refund R-1 is refunded.").waitFor();
    await screenshot("refunded");
    expect(rig.shop.orders.get("1003").answer).toMatchObject({ refundedCents: 6000 });
  });

  it("refunds what an approver has changed the amount to, after it was approved", async () => {
    await openGroup("Refunds");
    const card = (words: string) => log().getByRole("article").filter({ hasText: words }).last();
    // A reply shows the words of the card, too.
    const press = (words: string, name: string) =>
      log()
        .getByRole("article")
        .filter({ hasText: words })
        .getByRole("button", { name, exact: true })
        .last()
        .press("Enter");
    await as("Ann");
    await write(`@${rig.simulator.bot.username} refund 53 € for order 1001`);
    await as("Bob");
    await press("Refund 53.00 € for order 1001", "More");
    await press("Refund 53.00 € for order 1001", "Edit");
    const form = "Bob changes: Refund 53.00 € for order 1001";
    await press(form, "Change");
    await press(form, "Amount in cents");
    await card(form).getByText("Write a whole number.").waitFor();
    await card(form).getByRole("button", { name: "Message actions" }).press("Enter");
    await rig.page.getByRole("menuitem", { name: "Reply" }).press("Enter");
    await write("5000");
    await press(form, "Send");
    await card("Refund 50.00 € for order 1001").getByText("Changed by Bob").waitFor();
    expect(rig.shop.orders.get("1001").answer).not.toHaveProperty("refundedCents");
    await screenshot("edited-refund");
    await press("Refund 50.00 € for order 1001", "Approve");
    await log()
      .getByText(/Refund R-\d+ is refunded\./)
      .last()
      .waitFor();
    expect(rig.shop.orders.get("1001").answer).toMatchObject({ refundedCents: 5000 });
  });

  it("shows what waits in a group to somebody of the team in their private chat, who decides there", async () => {
    await openGroup("Tea team");
    await as("Ann");
    await write(`@${rig.simulator.bot.username} cancel order 1009`);
    const card = log().getByRole("article").filter({ hasText: "Cancel order 1009" });
    await card.getByText("Cancel order 1009?").waitFor();
    const ask = async (person: User) => {
      rig.simulator.privateChat(person);
      await rig.page
        .locator("#chat-list")
        .getByRole("button", { name: new RegExp(`^${person.first_name}\\b`) })
        .click();
      await rig.page.getByText(`as ${person.first_name} ·`).waitFor();
      await write("/approvals");
    };
    await ask(rig.people.bob);
    await log().getByText("Waiting for your decision").waitFor();
    await log().getByText("Cancel order 1009 – asked by Ann").waitFor();
    await button("Show 1").press("Enter");
    await button("Approve").waitFor();
    await screenshot("brought");
    await button("Reject").press("Enter");
    await log().getByText("Decided by: Bob").waitFor();
    expect(rig.shop.orders.get("1009").answer).toMatchObject({ status: "processing" });
    await ask(rig.people.eve);
    await log().getByText("Nothing waits for your decision").waitFor();
    expect(await log().getByText("Cancel order 1009").count()).toBe(0);
  });

  it("answers what is said in a voice note", async () => {
    await rig.page
      .locator("#file")
      .setInputFiles({ name: "note.ogg", mimeType: "audio/ogg", buffer: oggVoice(2) });
    await rig.page.getByRole("button", { name: "Send", exact: true }).click();
    await log().getByText("Order 1001 is shipped.").waitFor();
    expect(await log().getByLabel("Voice message").count()).toBe(1);
  });
});
