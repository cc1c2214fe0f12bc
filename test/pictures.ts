/**
 * `npm run pictures`: takes the pictures of the documentation, in Chromium, from bots that run. Names of pictures take
 * only those. Look at each one before you commit it.
 */
import { stat } from "node:fs/promises";
import path from "node:path";
import { launchBrowser } from "./browser/browser.ts";
import { SCENES } from "./pictures/scenes.ts";
import { onStage } from "./pictures/stage.ts";

const folder = path.resolve(import.meta.dirname, "../docs/pictures");
const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !SCENES.some((scene) => scene.name === name));
if (unknown.length > 0) throw new Error(`There is no picture ${unknown.join(", ")}.`);

const browser = await launchBrowser();
try {
  for (const scene of SCENES.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) {
    const file = path.join(folder, `${scene.name}.png`);
    await onStage(browser, scene, async (stage) => {
      await scene.play(stage);
      await stage.take(file);
    });
    process.stdout.write(`${scene.name}.png: ${Math.ceil((await stat(file)).size / 1024)} KiB\n`);
  }
} finally {
  await browser.close();
}
