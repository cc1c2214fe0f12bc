import { describe, expect, it } from "vitest";
import { toolOutputOf, withoutSecrets } from "../../../src/mcp-client/tool-output.ts";

const text = (words: string) => ({ type: "text" as const, text: words });

describe("the result of a tool", () => {
  it("is its text, or its structured content", () => {
    expect(toolOutputOf({ content: [text("one"), text("two")] }).output).toBe("one\n\ntwo");
    const structured = { content: [text('{"size":7}')], structuredContent: { size: 7 } };
    expect(toolOutputOf(structured)).toEqual({ output: { size: 7 }, attachments: [] });
  });

  it("is a failure in the server's words, which are never an exception", () => {
    expect(toolOutputOf({ isError: true, content: [text("No such document.")] }).output).toEqual({
      error: { name: "McpToolError", message: "No such document." },
    });
    expect(toolOutputOf({ isError: true, content: [] }).output).toMatchObject({
      error: { message: "The tool failed." },
    });
  });

  it("has its bytes as attachments, eight at most", () => {
    const picture = { type: "image" as const, data: btoa("png"), mimeType: "image/png" };
    const { attachments, output } = toolOutputOf({ content: Array.from({ length: 9 }, () => picture) });
    expect(attachments).toHaveLength(8);
    expect(attachments[0]).toEqual({
      type: "image",
      mediaType: "image/png",
      source: new TextEncoder().encode("png"),
    });
    expect(output).toContain("[One image could not be shown.]");
  });

  it("has no broken bytes, and reads texts of resources", () => {
    const { attachments, output } = toolOutputOf({
      content: [
        { type: "audio", data: "§§§", mimeType: "audio/ogg" },
        { type: "resource", resource: { uri: "demo://a", text: "A text." } },
        { type: "resource_link", name: "b", uri: "demo://b" },
      ],
    });
    expect(attachments).toEqual([]);
    expect(output).toBe("[One audio could not be shown.]\n\nA text.\n\n[b: demo://b]");
  });
});

describe("secrets", () => {
  const server = {
    url: "https://docs.example/mcp?key=key-of-the-server",
    headers: { authorization: "Bearer token-of-the-server", "x-kind": "shop" },
  };

  it("are hidden wherever a server repeats them", () => {
    const output = {
      "token-of-the-server": ["sent Bearer token-of-the-server to a shop", { deep: "key-of-the-server" }],
      size: 7,
    };
    expect(withoutSecrets(output, server)).toEqual({
      "[hidden]": ["sent [hidden] to a shop", { deep: "[hidden]" }],
      size: 7,
    });
    expect(withoutSecrets(`at ${server.url}.`, server)).toBe("at [hidden].");
  });
});
