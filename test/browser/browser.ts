import { existsSync } from "node:fs";
import { chromium } from "playwright-core";
import type { Browser } from "playwright-core";

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

/** A browser with a fresh profile that talks to nobody but the pages that it is given. */
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
