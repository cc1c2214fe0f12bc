import { createExecutionContext, evictDurableObject } from "cloudflare:test";
import { Agent } from "agents";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { createWorker } from "../../../src/index.ts";
import type { WorkerOptions } from "../../../src/index.ts";
import type { PlatformContext } from "../../../src/core/chat/messenger.ts";
import type { Surface } from "../../../src/core/chat/surface.ts";
import { testEnv } from "../test-env.ts";
import { SECRET, SECRET_HEADER } from "../support/fake-platform.ts";
import { captureLog } from "../support/log-lines.ts";
import { LazyModel } from "../../../src/models/index.ts";
import { createWorld } from "../support/world.ts";
import { BareBot, ScriptedBot } from "../worker.ts";

type Env = typeof testEnv & { readonly ADMIN_TOKEN?: string };

function serve(options: WorkerOptions<Env> = {}, adminToken?: string) {
  const worker = createWorker<Env>(ScriptedBot, options);
  return async (path: string, init?: RequestInit): Promise<Response> => {
    if (worker.fetch === undefined) throw new Error("createWorker() made no fetch handler");
    const request = new Request(`https://bot.example${path}`, init) as Parameters<typeof worker.fetch>[0];
    return worker.fetch(request, { ...testEnv, ADMIN_TOKEN: adminToken }, createExecutionContext());
  };
}

const bearer = (token: string): RequestInit => ({ headers: { authorization: `Bearer ${token}` } });

