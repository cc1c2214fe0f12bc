import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, describe, expect, it } from "vitest";

const root = path.resolve(import.meta.dirname, "../..");
let dataDirectory: string;
const started: ChildProcess[] = [];

beforeEach(async () => {
  dataDirectory = await mkdtemp(path.join(tmpdir(), "switchboard-start-"));
});
afterEach(async () => {
  for (const child of started.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) continue;
    const closed = once(child, "close");
    try {
      process.kill(-child.pid, "SIGKILL");
    } catch {
      // It has ended by itself, and Node has not been told yet.
    }
    await closed;
  }
  await rm(dataDirectory, { recursive: true });
});

interface Playground {
  readonly addresses: Readonly<Record<string, string>>;
  readonly errors: () => string;
  /** Settles when standard error has the text, now or later. */
  readonly says: (text: string) => Promise<void>;
  /** As Ctrl-C in a terminal does: the signal reaches every process of the group. */
  interrupt(): Promise<number | null>;
}

const PROBE = path.join(root, "test/worker/probe/wrangler.jsonc");

async function startPlayground(...parameters: string[]): Promise<Playground> {
  const child = spawn(
    process.execPath,
    [
      "cli/main.ts",
      "dev",
      "--beside",
      "playground/shop/beside.ts",
      "--json",
      "--config",
      PROBE,
      ...parameters,
    ],
    {
      cwd: root,
      detached: true,
      env: {
        PATH: process.env.PATH,
        NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
        HOME: process.env.HOME,
        DATA_DIR: dataDirectory,
        CACHE_DIR: path.join(root, "node_modules/.cache/switchboard"),
        PORT: "0",
      },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  started.push(child);
  let errors = "";
  child.stderr.on("data", (chunk) => (errors += chunk));
  const closed = once(child, "close");
  const [line] = await Promise.race([
    once(createInterface({ input: child.stdout }), "line"),
    closed.then(() => Promise.reject(new Error(errors))),
  ]);
  const answer = JSON.parse(String(line)) as { readonly error?: { readonly message: string } };
  if (answer.error !== undefined) throw new Error(answer.error.message);
  return {
    addresses: answer as Record<string, string>,
    errors: () => errors,
    says: async (text) => {
      while (!errors.includes(text)) await once(child.stderr, "data");
    },
    async interrupt() {
      process.kill(-(child.pid ?? 0), "SIGINT");
      await closed;
      return child.exitCode;
    },
  };
}

async function answers(url: string | undefined): Promise<boolean> {
  return fetch(url ?? "", { signal: AbortSignal.timeout(2_000) }).then(
    (response) => response.ok,
    () => false,
  );
}

describe("npm start", () => {
  it("brings up bot, shop and simulator, and ends all of them with Ctrl-C", async () => {
    const playground = await startPlayground("--port", "0");
    const { addresses } = playground;
    const urls = [`${addresses.bot}/health`, `${addresses.shop}/orders`, addresses.playground];
    expect(await Promise.all(urls.map(answers))).toEqual([true, true, true]);
    expect(await playground.interrupt()).toBe(0);
    expect(await Promise.all(urls.map(answers))).toEqual([false, false, false]);
    expect(playground.errors()).not.toContain("again");
  });

  it("shows what the bot's own code throws, and where", async () => {
    const failing = path.join(root, "test/e2e/bots/failing/wrangler.jsonc");
    const { addresses, errors, says } = await startPlayground("--port", "0", "--config", failing);
    const control = `${addresses.playground}/_sim`;
    const { users, chats } = (await (await fetch(`${control}/state`)).json()) as {
      readonly users: readonly { readonly id: number }[];
      readonly chats: readonly { readonly id: number }[];
    };
    await fetch(`${control}/sendText`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ chatId: chats[0]?.id, userId: users.at(-1)?.id, text: "/fail" }),
    });
    await says('"outcome":"command: fail"');
    const line = errors()
      .split("\n")
      .find((candidate) => candidate.includes('"method":"/fail"'));
    expect(JSON.parse(line ?? "")).toMatchObject({
      event: "bot.failed",
      message: "EXCEPTION-DETAIL of the command",
      at: expect.stringMatching(/^at handler \(test\/e2e\/bots\/failing\/worker\.ts:\d+/) as unknown,
    });
  });

  it("opens on a chat with one person, who is there only once after a restart", async () => {
    const shown = async ({ addresses }: Playground) => {
      const state = (await (await fetch(`${addresses.playground}/_sim/state`)).json()) as {
        readonly users: readonly { readonly first_name: string }[];
        readonly chats: readonly { readonly type: string }[];
      };
      return [state.users.map((user) => user.first_name), state.chats.map(({ type }) => type)];
    };
    const first = await startPlayground("--port", "0");
    expect(await shown(first)).toEqual([["Alex"], ["private"]]);
    await first.interrupt();
    expect(await shown(await startPlayground("--port", "0"))).toEqual([["Alex"], ["private"]]);
  });

  it("keeps its data over a restart, and forgets it with --fresh", async () => {
    const kept = path.join(dataDirectory, "objects", "kept");
    await mkdir(kept, { recursive: true });
    await (await startPlayground("--port", "0")).interrupt();
    expect(existsSync(kept)).toBe(true);
    await (await startPlayground("--port", "0", "--fresh")).interrupt();
    expect(existsSync(kept)).toBe(false);
  });

  it("does nothing on a data directory where another one runs, and says so", async () => {
    const first = await startPlayground("--port", "0");
    const second = await startPlayground("--port", "0", "--fresh").then(
      () => "it started",
      (error: unknown) => String(error),
    );
    expect(second).toBe(
      `Error: An instance already runs on the data directory ${dataDirectory}; stop that one, or set DATA_DIR.`,
    );
    expect(await answers(first.addresses.playground)).toBe(true);
  });

  it("takes the next port when the wanted one is in use, and says so", async () => {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const { addresses, errors } = await startPlayground("--port", String(port));
    server.close();
    expect(Number(new URL(addresses.playground ?? "").port)).toBeGreaterThan(port);
    expect(errors()).toContain(`Port ${port} is in use; taking `);
  });

  it("says why the bot is not ready, in its answer and on the page, and keeps running", async () => {
    const config = path.join(root, "test/e2e/bots/misconfigured/wrangler.jsonc");
    const { addresses } = await startPlayground("--port", "0", "--config", config);
    const problem =
      'delivery.mode of the messenger "telegram" must be "edit", "draft", "native", "buffered" or "final-only". Did you mean "edit"?';
    expect(addresses).toMatchObject({ ready: false, problem });
    expect((await fetch(`${addresses.bot}/health`)).status).toBe(503);
    expect((await fetch(`${addresses.bot}/health/live`)).status).toBe(200);
    const state = (await (await fetch(`${addresses.playground}/_sim/state`)).json()) as {
      readonly webhook: { readonly botProblem?: string };
    };
    expect(state.webhook.botProblem).toBe(problem);
  });
});
