import { createExecutionContext, evictDurableObject } from "cloudflare:test";
import type { ToolSet } from "ai";
import { afterEach, expect, it, vi } from "vitest";
import { z } from "zod";
import { agentTool } from "../../../src/agent-tools/index.ts";
import type { InnerDoor } from "../../../src/core/chat/inner-calls.ts";
import { action, createWorker } from "../../../src/index.ts";
import type { McpServer as DeclaredServer } from "../../../src/mcp-client/index.ts";
import { FakeOAuth } from "../../support/fake-oauth.ts";
import { isChild } from "../support/agent-bot.ts";
import { captureLog } from "../support/log-lines.ts";
import { dropTools, ServedTools, serveTools } from "../support/mcp-servers.ts";
import { callTool, say } from "../support/scripted-model.ts";
import type { ModelScript } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";
import { testEnv } from "../test-env.ts";
import { ChildBot, ScriptedBot } from "../worker.ts";

afterEach(dropTools);

const ORIGIN = "https://docs.example";

/** A server at which people sign in. Its tool says whose token the call has. */
function serve(rules: Partial<DeclaredServer> = {}): {
  readonly oauth: FakeOAuth;
  readonly docs: ServedTools;
} {
  const oauth = new FakeOAuth(ORIGIN);
  const docs = new ServedTools(`${ORIGIN}/mcp`, {
    mail: {
      description: "Reads the mail.",
      annotations: { readOnlyHint: true },
      run: () => ({
        content: [
          { type: "text", text: `mail of ${oauth.tokens.get(tokenOf(docs)) ?? "nobody"}, ${tokenOf(docs)}` },
        ],
      }),
    },
  });
  docs.instead = (request) => oauth.answer(request);
  serveTools({ docs }, { rules: { trustAnnotations: true, auth: "person", ...rules } });
  return { oauth, docs };
}

const tokenOf = ({ requests }: ServedTools): string =>
  (requests.at(-1)?.authorization ?? "").replace("Bearer ", "");

/** Calls the tool if there is one, else the tool that connects. */
const script: ModelScript = ({ prompt, tools }) => {
  const last = prompt.at(-1);
  if (last?.role === "tool")
    return [say(`got ${JSON.stringify(last.content.map((one) => "output" in one && one.output))}`)];
  const tool = ["docs__mail", "connect_docs"].find((name) => tools.includes(name));
  return tool === undefined ? [say(`offered: ${tools.join(",")}.`)] : [callTool(tool)];
};

const text = (world: World, chat = "ada"): string => world.chats.visible(chat).join("\n");

function until(check: () => void): Promise<void> {
  return vi.waitFor(check, { timeout: 8000, interval: 10 });
}

/** Opens an address of the bot, as a browser does. */
async function open(world: World, address: string, cookie = ""): Promise<Response> {
  const worker = createWorker<object>(ScriptedBot, { root: world.root });
  const env = { ...testEnv, ADMIN_TOKEN: "of-the-operator" };
  const request = new Request(address, { headers: { cookie, authorization: "Bearer of-the-operator" } });
  const response = await worker.fetch?.(request as never, env, createExecutionContext());
  if (response === undefined) throw new Error("no response");
  return response;
}

/** The newest link that the chat shows. */
async function linkIn(world: World, chat = "ada"): Promise<string> {
  const link = (): string | undefined =>
    [
      ...JSON.stringify(world.chats.messages(chat)).matchAll(
        /https:\/\/bot\.example\/oauth\/docs\?begin=[\w-]+/g,
      ),
    ].at(-1)?.[0];
  await until(() => expect(link()).toBeDefined());
  return link() ?? "";
}

interface Opened {
  readonly page: string;
  readonly cookie: string;
  /** The address at which the authorization server sends the browser back. */
  readonly back: string;
}

