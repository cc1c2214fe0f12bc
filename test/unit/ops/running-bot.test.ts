import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { reportHealth } from "../../../ops/serve/report-health.ts";
import { askFacts } from "../../../ops/serve/running-bot.ts";

const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await new Promise((resolve) => server.close(resolve));
});

/** A bot that gives this answer to everything. */
async function botThatAnswers(body: string, status = 200): Promise<string> {
  const server = createServer((_request, response) => {
    response.writeHead(status, { connection: "close" }).end(body);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const TEA = {
  agent: "TeaBot",
  model: "openai/tea",
  messengers: [
    {
      id: "telegram",
      provider: "telegram",
      path: "/hook",
      commands: [
        { name: "start", description: { en: "Say hello", de: "Sagt hallo" } },
        { name: "help", description: "Show the commands" },
      ],
    },
  ],
};

describe("a running bot that is asked who it is", () => {
  it("may describe its commands in one language or in several", async () => {
    const facts = await askFacts(await botThatAnswers(JSON.stringify(TEA)), "token");
    expect(facts.messengers[0]?.commands.map(({ name }) => name)).toEqual(["start", "help"]);
  });

  it.each([
    ["a wrong field", JSON.stringify({ ...TEA, messengers: [{ id: 7 }] }), /messengers\.0\.id: .*string/],
    ["no field at all", "[]", /\(all\): .*object/],
    ["no JSON", "<html>", /\(no JSON\)/],
  ])("is named with %s", async (_what, body, pattern) => {
    const url = await botThatAnswers(body);
    await expect(askFacts(url, "token")).rejects.toMatchObject({
      code: "bot-not-recognized",
      message: expect.stringMatching(pattern),
    });
  });
});

describe("the line about a bot that runs", () => {
  async function lineAbout(url: string, health: Parameters<typeof reportHealth>[0]["health"]) {
    const said: { readonly text: string; readonly fields: object }[] = [];
    const stopped = AbortSignal.abort();
    const say = (text: string, _event?: string, fields: object = {}): void =>
      void said.push({ text, fields });
    await reportHealth({ adminToken: "token", health, url }, { dataDirectory: "/data/tea", say, stopped });
    return said;
  }

  it("has its class, its model and its webhooks", async () => {
    const url = await botThatAnswers(JSON.stringify(TEA));
    expect(await lineAbout(url, { kind: "ready" })).toEqual([
      {
        text: `ready on ${url} (data in /data/tea): TeaBot with openai/tea`,
        fields: {
          url,
          isReady: true,
          bot: "TeaBot",
          model: "openai/tea",
          webhooks: `${url}/hook`,
          data: "/data/tea",
        },
      },
    ]);
  });

  it("says why it does not have them", async () => {
    const url = await botThatAnswers(JSON.stringify({ ...TEA, agent: 1 }));
    const [line] = await lineAbout(url, { kind: "ready" });
    expect(line?.text).toMatch(/^ready on .*Its model and webhooks are not known: .*agent: .*string/);
  });

  it("says once why a bot is not ready that cannot describe itself", async () => {
    const url = await botThatAnswers(JSON.stringify({ error: { message: "No model." } }), 500);
    const [line] = await lineAbout(url, { kind: "problem", code: "x", message: "No model." });
    expect(line?.text).toBe(`running on ${url} (data in /data/tea), but not ready: No model.`);
  });
});
