import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { chmod, mkdir, readFile, rm, symlink } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TEMPLATES } from "../../cli/create-bot.ts";
import { stagesOf, wordsOf } from "../support/dockerfile.ts";
import { root, UserFolder } from "./user-folder.ts";

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
    // Another program of this machine may use the default port.
    const { code, output } = await user.shell(user.file(first), "PORT=0 npm run doctor");
    expect(output).not.toContain("problem");
    expect(code).toBe(0);
  });

  it.skipIf(process.getuid?.() !== 0)(
    "runs as its container does: pruned, as nobody, on a read-only root",
    async () => {
      const dockerfile = await readFile(path.join(root, "examples/deploy/Dockerfile"), "utf8");
      const [build = [], run = []] = stagesOf(dockerfile);
      // The packages of the lock file are there already.
      const commands = build.filter(({ name, text }) => name === "RUN" && text !== "npm ci");
      // A container gets its variables from outside, and no .env.
      await rm(user.file(first, ".env"));
      for (const { text } of commands)
        expect(await user.shell(user.file(first), text)).toMatchObject({ code: 0 });
      expect(existsSync(user.file(first, "node_modules/wrangler"))).toBe(false);
      const packages = user.file(first, "node_modules");
      const runtimes = await user.shell(packages, "find . -type f -name workerd -size +10M");
      expect(runtimes.output.trim().split("\n")).toHaveLength(1);
      // A copy into an image counts each name of a file.
      const size = await user.shell(packages, "du -slm .");
      expect(Number.parseInt(size.output, 10)).toBeLessThan(245);
      const data = user.file("data");
      await mkdir(data);
      await chmod(data, 0o777);
      await chmod(user.path, 0o755);
      const readOnly = 'mount --bind "$0" "$0" && mount -o remount,ro,bind / && exec "$@"';
      const command = wordsOf(run.find(({ name }) => name === "CMD")?.text ?? "");
      const nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"];
      const child = spawn("unshare", ["--mount", "sh", "-c", readOnly, data, ...nobody, ...command], {
        cwd: user.file(first),
        env: { PATH: process.env.PATH, DATA_DIR: data, PORT: "0" },
        stdio: ["ignore", "pipe", "inherit"],
      });
      const closed = once(child, "close");
      let url: string | undefined;
      for await (const line of createInterface({ input: child.stdout })) {
        const said = JSON.parse(line) as { readonly event: string; readonly url?: string };
        if (said.event !== "serve.running") continue;
        ({ url } = said);
        break;
      }
      expect((await fetch(`${url}/health/live`)).status).toBe(200);
      child.kill("SIGTERM");
      expect(await closed).toEqual([0, null]);
    },
  );
});
