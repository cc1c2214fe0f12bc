import { describe, expect, it } from "vitest";
import { importedFeatures } from "../../../src/feature/imported-feature.ts";
import { mcpServer } from "../../../src/mcp/index.ts";

describe("mcpServer", () => {
  it.each(["", "Shop", "my shop", "a__b", "7up", "x".repeat(25), "shop-"])("refuses the app %j", (app) => {
    expect(() => mcpServer({ app })).toThrow(expect.objectContaining({ code: "mcp-app" }));
  });

  it.each(["shop", "my-shop", "s3"])("takes the app %s", (app) => {
    const names = importedFeatures({ mcpServer: mcpServer({ app }) }).map(({ name }) => name);
    expect(names).toContain("mcp");
  });

  it("refuses a misspelt option, which would make every action a tool", () => {
    const misspelt = { app: "shop", action: ["price"] };
    expect(() => mcpServer(misspelt)).toThrow('action of mcpServer does not exist. Did you mean "actions"?');
  });

  it.each(["https://example.com/", "example.com", "*"])("refuses %s as an origin", (origin) => {
    expect(() => mcpServer({ app: "shop", origins: [origin] })).toThrow(
      expect.objectContaining({ code: "mcp-origin" }),
    );
  });
});

describe("a static member that brings a feature", () => {
  it("is refused if the import has not made it, with the name of the import", () => {
    expect(() => importedFeatures({ mcpServer: { app: "shop" } })).toThrow(
      expect.objectContaining({
        code: "feature-not-imported",
        message: expect.stringContaining('"switchboard/mcp"') as unknown,
      }),
    );
    expect(importedFeatures({}).map(({ name }) => name)).not.toContain("mcp");
  });
});
