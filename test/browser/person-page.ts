import path from "node:path";
import type { BrowserContext, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import type { Simulator } from "../../playground/telegram/simulator.ts";
import { leavePage, loadPlayground, openChat, releasePage, takePage, takeProfile } from "./browser.ts";

/**
 * The playground's page of a served bot. It stays open for all tests of a file, unless one fails. Each test has a person of
 * its own, whose chat is open.
 */
export interface PersonPage {
  readonly page: Page;
  readonly log: () => Locator;
  readonly write: (text: string) => Promise<void>;
  /** Attaches a file to the next message, and sends it. */
  readonly send: (file: {
    readonly name: string;
    readonly mimeType: string;
    readonly buffer: Buffer;
  }) => Promise<void>;
  /** Writes a picture of the page for a person who looks at it, where `SCREENSHOTS` names a folder. */
  readonly screenshot: (name: string) => Promise<void>;
}

/** A picture of one pixel. */
export const PICTURE = {
  name: "dent.png",
  mimeType: "image/png",
  buffer: Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  ),
};

/** Registers the hooks of a test file. A page error, a console error or a request to elsewhere fails the test. */
export function usePersonPage(simulator: () => Simulator): PersonPage {
  let browser: BrowserContext;
  let problems: string[] = [];
  let opened: Page | undefined;
  const page = () => {
    if (opened === undefined) throw new Error("The page is there only while a test runs.");
    return opened;
  };
  const field = () => page().getByRole("textbox", { name: "Message" });
  beforeAll(async () => {
    browser = await takeProfile();
  });
  beforeEach(async () => {
    const world = simulator();
    const { url } = world;
    problems = [];
    const chat = world.privateChat(world.addUser());
    opened = await takePage(browser);
    opened.on("pageerror", (error) => problems.push(error.message));
    opened.on("console", (message) => {
      if (message.type() === "error") problems.push(message.text());
    });
    opened.on("request", (request) => {
      if (!request.url().startsWith(url)) problems.push(request.url());
    });
    if (opened.url().startsWith(url)) await openChat(opened, chat.id);
    else await loadPlayground(opened, `${url}/#${chat.id}`);
  });
  afterEach(async ({ task }) => {
    // A test that failed may have left anything open.
    if (task.result?.state === "fail" || problems.length > 0) await leavePage(page());
    else await releasePage(page());
    expect(problems).toEqual([]);
  });
  afterAll(async () => {
    if (opened !== undefined) await leavePage(opened);
  });
  return {
    get page() {
      return page();
    },
    log: () => page().getByRole("log"),
    write: async (text) => {
      await field().fill(text);
      await page().keyboard.press("Enter");
    },
    send: async (file) => {
      await page()
        .getByLabel("Photo, voice note or file")
        .setInputFiles({ ...file });
      await field().press("Enter");
    },
    screenshot: async (name) => {
      const folder = process.env.SCREENSHOTS ?? "";
      if (folder !== "") await page().screenshot({ path: path.join(folder, `${name}.png`) });
    },
  };
}
