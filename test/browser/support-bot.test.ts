import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startServedBot, type ServedBot } from "../../lab/support/served-bot.ts";
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
/** Understands the same in every voice message. */
let transcription: Server;

beforeAll(async () => {
  [browser, shop, simulator] = await Promise.all([
    launchBrowser(),
    startShop({ pictures: true }),
    startSimulator({ webFiles: shopPictures() }),
  ]);
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

  it("answers what is said in a voice note", async () => {
    await page
      .locator("#file")
      .setInputFiles({ name: "note.ogg", mimeType: "audio/ogg", buffer: oggVoice(2) });
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await log().getByText("Order 1001 is shipped.").waitFor();
    expect(await log().getByLabel("Voice message").count()).toBe(1);
  });
});
