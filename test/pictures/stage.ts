import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Browser, Locator, Page } from "playwright-core";
import sharp from "sharp";
import { startScriptedModel, type ModelScript } from "../../lab/support/scripted-model.ts";
import { writeSampleBot } from "../support/sample-bot.ts";

const root = path.resolve(import.meta.dirname, "../..");
const WIDTH = 660;
const HEIGHT = 1000;
/** Space above the first message and below the last one. */
const MARGIN = 16;
/** Messages that follow each other faster are one question for the bot. */
const BURST_MS = 1_500;

/** A bot that `switchboard dev` runs for one picture, and the page of its simulator. */
export interface Stage {
  readonly page: Page;
  readonly log: Locator;
  /** Opens the private chat of a new person. */
  readonly open: (name: string) => Promise<void>;
  /** Opens a new group of these people. */
  readonly openGroup: (title: string, names: readonly string[]) => Promise<void>;
  /** Chooses who writes in the open group. */
  readonly as: (name: string) => Promise<void>;
  readonly write: (text: string) => Promise<void>;
  /** Waits for a text in the chat. */
  readonly shows: (text: string | RegExp) => Promise<void>;
  /** Writes the picture. */
  readonly take: (file: string) => Promise<void>;
}

export interface StageOptions {
  /** Arguments of `switchboard dev`, for a bot of the repository. */
  readonly bot?: readonly string[];
  /** Sample of a page, for a bot that is made of it. */
  readonly sample?: string;
  /** The model's answers. @default those of the built-in demo model */
  readonly model?: ModelScript;
  readonly width?: number;
  /** Height of the picture. @default that of the chat */
  readonly height?: number;
}

/** Runs a bot and opens its page. Everything is removed when `play` has ended. */
export async function onStage(
  browser: Browser,
  options: StageOptions,
  play: (stage: Stage) => Promise<void>,
): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), "switchboard-pictures-"));
  const model = await startScriptedModel();
  if (options.model !== undefined) model.script(options.model);
  const configured =
    options.sample === undefined ? [] : ["--config", await writeSampleBot(folder, options.sample)];
  const parameters = ["dev", "--json", "--port", "0", ...configured, ...(options.bot ?? [])];
  const child = spawn(process.execPath, [path.join(root, "cli/main.ts"), ...parameters], {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      DATA_DIR: path.join(folder, "data"),
      PORT: "0",
      ...(options.model !== undefined && {
        OPENAI_BASE_URL: model.url,
        OPENAI_API_KEY: "scripted",
        MODEL: "scripted",
      }),
    },
    stdio: ["ignore", "pipe", "ignore"],
  });
  const context = await browser.newContext({
    viewport: { width: options.width ?? WIDTH, height: HEIGHT },
    colorScheme: "dark",
    locale: "en-GB",
    timezoneId: "Europe/London",
    reducedMotion: "reduce",
  });
  try {
    const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
    const { playground } = JSON.parse(line) as { readonly playground: string };
    const page = await context.newPage();
    await play(createStage(page, playground, options));
  } finally {
    await context.close();
    child.kill("SIGTERM");
    if (child.exitCode === null) await once(child, "close");
    await model.close();
    await rm(folder, { recursive: true, force: true });
  }
}

function createStage(page: Page, url: string, options: StageOptions): Stage {
  const log = page.getByRole("log");
  const call = async <T>(method: string, body: object): Promise<T> => {
    const response = await fetch(`${url}/_sim/${method}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    if (!response.ok) throw new Error(`${method}: ${await response.text()}`);
    return (await response.json()) as T;
  };
  const addUser = (name: string) =>
    call<{ readonly user: { readonly id: number } }>("addUser", { first_name: name });
  const openChat = async (name: string) => {
    await page.goto(url);
    await page.locator("#chat-list").getByRole("button", { name }).click();
    await page.getByRole("textbox", { name: "Message" }).waitFor();
  };
  return {
    page,
    log,
    open: async (name) => {
      await addUser(name);
      await openChat(name);
    },
    openGroup: async (title, names) => {
      const members: number[] = [];
      for (const name of names) members.push((await addUser(name)).user.id);
      await call("addGroup", { title, members });
      await openChat(title);
    },
    as: async (name) => {
      await page.getByLabel("Write as").selectOption({ label: name });
    },
    write: async (text) => {
      await page.waitForTimeout(BURST_MS);
      await page.getByRole("textbox", { name: "Message" }).fill(text);
      await page.keyboard.press("Enter");
    },
    shows: (text) => log.getByText(text).first().waitFor(),
    take: async (file) => {
      // A pointer over a message would show its actions.
      await page.mouse.move(0, 0);
      const size = page.viewportSize() ?? { width: WIDTH, height: HEIGHT };
      const height = options.height ?? Math.ceil(size.height - (await unusedHeight(log)));
      await page.setViewportSize({ width: size.width, height });
      const picture = await page.screenshot({ animations: "disabled", caret: "hide" });
      await sharp(picture).png({ palette: true, colours: 128, dither: 0, effort: 10 }).toFile(file);
    },
  };
}

/** Returns the height of the chat's part of the page that no message needs. */
async function unusedHeight(log: Locator): Promise<number> {
  const [all, first, last] = await Promise.all([
    log.boundingBox(),
    log.locator(":scope > *").first().boundingBox(),
    log.locator(":scope > *").last().boundingBox(),
  ]);
  if (all === null || first === null || last === null) throw new Error("An empty chat.");
  return all.height - (last.y + last.height - first.y) - 2 * MARGIN;
}
