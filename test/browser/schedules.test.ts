import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { callTool, say } from "../../lab/support/model-script.ts";
import { lastUserText, startScriptedModel, type ScriptedModel } from "../../lab/support/scripted-model.ts";
import { startBot, type BotProcess } from "../../playground/bot-process.ts";
import { openBotDoor } from "../../playground/served-bot/bot-door.ts";
import { CLOCK_FILE, openMovedClock } from "../../playground/served-bot/moved-clock.ts";
import { realClock } from "../../playground/telegram/clock.ts";
import { startSimulator, type SimChat, type Simulator } from "../../playground/telegram/simulator.ts";
import { leavePage, loadPlayground, openProfile, takePage } from "./browser.ts";

/** A bot that writes at 02:30 in Berlin, on a clock that begins some hours before the clocks there go back. */
const BEGINS_AT = Date.parse("2026-10-24T20:00:00Z");
const CONFIGURATION = path.resolve("test/e2e/bots/nightly/wrangler.jsonc");

let bot: BotProcess;
let browser: BrowserContext;
let chat: SimChat;
let folder: string;
let model: ScriptedModel;
let page: Page;
let problems: string[];
let simulator: Simulator;

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "switchboard-clock-"));
  await writeFile(path.join(folder, CLOCK_FILE), JSON.stringify({ shiftMs: BEGINS_AT - Date.now() }));
  const clock = await openMovedClock(folder);
  [browser, model, simulator] = await Promise.all([
    openProfile({ timezoneId: "Europe/Berlin" }),
    startScriptedModel(),
    startSimulator({ clock: { ...realClock, now: () => clock.now() } }),
  ]);
  bot = await startBot({
    environment: {
      PATH: process.env.PATH,
      TELEGRAM_BOT_TOKEN: simulator.token,
      TELEGRAM_WEBHOOK_SECRET_TOKEN: "s3cret",
      TELEGRAM_BOT_USERNAME: simulator.bot.username,
      TELEGRAM_API_BASE_URL: simulator.url,
      OPENAI_BASE_URL: model.url,
      OPENAI_API_KEY: "scripted",
      MODEL: "scripted",
    },
    dataDirectory: folder,
    port: 0,
    configFile: CONFIGURATION,
    say: () => {},
    onLine: () => {},
    clockShiftMs: () => clock.shiftMs,
  });
  simulator.setWebhook(`${bot.url}/messengers/telegram/webhook`, "s3cret");
  simulator.setBotDoor(openBotDoor({ bot, clock, dataDirectory: folder }));
});
afterAll(async () => {
  await bot.stop();
  await simulator.close();
  await model.close();
  await browser.close();
  await rm(folder, { recursive: true, force: true, maxRetries: 20 });
});

beforeEach(async () => {
  problems = [];
  chat = simulator.privateChat(simulator.addUser({ first_name: "Ann" }));
  page = await takePage(browser);
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error") problems.push(message.text());
  });
  await loadPlayground(page, `${simulator.url}/#${chat.id}`);
});
afterEach(async () => {
  await leavePage(page);
  expect(problems).toEqual([]);
});

const log = () => page.getByRole("log");
const panel = () => page.getByRole("tabpanel", { name: "Schedules" });
const task = (name: string) => panel().getByRole("listitem", { name });
const write = async (text: string) => {
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.keyboard.press("Enter");
};
const occurrences = (name: string) =>
  panel()
    .getByRole("list", { name: `Last occurrences of ${name}` })
    .getByRole("listitem");

/** Moves the clock. The page shows it moved at once, but the bot restarts first, with the old clock until then. */
const moveClock = async (time: string) => {
  const button = panel().getByRole("button", { name: "Move the clock", exact: true });
  await panel().getByLabel("Move it to").fill(time);
  await button.click();
  await button.waitFor();
};

/** Writes a picture of the page for a person who looks at it, where `SCREENSHOTS` names a folder. */
const screenshot = async (name: string) => {
  const folderOfPictures = process.env.SCREENSHOTS ?? "";
  if (folderOfPictures !== "") await page.screenshot({ path: path.join(folderOfPictures, `${name}.png`) });
};

