import { describe, expect, it } from "vitest";
import { createMockRig, messageOf, workDone, type Handle } from "./rig.ts";

const threadId = "slack:C1:1";
const get = () => new Request("https://bot.example/webhook");
const refusing: Readonly<Record<string, Handle>> = {
  "finds no JSON in it": () => new Response("bad request", { status: 400 }),
  "fails over it": () => new Response("internal error", { status: 500 }),
  "throws over it": () => {
    throw new SyntaxError("Unexpected end of JSON input");
  },
};

describe("a GET request to an adapter", () => {
  it("is answered by an adapter that handles it, and leaves a log line", async () => {
    const rig = createMockRig((_chat, _adapter, { method }) => new Response(method));
    const answer = await rig.handshake(get());
    expect(await answer?.text()).toBe("GET");
    expect(rig.outcomes()).toEqual(["handshake answered 200"]);
  });

  it.each(Object.keys(refusing))("is no handshake for an adapter that %s", async (name) => {
    expect(await createMockRig(refusing[name] as Handle).handshake(get())).toBeUndefined();
  });

  it("is no handshake for an adapter that never comes back", async () => {
    const rig = createMockRig(() => new Promise<Response>(() => undefined));
    const answering = rig.handshake(get());
    await workDone();
    rig.fireTimers();
    expect(await answering).toBeUndefined();
  });

  it("decides nothing: an event that an adapter makes of it is dropped", async () => {
    const rig = createMockRig((chat, adapter) => {
      void chat.processMessage(adapter, threadId, messageOf({ threadId }));
      return new Response("ok");
    });
    await rig.handshake(get());
    await workDone();
    expect(rig.outcomes()).toContain("ignored: reported by a GET request");
  });

  it("is answered 503 while the adapter cannot be initialized", async () => {
    const initialize = () => Promise.reject(new Error("platform is down"));
    const rig = createMockRig(() => new Response("ok"), { initialize });
    expect((await rig.handshake(get()))?.status).toBe(503);
  });
});
