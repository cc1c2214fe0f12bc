import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { stagesOf, wordsOf } from "../../support/dockerfile.ts";

const folder = path.resolve(import.meta.dirname, "../../../examples/deploy");
const unit = readFileSync(path.join(folder, "my-bot.service"), "utf8");
const stages = stagesOf(readFileSync(path.join(folder, "Dockerfile"), "utf8"));
const [build = [], run = []] = stages;

const textOf = (stage: typeof run, name: string): string | undefined =>
  stage.findLast((instruction) => instruction.name === name)?.text;

/** systemd checks a unit without running it. The programs that it names must be there. */
function complaintsAbout(text: string): { readonly code: number | null; readonly words: string } {
  const place = mkdtempSync(path.join(tmpdir(), "switchboard-unit-"));
  try {
    const file = path.join(place, "my-bot.service");
    writeFileSync(file, text.replaceAll("/opt/my-bot/node_modules/.bin/switchboard", process.execPath));
    const { status, stderr, stdout } = spawnSync("systemd-analyze", ["verify", file], { encoding: "utf8" });
    const lines = `${stdout}${stderr}`.split("\n").filter((line) => line.includes("my-bot.service"));
    return { code: status, words: lines.join("\n") };
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

const hasSystemd = spawnSync("systemd-analyze", ["--version"]).error === undefined;

describe("the systemd unit", () => {
  it.skipIf(!hasSystemd)("is one that systemd accepts", () => {
    expect(complaintsAbout(unit)).toEqual({ code: 0, words: "" });
    expect(complaintsAbout(unit.replace("KillMode", "KillMood")).words).toContain("KillMood");
  });

  it("gives the bot a folder to write to, and nothing else", () => {
    expect(unit).toMatch(/^Environment=DATA_DIR=\/var\/lib\/my-bot$/m);
    expect(unit).toMatch(/^StateDirectory=my-bot$/m);
    for (const line of ["DynamicUser=yes", "ProtectSystem=strict", "KillMode=mixed"])
      expect(unit).toContain(line);
  });
});

describe("the Dockerfile", () => {
  it("runs what the unit runs, as a user who owns nothing but the volume", () => {
    const command = wordsOf(textOf(run, "CMD") ?? "");
    const [, ofUnit = ""] = /^ExecStart=\/opt\/my-bot\/(.*)$/m.exec(unit) ?? [];
    expect(command).toEqual(ofUnit.split(" "));
    expect(textOf(run, "USER")).toBe("node");
    const [, data] = /DATA_DIR=(\S+)/.exec(textOf(run, "ENV") ?? "") ?? [];
    expect(textOf(run, "VOLUME")).toBe(data);
    expect(textOf(run, "RUN")).toContain(`chown node:node ${data}`);
  });

  it("copies from its first stage what that stage has", () => {
    const copied = run.filter(({ name }) => name === "COPY").map(({ text }) => text.split(" ")[1]);
    expect(copied).toEqual(["/app/package.json", "/app/node_modules", "/app/build"]);
    expect(textOf(build, "WORKDIR")).toBe("/app");
    expect(build.filter(({ name }) => name === "RUN").map(({ text }) => text)).toEqual([
      "npm ci",
      "npx switchboard build && npm prune --omit=dev",
    ]);
  });

  it.each([
    [200, 0],
    [503, 1],
  ])("takes a bot that answers %i for %i", async (status, code) => {
    const asked: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url);
      response.writeHead(status).end();
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const [node, ...parameters] = wordsOf(textOf(run, "HEALTHCHECK") ?? "");
    const [, exposed = ""] = /^(\d+)$/.exec(textOf(run, "EXPOSE") ?? "") ?? [];
    const words = parameters.map((word) => word.replace(`:${exposed}/`, `:${port}/`));
    expect(node).toBe("node");
    const child = spawn(process.execPath, words, { stdio: "ignore" });
    expect(await once(child, "close")).toEqual([code, null]);
    expect(asked).toEqual(["/health/live"]);
    server.close();
  });
});
