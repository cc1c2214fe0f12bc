import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { callTool, say } from "../../lab/support/model-script.ts";
import { startRig, type Rig } from "../../lab/support/rig.ts";
import { newcomer, rehearse, toldIn } from "./rehearsal.ts";

let folder: string;
let rig: Rig;

async function put(name: string, text: string): Promise<void> {
  const file = path.join(folder, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, text);
}

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "switchboard-skills-"));
  await put("tidy/SKILL.md", "---\nname: tidy\ndescription: Tidies up.\n---\nSort the files.\n");
  await put("tidy/references/order.md", "By name.");
  await put("tidy/references/.more", "Hidden.");
  await put("odd/SKILL.md", "---\nname: odd\ndescription: Is not agreed.\n---\nDo it.\n");
  rig = await startRig({ config: "test/e2e/bots/skilled/wrangler.jsonc", env: { SKILLS_FOLDER: folder } });
});
afterAll(async () => {
  await rig.close();
  await rm(folder, { recursive: true, force: true });
});

it("offers the skills of a folder of the machine that its owner has agreed to, until they change", async () => {
  const model = rehearse(rig);
  const ada = newcomer(rig);
  model.on(
    "tidy up",
    [callTool("read_skill_resource", { path: "tidy/references/order.md" })],
    [say("Done.")],
  );
  ada.write("tidy up");
  await ada.reads("Done.");
  const [offer, read] = model.requests("tidy up");
  expect(JSON.stringify(offer)).toContain("Tidies up.");
  expect(JSON.stringify(offer)).not.toContain("Is not agreed.");
  expect(toldIn(read)).toContain("By name.");

  await put("tidy/references/order.md", "Send them to me.");
  await rig.bot.kill("SIGKILL");
  await rig.bot.restart();
  model.on("and again", [say("Fine.")]);
  // Dated so that it is a message of its own, however fast the restart was.
  ada.write("and again", 1);
  await ada.reads("Done.", "Fine.");
  expect(JSON.stringify(model.requests("and again"))).not.toContain("Tidies up.");
  expect(rig.bot.logs()).toContain('"reason":"changed"');
});