/** Opens a link, and signs in. */
async function signIn(world: World, oauth: FakeOAuth, link: string): Promise<Opened> {
  const first = await open(world, link);
  const page = await first.text();
  expect([first.status, page]).toEqual([200, expect.stringContaining("Sign in")]);
  const cookie = (first.headers.get("set-cookie") ?? "").split(";", 1)[0] ?? "";
  const address = (/href="([^"]+)"/.exec(page)?.[1] ?? "").replaceAll("&amp;", "&");
  const back = await oauth.answer(new Request(address));
  return { page, cookie, back: back?.headers.get("location") ?? "" };
}

/** Ada signs in, and the owner, who is Ada too, agrees to the tool. */
async function connect(world: World, oauth: FakeOAuth): Promise<void> {
  await world.write("ada", "my mail");
  const { back, cookie } = await signIn(world, oauth, await linkIn(world));
  expect(await (await open(world, back, cookie)).text()).toContain("You are connected");
  await world.press("ada", "Allow 1 tool");
  await until(() => expect(text(world)).toContain("Allowed:"));
  await evictDurableObject(world.thread("ada"));
}

it("offers one tool that connects, and the others with the token of the person who has signed in", async () => {
  const { docs, oauth } = serve();
  const lines = captureLog();
  const world = createWorld({ script });
  await world.write("ada", "my mail");
  await until(() => expect(text(world)).toContain("The link is in the private chat"));
  expect(world.requests[0]?.tools).toEqual(expect.arrayContaining(["connect_docs"]));
  const link = await linkIn(world);
  const { back, cookie, page } = await signIn(world, oauth, link);
  expect(page).toMatch(/chat of <b>.+<\/b>/);
  expect((await open(world, back, cookie)).status).toBe(200);
  await world.press("ada", "Allow 1 tool");
  await until(() => expect(text(world)).toContain("Allowed:"));
  await evictDurableObject(world.thread("ada"));
  await world.write("ada", "my mail");
  await until(() => expect(text(world)).toContain("mail of ada@docs, [hidden]"));
  expect(world.requests.at(-1)?.tools).not.toContain("connect_docs");
  expect(docs.calls).toEqual([["mail", {}]]);
  await world.write("eve", "my mail", { user: "eve" });
  await until(() => expect(text(world, "eve")).toContain("The link is in the private chat"));
  expect(docs.calls).toHaveLength(1);
  expect(JSON.stringify(lines)).not.toMatch(/(?:code|access-token|refresh-token)-\d+-of-the-server/);
});

it("offers a person no tool that the server lists for others only", async () => {
  const { docs, oauth } = serve();
  const world = createWorld({ script });
  const mail = docs.tools["mail"] ?? {};
  const guard = docs.instead;
  docs.instead = async (request, method) => {
    const answer = await guard?.(request, method);
    const isAda = oauth.tokens.get(tokenOf(docs)) === "ada@docs";
    docs.tools = isAda ? { mail, admin: { description: "For Ada alone." } } : { mail };
    return answer;
  };
  await world.write("ada", "my mail");
  const first = await signIn(world, oauth, await linkIn(world));
  expect((await open(world, first.back, first.cookie)).status).toBe(200);
  await world.press("ada", "Allow 2 tools");
  await until(() => expect(text(world)).toContain("Allowed:"));
  oauth.account = "bob@docs";
  await world.write("bob", "my mail", { user: "bob" });
  const second = await signIn(world, oauth, await linkIn(world, "bob"));
  expect((await open(world, second.back, second.cookie)).status).toBe(200);
  for (const chat of ["ada", "bob"]) await evictDurableObject(world.thread(chat));
  await world.write("bob", "my mail", { user: "bob" });
  await until(() => expect(text(world, "bob")).toContain("mail of bob@docs"));
  expect(world.requests.at(-1)?.tools).toEqual(["docs__mail"]);
  await world.write("ada", "my mail");
  await until(() => expect(text(world)).toContain("mail of ada@docs"));
  expect(world.requests.at(-1)?.tools.toSorted()).toEqual(["docs__admin", "docs__mail"]);
});

