import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import type { User } from "grammy/types";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startServedBot, type ServedBot } from "../../lab/support/served-bot.ts";
import { SUGGESTIONS } from "../../playground/shop/beside.ts";
import { shopPictures } from "../../playground/shop/pictures.ts";
import { startShop, type Shop } from "../../playground/shop/shop-server.ts";
import { startSimulator, type Simulator } from "../../playground/telegram/simulator.ts";
import { launchBrowser } from "./browser.ts";
import { oggVoice } from "./sounds.ts";

/** The support bot with the demo model, as `npm start` runs it. All tests share it; each has a person of its own. */
let bot: ServedBot;
let browser: Browser;
let page: Page;
let problems: string[];
let shop: Shop;
let simulator: Simulator;
/** The shop's team, and somebody else. */
let people: { readonly ann: User; readonly bob: User; readonly eve: User };
/** Understands the same in every voice message. */
let transcription: Server;

beforeAll(async () => {
  [browser, shop, simulator] = await Promise.all([
    launchBrowser(),
    startShop({ pictures: true }),
    startSimulator({ webFiles: shopPictures(), suggestions: SUGGESTIONS }),
  ]);
  people = {
    ann: simulator.addUser({ first_name: "Ann" }),
    bob: simulator.addUser({ first_name: "Bob" }),
    eve: simulator.addUser({ first_name: "Eve" }),
  };
  transcription = createServer((_request, response) => {
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ text: "where is order 1001?" }));
  }).listen(0, "127.0.0.1");
  await once(transcription, "listening");
  bot = await startServedBot({
    env: {
      TELEGRAM_BOT_TOKEN: simulator.token,
      TELEGRAM_WEBHOOK_SECRET_TOKEN: "s3cret",
      TELEGRAM_BOT_USERNAME: simulator.bot.username ?? "",
      TELEGRAM_API_BASE_URL: simulator.url,
      ORDERS_API_URL: shop.url,
      TEAM_USER_IDS: `${people.ann.id},${people.bob.id}`,
      PUBLIC_URL: "https://bot.shop.example",
      TRANSCRIPTION_BASE_URL: `http://127.0.0.1:${(transcription.address() as AddressInfo).port}/v1`,
    },
  });
  simulator.setWebhook(`${bot.url}/messengers/telegram/webhook`, "s3cret");
});
afterAll(async () => {
  await bot.close();
  transcription.close();
  await simulator.close();
  await shop.close();
  await browser.close();
});

beforeEach(async () => {
  problems = [];
  const chat = simulator.privateChat(simulator.addUser());
  page = await browser.newPage({ viewport: { width: 1300, height: 900 } });
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(simulator.url)) problems.push(request.url());
  });
  await page.goto(`${simulator.url}/#${chat.id}`);
});
afterEach(async () => {
  await page.close();
  expect(problems).toEqual([]);
});

const log = () => page.getByRole("log");
const button = (name: string) => log().getByRole("button", { name });
const write = async (text: string) => {
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.keyboard.press("Enter");
};

/** Writes a picture of the page for a person who looks at it, where `SCREENSHOTS` names a folder. */
const screenshot = async (name: string) => {
  const folder = process.env.SCREENSHOTS ?? "";
  if (folder !== "") await page.screenshot({ path: path.join(folder, `${name}.png`) });
};

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
    await page.getByRole("status").getByText("Your order is shipped.").waitFor();
    await button("Invoice (PDF)").press("Enter");
    await page.getByRole("status").getByText("Here is your invoice.").waitFor();
    await log().getByText("Invoice for order 1001: 53.70 EUR").waitFor();
    const download = page.waitForEvent("download");
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
    await expect.poll(() => page.locator(":focus").textContent()).toBe("Back to the menu");
    await page.keyboard.press("Enter");
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
    const served = await fetch(`${bot.url}/messengers/mail`);
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
    expect(shop.orders.get("1002").answer).toMatchObject({ status: "cancelled" });
  });

  it("offers sentences to try in an empty chat, which are sent when somebody presses them", async () => {
    const group = page.getByRole("group", { name: "Sentences to try" });
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
  });

  it("refunds in a group when another of the team agrees, and refuses the press of a stranger", async () => {
    const { ann, bob, eve } = people;
    simulator.addGroup({ title: "Coffee team", members: [ann, bob, eve] });
    await page.locator("#chat-list").getByRole("button", { name: "Coffee team" }).click();
    await page.getByText(`supergroup, 3 people and @${simulator.bot.username}`).waitFor();
    await screenshot("group");
    const as = (name: string) => page.getByLabel("Write as").selectOption({ label: name }, { timeout: 4000 });
    const at = `@${simulator.bot.username}`;
    await as("Eve");
    await write(`${at} refund 60 € for order 1003`);
    await log().getByText("Ask somebody of the shop's team.").waitFor();
    await as("Ann");
    await write(`${at} refund 60 € for order 1003`);
    const card = log().getByRole("article").filter({ hasText: "Refund 60.00 € for order 1003" });
    await card.getByText(/0\.00 €.*60\.00 €/).waitFor();
    await as("Eve");
    await button("Approve").press("Enter");
    await page.getByRole("dialog").getByText("You can't decide this.").waitFor();
    await screenshot("stranger");
    await page.getByRole("dialog").getByRole("button", { name: "OK" }).click();
    await as("Bob");
    await button("Approve").press("Enter");
    await card.getByText("Decided by: Bob").waitFor();
    await log().getByText("Refund R-1 is refunded.").waitFor();
    await screenshot("refunded");
    expect(shop.orders.get("1003").answer).toMatchObject({ refundedCents: 6000 });
  });

  it("answers what is said in a voice note", async () => {
    await page
      .locator("#file")
      .setInputFiles({ name: "note.ogg", mimeType: "audio/ogg", buffer: oggVoice(2) });
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await log().getByText("Order 1001 is shipped.").waitFor();
    expect(await log().getByLabel("Voice message").count()).toBe(1);
  });
});
