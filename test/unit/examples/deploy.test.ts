import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it } from "vitest";
import { codeInText, COMMAND_PAGES, shellExamples } from "../../support/doc-pages.ts";
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
      "npx switchboard build && npm prune --omit=dev --omit=peer",
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

/** Command lines of the pages that begin with one of these programs, and those at the head of the two files. */
function linesOf(...programs: readonly string[]): readonly string[] {
  const heads = [unit, readFileSync(path.join(folder, "Dockerfile"), "utf8")]
    .map((text) => text.split("\n")[0] ?? "")
    .map((line) => line.replace(/^#.*?(?=docker |systemctl )/, ""));
  const pages = COMMAND_PAGES.flatMap((page) => [...shellExamples(page), ...codeInText(page)]);
  return [...pages, ...heads]
    .flatMap((text) => text.split(/\n|&&/))
    .map((line) => line.trim())
    .filter((line) => programs.some((program) => line.startsWith(`${program} `)));
}

describe("the documentation", () => {
  it("copies files that the package has", () => {
    const { files } = JSON.parse(readFileSync(path.join(folder, "../../package.json"), "utf8")) as {
      readonly files: readonly string[];
    };
    const copied = linesOf("cp").map((line) => / node_modules\/switchboard\/(\S+)/.exec(line)?.[1] ?? line);
    expect(copied).toEqual(["examples/deploy/Dockerfile", "examples/deploy/my-bot.service"]);
    for (const file of copied) {
      expect(existsSync(path.join(folder, "../..", file))).toBe(true);
      expect(files).toContain(file.split("/")[0]);
    }
  });

  it("runs the image that it builds, with the port, the volume and the variables of the Dockerfile", () => {
    const builds = linesOf("docker build");
    expect(new Set(builds)).toEqual(new Set(["docker build -t my-bot ."]));
    const runs = linesOf("docker run").map((line) => line.split(" ").slice(2));
    expect(runs).toHaveLength(builds.length);
    for (const words of runs) {
      const options = new Map<string, string>();
      const rest: string[] = [];
      for (let index = 0; index < words.length; index += 1) {
        const word = words[index] ?? "";
        if (word === "--read-only") continue;
        if (word.startsWith("-")) options.set(word, words[(index += 1)] ?? "");
        else rest.push(word);
      }
      expect(rest).toEqual(["my-bot"]);
      const port = textOf(run, "EXPOSE") ?? "";
      expect(Object.fromEntries(options)).toEqual({
        "-p": `${port}:${port}`,
        "-v": `my-bot:${textOf(run, "VOLUME")}`,
        "--env-file": ".env",
      });
      // A port that is published reaches the container's own address, not its loopback.
      expect(textOf(run, "ENV")).toContain("HOST=0.0.0.0");
    }
    const others = linesOf("docker").filter((line) => !/^docker (?:build|run|stop)\b/.test(line));
    expect(others).toEqual([]);
  });

  it("keeps the variables of a new bot out of its image", () => {
    const ignored = readFileSync(path.join(folder, "../../templates/shared/.dockerignore"), "utf8").split(
      "\n",
    );
    expect(ignored).toContain(".env");
  });

  it("starts, enables and reads the unit by the name of its file, and names its folders", () => {
    expect(new Set(linesOf("systemctl"))).toEqual(new Set(["systemctl enable --now my-bot"]));
    expect(linesOf("journalctl")).toEqual(["journalctl -u my-bot -f"]);
    // Without this a unit cannot be enabled.
    expect(unit).toMatch(/^\[Install\]\nWantedBy=/m);
    const page = readFileSync(path.join(folder, "../../docs/guides/own-machine.md"), "utf8");
    expect(page.match(/`\/(?:opt|var|etc)\/[^`]+`/g)).toEqual([
      "`/opt/my-bot`",
      "`/var/lib/my-bot`",
      "`/etc/my-bot.env`",
    ]);
    expect(unit).toMatch(/^WorkingDirectory=\/opt\/my-bot$/m);
    expect(unit).toMatch(/^EnvironmentFile=\/etc\/my-bot\.env$/m);
  });
});
