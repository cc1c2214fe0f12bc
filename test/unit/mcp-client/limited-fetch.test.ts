import { describe, expect, it } from "vitest";
import { CUT_OFF, limitedFetch, TOO_LARGE } from "../../../src/mcp-client/limited-fetch.ts";

const POST = { method: "POST", body: JSON.stringify({ jsonrpc: "2.0", id: 7, method: "tools/call" }) };
const EVENTS = { headers: { "content-type": "text/event-stream" } };

const fetching = (answer: Response, mostBytes = 100) =>
  limitedFetch(() => Promise.resolve(answer), mostBytes)("https://docs.example/mcp", POST);

/** A body whose pieces never end. Tells how many were read. */
function endless(): {
  readonly body: ReadableStream<Uint8Array>;
  readonly read: () => number;
  readonly isCancelled: () => boolean;
} {
  let pieces = 0;
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        pieces += 1;
        controller.enqueue(new Uint8Array(60));
      },
      cancel: () => {
        isCancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { body, read: () => pieces, isCancelled: () => isCancelled };
}

describe("the network of a server", () => {
  it("passes an answer on", async () => {
    const answer = await fetching(
      Response.json({ id: 7, result: {} }, { headers: { "mcp-session-id": "s" } }),
    );
    expect(answer.headers.get("mcp-session-id")).toBe("s");
    expect(await answer.json()).toEqual({ id: 7, result: {} });
  });

  it("stops reading an answer that is too large, and says so to its request", async () => {
    const { body, isCancelled, read } = endless();
    const answer = await fetching(new Response(body, { headers: { "content-type": "application/json" } }));
    expect(await answer.json()).toMatchObject({ id: 7, error: { code: TOO_LARGE } });
    expect([read(), isCancelled()]).toEqual([2, true]);
  });

  it("does the same with a stream of events", async () => {
    const { body, isCancelled } = endless();
    const answer = await fetching(new Response(body, EVENTS));
    expect(await answer.text()).toContain(`"id":7,"error":{"code":${TOO_LARGE}`);
    expect(isCancelled()).toBe(true);
  });

  it("answers a request whose stream breaks off or ends", async () => {
    const broken = new ReadableStream({ pull: (controller) => controller.error(new Error("reset")) });
    expect(await (await fetching(new Response(broken, EVENTS))).text()).toContain(`"code":${CUT_OFF}`);
    expect(await (await fetching(new Response(": hello\n\n", EVENTS))).text()).toContain(`"code":${CUT_OFF}`);
  });

  it("leaves a stream that can be resumed to the client", async () => {
    const answer = await fetching(new Response("id: 1\ndata:\n\n", EVENTS));
    expect(await answer.text()).toBe("id: 1\ndata:\n\n");
  });

  it("reads no refusal that is too large", async () => {
    const answer = await fetching(new Response("x".repeat(70_000), { status: 500 }));
    expect([answer.status, await answer.text()]).toEqual([500, ""]);
  });

  it("opens no stream between calls, but resumes one", async () => {
    const seen: unknown[] = [];
    const network = limitedFetch((url) => {
      seen.push(url);
      return Promise.resolve(new Response("", EVENTS));
    });
    expect((await network("https://docs.example/", { method: "GET" })).status).toBe(405);
    expect(seen).toEqual([]);
    await network("https://docs.example/", { method: "GET", headers: { "last-event-id": "1" } });
    expect(seen).toHaveLength(1);
  });
});
