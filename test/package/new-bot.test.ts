import { symlink } from "node:fs/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TEMPLATES } from "../../scripts/init/create-bot.ts";
import { UserFolder } from "./user-folder.ts";

/**
 * New bots of the packed package, as `switchboard init` writes them. The packages of the first one are installed; the
 * others use them, because all have the same ones.
 */
const [first = "", ...others] = Object.keys(TEMPLATES);
let user: UserFolder;

async function init(template: string): Promise<void> {
  const written = await user.node(
    user.file("package/dist/cli/main.js"),
    "init",
    user.file(template),
    "--template",
    template,
    "--package",
    `file:${user.tarball}`,
  );
  expect(written).toMatchObject({ code: 0, output: expect.stringContaining("npm run dev") as string });
}

beforeAll(async () => {
  user = await UserFolder.create();
  await user.unpack();
  await init(first);
  expect(await user.install(user.file(first))).toMatchObject({ code: 0 });
  for (const template of others) {
    await init(template);
    await symlink(user.file(first, "node_modules"), user.file(template, "node_modules"));
  }
}, 180_000);

afterAll(() => user.remove());

describe("a new bot", () => {
  it.each(Object.keys(TEMPLATES))("of the template %s compiles and passes its own test", async (template) => {
    const types = await user.npm(user.file(template), "run", "types");
    expect(types.output).not.toContain("error");
    expect(types.code).toBe(0);
    const tested = await user.npm(user.file(template), "test");
    expect(tested.output).toContain("1 passed");
    expect(tested.code).toBe(0);
  });

  it("finds nothing wrong with itself", async () => {
    const { code, output } = await user.npm(user.file(first), "run", "doctor");
    expect(output).not.toContain("problem");
    expect(code).toBe(0);
  });
});