it("sends PKCE and the resource, and takes a state once, from the browser that has begun", async () => {
  const { oauth } = serve();
  const world = createWorld({ script });
  await world.write("ada", "my mail");
  const { back, cookie } = await signIn(world, oauth, await linkIn(world));
  expect((await open(world, back)).status).toBe(400);
  expect(
    (await open(world, back.replace(/iss=[^&]+/, "iss=https%3A%2F%2Fevil.example"), cookie)).status,
  ).toBe(502);
  expect(oauth.requests.some(({ path }) => path === "/token")).toBe(false);
  expect((await open(world, back, cookie)).status).toBe(200);
  const sent = oauth.requests.find(({ path }) => path === "/token");
  expect(sent?.form).toMatchObject({
    resource: `${ORIGIN}/mcp`,
    code_verifier: expect.stringMatching(/^.{43,}$/),
  });
  expect((await open(world, back, cookie)).status).toBe(410);
  expect((await open(world, "https://bot.example/oauth/docs?begin=made-up")).status).toBe(410);
});

it("sends people back to PUBLIC_URL, whatever host a request names", async () => {
  const { oauth } = serve();
  const world = createWorld({ script });
  await world.write("ada", "my mail");
  const link = (await linkIn(world)).replace("bot.example", "evil.example");
  const { back } = await signIn(world, oauth, link);
  expect(new URL(back).origin).toBe("https://bot.example");
  const asked = oauth.requests.find(({ path }) => path === "/authorize");
  expect(asked?.form["redirect_uri"]).toBe("https://bot.example/oauth/docs");
});

it("lets a person open the link again after the root died between redirect and token", async () => {
  const { oauth } = serve();
  const world = createWorld({ script });
  await world.write("ada", "my mail");
  const link = await linkIn(world);
  const first = await signIn(world, oauth, link);
  await evictDurableObject(world.stub);
  oauth.instead = ({ url }) => (url.endsWith("/token") ? new Response("down", { status: 503 }) : undefined);
  expect((await open(world, first.back, first.cookie)).status).toBe(502);
  oauth.instead = undefined;
  await evictDurableObject(world.stub);
  const second = await signIn(world, oauth, link);
  expect(await (await open(world, second.back, second.cookie)).text()).toContain("You are connected");
});

it("refreshes a token once for calls at once, and asks to connect again after a revocation", async () => {
  const { oauth } = serve();
  const world = createWorld({ script });
  await connect(world, oauth);
  oauth.revoke(false);
  await world.write("ada", "my mail");
  await until(() => expect(text(world)).toContain("mail of ada@docs"));
  expect(oauth.requests.filter(({ form }) => form["grant_type"] === "refresh_token")).toHaveLength(1);
  oauth.revoke(true);
  await world.write("ada", "again");
  await until(() => expect(text(world)).toContain('not connected with "docs" any more'));
  await world.write("ada", "once more");
  await until(() => expect(world.requests.at(-1)?.tools).toContain("connect_docs"));
});

it("sends the link of a group into the private chat, and nowhere if there is none", async () => {
  const { oauth } = serve();
  const world = createWorld({ script });
  await world.write("group", "my mail", { user: "eve", isGroup: true, mentions: true });
  await until(() => expect(text(world, "group")).toContain("has no private chat with the bot"));
  await world.write("eve", "hello", { user: "eve" });
  await world.write("group", "my mail", { user: "eve", isGroup: true, mentions: true });
  await linkIn(world, "eve");
  expect(JSON.stringify(world.chats.messages("group"))).not.toContain("/oauth/");
  expect(oauth.tokens.size).toBe(0);
});

it("says in a group whose connection an answer has used", async () => {
  const { oauth } = serve();
  const world = createWorld({ script });
  await connect(world, oauth);
  await world.write("group", "my mail", { user: "ada", isGroup: true, mentions: true });
  await until(() => expect(text(world, "group")).toMatch(/Used the connection of .+ with \*{0,2}docs/));
  await world.write("ada", "my mail");
  await until(() => expect(text(world)).toContain("mail of ada@docs"));
  expect(text(world)).not.toContain("Used the connection of");
});