it("runs a schedule at 02:30 once in both nights in which the clocks change, on a clock that a person moves", async () => {
  let watches = 0;
  model.script((request) => [
    say(lastUserText(request).includes("all is well") ? `All is well, ${++watches}.` : "Hello Ann."),
  ]);
  await write("Hello");
  await log().getByText("Hello Ann.").waitFor();
  await page.getByRole("tab", { name: "Updates" }).focus();
  await page.keyboard.press("ArrowLeft");
  await expect.poll(() => page.locator(":focus").textContent()).toContain("Schedules");
  await page.getByText(/^The bot's clock is \d+ days behind: Sat, 24 Oct 2026/).waitFor();
  await task("nightWatch").getByText("Sun, 25 Oct 2026, 02:30 CEST").waitFor();

  await task("nightWatch").getByRole("button", { name: "Move the clock to the next" }).press("Enter");
  await log().getByText("All is well, 1.").waitFor();
  await occurrences("nightWatch")
    .getByText(/delivered/)
    .waitFor();
  await occurrences("nightWatch")
    .getByText(/message \d+/)
    .waitFor();
  await task("nightWatch").getByText("Next Mon, 26 Oct 2026, 02:30 CET").waitFor();
  await screenshot("schedules-autumn");

  // The clocks show 02:30 for the second time.
  await moveClock("2026-10-25T03:15:00");
  await page
    .getByText(/Sun, 25 Oct 2026, 03:15:\d\d CET/)
    .first()
    .waitFor();
  await task("nightWatch").getByText("Next Mon, 26 Oct 2026, 02:30 CET").waitFor();
  expect(await occurrences("nightWatch").count()).toBe(1);

  await moveClock("2027-03-28T01:00:00");
  await task("nightWatch").getByText("Next Sun, 28 Mar 2027, 03:30 CEST").waitFor();
  await task("nightWatch").getByText("too-late").waitFor();
  await task("nightWatch").getByRole("button", { name: "Move the clock to the next" }).press("Enter");
  await log().getByText("All is well, 2.").waitFor();
  await task("nightWatch").getByText("Next Mon, 29 Mar 2027, 02:30 CEST").waitFor();
  await moveClock("2027-03-28T04:45:00");
  await page
    .getByText(/Sun, 28 Mar 2027, 04:45:\d\d CEST/)
    .first()
    .waitFor();
  expect(watches).toBe(2);
  expect(await log().getByText("All is well").count()).toBe(2);
  await screenshot("schedules-spring");
});

it("pauses, continues, runs and deletes a reminder that a person has made, by keyboard and on a phone", async () => {
  model.script((request) =>
    request.messages.at(-1)?.role === "tool"
      ? [say("It is set.")]
      : [
          callTool("remind_me", {
            text: "Water the plants",
            when: lastUserText(request).includes("once") ? "at 2031-01-02T18:00" : "every day at 09:00",
            timezone: "Asia/Tokyo",
          }),
        ],
  );
  await page.setViewportSize({ width: 390, height: 800 });
  await page.locator("#chat-list").getByRole("button", { name: "Ann" }).first().click();
  await write("Remind me to water the plants every day at nine");
  await log().getByText("I'll remind you: Water the plants").waitFor();
  await page.getByRole("button", { name: "Updates and calls" }).click();
  await page.getByRole("tab", { name: "Schedules" }).click();
  const reminder = task("#1");
  await reminder.getByText("Water the plants").waitFor();
  await reminder.getByText(/Next \w+, \d+ \w+ \d{4}, 09:00 GMT\+9/).waitFor();
  await screenshot("schedules-phone");
  expect(await page.locator("html").evaluate((one) => Reflect.get(one, "scrollWidth"))).toBe(390);

  await reminder.getByRole("button", { name: "Pause: #1" }).press("Enter");
  await reminder.getByText("paused").waitFor();
  expect(await page.locator(":focus").textContent()).toBe("Resume");
  await reminder.getByRole("button", { name: "Resume: #1" }).press("Enter");
  await reminder.getByText(/Next /).waitFor();
  await reminder.getByRole("button", { name: "Run now: #1" }).press("Enter");
  await occurrences("#1")
    .getByText(/delivered/)
    .waitFor();
  await reminder.getByRole("button", { name: "Delete: #1" }).press("Enter");
  await panel().getByText("None. Ask the bot for a reminder, or for a digest.").waitFor();
  await expect.poll(() => page.locator(":focus").textContent()).toContain("Schedules");
  await page.getByRole("button", { name: "Back to the conversation" }).click();
  await log().getByText("⏰ Water the plants").waitFor();
  expect(await task("nightWatch").getByRole("button", { name: "Delete" }).count()).toBe(0);

  await write("Remind me once in 2031");
  await page.getByRole("button", { name: "Updates and calls" }).click();
  await task("#2").getByText("once, Thu, 2 Jan 2031, 18:00 GMT+9 · reminder · made by Ann").waitFor();
  await screenshot("schedules-once");
});
