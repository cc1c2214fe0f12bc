import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { OrderDesk } from "./order-desk.ts";
import { pictureAddress } from "./pictures.ts";
import { Refunds, refused, type Answer } from "./refunds.ts";

export interface Shop {
  readonly url: string;
  readonly orders: OrderDesk;
  close(): Promise<void>;
}

export interface ShopOptions {
  readonly port?: number;
  /** Whether orders name their pictures, which only the simulator can fetch. @default false */
  readonly pictures?: boolean;
  /** Awaited before the answer to a GET of a path. @default answers at once */
  readonly beforeRead?: (pathname: string) => Promise<void> | undefined;
}

/**
 * The shop's backend. It answers in JSON, and with 404 for everything else:
 *
 * - `GET /orders`, `GET /orders/:id`, `GET /products`, `GET /refunds`
 * - `POST /orders/:id/cancel` and `POST /orders/:id/address`, while the order is still in the shop
 * - `POST /orders/:id/return`, once it is delivered
 * - `POST /refunds`, which refunds once for each `idempotency-key`
 */
export async function startShop(options: ShopOptions = {}): Promise<Shop> {
  const refunds = new Refunds();
  const orders = new OrderDesk(refunds, ({ picture }) =>
    options.pictures === true ? pictureAddress(picture) : undefined,
  );
  const read = (pathname: string): Answer => {
    if (pathname === "/refunds") return { status: 200, answer: { refunds: refunds.all() } };
    if (pathname === "/products") return { status: 200, answer: { products: orders.products() } };
    if (pathname === "/orders") return { status: 200, answer: { orders: orders.all() } };
    const id = /^\/orders\/([^/]+)$/.exec(pathname)?.[1];
    return id === undefined
      ? refused(404, "There is nothing here. Orders are at /orders.")
      : orders.get(decodeURIComponent(id));
  };
  const write = (request: IncomingMessage, pathname: string, body: unknown): Answer => {
    if (pathname === "/refunds") return refunds.create(request.headers["idempotency-key"], body);
    const [, id = "", what] = /^\/orders\/([^/]+)\/(cancel|address|return)$/.exec(pathname) ?? [];
    if (what === "cancel") return orders.cancel(decodeURIComponent(id));
    if (what === "address") return orders.changeAddress(decodeURIComponent(id), body);
    if (what === "return") return orders.takeBack(decodeURIComponent(id), body);
    return refused(405, "This can only be read.");
  };
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://shop");
    if (request.method === "GET") {
      void Promise.resolve(options.beforeRead?.(pathname)).then(() => send(response, read(pathname)));
      return;
    }
    if (request.method !== "POST") return send(response, refused(405, "This can only be read."));
    void json(request)
      .catch(() => undefined)
      .then((body) => send(response, write(request, pathname, body)));
  });
  server.listen(options.port ?? 0, "127.0.0.1");
  await once(server, "listening");
  return {
    orders,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}

function send(response: ServerResponse, { answer, status }: Answer): void {
  response.writeHead(status, {
    "content-type": "application/json",
    ...(status === 405 && { allow: "GET" }),
  });
  response.end(JSON.stringify(answer));
}
