import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { action } from "../../../src/index.ts";
import type { ActionContext, ThinkActions } from "../../../src/index.ts";
import { MOST_RESULT_BYTES } from "../../../src/mcp/attached-content.ts";
import { createMcpWorld, dropMcpServer } from "../support/mcp-world.ts";
import type { McpWorld } from "../support/mcp-world.ts";

afterEach(dropMcpServer);

const PNG = Uint8Array.from([0x89, 0x50, 0x4e, 0x47]);

function attaching(attach: (ctx: ActionContext) => void, runs: string[] = []): ThinkActions {
  return {
    draw: action({
      description: "Draws it.",
      inputSchema: z.object({}),
      returns: z.object({ drawn: z.boolean() }),
      execute: (_input, ctx) => {
        runs.push("run");
        attach(ctx);
        return { drawn: true };
      },
    }),
  };
}

async function contentOf(mcp: McpWorld): Promise<readonly unknown[]> {
  const { token } = await mcp.token();
  const result = await mcp.call(token, "shop__draw", {});
  expect(result).toMatchObject({ structuredContent: { drawn: true } });
  return (result["content"] as readonly unknown[]).slice(1);
}

describe("an attachment of a call", () => {
  it("is content of its result: pictures, recordings, texts and other files", async () => {
    const bytes = new TextEncoder().encode("a;b");
    const mcp = createMcpWorld({
      getActions: () =>
        attaching(({ attachReply }) => {
          attachReply({ type: "image", source: PNG, mediaType: "image/png", caption: "The plan" });
          attachReply({ type: "audio", source: PNG, name: "voice.mp3" });
          attachReply({ type: "document", source: bytes, name: "rows.csv" });
          attachReply({ type: "document", source: PNG, name: "plan.pdf" });
          attachReply({
            type: "document",
            source: { url: "https://shop.example/list.pdf" },
            name: "list.pdf",
          });
        }),
    });
    const data = "iVBORw==";
    expect(await contentOf(mcp)).toEqual([
      { type: "image", data, mimeType: "image/png" },
      { type: "text", text: "The plan" },
      { type: "audio", data, mimeType: "audio/mpeg" },
      {
        type: "resource",
        resource: { uri: expect.stringMatching(/\/2\/rows\.csv$/), mimeType: "text/csv", text: "a;b" },
      },
      {
        type: "resource",
        resource: { uri: expect.stringMatching(/\/3\/plan\.pdf$/), mimeType: "application/pdf", blob: data },
      },
      {
        type: "resource_link",
        uri: "https://shop.example/list.pdf",
        name: "list.pdf",
        mimeType: "application/pdf",
      },
    ]);
  });

  it("is a clear word where it is too large, for chats only, or could not be attached", async () => {
    const mcp = createMcpWorld({
      getActions: () =>
        attaching(({ attachReply }) => {
          attachReply({ type: "document", source: new Uint8Array(MOST_RESULT_BYTES), name: "whole.bin" });
          attachReply({ type: "document", source: PNG, name: "more.bin" });
          attachReply({ type: "email_draft", to: "dana@example.com", subject: "Hello", body: "Hi" });
          attachReply({ type: "coupon", secret: "of the bot" });
          attachReply({ type: "location", latitude: 52.5, longitude: 13.4 });
          attachReply({ type: "document", source: new Uint8Array(0), name: "empty.bin" });
        }),
    });
    const content = await contentOf(mcp);
    const texts = content.slice(1) as readonly { readonly text: string }[];
    expect(content[0]).toMatchObject({ type: "resource" });
    expect(texts.map(({ text }) => text)).toEqual([
      expect.stringMatching(/^more\.bin .* is too large: .* 5242880 bytes/),
      expect.stringContaining("Hello"),
      'An attachment of the type "coupon" is for chats only.',
      expect.stringContaining("52.5"),
      "empty.bin could not be attached.",
    ]);
  });

  it.each(["auto", "legacy"] as const)("reaches the official client (%s)", async (mode) => {
    const mcp = createMcpWorld({
      getActions: () =>
        attaching(({ attachReply }) => attachReply({ type: "image", source: PNG, name: "a.png" })),
    });
    const { token } = await mcp.token();
    const client = await mcp.connect(token, { mode });
    await client.listTools();
    const result = await client.callTool({ name: "shop__draw", arguments: {} });
    expect(result.content).toMatchObject([{ type: "text" }, { type: "image", mimeType: "image/png" }]);
    await client.close();
  });

  it("comes again with the answer to the same request, whose action does not run again", async () => {
    const runs: string[] = [];
    const mcp = createMcpWorld({
      getActions: () => attaching(({ attachReply }) => attachReply({ type: "image", source: PNG }), runs),
    });
    const { token } = await mcp.token();
    const send = (): Promise<Record<string, unknown>> =>
      mcp.call(token, "shop__draw", {}, { meta: { idempotencyKey: "the first one" } });
    const first = await send();
    expect(first["content"]).toHaveLength(2);
    expect(await send()).toEqual(first);
    expect(runs).toHaveLength(1);
  });
});
