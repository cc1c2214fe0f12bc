import { once } from "node:events";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { lookupOrder } from "../../../examples/support-bot/lookup-order.ts";

const NO_ANSWER = {
  found: false,
  message: "The order system isn't responding right now. Please try again later.",
};

const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.close();
    server.closeAllConnections();
  }
});

async function shop(answer: (path: string, response: ServerResponse) => void): Promise<string> {
  const server = createServer((request, response) => answer(request.url ?? "", response));
  servers.push(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function json(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

describe("lookupOrder", () => {
  it("returns the shop's order without the customer's name", async () => {
    const url = await shop((path, response) =>
      json(response, path === "/orders/A-1%2F2" ? 200 : 500, {
        id: "A-1/2",
        status: "shipped",
        customer: "Ada",
      }),
    );
    expect(await lookupOrder(`${url}/`, "A-1/2")).toEqual({
      found: true,
      order: { id: "A-1/2", status: "shipped" },
    });
  });

  it("says which number does not exist", async () => {
    const url = await shop((_path, response) => json(response, 404, {}));
    expect(await lookupOrder(url, "7")).toEqual({
      found: false,
      message: "There is no order with the number 7.",
    });
  });

  const failures: readonly (readonly [string, (response: ServerResponse) => void])[] = [
    ["an error", (response) => json(response, 500, { status: "secret" })],
    ["an answer that is no JSON", (response) => response.end("<html>")],
    ["an answer that is no order", (response) => json(response, 200, ["shipped"])],
    ["a connection that breaks", (response) => response.destroy()],
  ];
  it.each(failures)("says that the shop does not answer after %s", async (_name, fail) => {
    const url = await shop((_path, response) => fail(response));
    expect(await lookupOrder(url, "7")).toEqual(NO_ANSWER);
  });

  it("ends with the turn when the shop hangs", async () => {
    const asked = Promise.withResolvers<void>();
    const url = await shop(() => asked.resolve());
    const turn = new AbortController();
    const result = lookupOrder(url, "7", turn.signal);
    await asked.promise;
    turn.abort();
    expect(await result).toEqual(NO_ANSWER);
  });

  it("says so when no shop is set", async () => {
    expect(await lookupOrder(undefined, "7")).toEqual(NO_ANSWER);
  });
});
