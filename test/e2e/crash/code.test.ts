import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { callTool, say } from "../../../lab/support/model-script.ts";
import { startRig, type Rig } from "../../../lab/support/rig.ts";
import { newcomer, rehearse, repliesIn, SOON } from "../rehearsal.ts";

const CODE = `async () => {
  const { total } = await actions.makeReport({ title: "June", rows: [{ name: "Taxi", amountCents: 1840 }] });
  const send = (to) => actions.sendMail({ to, subject: "June", text: total });
  const [boss, office] = [await send("boss@example.com"), await send("office@example.com")];
  return [total, boss.mailId, office.mailId];
}`;

/** A mail server. It sends the mails of one key once, and does not answer the first request. */
const mails = new Map<string, { readonly mailId: string; readonly to: string }>();
const requests: string[] = [];
let server: Server;
let rig: Rig;

beforeAll(async () => {
  server = createServer((request, response) => {
    void text(request).then((body) => {
      const key = String(request.headers["idempotency-key"]);
      const { to } = JSON.parse(body) as { readonly to: string };
      requests.push(`${key} ${to}`);
      const mail = mails.get(key) ?? { mailId: `m${mails.size + 1}`, to };
      mails.set(key, mail);
      if (requests.length > 1)
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(mail));
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const MAIL_API_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const simulator = { redelivery: { baseMs: 100, maxMs: 500 } };
  rig = await startRig({ config: "examples/analyst-bot/wrangler.jsonc", simulator, env: { MAIL_API_URL } });
});
afterAll(async () => {
  await rig.close();
  server.closeAllConnections();
  server.close();
});

it("goes on with its code after a SIGKILL in a call that somebody has agreed to, and makes each call once", async () => {
  const model = rehearse(rig);
  model.on("mail the report", [callTool("codemode", { code: CODE })], [say("It waits.")]);
  model.on("Outcome of an action", [say("Both mails have left.")]);
  const ada = newcomer(rig);
  const shows = (words: string) =>
    rig.simulator.waitFor(() => repliesIn(rig, ada.chat).some((one) => one.text.includes(words)), SOON);
  const approve = async (to: string): Promise<void> => {
    await shows(to);
    const card = repliesIn(rig, ada.chat).findLast(({ text: words }) => words.includes(to));
    rig.simulator.pressButton(ada.chat, ada.user, card?.id ?? 0, "Approve");
  };
  ada.write("mail the report");
  await approve("boss@example.com");
  await rig.simulator.waitFor(() => requests.length === 1, SOON);
  await rig.bot.kill("SIGKILL");
  await rig.bot.restart();
  await approve("office@example.com");
  await shows("Both mails have left.");

  expect([...mails.values()].map(({ to }) => to)).toEqual(["boss@example.com", "office@example.com"]);
  // The interrupted request was made again with its key, and no other was.
  expect(requests).toHaveLength(3);
  expect(requests[1]).toBe(requests[0]);
  const [told] = model.requests("Outcome of an action");
  expect(JSON.stringify(told?.messages)).toContain("18.40 EUR");
  const shown = repliesIn(rig, ada.chat);
  expect(shown.filter((one) => one.text.includes("Both mails have left."))).toHaveLength(1);
  // The report is there once, although the code has run three times.
  expect(shown.filter(({ attachments }) => attachments.length > 0)).toHaveLength(1);
});
