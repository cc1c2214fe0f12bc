import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import type { Browser, BrowserContext, BrowserContextOptions, Page } from "playwright-core";

/** Size of the page at the beginning of each test. All three columns are visible, and there is less to paint than in a larger one. */
const WINDOW = { width: 1120, height: 700 };

/**
 * Parts of Chromium that no test uses. Each window loads the pages of the address bar's suggestions: that takes as long
 * as several tests.
 */
const UNUSED = ["WebUIOmniboxPopup", "WebUIOmniboxAimPopup"];

/** Playwright's own list, which a second one replaces. */
const UNUSED_BY_PLAYWRIGHT = [
  "AimEnabled",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  "LensOverlay",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "PreconnectToSearch",
  "ThirdPartyStoragePartitioning",
];

const candidates = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Where Chromium is; `CHROMIUM` in the environment wins. @throws {Error} when there is none: nothing is skipped */
export function findChromium(environment: NodeJS.ProcessEnv = process.env): string {
  const asked = environment.CHROMIUM;
  const found = (asked === undefined ? candidates : [asked]).find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw new Error(
    `The browser tests need Chromium, and there is none at ${asked ?? candidates.join(", ")}. ` +
      `Install it ("apt install chromium") or set CHROMIUM to its path.`,
  );
}

/** Launches a browser that talks to nobody but the pages that it is given. */
export async function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: findChromium(),
    headless: true,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      `--disable-features=${[...UNUSED, ...UNUSED_BY_PLAYWRIGHT].join(",")}`,
      // A microphone that beeps. A page may use it if its test grants the permission.
      "--use-fake-device-for-media-stream",
    ],
  });
}

/** The files of one worker share a browser, which takes longer to launch than most tests. It ends with its worker. */
let shared: Promise<Browser> | undefined;
let sharedProfile: Promise<BrowserContext> | undefined;

/** Returns the profile that the files of one worker share. It has one page. */
export async function takeProfile(): Promise<BrowserContext> {
  sharedProfile ??= openProfile();
  return await sharedProfile;
}

/** Makes a fresh profile with one page, which the tests of a file have one after the other. */
export async function openProfile(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  if (shared === undefined || !(await shared).isConnected()) shared = launchBrowser();
  const browser = await shared;
  const context = await browser.newContext({ ...options, viewport: WINDOW, reducedMotion: "reduce" });
  context.setDefaultTimeout(60_000);
  await context.newPage();
  return context;
}

/** Returns the profile's page, which is empty, in the size of the window. A new page would cost more than most tests. */
export async function takePage(context: BrowserContext): Promise<Page> {
  const [page] = context.pages();
  if (page === undefined) throw new Error("The profile has no page any more: a test has closed it.");
  await page.setViewportSize(WINDOW);
  return page;
}

/**
 * Loads the playground's page, and waits until a message can be written. A file that is chosen before would be lost, as a
 * person cannot choose one then.
 */
export async function loadPlayground(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await page.getByRole("textbox", { name: "Message" }).waitFor();
}

/**
 * Opens a chat on the playground's page, by the address and without loading it: that would cost more than most tests.
 * Waits until the chat is there.
 */
export async function openChat(page: Page, chatId: number): Promise<void> {
  await page.evaluate(`location.hash = "${chatId}"`);
  await page.locator(`#chat-list [data-key="${chatId}"] [aria-current]`).waitFor();
}

/** Ends what a test has had with the page. */
export async function releasePage(page: Page): Promise<void> {
  for (const event of ["console", "dialog", "download", "pageerror", "request"])
    page.removeAllListeners(event);
  await page.unrouteAll({ behavior: "ignoreErrors" });
}

/** Empties the page after a test, and ends what the test has had with it. */
export async function leavePage(page: Page): Promise<void> {
  await releasePage(page);
  await page.goto("about:blank");
}
