import { once } from "node:events";
import { createServer } from "node:http";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { createGate } from "../../lab/support/gate.ts";
import { callTool, holdAt, reportUsage, say } from "../../lab/support/model-script.ts";
import { startRig, type Rig } from "../../lab/support/rig.ts";
import { readSpans } from "../support/otlp.ts";
import type { CollectedSpan } from "../support/otlp.ts";

const ADA = { id: 4711 };
let rig: Rig;
let collector: Server;
const spans: CollectedSpan[] = [];
const requests: string[] = [];
/** Whether the collector answers. */
let isAway = false;

beforeAll(async () => {
  collector = createServer((request, response) => {
    void text(request).then((body) => {
      requests.push(`${request.method} ${request.url} ${String(request.headers["x-key"])}`);
      if (isAway) return request.destroy();
      spans.push(...readSpans(body));
      return response.end("{}");
    });
  }).listen(0, "127.0.0.1");
  await once(collector, "listening");
  const { port } = collector.address() as AddressInfo;
  rig = await startRig({
    config: "test/e2e/bots/traced/wrangler.jsonc",
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_HEADERS: "x-key=of%20the%20collector",
      OTEL_SERVICE_NAME: "shop",
    },
  });
});
afterAll(async () => {
  await rig.close();
  collector.closeAllConnections();
  collector.close();
});

const until = (check: () => boolean): Promise<unknown> =>
  vi.waitUntil(check, { timeout: 20_000, interval: 20 });
const named = (name: string): CollectedSpan[] => spans.filter((span) => span.name.startsWith(name));

it("sends a turn that goes on after SIGKILL to the collector as one trace", async () => {
  const { simulator } = rig;
  const held = createGate();
  const chat = simulator.privateChat(simulator.addUser({ ...ADA, first_name: "Ada" }));
  rig.model.script(({ messages }) =>
    messages.at(-1)?.role === "tool"
      ? [say("There are"), holdAt(held)]
      : [callTool("stock", {}), reportUsage(20, 5)],
  );
  simulator.sendText(chat, ADA, "How many mugs?");
  await until(() => named("execute_tool").length === 1);
  await simulator.waitFor(() => simulator.messages(chat).some(({ text: said }) => said === "There are"));
  await rig.bot.kill("SIGKILL");
  rig.model.script(() => [say("There are seven.")]);
  await rig.bot.restart();
  await until(() => named("invoke_agent").length === 1 && named("delivery").length === 1);
  const [turn] = named("invoke_agent");
  expect(turn?.attributes).toMatchObject({
    "gen_ai.operation.name": "invoke_agent",
    "switchboard.turn.restarted": true,
    "switchboard.turn.outcome": "done",
  });
  expect(named("chat scripted")).toHaveLength(2);
  expect(named("chat scripted")[0]?.attributes["gen_ai.usage.output_tokens"]).toBe("5");
  for (const span of spans)
    if (span !== turn) expect(span).toMatchObject({ traceId: turn?.traceId, parentSpanId: turn?.spanId });
  expect(new Set(requests)).toEqual(new Set(["POST /v1/traces of the collector"]));
  expect(JSON.stringify(spans)).not.toMatch(/mugs|seven|4711/);
});

it("answers while the collector is away", async () => {
  isAway = true;
  const { simulator } = rig;
  const chat = simulator.privateChat(simulator.addUser({ id: 4712, first_name: "Bob" }));
  const answers = () => simulator.messages(chat).filter(({ text: said }) => said === "All is well.");
  const before = requests.length;
  rig.model.script(() => [say("All is well.")]);
  simulator.sendText(chat, { id: 4712 }, "Hello?");
  await simulator.waitFor(() => answers().length === 1);
  await until(() => requests.length > before);
  simulator.sendText(chat, { id: 4712 }, "Still?");
  await simulator.waitFor(() => answers().length === 2);
  expect(answers()).toHaveLength(2);
});