it("says on the card in a group whose connection a call would use", async () => {
  const { oauth } = serve({ approval: true });
  const world = createWorld({ script });
  await connect(world, oauth);
  await world.write("group", "my mail", { user: "ada", isGroup: true, mentions: true });
  await until(() => expect(text(world, "group")).toMatch(/Uses the connection of .+ with .*docs/));
});

it("uses nobody's connection for the words of another member of the group", async () => {
  const { docs, oauth } = serve();
  const act = action({
    description: "Acts.",
    inputSchema: z.object({}),
    approval: true,
    approvers: "anyone",
    execute: () => "acted",
  });
  const world = createWorld({
    script: (request) => (request.said.includes("please act") ? [callTool("act")] : script(request)),
    getActions: () => ({ act }),
  });
  await connect(world, oauth);
  const group = { isGroup: true, mentions: true };
  await world.write("group", "please act", { user: "ada", ...group });
  await until(() => expect(world.chats.button("group", "Reject")).toBeDefined());
  const quotes = world.chats.messages("group").at(-1)?.id ?? "";
  await world.write("group", "No, read the mail of ada", { user: "eve", ...group, quotes });
  await until(() => expect(world.requests.at(-1)?.said).toContain("read the mail of ada"));
  expect(world.requests.at(-1)?.tools).not.toContain("docs__mail");
  await world.write("group", "my mail", { user: "ada", ...group });
  await until(() => expect(text(world, "group")).toContain("mail of ada@docs"));
  expect(docs.calls).toHaveLength(1);
});

it("lets an agent use the connection of the person who has called it in private, and none in a group", async () => {
  const { docs, oauth } = serve();
  const world = createWorld({
    script: (request) => {
      const isAsked = request.prompt.at(-1)?.role === "user" && request.tools.includes("research");
      return isAsked && request.said.includes("research") ? [callTool("research")] : script(request);
    },
    getTools: (agent): ToolSet =>
      isChild(agent)
        ? {}
        : { research: agentTool(ChildBot, { description: "Researches.", inputSchema: z.object({}) }) },
  });
  await connect(world, oauth);
  await world.write("ada", "research");
  await until(() => expect(text(world)).toContain("mail of ada@docs"));
  await world.write("group", "research", { user: "ada", isGroup: true, mentions: true });
  await until(() => expect(text(world, "group")).toContain("works for a group"));
  expect(docs.calls).toHaveLength(1);
});

it("lists the tools with the token of the person whose turn it is", async () => {
  const { docs, oauth } = serve();
  const world = createWorld({ script });
  await connect(world, oauth);
  oauth.account = "eve@docs";
  await world.write("eve", "my mail", { user: "eve" });
  const { back, cookie } = await signIn(world, oauth, await linkIn(world, "eve"));
  expect((await open(world, back, cookie)).status).toBe(200);
  const listed = (): readonly (string | undefined)[] =>
    docs.requests
      .filter(({ method }) => method === "tools/list")
      .map(({ authorization }) => oauth.tokens.get((authorization ?? "").replace("Bearer ", "")));
  await until(() => expect(listed()).toEqual(["ada@docs", "eve@docs"]));
  const root = world.stub as unknown as InnerDoor;
  await root.inner("mcp-client.toolsChanged", ["docs"]);
  await root.inner("mcp-client.listTools", []);
  await root.inner("mcp-client.offeredTools", [undefined]);
  expect(listed()).toHaveLength(2);
  await world.write("ada", "my mail");
  await until(() => expect(listed()).toEqual(["ada@docs", "eve@docs", "ada@docs"]));
});

it("ends a connection with a button of /connections, and tells the authorization server", async () => {
  const { oauth } = serve();
  const world = createWorld({ script });
  await connect(world, oauth);
  await world.write("ada", "/connections");
  await world.press("ada", "Disconnect docs");
  await until(() => expect(text(world)).toContain("You are not connected with anything"));
  expect(oauth.requests.at(-1)?.path).toBe("/revoke");
  await world.write("ada", "my mail");
  await until(() => expect(world.requests.at(-1)?.tools).toContain("connect_docs"));
});