describe("createWorker", () => {
  it("says that it is there", async () => {
    const response = await serve({ root: createWorld().root })("/health");
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ status: "ok", agent: "ScriptedBot" });
  });

  it("has the menu of commands told before the first message, and waits for nobody to take it", async () => {
    const told: string[][] = [];
    const world = createWorld({
      commands: { hours: { description: "When we are open", handler: () => "9 to 5" } },
      messengers: (self) => {
        const { platform, ...rest } = self.messenger();
        const setCommands = (list: readonly { readonly name: string }[]): Promise<void> => {
          told.push(list.map(({ name }) => name));
          return new Promise(() => {});
        };
        return { fake: { ...rest, platform: { ...platform, setCommands } } };
      },
    });
    const ask = serve({ root: world.root });
    for (let count = 0; count < 3; count += 1) {
      expect(await (await ask("/health")).json()).toEqual({ status: "ok", agent: "ScriptedBot" });
    }
    await vi.waitFor(() => expect(told).toEqual([["start", "help", "stop", "new", "hours"]]));
  });

  it("asks for another try while its storage takes nothing, and says why in the log only (I1, I10)", async () => {
    const log = captureLog();
    const worker = createWorker<Env>(ScriptedBot);
    const full = (): never => {
      throw new Error("database or disk is full: SQLITE_FULL");
    };
    const context = Object.assign(createExecutionContext(), {
      exports: { ScriptedBot: { getByName: () => ({ fetch: full }) } },
    });
    if (worker.fetch === undefined) throw new Error("createWorker() made no fetch handler");
    const request = new Request("https://bot.example/messengers/fake/webhook", { method: "POST" });
    const response = await worker.fetch(request as Parameters<typeof worker.fetch>[0], testEnv, context);
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "1"]);
    expect(await response.text()).not.toMatch(/SQLITE|disk/);
    const time = expect.any(String) as unknown;
    expect(log).toEqual([{ time, level: "error", event: "root.failed", code: "storage-full" }]);
  });

  it.each([
    ["root", "/messengers/fake/webhook"],
    ["authorize", "/agents/scripted-bot/default"],
    ["authorize", "/sub/inner"],
  ])("tells nothing of what the bot's own %s throws at %s (I10)", async (name, path) => {
    const log = captureLog();
    const fail = (): never => {
      throw new Error("https://idp.example/?token=s3cret");
    };
    const response = await serve({ [name]: fail })(path, { method: "POST" });
    expect(response.status).toBe(503);
    expect(await response.text()).not.toMatch(/idp|s3cret/);
    expect(log).toContainEqual(expect.objectContaining({ event: "bot.failed", method: name, code: "Error" }));
    expect(JSON.stringify(log)).not.toMatch(/idp|s3cret/);
  });

  it("says what is wrong while no message could be answered, and logs it once", async () => {
    const log = captureLog();
    const worker = createWorker<Env>(BareBot);
    const ask = async (): Promise<unknown> => {
      if (worker.fetch === undefined) throw new Error("createWorker() made no fetch handler");
      const request = new Request("https://bot.example/health") as Parameters<typeof worker.fetch>[0];
      const response = await worker.fetch(request, testEnv, createExecutionContext());
      return { code: response.status, ...((await response.json()) as object) };
    };
    const problem = { code: "model-missing" };
    const expected = { code: 503, status: "misconfigured", agent: "BareBot", problem };
    expect(await ask()).toMatchObject(expected);
    expect(await ask()).toMatchObject(expected);
    expect(log.filter(({ event }) => event === "bot.failed")).toHaveLength(1);
  });

  it.each([
    ["no messenger", () => ({}), /has no messenger.*getMessengers\(\) \{ return defineMessengers\(/],
    [
      "a promise of messengers",
      () => Promise.resolve({}) as never,
      /word async away.*return defineMessengers\(/,
    ],
  ])("is not ready when there is %s, says what to write, and lives", async (_name, messengers, message) => {
    const log = captureLog();
    const ask = serve({ root: createWorld({ messengers }).root });
    for (let count = 0; count < 2; count += 1) {
      const response = await ask("/health");
      expect(response.status).toBe(503);
      expect(await response.json()).toMatchObject({
        status: "misconfigured",
        problem: { code: "messengers-missing", message: expect.stringMatching(message) as string },
      });
    }
    expect(log.length).toBeLessThanOrEqual(1);
    const live = await ask("/health/live");
    expect([live.status, await live.json()]).toEqual([200, { status: "live" }]);
  });

  it("is not ready while the package of its model is missing, and names it", async () => {
    captureLog();
    const load = (missing: (error: unknown) => never) =>
      Promise.reject(new Error("No such module")).catch(missing);
    const model = new LazyModel({ packageName: "@ai-sdk/x", provider: "x", modelId: "x-1", load });
    const ask = serve({ root: createWorld({ getModel: () => ({ models: [model] }) }).root });
    const response = await ask("/health");
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({
      status: "misconfigured",
      problem: {
        code: "model-package-missing",
        message: expect.stringContaining("npm install @ai-sdk/x") as string,
      },
    });
  });

  it("is not ready while the platform refuses the token, which shows with the first answer", async () => {
    captureLog();
    let isRefused = true;
    const world = createWorld({
      messengers: (self) => {
        const { platform, ...rest } = self.messenger();
        const surface: Surface = {
          ...platform.surface({} as PlatformContext),
          classifyError: () => ({ kind: "misconfigured", code: "token-refused" }),
          post: async () => {
            throw new Error("401");
          },
        };
        const checkAccess = async (): Promise<void> => {
          if (isRefused) throw new Error("401");
        };
        return { fake: { ...rest, platform: { ...platform, checkAccess, surface: () => surface } } };
      },
    });
    const ask = serve({ root: world.root });
    expect((await ask("/health")).status).toBe(200);
    await world.write("c1", "Hello");
    await vi.waitFor(async () => expect((await ask("/health")).status).toBe(503));
    expect(await (await ask("/health")).json()).toMatchObject({
      status: "misconfigured",
      problem: {
        code: "token-refused",
        message: expect.stringMatching(/"fake" \(token-refused\)/) as string,
      },
    });
    isRefused = false;
    await evictDurableObject(world.stub);
    expect((await ask("/health")).status).toBe(200);
  });

  it("is not ready while its root cannot commit, and says that the disk is full", async () => {
    const worker = createWorker<Env>(ScriptedBot);
    const full = (): never => {
      throw new Error("database or disk is full: SQLITE_FULL");
    };
    const context = Object.assign(createExecutionContext(), {
      exports: { ScriptedBot: { getByName: () => ({ inner: full }) } },
    });
    if (worker.fetch === undefined) throw new Error("createWorker() made no fetch handler");
    const request = new Request("https://bot.example/health");
    const response = await worker.fetch(request as Parameters<typeof worker.fetch>[0], testEnv, context);
    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({
      status: "unavailable",
      problem: { code: "storage-full", message: expect.stringContaining("Free some space") as string },
    });
  });

  it("gives a webhook to the root that is named, or that a function names", async () => {
    const world = createWorld();
    const body = (id: string) => JSON.stringify({ id, chat: "c1", user: "ada", text: id });
    const post = (id: string): RequestInit => ({
      method: "POST",
      headers: { [SECRET_HEADER]: SECRET },
      body: body(id),
    });
    const path = "/messengers/fake/webhook";
    expect((await serve({ root: world.root })(path, post("one"))).status).toBe(200);
    await world.shows("c1", "You said: one");
    const byHeader = serve({ root: (request) => request.headers.get("x-shard") ?? "default" });
    const sharded = post("two");
    const response = await byHeader(path, {
      ...sharded,
      headers: { [SECRET_HEADER]: SECRET, "x-shard": world.root },
    });
    expect(response.status).toBe(200);
    await world.shows("c1", "You said: one", "You said: two");
  });

  it.each(["", "a/b"])('refuses the root name "%s"', async (root) => {
    await expect(serve({ root })("/")).rejects.toMatchObject({ code: "root-name-invalid" });
    await expect(serve({ root: () => root })("/")).rejects.toMatchObject({ code: "root-name-invalid" });
  });

  it("refuses a class that does not extend Think", () => {
    class Stranger extends Agent {}
    expect(() => createWorker(Stranger)).toThrow(/needs a class that extends Think; Stranger does not/);
  });

  it("refuses an option that does not exist, and one of another type", () => {
    const misspelt = { root: "shop", authorise: () => true };
    expect(() => createWorker(ScriptedBot, misspelt)).toThrow(
      'authorise of createWorker does not exist. Did you mean "authorize"?',
    );
    const options = { root: 5 as unknown as string };
    expect(() => createWorker(ScriptedBot, options)).toThrow(
      "root of createWorker must be a name without / or a function. It is 5.",
    );
  });
});

describe("/agents", () => {
  const asked: string[] = [];
  const world = createWorld({
    onRequest: (_request, agent) => {
      asked.push(agent.name);
      return new Response("the bot's own page");
    },
  });
  beforeEach(() => void captureLog());
  const path = `/agents/scripted-bot/${world.root}`;

  it("is closed to everybody when there is no ADMIN_TOKEN", async () => {
    for (const init of [undefined, bearer(""), bearer("undefined")]) {
      const response = await serve()(path, init);
      expect(response.status).toBe(401);
      expect(response.headers.get("www-authenticate")).toBe("Bearer");
    }
    expect((await serve({}, "")(path, bearer(""))).status).toBe(401);
  });

  it("is closed to a wrong token, and open to the right one", async () => {
    const fetchAgents = serve({}, "right");
    expect((await fetchAgents(path)).status).toBe(401);
    expect((await fetchAgents(path, bearer("wrong"))).status).toBe(401);
    expect((await fetchAgents(path, { headers: { authorization: "Basic right" } })).status).toBe(401);
    const response = await fetchAgents(path, bearer("right"));
    expect(response.status).toBe(200);
    expect(await response.text()).toBe("the bot's own page");
  });

  it("reaches a conversation by its name", async () => {
    asked.length = 0;
    const name = encodeURIComponent(`${world.root}/thread:fake:fake%3Ac1`);
    const response = await serve({}, "right")(`/agents/scripted-bot/${name}`, bearer("right"));
    expect(await response.text()).toBe("the bot's own page");
    const other = encodeURIComponent(`${world.root}/thread:fake:fake%3Ac2`);
    await serve({}, "right")(`/agents/scripted-bot/${other}`, bearer("right"));
    expect(asked).toEqual([`${world.root}/thread:fake:fake%3Ac1`, `${world.root}/thread:fake:fake%3Ac2`]);
  });

  it("answers 404 for a name that is no name", async () => {
    const response = await serve({}, "right")("/agents/scripted-bot/%E0%A4%A", bearer("right"));
    expect(response.status).toBe(404);
  });

  it("has no way around the check by the path", async () => {
    const fetchAgents = serve({}, "right");
    for (const around of ["/agents", "/agents/", `/x/..${path}`, `/./agents/scripted-bot/${world.root}`]) {
      expect((await fetchAgents(around)).status).toBe(401);
    }
  });

  it("refuses a class that is not there", async () => {
    const response = await serve({}, "right")("/agents/no-such-class/name", bearer("right"));
    expect(response.status).toBe(400);
    expect((await serve({}, "right")("/agents/scripted-bot", bearer("right"))).status).toBe(404);
  });

  it("asks the same of a socket and of a sub-agent's path, which reach into the root", async () => {
    const fetchBot = serve({}, "right");
    expect((await fetchBot("/any", { headers: { upgrade: "websocket" } })).status).toBe(401);
    expect((await fetchBot("/sub/scripted-bot/child")).status).toBe(401);
    expect((await fetchBot("/x/sub/scripted-bot/child")).status).toBe(401);
  });

  it("lets `authorize` decide instead", async () => {
    expect((await serve({ authorize: () => true })(path)).status).toBe(200);
    expect((await serve({ authorize: () => false }, "right")(path, bearer("right"))).status).toBe(401);
    const redirect = await serve({
      authorize: async () => new Response("log in", { status: 302, headers: { location: "/login" } }),
    })(path);
    expect(redirect.status).toBe(302);
  });
});
