import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { ORDERS } from "./orders.ts";
import { pictureAddress } from "./pictures.ts";
import { Refunds } from "./refunds.ts";

export interface Shop {
  readonly url: string;
  close(): Promise<void>;
}

export interface ShopOptions {
  readonly port?: number;
  /** Whether orders name their pictures, which only the simulator can fetch. @default false */
  readonly pictures?: boolean;
}

/**
 * The shop's backend: `GET /orders`, `GET /orders/:id`, `GET /refunds`, and `POST /refunds`, which refunds once for each
 * `idempotency-key`; 404 with JSON for everything else.
 */
export async function startShop(options: ShopOptions = {}): Promise<Shop> {
  const orders = ORDERS.map(({ picture, ...order }) => ({
    ...order,
    ...(options.pictures === true && { picture: pictureAddress(picture) }),
  }));
  const refunds = new Refunds();
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://shop");
    if (pathname === "/refunds" && request.method === "POST") {
      const read = json(request).catch(() => undefined);
      void read.then((body) => {
        const { answer, status } = refunds.create(request.headers["idempotency-key"], body);
        send(response, status, answer);
      });
      return;
    }
    if (request.method !== "GET") {
      response.setHeader("allow", "GET");
      return send(response, 405, { error: "Orders can only be read." });
    }
    if (pathname === "/refunds") return send(response, 200, { refunds: refunds.all() });
    if (pathname === "/orders") return send(response, 200, { orders });
    const id = /^\/orders\/([^/]+)$/.exec(pathname)?.[1];
    if (id === undefined)
      return send(response, 404, { error: "There is nothing here. Orders are at /orders." });
    const order = orders.find((candidate) => candidate.id === id);
    if (order === undefined) return send(response, 404, { error: "There is no order with this number." });
    send(response, 200, order);
  });
  server.listen(options.port ?? 0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

function send(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}
