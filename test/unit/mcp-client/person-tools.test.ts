import { expect, it } from "vitest";
import type { MessengerAuthor } from "../../../src/core/chat/messenger-event.ts";
import type { McpClientCalls } from "../../../src/mcp-client/mcp-client-calls.ts";
import { PersonTools } from "../../../src/mcp-client/person-tools.ts";

const ada = { userId: "ada" };
const bob = { userId: "bob" };
const client = { kind: "chat", messengerId: "m" } as const;
/** A call that runs for one of the people whom it answers. */
const callOf = (person: MessengerAuthor, people: readonly MessengerAuthor[] = [person]) => ({
  client,
  person,
  people,
  chat: undefined,
  requestId: "turn",
});

interface Rig {
  readonly personToken?: McpClientCalls["personToken"];
  /** The authors of the messages that the turn answers. */
  readonly authors?: readonly (MessengerAuthor | undefined)[];
  /** Whether a chat shows the answer. */
  readonly isShown?: boolean;
}

/** People's connections of a bot in which Ada has one. */
function people({ authors = [], isShown = true, personToken }: Rig = {}): {
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
    () => ({
      messagesOf: () => authors.map((author) => (author === undefined ? {} : { author })),
      own: { info: () => ({ answerTo: isShown ? [group] : [] }) },
    }),
  );
  return { tools, asked };
}

const group = { messengerId: "m", threadId: "m:g", chatId: "g", isDirectMessage: false };

it("uses the token of the one person for whom a call runs", async () => {
  const { asked, tools } = people({ authors: [ada] });
  expect(await tools.isConnected("docs", callOf(ada))).toBe(true);
  expect(await tools.token("docs", callOf(ada))).toBe("token");
  expect(asked).toEqual(["m/ada"]);
});

it("offers a person only tools that the server lists for this person", async () => {
  const { tools } = people();
  expect(await tools.isListed("docs", "hash", callOf(ada))).toBe(true);
  expect(await tools.isListed("docs", "other", callOf(ada))).toBe(false);
  expect(await tools.isListed("docs", "hash", callOf(ada, [bob, ada]))).toBe(false);
});

it.each<[string, readonly MessengerAuthor[], readonly (MessengerAuthor | undefined)[]]>([
  ["answers several people", [bob, ada], [bob, ada]],
  ["tells words of another person", [ada, bob], []],
  ["answers a message that has no author", [ada], [ada, undefined]],
])("uses nobody's token in a turn that %s, and says so", async (_what, all, authors) => {
  const { asked, tools } = people({ authors });
  const call = callOf(ada, all);
  expect(await tools.isConnected("docs", call)).toBe(false);
  await expect(tools.token("docs", call)).rejects.toThrow("answers several people");
  const connect = tools.connectAction("docs");
  expect(await connect.enabled?.(call as never)).toBe(true);
  await expect(connect.execute({} as never, call as never)).rejects.toThrow("answers several people");
  expect(asked).toEqual([]);
});

it("uses nobody's token for a group whose answer could not say so", async () => {
  const hidden = people({ isShown: false });
  const inGroup = { ...callOf(ada), chat: { id: "m:g", chatId: "g", isDirectMessage: false } };
  await expect(hidden.tools.token("docs", inGroup)).rejects.toThrow("works for a group");
  expect(await hidden.tools.isListed("docs", "hash", inGroup)).toBe(false);
  expect(hidden.asked).toEqual([]);
  expect(await people().tools.token("docs", inGroup)).toBe("token");
  const inPrivate = { ...inGroup, chat: { ...inGroup.chat, isDirectMessage: true } };
  expect(await hidden.tools.token("docs", inPrivate)).toBe("token");
});

it.each([
  ["a schedule", { kind: "schedule", messengerId: "m" }],
  ["another agent", { kind: "mcp", messengerId: "m" }],
  ["bot code", { kind: "code" }],
] as const)("uses nobody's token for %s", async (_name, by) => {
  const { asked, tools } = people();
  const call = { ...callOf(ada), client: by };
  expect(await tools.isConnected("docs", call)).toBe(false);
  await expect(tools.token("docs", call)).rejects.toThrow("own connection");
  expect(asked).toEqual([]);
});

it("asks a person to connect again whose token is gone", async () => {
  const { tools } = people();
  await expect(tools.token("docs", callOf(bob))).rejects.toThrow("connect_docs");
});

it("says that nothing was done if a token cannot be refreshed now", async () => {
  const { tools } = people({ personToken: () => Promise.reject(new TypeError("network")) });
  await expect(tools.token("docs", callOf(ada))).rejects.toThrow("Nothing was done");
});
