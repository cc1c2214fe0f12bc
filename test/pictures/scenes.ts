import { callTool, say } from "../../lab/support/model-script.ts";
import { lastUserText, textOf, type ModelScript } from "../../lab/support/scripted-model.ts";
import { codeExamples } from "../support/doc-pages.ts";
import type { Stage, StageOptions } from "./stage.ts";

/** One picture of the documentation: the bot, and everything that happens before the picture is taken. */
export interface Scene extends StageOptions {
  /** The file in docs/pictures, without its ending. */
  readonly name: string;
  readonly play: (stage: Stage) => Promise<void>;
}

const SUPPORT_BOT = ["--config", "wrangler.jsonc", "--beside", "playground/shop/beside.ts"];
const DIGEST_BOT = [
  "--config",
  "examples/digest-bot/wrangler.jsonc",
  "--beside",
  "playground/feed/beside.ts",
];

const REPORT_CODE = `async () => {
  const rows = [{ name: "Taxi", amountCents: 1840 }, { name: "Hotel", amountCents: 12900 }];
  const { path, total } = await actions.makeReport({ title: "Receipts of June", rows });
  await actions.sendMail({ to: "boss@example.com", subject: "Receipts of June", text: "Total: " + total, file: path });
}`;

/** Returns the example of a page that has these words. */
function sampleOf(page: string, words: string): string {
  const found = codeExamples(page).find((code) => code.includes(words));
  if (found === undefined) throw new Error(`${page} has no example with "${words}".`);
  return found;
}

interface Answer {
  readonly tool: string;
  readonly input: object;
  /** The text of the answer, which may use the tool's result. */
  readonly say: (result: string) => string;
}

/** Answers a person's text with a tool call, and the tool's result with a text. */
function calls(table: Readonly<Record<string, Answer>>): ModelScript {
  return (request) => {
    const text = lastUserText(request);
    const answer = Object.entries(table).find(([words]) => text.includes(words))?.[1];
    if (answer === undefined) throw new Error(`Nothing is written for: ${text}`);
    const last = request.messages.at(-1);
    return last?.role === "tool" ? [say(answer.say(textOf(last)))] : [callTool(answer.tool, answer.input)];
  };
}

/** Ada writes to the bot. After each text she waits until the chat shows something. */
function talk(...lines: readonly (readonly [text: string, shown: string | RegExp])[]): Scene["play"] {
  return async ({ open, shows, write }) => {
    await open("Ada");
    for (const [text, shown] of lines) {
      await write(text);
      await shows(shown);
    }
  };
}

