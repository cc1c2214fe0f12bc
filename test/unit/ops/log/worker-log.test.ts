import { PassThrough } from "node:stream";
import { describe, expect, it } from "vitest";
import { createSecretHider } from "../../../../src/log/hide-secrets.ts";
import { WorkerLog } from "../../../../ops/serve/log/worker-log.ts";
import { createVirtualClock } from "../../../support/virtual-clock.ts";

const AT = Date.UTC(2026, 10, 22, 2, 0, 0);
const SECRET = 'hush"hush-hush';

function createRig({ isRevealing = false, level }: { isRevealing?: boolean; level?: string } = {}) {
  const clock = createVirtualClock(AT);
  const written: string[] = [];
  const log = new WorkerLog({
    write: (line) => void written.push(line),
    places: { translate: (at) => at.replaceAll("worker.js:9:1", "bot/worker.ts:3:5") },
    secrets: createSecretHider({ MY_TOKEN: SECRET, GREETING: "good morning" }),
    level,
    isRevealing: () => isRevealing,
    now: () => clock.now(),
    after: (delayMs, callback) => void clock.setTimeout(callback, delayMs),
  });
  const lines = (): Record<string, unknown>[] =>
    written.map((line) => JSON.parse(line) as Record<string, unknown>);
  /** A call of the console. */
  const print = (message: string, level = "log"): void =>
    log.take(JSON.stringify({ timestamp: AT, level, message }), "info");
  /** Something that workerd says itself. */
  const say = (message: string, level = "error"): void =>
    log.take(JSON.stringify({ timestamp: String(AT), level, source: "workerd/x.c++:1", message }), "info");
  return { clock, lines, log, print, say, written };
}

describe("LOG_LEVEL", () => {
  it("leaves out less serious lines of the bot, of its output and of workerd", () => {
    const { lines, print, say } = createRig({ level: "warn" });
    print(JSON.stringify({ time: "t", level: "info", event: "turn.begun" }));
    // The level of the line counts, also if a proxy of the console has lost it.
    print(JSON.stringify({ time: "t", level: "error", event: "bot.failed" }));
    print("hello");
    print("careful", "warn");
    say("all is well", "info");
    expect(lines().map(({ event, level }) => `${String(level)} ${String(event)}`)).toEqual([
      "error bot.failed",
      "warn bot.output",
    ]);
  });

  it("writes everything if its value is not known", () => {
    const { lines, print } = createRig({ level: "verbose" });
    print("hello");
    expect(lines()).toHaveLength(1);
  });
});

describe("a line of the bot's log", () => {
  it("passes as it is", () => {
    const { print, written } = createRig();
    const line = '{"time":"2026-11-22T01:59:59.000Z","level":"info","event":"turn.begun","turn":"a\u2028b"}';
    print(line);
    expect(written).toEqual([line]);
  });

  it("gets files of the author for places of the bundle", () => {
    const { lines, print } = createRig();
    const line = {
      time: "t",
      level: "error",
      event: "bot.failed",
      code: "Error",
      at: "at f (worker.js:9:1)",
    };
    print(JSON.stringify(line), "error");
    expect(lines()).toEqual([{ ...line, at: "at f (bot/worker.ts:3:5)" }]);
  });

  it("gets a time where the bot writes JSON of its own, and is one line", () => {
    const { lines, print, written } = createRig();
    print(JSON.stringify({ event: "sold", books: 2 }, undefined, 2), "warn");
    expect(written[0]).not.toContain("\n");
    expect(lines()).toEqual([{ time: "2026-11-22T02:00:00.000Z", level: "warn", event: "sold", books: 2 }]);
  });

  it("holds no value of a secret variable, and stays JSON", () => {
    const { lines, print } = createRig();
    print(JSON.stringify({ time: "t", event: "x", note: `${SECRET} and good morning` }));
    expect(lines()[0]?.note).toBe("[hidden] and good morning");
  });
});

describe("what the bot prints otherwise", () => {
  it.each([
    ["log", "info"],
    ["info", "info"],
    ["debug", "info"],
    ["warn", "warn"],
    ["error", "error"],
  ])("is a line with its text: %s", (level, expected) => {
    const { lines, print } = createRig();
    print("two\nlines", level);
    expect(lines()).toEqual([
      { time: "2026-11-22T02:00:00.000Z", level: expected, event: "bot.output", text: "two\nlines" },
    ]);
  });

  it.each(["[1]", "{broken", '"text"', "{}x"])("is a text also where it looks like JSON: %s", (text) => {
    const { lines, print } = createRig();
    print(text);
    expect(lines()).toMatchObject([{ event: "bot.output", text }]);
  });

  it("holds neither a secret of the environment nor what looks like one", () => {
    const { print, written } = createRig();
    print(`${SECRET} https://api.telegram.org/bot7000000001:AAtokenTOKENtokenTOKEN/getMe Bearer abc.def`);
    expect(written.join()).not.toMatch(/hush|tokenTOKEN|abc\.def/);
  });
});

