import { expect, it } from "vitest";
import type { MessengerAuthor } from "../../../src/core/messenger-event.ts";
import { inTurnContext } from "../../../src/core/turn-context.ts";
import type { TurnInfo } from "../../../src/core/turn-info.ts";
import type { McpClientCalls } from "../../../src/mcp-client/mcp-client-calls.ts";
import { PersonTools } from "../../../src/mcp-client/person-tools.ts";

const ada = { userId: "ada" };
const bob = { userId: "bob" };
const chat = { person: ada, client: { kind: "chat", messengerId: "m" } } as const;

/** People's connections of a bot in which Ada has one. */
function people(personToken?: McpClientCalls["personToken"]): {
  readonly tools: PersonTools;
  readonly asked: string[];
} {
  const asked: string[] = [];
  const tools = new PersonTools(
    () => ({
      connectedTo: ({ userId }) => Promise.resolve(userId === "ada" ? ["docs"] : []),
      toolsOf: ({ userId }) =>
        Promise.resolve<Record<string, string[]>>(userId === "ada" ? { docs: ["hash"] } : {}),
      personToken:
        personToken ??
        ((_server, { messenger, userId }) => {
          asked.push(`${messenger}/${userId}`);
          return Promise.resolve(userId === "ada" ? "token" : undefined);
        }),
      sendLink: () => Promise.resolve(true),
    }),
    () => 0,
  );
  return { tools, asked };
}

function inTurn<T>(authors: readonly MessengerAuthor[], body: () => T): T {
  const turn: TurnInfo = { id: "t", kind: "messages", authors, answerTo: [] };
  return inTurnContext(turn, undefined, body);
}

it("uses the token of the one person whom a turn answers", async () => {
  const { asked, tools } = people();
  expect(await inTurn([ada], () => tools.isConnected("docs", chat))).toBe(true);
  expect(await inTurn([ada], () => tools.token("docs", chat))).toBe("token");
  expect(asked).toEqual(["m/ada"]);
});

it("offers a person only tools that the server lists for this person", async () => {
  const { tools } = people();
  expect(await inTurn([ada], () => tools.isListed("docs", "hash", chat))).toBe(true);
  expect(await inTurn([ada], () => tools.isListed("docs", "other", chat))).toBe(false);
  expect(await inTurn([bob, ada], () => tools.isListed("docs", "hash", chat))).toBe(false);
});

it("uses nobody's token in a turn that answers several people, and says so", async () => {
  const { asked, tools } = people();
  expect(await inTurn([bob, ada], () => tools.isConnected("docs", chat))).toBe(false);
  await expect(inTurn([bob, ada], () => tools.token("docs", chat))).rejects.toThrow("answers several people");
  const connect = tools.connectAction("docs");
  const offered = inTurn([bob, ada], () => connect.enabled?.(chat as never));
  expect(await offered).toBe(true);
  const called = inTurn([bob, ada], () => connect.execute({} as never, chat as never));
  await expect(called).rejects.toThrow("answers several people");
  expect(asked).toEqual([]);
});

it.each([
  ["a schedule", { kind: "schedule", messengerId: "m" }],
  ["another agent", { kind: "mcp", messengerId: "m" }],
  ["bot code", { kind: "code" }],
] as const)("uses nobody's token for %s", async (_name, client) => {
  const { asked, tools } = people();
  expect(await tools.isConnected("docs", { person: ada, client })).toBe(false);
  await expect(tools.token("docs", { person: ada, client })).rejects.toThrow("own connection");
  expect(asked).toEqual([]);
});

it("asks a person to connect again whose token is gone", async () => {
  const { tools } = people();
  const call = tools.token("docs", { ...chat, person: bob });
  await expect(call).rejects.toThrow("connect_docs");
});

it("says that nothing was done if a token cannot be refreshed now", async () => {
  const { tools } = people(() => Promise.reject(new TypeError("network")));
  await expect(inTurn([ada], () => tools.token("docs", chat))).rejects.toThrow("Nothing was done");
});
