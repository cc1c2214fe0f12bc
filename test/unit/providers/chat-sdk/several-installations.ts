import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Adapter } from "chat";
import { afterAll, afterEach, beforeAll, beforeEach, vi } from "vitest";
import { createNodeDatabase } from "../../../../lab/support/node-database.ts";
import type { NodeDatabase } from "../../../../lab/support/node-database.ts";
import { chatSdkMessenger } from "../../../../providers/chat-sdk/index.ts";
import type { ChatSdkMessengerOptions } from "../../../../providers/chat-sdk/index.ts";
import type {
  IncomingEvent,
  MessengerPlatform,
  PlatformContext,
} from "../../../../src/core/chat/messenger.ts";
import type { Address, OutgoingMessage } from "../../../../src/core/chat/surface.ts";
import { createPlatformContext, createReceiver } from "../platform-context.ts";

export const SECRETS_KEY = Buffer.alloc(32, 7).toString("base64");
export const secret = "s3cret";
export const NOW = 1_800_000_000_000;

export interface Call {
  readonly path: string;
  readonly authorization: string;
  readonly body: string;
}
/** A server that stands for the platform. */
export interface Stub {
  calls: Call[];
  answer: (call: Call) => { readonly status?: number; readonly body: unknown };
  url: string;
}

/** Serves a stub while the tests of a file run. */
export function useStub(): Stub {
  const stub: Stub = { calls: [], answer: () => ({ body: {} }), url: "" };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const call = {
      path: request.url ?? "",
      authorization: (request.headers.authorization ?? "").replace(/^(?:Bearer|token) /i, ""),
      body: Buffer.concat(chunks).toString("utf8"),
    };
    stub.calls.push(call);
    const { body, status = 200 } = stub.answer(call);
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  });
  beforeAll(async () => {
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    stub.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  beforeEach(() => {
    stub.calls = [];
  });
  afterEach(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });
  return stub;
}

export interface BotObject {
  readonly platform: MessengerPlatform;
  readonly context: PlatformContext;
  readonly receive: (request: Request) => Promise<{
    readonly status: number;
    readonly keys: readonly string[];
    readonly events: readonly IncomingEvent[];
  }>;
  readonly post: (address: Address, text: string) => Promise<unknown>;
}

/** A bot of one root. */
export interface Bot {
  /** Opens another object, or the same after a restart. */
  open(): BotObject;
  readonly database: NodeDatabase;
  readonly clock: { now: number };
  secretNames(): string[];
  setRootDown(isDown: boolean): void;
}

/** A bot whose objects share the rows of one root. Each `open` is another object, or the same after a restart. */
export function createBot(adapter: () => Adapter, options: Partial<ChatSdkMessengerOptions> = {}): Bot {
  const database = createNodeDatabase();
  const clock = { now: NOW };
  const chatIds: string[] = [];
  let atRoot: object | undefined;
  let isRootDown = false;
  const part = () =>
    new Proxy(
      {},
      {
        get: (_target, method) =>
          typeof method !== "string" || method === "then"
            ? undefined
            : async (...args: unknown[]) => {
                if (isRootDown) throw new Error("the root cannot be reached");
                const call = (atRoot as Record<string, (...given: unknown[]) => unknown>)[method];
                return call?.(...args);
              },
      },
    );
  const open = (): BotObject => {
    const { platform } = chatSdkMessenger({ adapter: adapter(), verifyWebhook: false, ...options });
    const made = createPlatformContext({ atRoot: part(), fetch: globalThis.fetch });
    const deps = { ...made.context.deps, clock: { ...made.context.deps.clock, now: () => clock.now } };
    const context = { ...made.context, deps };
    atRoot ??= platform.atRoot?.({ messengerId: "bot", database, deps, env: { SECRETS_KEY } });
    return {
      platform,
      context,
      async receive(request) {
        const receiver = createReceiver(async () => {
          if (isRootDown) throw new Error("not stored");
        }, chatIds);
        const response = await platform
          .receive(request, context, receiver)
          .catch(() => new Response(null, { status: 503 }));
        const { accepted } = receiver;
        chatIds.push(...accepted.map(({ thread }) => thread.chatId));
        return { status: response.status, keys: accepted.map(({ key }) => key), events: accepted };
      },
      async post(address, text) {
        const surface = platform.surface(context);
        const message: OutgoingMessage = { text, entities: [] };
        const signal = new AbortController().signal;
        return surface.post(address, message, { signal }).then(
          ({ messageId }) => messageId,
          (error: unknown) => surface.classifyError(error),
        );
      },
    };
  };
  const secretNames = () =>
    database
      .all("SELECT name FROM sqlite_master WHERE name = 'secret_v1'")
      .flatMap(() => database.all<{ name: string }>("SELECT name FROM secret_v1 ORDER BY name"))
      .map(({ name }) => name);
  return { open, database, clock, secretNames, setRootDown: (isDown: boolean) => void (isRootDown = isDown) };
}

export const addressOf = (chatId: string, threadId = chatId): Address => ({
  messengerId: "bot",
  chatId,
  threadId,
  isDirectMessage: false,
});

/** Presses the link of the installation, accepts, and comes back with a code. */
export async function install(
  object: BotObject,
  code: string,
  change: (request: Request) => Request = (same): Request => same,
): Promise<{ readonly page: URL; readonly status: number | undefined }> {
  const { context, platform } = object;
  const begun = await platform.install?.(
    new Request("https://bot.example/messengers/bot/install"),
    "begin",
    context,
  );
  const page = new URL(begun?.headers.get("location") ?? "");
  const cookie = begun?.headers.get("set-cookie")?.split(";", 1)[0] ?? "";
  const back = new URL(page.searchParams.get("redirect_uri") ?? "");
  back.searchParams.set("code", code);
  back.searchParams.set("state", page.searchParams.get("state") ?? "");
  const finished = await platform.install?.(
    change(new Request(back, { headers: { cookie } })),
    "finish",
    context,
  );
  return { page, status: finished?.status };
}
