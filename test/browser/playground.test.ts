import { Api, InlineKeyboard } from "grammy";
import type { Update } from "grammy/types";
import type { BrowserContext, Page } from "playwright-core";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startSimulator } from "../../playground/telegram/simulator.ts";
import type { SimChat, Simulator } from "../../playground/telegram/simulator.ts";
import { startWebhook } from "../unit/playground/echo-bot.ts";
import type { WebhookServer } from "../unit/playground/echo-bot.ts";
import { leavePage, loadPlayground, takePage, takeProfile } from "./browser.ts";

const tinyPng = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

let browser: BrowserContext;
let simulator: Simulator;
let api: Api;
let webhook: WebhookServer;
let chat: SimChat;
let page: Page;
let problems: string[];
/** What the bot does with an update; each test may say. */
let behave: (update: Update) => Promise<unknown>;

async function echo(update: Update): Promise<unknown> {
  const text = update.message?.text;
  return text === undefined ? undefined : api.sendMessage(update.message?.chat.id ?? 0, `You said: ${text}`);
}

beforeAll(async () => {
  browser = await takeProfile();
});

beforeEach(async () => {
  behave = echo;
  simulator = await startSimulator({ redelivery: { baseMs: 20, maxMs: 100 } });
  api = new Api(simulator.token, { apiRoot: simulator.url });
  webhook = await startWebhook(async (update) => {
    await behave(update);
    return { status: 200 };
  });
  simulator.setWebhook(webhook.url);
  chat = simulator.privateChat(simulator.addUser({ first_name: "Alice", last_name: "Moss" }));
  problems = [];
  await openPage();
});

afterEach(async () => {
  await leavePage(page);
  await webhook.close();
  await simulator.close();
  expect(problems).toEqual([]);
});

async function openPage(): Promise<void> {
  page = await takePage(browser);
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" || message.text().includes("Content Security Policy"))
      problems.push(message.text());
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(simulator.url) && !request.url().startsWith("data:"))
      problems.push(request.url());
  });
  await loadPlayground(page, `${simulator.url}/#${chat.id}`);
}

const messageField = () => page.getByRole("textbox", { name: "Message" });
const log = () => page.getByRole("log");
const bubbles = () => page.locator("#messages .bubble");

async function write(text: string): Promise<void> {
  await messageField().fill(text);
  await messageField().press("Enter");
}

