/** An OpenAI-compatible server that sends whatever bytes a test wants. */
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { lastUserText } from "../../../lab/support/scripted-model.ts";
import type { ModelRequest } from "../../../lab/support/model-request.ts";

export interface RawAnswer {
  readonly pieces: readonly Buffer[];
  /** Whether the connection is cut after the last piece, instead of ended. */
  readonly isCut: boolean;
}

export interface RawModel {
  readonly url: string;
  close(): Promise<void>;
}

/** @param answer what to send to a request whose newest message of a person is `text` */
export async function startRawModel(answer: (text: string) => RawAnswer): Promise<RawModel> {
  const respond = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString("utf8")) as Pick<ModelRequest, "messages">;
    const { isCut, pieces } = answer(lastUserText(body as ModelRequest));
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const piece of pieces) {
      if (response.destroyed) return;
      await new Promise<void>((resolve) => response.write(piece, () => resolve()));
    }
    if (isCut) response.destroy();
    else response.end();
  };
  const server = createServer((request, response) => {
    respond(request, response).catch(() => response.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
