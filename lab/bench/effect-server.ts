import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** Takes the effects of actions, and knows when each one arrived. */
export interface EffectServer {
  /** The address to which the action with this id sends its effect. */
  urlOf(id: string): string;
  /** Resolves with the time of arrival, in epoch milliseconds. */
  arrival(id: string): Promise<number>;
  close(): Promise<void>;
}

export async function startEffectServer(): Promise<EffectServer> {
  const arrivals = new Map<string, PromiseWithResolvers<number>>();
  const arrivalOf = (id: string): PromiseWithResolvers<number> => {
    const known = arrivals.get(id) ?? Promise.withResolvers<number>();
    arrivals.set(id, known);
    return known;
  };
  const server = createServer((request, response) => {
    arrivalOf(decodeURIComponent(request.url?.slice(1) ?? "")).resolve(Date.now());
    request.resume();
    response.end("done");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: (id) => `http://127.0.0.1:${port}/${encodeURIComponent(id)}`,
    arrival: (id) => arrivalOf(id).promise,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
