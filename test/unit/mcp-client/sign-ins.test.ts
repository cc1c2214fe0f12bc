import { afterEach, describe, expect, it, vi } from "vitest";
import { createNodeDatabase } from "../../../lab/support/node-database.ts";
import type { NodeDatabase } from "../../../lab/support/node-database.ts";
import type { McpServer } from "../../../src/mcp-client/mcp-client-options.ts";
import { SignIns } from "../../../src/mcp-client/sign-ins.ts";
import { FakeOAuth } from "../../support/fake-oauth.ts";
import { recordLog } from "../../support/log-recorder.ts";
import { createVirtualClock } from "../../support/virtual-clock.ts";

const ORIGIN = "https://docs.example";
const DOCS: McpServer = { url: `${ORIGIN}/mcp`, auth: "person" };
const MINUTE_MS = 60_000;
const ada = { messenger: "telegram", userId: "700471100" };
const bob = { messenger: "telegram", userId: "700471200" };

/** A bot, an authorization server, and the people who sign in. */
function createBot(database = createNodeDatabase()) {
  const oauth = new FakeOAuth(ORIGIN);
  const clock = createVirtualClock();
  let ids = 0;
  const start = (own: NodeDatabase = database): SignIns =>
    new SignIns({
      database: own,
      env: { SECRETS_KEY: Buffer.alloc(32, 1).toString("base64") },
      deps: {
        clock,
        newId: () => `state-${(ids += 1)}`,
        random: () => 0,
        fetch: async (url, init) => (await oauth.answer(new Request(url, init))) ?? new Response(),
      },
      log: recordLog().log,
      servers: () => ({ docs: DOCS }),
      publicUrl: () => "https://bot.example",
    });
  const secrets = (): readonly string[] =>
    tables(database).includes("secret_v1")
      ? database.all<{ name: string }>("SELECT name FROM secret_v1").map(({ name }) => name)
      : [];
  const refreshes = (): number =>
    oauth.requests.filter(({ form }) => form["grant_type"] === "refresh_token").length;
  return { oauth, clock, database, start, secrets, refreshes };
}

function tables(database: NodeDatabase): readonly string[] {
  return database.all<{ name: string }>("SELECT name FROM sqlite_master").map(({ name }) => name);
}

/** Opens the link, signs in, and comes back. */
async function signIn(signIns: SignIns, oauth: FakeOAuth, person = ada): Promise<string> {
  const state = new URL(signIns.begin("docs", person, "Ada").url).searchParams.get("begin") ?? "";
  const page = await signIns.page("docs", state);
  const back = await oauth.answer(new Request(page?.address ?? ""));
  const { searchParams } = new URL(back?.headers.get("location") ?? "");
  return (await signIns.finish("docs", state, searchParams.get("code") ?? "", ORIGIN)).kind;
}

afterEach(() => vi.restoreAllMocks());

describe("a token that has ended", () => {
  it("is refreshed once for calls at once", async () => {
    const { clock, oauth, refreshes, start } = createBot();
    const signIns = start();
    expect(await signIn(signIns, oauth)).toBe("connected");
    await clock.advance(3600_000);
    const [one, other] = await Promise.all([signIns.token("docs", ada), signIns.token("docs", ada)]);
    expect([oauth.tokens.get(one ?? ""), other, refreshes()]).toEqual(["ada@docs", one, 1]);
  });

  it("is refreshed once if a call has read it before, and goes on after the refresh", async () => {
    const { clock, oauth, refreshes, start } = createBot();
    const signIns = start();
    await signIn(signIns, oauth);
    await clock.advance(3600_000);
    const held = Promise.withResolvers<undefined>();
    const decrypt = crypto.subtle.decrypt.bind(crypto.subtle);
    vi.spyOn(crypto.subtle, "decrypt").mockImplementationOnce(async (...args) => {
      const text = await decrypt(...args);
      await held.promise;
      return text;
    });
    const slow = signIns.token("docs", ada);
    const fast = await signIns.token("docs", ada);
    held.resolve(undefined);
    expect([await slow, refreshes()]).toEqual([fast, 1]);
    expect(signIns.connectedTo(ada)).toEqual(["docs"]);
  });

  it("leaves no secret of a person who has disconnected during the refresh", async () => {
    const { clock, oauth, secrets, start } = createBot();
    const signIns = start();
    await signIn(signIns, oauth);
    await clock.advance(3600_000);
    const encrypt = crypto.subtle.encrypt.bind(crypto.subtle);
    vi.spyOn(crypto.subtle, "encrypt").mockImplementationOnce(async (...args) => {
      await signIns.disconnect("docs", ada);
      return encrypt(...args);
    });
    expect(await signIns.token("docs", ada)).toBeUndefined();
    expect(secrets().filter((name) => name.includes(ada.userId))).toEqual([]);
  });
});

it("registers another client after the authorization server has forgotten the first one", async () => {
  const { oauth, start } = createBot();
  const signIns = start();
  oauth.instead = ({ url }) =>
    url.endsWith("/token") ? Response.json({ error: "invalid_client" }, { status: 401 }) : undefined;
  expect(await signIn(signIns, oauth)).toBe("failed");
  oauth.instead = undefined;
  expect(await signIn(signIns, oauth)).toBe("connected");
  expect(oauth.requests.filter(({ path }) => path === "/register")).toHaveLength(2);
});

/** Writes of a sign-in before which the process may die. */
const MOST_WRITES = 16;

it.each(Array.from({ length: MOST_WRITES }, (_, write) => write))(
  "leaves a whole connection or no secret of a person if it dies before write %i of a sign-in",
  async (deadly) => {
    const { clock, database, oauth, secrets, start } = createBot();
    let writes = 0;
    const beforeWrite = (): void => {
      if (writes >= deadly) throw new Error("killed");
      writes += 1;
    };
    await signIn(start(database.withHooks({ beforeWrite })), oauth).catch(() => "killed");
    const next = start();
    await clock.advance(15 * MINUTE_MS);
    next.sweep();
    const own = secrets().filter((name) => !name.startsWith("mcp-client/"));
    const token = await next.token("docs", ada);
    expect([own.length, next.connectedTo(ada).length]).toEqual(token === undefined ? [0, 0] : [1, 1]);
    expect(await signIn(next, oauth)).toBe("connected");
  },
);

it("needs fewer writes for a sign-in than the table of crashes has", async () => {
  const { database, oauth, start } = createBot();
  let writes = 0;
  await signIn(start(database.withHooks({ beforeWrite: () => (writes += 1) })), oauth);
  expect(writes).toBeGreaterThan(3);
  expect(writes).toBeLessThan(MOST_WRITES);
});

it("deletes the verifier of a link when its time is over", async () => {
  const { clock, secrets, start } = createBot();
  const signIns = start();
  const state = new URL(signIns.begin("docs", bob, "Bob").url).searchParams.get("begin") ?? "";
  await signIns.page("docs", state);
  expect(secrets().filter((name) => name.includes(bob.userId))).toHaveLength(1);
  expect(signIns.sweepAt()).toBe(clock.now() + 15 * MINUTE_MS);
  await clock.advance(15 * MINUTE_MS);
  signIns.sweep();
  expect([secrets().filter((name) => name.includes(bob.userId)), signIns.sweepAt()]).toEqual([[], undefined]);
});
