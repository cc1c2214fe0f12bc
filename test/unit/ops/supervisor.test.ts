import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { superviseWorkerd, type Supervisor } from "../../../ops/serve/supervisor.ts";

/** Stands in for workerd: it says its configuration, and listens unless that is called "slow". */
const WORKERD = `#!/bin/sh
for configuration; do :; done
case "$configuration" in
  *shows-parameters*) echo "$*" ;;
  *) echo "$configuration" ;;
esac
case "$configuration" in
  slow*) ;;
  *) echo '{"event":"listen","socket":"http","port":4711}' >&3 ;;
esac
exec sleep 60
`;

let folder: string;
let supervisor: Supervisor;
/** Number of processes so far, and the configurations that they have read. */
let processes: number;
let started: string[];
let heard: string[];
/** Runs when a workerd listens, before anybody else learns it. */
let listens: () => void;

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "switchboard-supervisor-"));
  const binary = path.join(folder, "workerd");
  writeFileSync(binary, WORKERD, { mode: 0o755 });
  processes = 0;
  started = [];
  heard = [];
  listens = () => undefined;
  supervisor = superviseWorkerd({
    binary,
    configFile: "first",
    objectsDirectory: folder,
    environment: { PATH: process.env.PATH },
    host: "127.0.0.1",
    port: 0,
    log: (line) => heard.push(line),
    onListening: () => listens(),
    onOutput: (stdout) => {
      processes += 1;
      stdout.setEncoding("utf8").on("data", (text: string) => started.push(text.trim()));
    },
  });
  await supervisor.listening;
});
afterEach(async () => {
  await supervisor.stop();
  rmSync(folder, { recursive: true });
});

const hasStarted = (name: string) => vi.waitFor(() => expect(started).toContain(name), { interval: 5 });

describe("a reload of the served bot", () => {
  it("takes the newest configuration if the one before does not listen yet", async () => {
    const early = supervisor.reload("slow");
    await hasStarted("slow");
    const late = supervisor.reload("third");
    await Promise.all([early, late]);
    await hasStarted("third");
    expect(started).toEqual(["first", "slow", "third"]);
    // It was no crash.
    expect(heard).toEqual([]);
  });

  it("is done when the newest configuration listens, not an older one that is about to end", async () => {
    let late: Promise<void> | undefined;
    const done: string[] = [];
    listens = () => {
      done.push("listens");
      late ??= supervisor.reload("third");
    };
    await supervisor.reload("second");
    expect(done).toEqual(["listens", "listens"]);
    await late;
    await hasStarted("third");
    expect(started).toEqual(["first", "second", "third"]);
    expect(heard).toEqual([]);
  });

  it("starts nothing once the bot was stopped", async () => {
    await supervisor.stop();
    await supervisor.reload("second");
    expect(processes).toBe(1);
  });

  it("goes on without the folder of skills when that is gone", async () => {
    const skills = path.join(folder, "skills");
    const start = async (name: string): Promise<void> => {
      await supervisor.reload(path.join(folder, name), { PATH: process.env.PATH, SKILLS_FOLDER: skills });
      await vi.waitFor(() => expect(started.at(-1)).toMatch(new RegExp(`${name}$`)), { interval: 5 });
    };
    mkdirSync(skills);
    await start("shows-parameters-1");
    expect(started.at(-1)).toContain(`--directory-path=skills=${skills} `);
    rmSync(skills, { recursive: true });
    await start("shows-parameters-2");
    expect(started.at(-1)).toContain(`--directory-path=skills=${folder} `);
  });
});
