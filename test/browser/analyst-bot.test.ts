import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { callTool, say } from "../../lab/support/model-script.ts";
import { startRig, type Rig } from "../../lab/support/rig.ts";
import { lastUserText, textOf, type ModelScript } from "../../lab/support/scripted-model.ts";
import { PICTURE, usePersonPage } from "./person-page.ts";

const CODE = `async () => {
  const report = await actions.makeReport({
    title: "Receipts of June",
    rows: [{ name: "Taxi", amountCents: 1840 }, { name: "Hotel", amountCents: 12900 }],
  });
  const mail = { to: "boss@example.com", subject: "Receipts", text: "Total: " + report.total, file: report.path };
  await actions.sendMail(mail);
  return report.total;
}`;

const TOTAL = /Expenses so far: .*/;

/** Reads "the receipts", writes the code, and tells what came of it. */
const script: ModelScript = (request) => {
  const last = request.messages.at(-1);
  if (last?.role !== "tool" && lastUserText(request).includes("table"))
    return [callTool("codemode", { code: CODE })];
  if (last?.role !== "tool" && lastUserText(request) === "Note the taxi")
    return [callTool("ext_expenses_add", { what: "Taxi", amount: 18.4 })];
  if (lastUserText(request) === "How much is it?")
    return [say(TOTAL.exec(textOf(request.messages[0]))?.[0] ?? "")];
  return [say(last?.role === "tool" ? "Let me see." : `So: ${lastUserText(request)}`)];
};

/** Both calls of the code, which one card undoes together. */
const BOTH = "The report “Receipts of June”; Mail “Receipts” to boss@example.com";

interface Mail {
  readonly to: string;
  readonly text: string;
  readonly pdf: string;
}

/** A mail server that holds back all mails. */
const mails = new Map<string, Mail>();
let server: Server;
let rig: Rig;

async function answerTo(request: IncomingMessage): Promise<[status: number, body: object]> {
  if (request.method === "POST") {
    const mailId = `m${mails.size + 1}`;
    mails.set(mailId, JSON.parse(await text(request)) as Mail);
    return [200, { mailId }];
  }
  return [mails.delete(decodeURIComponent(request.url?.split("/").at(-1) ?? "")) ? 200 : 404, {}];
}

beforeAll(async () => {
  server = createServer((request, response) => {
    void answerTo(request).then(([status, body]) => {
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const MAIL_API_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  rig = await startRig({ config: "examples/analyst-bot/wrangler.jsonc", env: { MAIL_API_URL } });
  rig.model.script(script);
});
afterAll(async () => {
  await rig.close();
  server.close();
});

const chat = usePersonPage(() => rig.simulator);
const press = (name: string) => chat.log().getByRole("button", { name, exact: true }).last().press("Enter");

describe("the analyst bot", () => {
  it("makes a report of receipts, mails it after consent, and recalls the mail", async () => {
    await chat.send(PICTURE);
    await chat.log().getByText("So:").waitFor();
    await chat.write("Make a table of it, and mail it to my boss");
    await chat.log().getByText("Mail “Receipts” to boss@example.com?").waitFor();
    await chat.log().getByText("Done before it in this run: The report “Receipts of June”").waitFor();
    expect(mails.size).toBe(0);
    await chat.screenshot("analyst-asks");
    await press("Approve");
    await chat.log().getByText(`Done: ${BOTH}`).waitFor();
    expect(mails.size).toBe(1);
    await chat.log().getByRole("link", { name: /\.pdf/ }).first().waitFor();
    const [mail] = [...mails.values()];
    expect(mail).toMatchObject({ to: "boss@example.com", text: "Total: 147.40 EUR" });
    expect(atob(mail?.pdf ?? "")).toMatch(/^%PDF-/);
    await chat.log().getByText("147.40 EUR").last().waitFor();
    await chat.screenshot("analyst-done");
    await press("Undo");
    await chat.log().getByText(`Undone: ${BOTH}`).waitFor();
    expect(mails.size).toBe(0);
    await chat.screenshot("analyst-undone");
  });

  it("changes a list with an extension's tool, after consent, and its hook tells the model the total", async () => {
    await chat.write("Note the taxi");
    await chat.log().getByText("expenses: add?").waitFor();
    await chat.log().getByText("Amount in euros: 18.4").waitFor();
    await chat.screenshot("analyst-extension-asks");
    await press("Approve");
    await chat.log().getByText('"total":"18.40"').waitFor();
    await chat.write("How much is it?");
    const total = chat.log().getByText("Expenses so far: 18.40 EUR (1 in /expenses.csv).");
    await total.waitFor();
    expect(await total.count()).toBe(1);
    await chat.screenshot("analyst-extension-done");
  });
});