describe("a person at the playground", () => {
  it("writes and sees the bot answer", async () => {
    await write("Hello");
    await log().getByText("You said: Hello").waitFor();
    expect(simulator.messages(chat).map((message) => message.text)).toEqual(["Hello", "You said: Hello"]);
    expect(await messageField().inputValue()).toBe("");
  });

  it("sees a message grow, and typing before it", async () => {
    const steps = Array.from({ length: 3 }, () => Promise.withResolvers<void>());
    behave = async (update) => {
      const chatId = update.message?.chat.id ?? 0;
      await api.sendChatAction(chatId, "typing");
      await steps[0]?.promise;
      const { message_id } = await api.sendMessage(chatId, "The answer");
      await steps[1]?.promise;
      await api.editMessageText(chatId, message_id, "The answer is 42");
    };
    await write("What is the answer?");
    await page.locator(".typing").waitFor();
    steps[0]?.resolve();
    await log().getByText("The answer", { exact: true }).waitFor();
    await page.locator(".typing").waitFor({ state: "detached" });
    steps[1]?.resolve();
    await log().getByText("The answer is 42", { exact: true }).waitFor();
    expect(await bubbles().count()).toBe(2);
  });

  it("sees formatting as formatting, and markup in plain text as text", async () => {
    await api.sendMessage(
      chat.id,
      '<b>bold <i>both</i></b> <code>x &lt; y</code> <a href="https://example.com/a">link</a> <tg-spoiler>secret</tg-spoiler>\n<blockquote>quoted</blockquote>\n<pre><code class="language-js">let a;</code></pre>',
      { parse_mode: "HTML" },
    );
    await api.sendMessage(chat.id, "<img src=x onerror=alert(1)> <b>not bold</b>");
    const first = bubbles().first();
    await first.locator("strong em").waitFor();
    expect(await first.locator("code").first().textContent()).toBe("x < y");
    expect(await first.locator("a").getAttribute("href")).toBe("https://example.com/a");
    expect(await first.locator("a").getAttribute("rel")).toContain("noopener");
    expect(await first.locator("blockquote").textContent()).toBe("quoted");
    expect(await first.locator("pre .language").textContent()).toBe("js");
    await first.getByRole("button", { name: "Hidden text" }).click();
    expect(await first.locator(".spoiler.revealed").textContent()).toBe("secret");
    await log().getByText("<img src=x onerror=alert(1)> <b>not bold</b>").waitFor();
    expect(await page.locator("#messages img").count()).toBe(0);
  });

  it("sees a rich message as what it is made of, and markup in it as text", async () => {
    const cell = (text: string) => ({ text, align: "right" as const, valign: "top" as const });
    await api.sendRichMessage(chat.id, {
      blocks: [
        { type: "heading", size: 1, text: "Prices" },
        { type: "paragraph", text: ["A ", { type: "bold", text: "bold" }, " <b>word</b>"] },
        {
          type: "list",
          items: [
            { value: 3, type: "1", blocks: [{ type: "paragraph", text: "tea" }] },
            { value: 4, type: "1", blocks: [{ type: "paragraph", text: "cake" }] },
          ],
        },
        {
          type: "list",
          items: [
            { has_checkbox: true, is_checked: true, blocks: [{ type: "paragraph", text: "paid" }] },
            { has_checkbox: true, blocks: [{ type: "paragraph", text: "eaten" }] },
          ],
        },
        {
          type: "table",
          cells: [
            [
              { ...cell("what"), is_header: true },
              { ...cell("€"), is_header: true },
            ],
            [cell("tea"), cell("2")],
          ],
        },
        { type: "blockquote", blocks: [{ type: "paragraph", text: "good tea" }] },
        { type: "pre", text: "let a;", language: "js" },
        { type: "divider" },
        {
          type: "paragraph",
          text: { type: "url", text: "more", url: "https://example.com/a" },
        },
        { type: "mathematical_expression", expression: "x^2" },
      ],
    });
    const bubble = bubbles().first();
    await bubble.getByRole("heading", { name: "Prices" }).waitFor();
    expect(await bubble.locator("strong").textContent()).toBe("bold");
    await bubble.getByText("A bold <b>word</b>").waitFor();
    expect(await bubble.locator("ol > li").first().getAttribute("value")).toBe("3");
    expect(
      await bubble.getByRole("checkbox").evaluateAll((boxes) => boxes.map((box) => box.matches(":checked"))),
    ).toEqual([true, false]);
    expect(await bubble.getByRole("columnheader").allTextContents()).toEqual(["what", "€"]);
    expect(await bubble.getByRole("cell").allTextContents()).toEqual(["tea", "2"]);
    expect(await bubble.locator("blockquote").textContent()).toBe("good tea");
    expect(await bubble.locator("pre .language").textContent()).toBe("js");
    expect(await bubble.locator("a").getAttribute("href")).toBe("https://example.com/a");
    expect(await bubble.locator(".formula").textContent()).toBe("x^2");
  });

  it("presses a button and reads the bot's notice", async () => {
    behave = async (update) => {
      const query = update.callback_query;
      if (query === undefined) return;
      await api.answerCallbackQuery(query.id, {
        text: `Pressed ${query.data}`,
        show_alert: query.data === "no",
      });
      await api.editMessageText(chat.id, query.message?.message_id ?? 0, `Decided: ${query.data}`);
    };
    const reply_markup = new InlineKeyboard().text("Approve", "yes").text("Decline", "no");
    await api.sendMessage(chat.id, "Refund?", { reply_markup });
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByRole("status").getByText("Pressed yes").waitFor();
    await log().getByText("Decided: yes").waitFor();
    await api.sendMessage(chat.id, "Again?", { reply_markup });
    await page.getByRole("button", { name: "Decline" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Pressed no").waitFor();
    await dialog.getByRole("button", { name: "OK" }).click();
    expect(simulator.callbackAnswers().map((answer) => answer.text)).toEqual(["Pressed yes", "Pressed no"]);
  });

  it("sends a photo with a caption, and a document", async () => {
    await page.locator("#file").setInputFiles({ name: "dot.png", mimeType: "image/png", buffer: tinyPng });
    await write("A dot");
    await page.locator("#messages img.photo").waitFor();
    await page
      .locator("#file")
      .setInputFiles({ name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("hi") });
    await page.getByRole("button", { name: "Send", exact: true }).click();
    await log().getByText("notes.txt").waitFor();
    await simulator.waitFor(() => webhook.received.length === 2);
    const [photo, document] = webhook.received.map(({ update }) => update.message);
    expect(photo).toMatchObject({ caption: "A dot", photo: [{ width: 1, height: 1 }] });
    expect(document).toMatchObject({
      document: { file_name: "notes.txt", mime_type: "text/plain", file_size: 2 },
    });
  });

  it("answers a message and edits one", async () => {
    behave = async () => undefined;
    await api.sendMessage(chat.id, "Question");
    await bubbles().first().hover();
    await page.getByRole("button", { name: "Message actions" }).click();
    await page.getByRole("menuitem", { name: "Reply" }).click();
    await write("My answr");
    await page.locator(".own .replied").waitFor();
    await page.locator(".own .bubble").hover();
    await page.locator(".own").getByRole("button", { name: "Message actions" }).click();
    await page.getByRole("menuitem", { name: "Edit" }).click();
    await write("My answer");
    await page.locator(".own").getByText("My answer", { exact: true }).waitFor();
    await simulator.waitFor(() => webhook.received.length === 2);
    const [sent, edited] = webhook.received.map(({ update }) => update);
    expect(sent?.message?.reply_to_message?.text).toBe("Question");
    expect(edited?.edited_message?.text).toBe("My answer");
  });

  it("makes a group with topics and writes in one as another member", async () => {
    await page.getByRole("button", { name: "New chat" }).click();
    await page.locator("#chat-name:focus").waitFor();
    await page.getByLabel("Kind").selectOption("forum");
    await page.getByLabel("Group name").fill("Crew");
    await page.getByLabel("New member").fill("Bob");
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByRole("heading", { name: "Crew" }).waitFor();
    await page.getByRole("button", { name: "New topic" }).click();
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("Returns");
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByRole("button", { name: "Returns", pressed: true }).waitFor();
    await page.getByLabel("Write as").selectOption({ label: "Bob" });
    behave = async (update) => {
      const message = update.message;
      if (message?.text === undefined) return;
      await api.sendMessage(message.chat.id, `In topic: ${message.text}`, {
        message_thread_id: message.message_thread_id ?? 0,
      });
    };
    await write("Hello all");
    await log().getByText("In topic: Hello all").waitFor();
    await page.getByRole("button", { name: "General" }).click();
    await page
      .getByText("In topic: Hello all")
      .and(page.locator("#messages .text"))
      .waitFor({ state: "detached" });
    const received = webhook.received
      .map(({ update }) => update.message)
      .find((message) => message?.text === "Hello all");
    expect(received).toMatchObject({ from: { first_name: "Bob" }, is_topic_message: true });
  });

  it("watches updates and calls, and makes a call fail", async () => {
    await write("First");
    await log().getByText("You said: First").waitFor();
    await page.locator("#updates").getByText("delivered · 200").waitFor();
    await page.getByRole("tab", { name: "Faults" }).click();
    await page.getByLabel("What happens").selectOption("403");
    await page.getByLabel("Affected calls").selectOption("sendMessage");
    await page.getByRole("button", { name: "Add fault" }).click();
    await page.getByText("403 on sendMessage, 1 left").waitFor();
    behave = (update) => echo(update).catch(() => undefined);
    await write("Second");
    await page.getByText("403 on sendMessage").waitFor({ state: "detached" });
    await page.getByRole("tab", { name: "Faults" }).press("ArrowLeft");
    await page.locator("#calls").getByText("403", { exact: true }).waitFor();
    await page.getByRole("searchbox").fill("sendmessage");
    expect(await page.locator("#calls .log-title").allTextContents()).toEqual(["sendMessage", "sendMessage"]);
    for (const [index, answer] of [
      [0, '"error_code": 403'],
      [1, '"message_id": 2'],
    ] as const) {
      const entry = page.locator("#calls li").nth(index);
      await entry.locator("summary").click();
      await entry.locator("pre").getByText(answer).waitFor();
      expect(await entry.locator("pre").textContent()).toContain('"text": "You said: ');
    }
  });

  it("reads what each update is, in whole words", async () => {
    behave = async () => undefined;
    const alice = simulator.users()[0];
    if (alice === undefined) throw new Error("nobody is there");
    simulator.sendPhoto(chat, alice, { bytes: tinyPng });
    simulator.sendDocument(chat, alice, { bytes: tinyPng, fileName: "a.txt", mimeType: "text/plain" });
    const person = { id: chat.id, is_bot: false, first_name: "Alice" };
    const place = { message_id: 900, date: 1, from: person, chat: { id: chat.id, type: "private" } };
    simulator.postUpdate({ message: { ...place, sticker: { emoji: "🙂" } } });
    simulator.postUpdate({ message: { ...place, group_chat_created: true } });
    simulator.blockBot(alice);
    simulator.postUpdate({ stopped_message_generation: { chat: place.chat, draft_id: 1 } });
    await page.locator("#updates").getByText("stopped_message_generation").waitFor();
    expect(await page.locator("#updates .log-title").allTextContents()).toEqual([
      "stopped_message_generation",
      "my_chat_member: kicked",
      "message: group created",
      "message: sticker",
      "message: document",
      "message: photo",
    ]);
    const lines = await page.evaluate(`
      [...document.querySelector("#updates .log-title").childNodes]
        .filter((child) => child.nodeType === Node.TEXT_NODE)
        .map((text) => {
          const range = document.createRange();
          range.selectNodeContents(text);
          return range.getClientRects().length;
        })
    `);
    expect(lines).toEqual([1, 1, 1]);
  });

  it("is told in plain words when the bot is down, and when it is back", async () => {
    simulator.setWebhook("http://127.0.0.1:9/nobody");
    await write("Anyone?");
    const banner = page.getByRole("alert");
    await banner
      .getByText("The bot cannot be reached at http://127.0.0.1:9/nobody (Connection refused).")
      .waitFor();
    simulator.setWebhook(webhook.url);
    await log().getByText("You said: Anyone?").waitFor();
    await banner.waitFor({ state: "hidden" });
    expect(webhook.received).toHaveLength(1);
  });

  it("is told in the bot's own words why it is not ready", async () => {
    simulator.setBotProblem("telegramMessenger needs `token`.");
    const banner = page.getByRole("alert");
    await banner.waitFor();
    expect(await banner.innerText()).toBe("The bot is not ready: telegramMessenger needs `token`.");
    simulator.setBotProblem(undefined);
    await banner.waitFor({ state: "hidden" });
  });

  it("sees a draft, and stops it", async () => {
    await api.sendMessageDraft(chat.id, 5, "Half a sent", { can_stop: true });
    await page.locator(".draft").getByText("Half a sent").waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.locator(".draft").waitFor({ state: "detached" });
    expect(simulator.draft(chat)).toBeUndefined();
    await simulator.waitFor(() =>
      webhook.received.some(({ update }) => update.stopped_message_generation?.draft_id === 5),
    );
  });

  it("sees whom it writes to, and in the list of chats what happened", async () => {
    await page.getByText(`as Alice Moss · @${simulator.bot.username}`).waitFor();
    const [alice] = simulator.users();
    if (alice === undefined) throw new Error("nobody is there");
    const bob = simulator.addUser({ first_name: "Bob" });
    const group = simulator.addGroup({ title: "Crew", members: [alice] });
    simulator.join(group, bob);
    const entry = page.getByRole("button", { name: "Crew" });
    await entry.getByText("Bob joined").waitFor();
    await entry.click();
    await page.getByText(`supergroup, 2 people and @${simulator.bot.username}`).waitFor();
    await log().getByText("Bob joined").waitFor();
    expect(await page.locator("#messages .service").allTextContents()).toContain("Bob joined");
  });

  it("sees every entry of a menu that fits on the screen", async () => {
    await page.setViewportSize({ width: 1120, height: 900 });
    const names = ["start", "help", "stop", "new", "order", "hours", "contact", "language"];
    await api.setMyCommands(names.map((command) => ({ command, description: `What /${command} does` })));
    await messageField().fill("/");
    const last = page.getByRole("option", { name: "/language What" });
    await last.waitFor();
    const menu = page.getByRole("listbox", { name: "Bot commands" });
    const [entry, frame] = [await last.boundingBox(), await menu.boundingBox()];
    if (entry === null || frame === null) throw new Error("the menu is not shown");
    expect(entry.y + entry.height).toBeLessThanOrEqual(frame.y + frame.height);
  });

  it("picks a command that the bot offers", async () => {
    await messageField().fill("/");
    await api.setMyCommands(
      [
        { command: "start", description: "Begin" },
        { command: "stop", description: "End the reply" },
      ],
      { scope: { type: "all_private_chats" } },
    );
    await page.getByRole("option", { name: "/start Begin" }).waitFor();
    await messageField().fill("/sto");
    await page.getByRole("option", { name: "/stop End the reply" }).click();
    await log().getByText("You said: /stop").waitFor();
    expect(webhook.received[0]?.update.message?.entities).toEqual([
      { type: "bot_command", offset: 0, length: 5 },
    ]);
  });
});

describe("a phone", () => {
  it("shows one thing at a time, and nothing is cut off", async () => {
    await page.setViewportSize({ width: 360, height: 700 });
    await page.reload();
    await page.getByRole("button", { name: "Alice Moss" }).click();
    await page.getByRole("button", { name: "Alice Moss" }).waitFor({ state: "hidden" });
    await write("x".repeat(300));
    await page
      .getByText(`You said: ${"x".repeat(300)}`)
      .last()
      .waitFor();
    const widths = await page.evaluate("[document.documentElement.scrollWidth, innerWidth]");
    expect(widths).toEqual([360, 360]);
    await page.getByRole("button", { name: "Updates and calls" }).click();
    await page.locator("#updates").getByText("message").first().waitFor();
    await page.getByRole("button", { name: "Back to the conversation" }).click();
    await page.getByRole("button", { name: "Back to the chats" }).click();
    await page.getByRole("button", { name: "Alice Moss" }).waitFor();
  });
});
