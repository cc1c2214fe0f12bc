import { createTeamsAdapter } from "@chat-adapter/teams";
import { createMockLogger } from "@chat-adapter/tests";
import { expect, it } from "vitest";
import { createRig } from "./rig.ts";

const logger = createMockLogger();

it("says what to set if the bot could verify no webhook of Teams", () => {
  expect(() => createRig(createTeamsAdapter({ logger }))).toThrow(
    expect.objectContaining({
      code: "chat-sdk-adapter",
      message: expect.stringContaining("TEAMS_APP_ID, TEAMS_APP_PASSWORD and TEAMS_APP_TENANT_ID"),
    }),
  );
});

it.each([
  { appId: "app", appPassword: "p", appTenantId: "t" },
  { appId: "app", appTenantId: "t", token: () => "jwt" },
  { webhookVerifier: () => true },
  { appId: () => "app" },
])("takes an adapter of Teams with %j", (options) => {
  expect(() => createRig(createTeamsAdapter({ logger, ...options }))).not.toThrow();
});