describe("what workerd says itself", () => {
  it("is a line with its words, and the code of a full disk", () => {
    const { lines, say } = createRig();
    say("database or disk is full: SQLITE_FULL");
    say("The flag is the default now", "warn");
    expect(lines()).toMatchObject([
      { level: "error", event: "runtime.output", source: "workerd/x.c++:1", code: "storage-full" },
      { level: "warn", event: "runtime.output", text: "The flag is the default now" },
    ]);
  });

  it("leaves out that a class is missing, which only follows a worker that could not be loaded", () => {
    const { lines, say } = createRig();
    say("service main: Uncaught Error: oops");
    say(
      'A DurableObjectNamespace in the config referenced the class "MyBot", but no such Durable Object class is exported from the worker. Please make sure the class name matches.',
      "warn",
    );
    expect(lines()).toMatchObject([{ level: "error", code: "Error" }]);
  });

  it.each([
    ["Uncaught exception: workerd/jsg/value.h:1511: failed: remote.jsg.Error: psst", "Error"],
    ["Uncaught TypeError: psst\n    at f (worker.js:9:1)", "TypeError"],
    ["Uncaught (in promise) RangeError: psst", "RangeError"],
    ["exception = jsg.TypeError: psst; stack: a@b", "TypeError"],
    [
      "uncaught exception; source = Uncaught (in promise); stack = Error: psst\n    at f (worker.js:9:1)",
      "Error",
    ],
    ["Uncaught (in promise) psst what somebody said", undefined],
    ["Uncaught OutOfBooks: psst", "OutOfBooks"],
    ["Uncaught Error: x\n    at psst they said (worker.js:1:1)\n    at f (worker.js:9:1)", "Error"],
    ["service main: SyntaxError: psst", "SyntaxError"],
  ])("has the kind of an exception and not its message: %s", (message, code) => {
    const { lines, say, written } = createRig();
    say(message);
    expect(lines().map(({ event }) => event)).toEqual(["runtime.output"]);
    expect(lines()[0]?.code).toBe(code);
    expect(written.join()).not.toContain("psst");
  });

  it.each([
    "*** Fatal uncaught kj::Exception: x.c++:83: failed: bind(): Address already in use",
    "Uncaught exception: kj/async-io-unix.c++:778: disconnected: connect(): Connection refused",
  ])("keeps workerd's own words: %s", (message) => {
    const { lines, say } = createRig();
    say(message);
    expect(lines()).toMatchObject([{ event: "runtime.output", text: message }]);
  });

  it("leaves out that an alarm was late, and runtime marks of its makers", () => {
    const { lines, say } = createRig();
    const late = "NOSENTRY SQLite alarm overdue, running despite AlarmManager mismatch; actorId = 0a1b";
    say(late, "warning");
    say("NOSENTRY output lock broke during alarm execution; actorId = 0a1b");
    expect(lines()).toMatchObject([{ text: "output lock broke during alarm execution; actorId = 0a1b" }]);
  });

  it("has the place of an exception, and during development its message", () => {
    const { lines, log } = createRig({ isRevealing: true });
    const message = `Uncaught TypeError: psst ${SECRET}\n    at f (worker.js:9:1)`;
    log.take(JSON.stringify({ timestamp: AT, level: "error", message }), "info");
    expect(lines()).toMatchObject([
      { text: "Uncaught TypeError: psst [hidden]", code: "TypeError", at: "at f (bot/worker.ts:3:5)" },
    ]);
  });

  it("is a line also where it is none of its JSON", () => {
    const { lines, log } = createRig();
    log.take("c.capnp:4:37: Parse error.", "error");
    log.take("", "error");
    expect(lines()).toMatchObject([
      { level: "error", event: "runtime.output", text: "c.capnp:4:37: Parse error." },
    ]);
  });

  it("is bounded in rate, and the rest is counted", async () => {
    const { clock, lines, print, say } = createRig();
    for (let index = 0; index < 5_000; index += 1) say("dup(): Too many open files");
    print("the bot goes on");
    expect(lines().filter(({ event }) => event === "runtime.output")).toHaveLength(5);
    expect(lines().at(-1)).toMatchObject({ event: "bot.output" });
    await clock.advance(10_000);
    expect(lines().at(-1)).toMatchObject({ level: "warn", event: "runtime.output-dropped", count: 4_995 });
    say("dup(): Too many open files");
    expect(lines().at(-1)).toMatchObject({ event: "runtime.output", text: "dup(): Too many open files" });
  });

  it("is shown beside what repeats, up to a limit for all of it", () => {
    const { lines, say } = createRig();
    for (let index = 0; index < 100; index += 1) say("dup(): Too many open files");
    say("something else");
    expect(lines().at(-1)).toMatchObject({ text: "something else" });
    for (let index = 0; index < 100; index += 1) say(`number ${index}`);
    expect(lines()).toHaveLength(30);
  });
});

describe("the outputs of a process", () => {
  it("are followed to their end, whatever the pieces they come in", async () => {
    const { lines, log } = createRig();
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const followed = log.follow(stdout, stderr);
    const line = Buffer.from(`${JSON.stringify({ timestamp: AT, level: "log", message: "grün" })}\n`);
    for (const byte of line) stdout.write(Buffer.from([byte]));
    stdout.end(JSON.stringify({ timestamp: AT, level: "log", message: "last" }));
    stderr.end("*** Fatal\n");
    await followed;
    expect(new Set(lines().map(({ text }) => text))).toEqual(new Set(["grün", "last", "*** Fatal"]));
  });

  it("tell at the end what was left out", async () => {
    const { lines, log, say } = createRig();
    const [stdout, stderr] = [new PassThrough(), new PassThrough()];
    const followed = log.follow(stdout, stderr);
    for (let index = 0; index < 6; index += 1) say("x");
    stdout.end();
    stderr.end();
    await followed;
    expect(lines().at(-1)).toMatchObject({ event: "runtime.output-dropped", count: 1 });
  });
});
