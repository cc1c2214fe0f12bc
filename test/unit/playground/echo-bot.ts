import { createServer } from "node:http";
import type { IncomingMessage, Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Api } from "grammy";
import type { Update } from "grammy/types";
import type { Simulator } from "../../../playground/telegram/simulator.ts";

/** What a test's bot answers to one update: an HTTP status, and a body if any. */
export interface WebhookAnswer {
  readonly status: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface WebhookServer {
  readonly url: string;
  readonly received: readonly { readonly update: Update; readonly headers: IncomingMessage["headers"] }[];
  close(): Promise<void>;
}

/** A webhook on a free port that hands each update to `onUpdate`. */
export async function startWebhook(
  onUpdate: (update: Update) => WebhookAnswer | Promise<WebhookAnswer> | "cut",
): Promise<WebhookServer> {
  const received: { update: Update; headers: IncomingMessage["headers"] }[] = [];
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const update = JSON.parse(Buffer.concat(chunks).toString()) as Update;
      received.push({ update, headers: request.headers });
      void Promise.resolve(onUpdate(update)).then((answer) => {
        if (answer === "cut") response.destroy();
        else response.writeHead(answer.status, answer.headers).end(answer.body);
      });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

export function apiOf(simulator: Simulator): Api {
  return new Api(simulator.token, { apiRoot: simulator.url });
}
