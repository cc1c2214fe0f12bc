import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** The outside world of the actions that code calls. It knows when each effect was made and undone. */
export interface Effects {
  /** The address that makes an effect. The one that undoes it ends with `/undo`. */
  urlOf(name: string): string;
  /** Times of the requests, in epoch milliseconds. The world knows their names, so a second one changes nothing. */
  made(name: string): readonly number[];
  undone(name: string): readonly number[];
  close(): Promise<void>;
}

export async function startEffects(): Promise<Effects> {
  const requests = new Map<string, number[]>();
  const server = createServer((request, response) => {
    const path = request.url ?? "";
    requests.set(path, [...(requests.get(path) ?? []), Date.now()]);
    request.resume();
    response.end("done");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    urlOf: (name) => `http://127.0.0.1:${port}/${name}`,
    made: (name) => requests.get(`/${name}`) ?? [],
    undone: (name) => requests.get(`/${name}/undo`) ?? [],
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
