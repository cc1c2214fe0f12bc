import { generateKeyPairSync } from "node:crypto";
import { createGoogleChatAdapter } from "@chat-adapter/gchat";
import { createMockLogger } from "@chat-adapter/tests";
import { afterEach, describe, expect, it, vi } from "vitest";
import { profileOf } from "../../../../providers/chat-sdk/adapters/known-adapters.ts";

afterEach(() => {
  vi.unstubAllGlobals();
});

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
const privateKeyPem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();

describe("chatSdkMessenger with @chat-adapter/gchat", () => {
  it("writes at most sixty times in a minute of a space", () => {
    const { direct, group } = profileOf("gchat").pacing ?? {};
    for (const rate of [direct, group])
      expect((rate?.burst ?? 0) + Math.floor(60_000 / (rate?.everyMs ?? 1))).toBeLessThanOrEqual(60);
  });

  it("calls by fetch, and once", async () => {
    const calls: string[] = [];
    vi.stubGlobal("fetch", async (input: string | URL, init?: RequestInit) => {
      const { hostname } = new URL(input);
      calls.push(`${init?.method ?? "GET"} ${hostname}`);
      if (hostname === "oauth2.googleapis.com")
        return Response.json({ access_token: "ya29", expires_in: 3599 });
      if (init?.method === "PUT") return Response.json({ error: { code: 503 } }, { status: 503 });
      return Response.json({ name: "spaces/S/messages/M.M" });
    });
    const adapter = createGoogleChatAdapter({
      credentials: { client_email: "bot@example.org", private_key: privateKeyPem },
      googleChatProjectNumber: "1",
      logger: createMockLogger(),
    });
    profileOf("gchat").prepare?.(adapter);
    expect(await adapter.postMessage("gchat:spaces/S", "Hello")).toMatchObject({
      id: "spaces/S/messages/M.M",
    });
    await expect(adapter.editMessage("gchat:spaces/S", "spaces/S/messages/M.M", "Hi")).rejects.toThrow(/503/);
    expect(calls).toEqual([
      "POST oauth2.googleapis.com",
      "POST chat.googleapis.com",
      "PUT chat.googleapis.com",
    ]);
  });
});
