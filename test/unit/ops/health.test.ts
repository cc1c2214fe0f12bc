import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { afterEach, describe, expect, it } from "vitest";
import { askHealth, firstHealth, type Health } from "../../../ops/serve/health.ts";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function answering(status: number, body: string): Promise<string> {
  const server = createServer((_request, response) => response.writeHead(status).end(body));
  servers.push(server.listen(0, "127.0.0.1"));
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const PROBLEM = { kind: "problem", code: "model-missing", message: "There is no model." } as const;

describe("askHealth", () => {
  it.each<[string, number, string, Health]>([
    ["a bot that is ready", 200, '{"status":"ok"}', { kind: "ready" }],
    [
      "a bot that says what is wrong",
      503,
      '{"problem":{"code":"model-missing","message":"There is no model."}}',
      PROBLEM,
    ],
    ["a worker of another kind", 404, "not found", { kind: "foreign", status: 404 }],
    ["a 503 that says nothing", 503, "{}", { kind: "foreign", status: 503 }],
  ])("knows %s", async (_name, status, body, health) => {
    expect(await askHealth(await answering(status, body))).toEqual(health);
  });

  it("knows a server that is not there", async () => {
    expect(await askHealth("http://127.0.0.1:9")).toMatchObject({ kind: "cut" });
  });
});

describe("firstHealth", () => {
  /** Answers in this order, the last one for good, on a clock of its own. */
  function asking(...answers: readonly Health[]) {
    let now = 0;
    let asked = 0;
    const stop = new AbortController();
    const health = firstHealth({
      ask: () => Promise.resolve(answers[Math.min(asked++, answers.length - 1)] ?? { kind: "silent" }),
      now: () => now,
      pause: (ms) => Promise.resolve((now += ms)),
      stopped: stop.signal,
    });
    return { health, now: () => now, asked: () => asked };
  }
  const CUT = { kind: "cut", reason: "fetch failed" } as const;

  it("waits for a worker that is only slow to start", async () => {
    expect(await asking(CUT, CUT, { kind: "silent" }, { kind: "ready" }).health).toEqual({ kind: "ready" });
  });

  it("takes a problem for an answer", async () => {
    const { asked, health } = asking(PROBLEM, { kind: "ready" });
    expect(await health).toEqual(PROBLEM);
    expect(asked()).toBe(1);
  });

  it("gives up soon on a worker that ends every connection, with one sentence that says the fix", async () => {
    const { asked, health, now } = asking(CUT);
    await expect(health).rejects.toMatchObject({
      code: "no-answer",
      message:
        "The worker listens but ends every connection without a word. Its entry has to end with: export default createWorker(MyBot);",
    });
    expect(asked()).toBe(6);
    expect(now()).toBeLessThan(5_000);
  });

  it("gives up on a worker that never answers", async () => {
    await expect(asking({ kind: "silent" }).health).rejects.toMatchObject({ code: "no-answer" });
  });

  it("leaves a worker of another kind alone", async () => {
    const { health, now } = asking({ kind: "foreign", status: 404 });
    expect(await health).toEqual({ kind: "foreign", status: 404 });
    expect(now()).toBeLessThan(5_000);
  });
});
