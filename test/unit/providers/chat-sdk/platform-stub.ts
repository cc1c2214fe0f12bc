import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createDiscordAdapter } from "@chat-adapter/discord";
import { createGoogleChatAdapter } from "@chat-adapter/gchat";
import { createGitHubAdapter } from "@chat-adapter/github";
import { createLinearAdapter } from "@chat-adapter/linear";
import { createSlackAdapter } from "@chat-adapter/slack";
import { createTeamsAdapter } from "@chat-adapter/teams";
import { createWhatsAppAdapter } from "@chat-adapter/whatsapp";
import type { Adapter } from "chat";

/** An answer of a platform. Without a status, the connection is cut after the request has arrived. */
export interface PlatformAnswer {
  readonly status: number | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

export interface PlatformStub {
  readonly url: string;
  /** Requests since the last answer was set: method and path. */
  readonly requests: readonly string[];
  /** Bodies of these requests. */
  readonly bodies: readonly string[];
  /** Sets the answer to all requests. */
  answer(answer: PlatformAnswer | ((body: string) => PlatformAnswer)): void;
  close(): Promise<void>;
}

/** A server that stands for any platform. */
export async function startPlatformStub(): Promise<PlatformStub> {
  const requests: string[] = [];
  const bodies: string[] = [];
  let answerTo: (body: string) => PlatformAnswer = () => ({ status: 200, body: {} });
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    requests.push(`${request.method} ${request.url}`);
    const sent = Buffer.concat(chunks).toString("utf8");
    bodies.push(sent);
    const { status, headers, body = {} } = answerTo(sent);
    if (status === undefined) {
      request.socket.destroy();
      return;
    }
    response.writeHead(status, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    bodies,
    answer(answer) {
      requests.length = 0;
      bodies.length = 0;
      answerTo = typeof answer === "function" ? answer : () => answer;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

/** An adapter that speaks to the stub, and places to write to. */
export interface RealAdapter {
  readonly adapter: Adapter;
  readonly chatId: string;
  /** A thread of the chat, or the chat itself on a platform without threads. */
  readonly threadId: string;
  /** A message of the chat. */
  readonly messageId: string;
}

const secret = "s3cret";

/** The real adapters, each with the client that it has by default. */
export const realAdapters = {
  slack: (url: string): RealAdapter => ({
    adapter: createSlackAdapter({ apiUrl: `${url}/`, botToken: "xoxb-1", signingSecret: secret }),
    chatId: "slack:C1",
    threadId: "slack:C1:1.1",
    messageId: "1.2",
  }),
  discord: (url: string): RealAdapter => ({
    adapter: createDiscordAdapter({
      apiUrl: url,
      applicationId: "1",
      botToken: "token",
      publicKey: "ab".repeat(32),
    }),
    chatId: "discord:1:2",
    threadId: "discord:1:2",
    messageId: "3",
  }),
  teams(url: string): RealAdapter {
    const adapter = createTeamsAdapter({ apiUrl: url, appId: "app", appTenantId: "t", token: () => jwt });
    const threadId = adapter.encodeThreadId({ conversationId: "a:1", serviceUrl: `${url}/` });
    return { adapter, chatId: threadId, threadId, messageId: "3" };
  },
  whatsapp: (url: string): RealAdapter => ({
    adapter: createWhatsAppAdapter({
      apiUrl: url,
      accessToken: "EAAG",
      appSecret: secret,
      phoneNumberId: "1",
      verifyToken: secret,
      userName: "shop",
    }),
    chatId: "whatsapp:1:2",
    threadId: "whatsapp:1:2",
    messageId: "wamid.1",
  }),
  gchat: (url: string): RealAdapter => ({
    adapter: createGoogleChatAdapter({ apiUrl: url, auth: "key", googleChatProjectNumber: "1" }),
    chatId: "gchat:spaces/A",
    threadId: "gchat:spaces/A",
    messageId: "spaces/A/messages/B",
  }),
  github: (url: string): RealAdapter => ({
    adapter: createGitHubAdapter({ apiUrl: url, token: "ghp", webhookSecret: secret, userName: "bot" }),
    chatId: "github:shop/web:issue:1",
    threadId: "github:shop/web:issue:1",
    messageId: "3",
  }),
  linear(url: string): RealAdapter {
    const adapter = createLinearAdapter({ apiUrl: url, apiKey: "lin", webhookSecret: secret });
    const issueId = "2174add1-f7c8-44e3-bbf3-2d60b5ea8bc9";
    return {
      adapter,
      chatId: `linear:${issueId}`,
      threadId: adapter.encodeThreadId({ issueId, commentId: "c1" }),
      messageId: "3",
    };
  },
} as const;

export type RealAdapterName = keyof typeof realAdapters;

/** A token as the Teams SDK reads it. */
const jwt = `${base64({ alg: "none" })}.${base64({ aud: "app", exp: 4_000_000_000, iat: 1 })}.signature`;

function base64(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}
