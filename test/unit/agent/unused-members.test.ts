import { expect, it } from "vitest";
import { unusedMembers } from "../../../src/agent/unused-members.ts";

/** Stands for the class that a bot extends. */
class Base {
  maxSteps = 10;
  getMessengerContext(): void {}
  submitMessages(): void {}
  getSchedules(): void {}
}

it("says nothing of what a bot can override, of its own methods, and of the class that it extends", () => {
  class Bot extends Base {
    override maxSteps = 3;
    orders = new Map();
    getTools(): void {}
    getModel(): void {}
    getOrder(): void {}
    onOrder(): void {}
    remind(): void {}
  }
  expect(unusedMembers(new Bot())).toEqual([]);
});

it("tells what to write in the place of members that Think has", () => {
  class Bot extends Base {
    waitForMcpConnections = true;
    compactAfter = 3;
    extensionLoader = {};
    configureSession(): void {}
  }
  expect(unusedMembers(new Bot()).map(({ message }) => message)).toEqual([
    'The bot\'s own "waitForMcpConnections" is not called by anything here. Name MCP servers in "static mcpClient": no turn has to wait for them.',
    'The bot\'s own "compactAfter" is not called by anything here. Call it on the session in "configureSession", or use "maxContextTokens".',
    'The bot\'s own "extensionLoader" is not called by anything here. Extensions need no binding, only "static extensions": they run inside of the object.',
  ]);
});

it("knows the bot's own methods where the agents package has copied those of its base beside them", () => {
  class Bot extends Base {
    getScheduledTask(): void {}
    getOrder(): void {}
  }
  for (const name of ["getMessengerContext", "submitMessages", "getSchedules"] as const)
    Object.defineProperty(Bot.prototype, name, { value: () => undefined });
  expect(unusedMembers(new Bot()).map(({ member }) => member)).toEqual(["getScheduledTask"]);
});

/** Members that authors override in Think 0.23 and that nothing here reads. */
const OF_THINK = [
  "actionLedgerRetention",
  "actionPendingApprovalTtlMs",
  "codemode",
  "configureContext",
  "describePausedExecution",
  "extensionLoader",
  "fetchTools",
  "formatAgentToolInput",
  "formatDetachedCompletion",
  "formatDetachedMilestone",
  "getAIBinding",
  "getAgentToolSummary",
  "getGateway",
  "getScheduledTasksScope",
  "hookTimeout",
  "hydrationByteBudget",
  "includeMcpTools",
  "mediaEviction",
  "messageConcurrency",
  "messageMetadata",
  "messengerConcurrency",
  "onStepEnd",
  "onSubmissionStatus",
  "resolveModel",
  "storeMessages",
  "storeTools",
  "submissionRecoveryStaleMs",
  "truncationStep",
  "waitForMcpConnections",
  "workspace",
  "workspaceBash",
];

it.each(OF_THINK)("warns of %s, and says what to write instead", (name) => {
  const [found] = unusedMembers(Object.assign(new Base(), { [name]: true }));
  expect(found).toMatchObject({ code: "member-unused", member: name });
  expect(found?.message).not.toContain("meant?");
});

it.each([
  ["getScheduledTask", "getScheduledTasks"],
  ["getModels", "getModel"],
  ["getSystemPromt", "getSystemPrompt"],
  ["onReactions", "onReaction"],
  ["maxStep", "maxSteps"],
])("takes %s for a slip of %s, in a class between the bot and its base, too", (name, meant) => {
  class Shared extends Base {}
  Object.defineProperty(Shared.prototype, name, { value: () => undefined });
  class Bot extends Shared {}
  const [found, ...others] = unusedMembers(new Bot());
  expect(others).toEqual([]);
  expect(found).toMatchObject({ code: "member-unused", member: name });
  expect(found?.message).toContain(`Is "${meant}" meant?`);
});
