import { Agent, request } from "node:http";

/** Posts updates over connections that stay open, as the platform does. */
export interface WebhookClient {
  /** Resolves to the milliseconds until the whole answer arrived. @throws {Error} for anything but a 200 */
  post(update: object): Promise<number>;
  close(): void;
}

export function createWebhookClient(url: string, secret: string, connections: number): WebhookClient {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const { hostname, port, pathname } = new URL(url);
  const post = (update: object): Promise<number> =>
    new Promise((resolve, reject) => {
      const body = JSON.stringify(update);
      const startedAt = performance.now();
      const outgoing = request(
        {
          agent,
          hostname,
          port,
          path: pathname,
          method: "POST",
          headers: {
            "content-type": "application/json",
            "content-length": Buffer.byteLength(body),
            "x-telegram-bot-api-secret-token": secret,
          },
        },
        (response) => {
          response.resume();
          response.on("error", reject);
          response.on("end", () => {
            const durationMs = performance.now() - startedAt;
            if (response.statusCode === 200) resolve(durationMs);
            else reject(new Error(`The webhook was answered ${response.statusCode}.`));
          });
        },
      );
      outgoing.on("error", (error) => {
        // The server closed a connection that was idle, before it read anything.
        const isStale = outgoing.reusedSocket && "code" in error && error.code === "ECONNRESET";
        if (isStale) resolve(post(update));
        else reject(error);
      });
      outgoing.end(body);
    });
  return {
    post,
    close: () => agent.destroy(),
  };
}