export const SCENES: readonly Scene[] = [
  {
    name: "tools",
    sample: sampleOf("docs/learn/tools.md", "opening_hours"),
    model: calls({
      "open on Sunday": {
        tool: "opening_hours",
        input: { day: "sunday" },
        say: (result) => `No, the library is **${result}** on Sundays.`,
      },
      "And on Saturday": {
        tool: "opening_hours",
        input: { day: "saturday" },
        say: (result) => `Yes, on Saturday you can come from **${result}**.`,
      },
    }),
    play: talk(["Are you open on Sunday?", "on Sundays"], ["And on Saturday?", "you can come"]),
  },
  {
    name: "commands",
    sample: sampleOf("docs/learn/commands-and-texts.md", "getCommands"),
    model: () => [say("Yes, *Moby-Dick* is on the shelf. Shall I keep it for you?")],
    play: async (stage) => {
      await talk(["/hours", "Monday to Friday"], ["/book Moby-Dick", "on the shelf"])(stage);
      const { page } = stage;
      await page.getByRole("textbox", { name: "Message" }).pressSequentially("/");
      await page.getByRole("listbox", { name: "Bot commands" }).waitFor();
    },
  },
  {
    name: "groups",
    sample: sampleOf("docs/learn/tools.md", "opening_hours"),
    model: () => [say("On Saturday the library is open from **10 to 14**, Ben.")],
    play: async ({ as, openGroup, shows, write }) => {
      await openGroup("Reading circle", ["Ada", "Ben"]);
      await as("Ada");
      await write("Shall we meet in the library on Saturday?");
      await as("Ben");
      await write("Good idea. @switchboard_bot when are you open?");
      await shows("the library is open");
      await as("Ada");
      await write("Then I'll be there at ten.");
      await shows("there at ten");
    },
  },
  {
    name: "loans",
    sample: sampleOf("docs/learn/memory-and-state.md", "this.sql`CREATE TABLE"),
    model: calls({
      "I have borrowed": {
        tool: "borrow_book",
        input: { title: "Moby-Dick", days: 14 },
        say: () => "I have noted *Moby-Dick*. Please bring it back within two weeks.",
      },
      "Walden, too": {
        tool: "borrow_book",
        input: { title: "Walden", days: 21 },
        say: () => "Noted: *Walden*, for three weeks.",
      },
      "Which books": {
        tool: "list_loans",
        input: {},
        say: (result) => {
          const loans = JSON.parse(result) as readonly { readonly title: string; readonly due_at: number }[];
          const day = (dueAt: number) => new Date(dueAt).toDateString().slice(0, -5);
          return [
            "You have these books:",
            ...loans.map((loan) => `- *${loan.title}*, until ${day(loan.due_at)}`),
          ].join("\n");
        },
      },
    }),
    play: talk(
      ["I have borrowed Moby-Dick for two weeks", "I have noted"],
      ["Walden, too, for three", "Noted:"],
      ["Which books do I have?", "You have these books"],
    ),
  },
  {
    name: "cards",
    sample: sampleOf("docs/cards.md", "class Shop"),
    model: () => [say("Hello!")],
    play: async ({ log, open, page, shows, write }) => {
      await open("Ada");
      await write("/menu");
      await log.getByRole("button", { name: "Coffee" }).waitFor();
      await write("/menu");
      await log.getByRole("button", { name: "Coffee" }).nth(1).click();
      await shows("Coffee for Ada is on its way.");
      await page.getByRole("status").getByText("Ordered.").waitFor();
    },
  },
  {
    name: "approval",
    bot: SUPPORT_BOT,
    play: async (stage) => {
      await talk(["refund 50 € for order 1001", "Refund 50.00 € for order 1001?"])(stage);
    },
  },
  {
    name: "code",
    bot: ["--config", "examples/analyst-bot/wrangler.jsonc"],
    model: calls({
      mail: {
        tool: "codemode",
        input: { code: REPORT_CODE },
        say: () => "I've made the report.",
      },
    }),
    play: async (stage) => {
      await talk([
        "Taxi 18.40, hotel 129.00: make a table, and mail it to my boss",
        "Mail “Receipts of June”",
      ])(stage);
    },
  },
  {
    name: "files",
    bot: SUPPORT_BOT,
    model: calls({
      invoice: { tool: "send_invoice", input: { orderId: "1003" }, say: () => "Here is your invoice." },
      "your shop": {
        tool: "find_shop",
        input: {},
        say: () => "You find us at Kungsgatan 12, Gothenburg.",
      },
    }),
    play: async (stage) => {
      await talk(["Please send me the invoice for order 1003", "73.20 EUR"])(stage);
      await stage.write("Where is your shop?");
      await stage.log.getByRole("link", { name: /^Open on a map/ }).waitFor();
    },
  },
  {
    name: "schedules",
    bot: DIGEST_BOT,
    model: () => [
      say(
        "Good morning! Three things are new:\n\n- The city library stays open until **midnight**\n- A new timetable for night buses\n- Coffee prices fall for the third month",
      ),
    ],
    width: 1160,
    height: 660,
    play: async (stage) => {
      await talk(["/subscribe", /You're subscribed/])(stage);
      const { page, shows } = stage;
      await page.getByRole("tab", { name: "Schedules" }).click();
      const panel = page.getByRole("tabpanel", { name: "Schedules" });
      await panel.getByRole("button", { name: "Move the clock to the next" }).click();
      await shows("Good morning!");
      await panel.getByText(/delivered/).waitFor();
    },
  },
  {
    name: "problem",
    bot: ["--config", "test/e2e/bots/misconfigured/wrangler.jsonc"],
    play: async ({ open, page, shows, write }) => {
      await open("Ada");
      await write("Hello?");
      await page.getByRole("alert").waitFor();
      await shows("Hello?");
    },
  },
];
