import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import type { Browser, BrowserContext, BrowserContextOptions } from "playwright-core";

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
      // A microphone that beeps. A page may use it if its test grants the permission.
      "--use-fake-device-for-media-stream",
    ],
  });
}

/** Launches a browser with a fresh profile, in which the tests of a file open their pages. */
export async function openBrowser(options: BrowserContextOptions): Promise<BrowserContext> {
  const browser = await launchBrowser();
  const context = await browser.newContext(options);
  context.setDefaultTimeout(60_000);
  // While one page stays open, Chromium keeps its processes. To start them again for each test costs more than the test.
  await context.newPage();
  return context;
}

/** Ends the browser of a context, with all its pages. */
export async function closeBrowser(context: BrowserContext): Promise<void> {
  await context.browser()?.close();
}
