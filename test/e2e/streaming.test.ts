import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { VisibleMessage } from "../../playground/telegram/simulator.ts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createGate } from "../../lab/support/gate.ts";
import { callTool, holdAt, say } from "../../lab/support/model-script.ts";
import { startRig, type Rig } from "../../lab/support/rig.ts";
import { newcomer, rehearse, SOON, toldIn, type Rehearsal } from "./rehearsal.ts";

/** A shop that answers some orders only when their test says so. */
const shop = { asked: [] as string[], gates: { "1001": createGate(), "2002": createGate() } };
let shopServer: Server;
let rig: Rig;
let model: Rehearsal;

beforeAll(async () => {
  shopServer = createServer(async (request, response) => {
    shop.asked.push(request.url ?? "");
    const id = request.url?.split("/").at(-1) ?? "";
    if (id in shop.gates) await shop.gates[id as keyof typeof shop.gates].pass();
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ id, status: "shipped", customer: "Grace Hopper" }));
  });
  shopServer.listen(0, "127.0.0.1");
  await once(shopServer, "listening");
  const { port } = shopServer.address() as AddressInfo;
  rig = await startRig({ env: { ORDERS_API_URL: `http://127.0.0.1:${port}` } });
  model = rehearse(rig);
});

afterAll(async () => {
  await rig.close();
  shopServer.close();
});

describe.concurrent("streaming", () => {
  it("shows an answer word for word with its formatting, and grows by what it said before", async () => {
    const ada = newcomer(rig);
    const gate = createGate();
    const first = "Hello **Ada**, this is *the plan*: ";
    model.on("the plan, please", [
      say(first, { chunkSize: 3 }),
      holdAt(gate),
      say("run `npm start`, read [the guide](https://example.org/guide) 👩‍🚀.\n\n", { chunkSize: 4 }),
      say("- one\n- two ~~three~~\n\n> A quote.\n\n```ts\nconst a = 1 < 2;\n```\n\nDone.", { chunkSize: 5 }),
    ]);
    ada.write("the plan, please");
    await gate.reached;
    await rig.simulator.waitFor(() => ada.replies()[0]?.text === "Hello Ada, this is the plan:", SOON);
    expect(formattingOf(ada.replies()[0])).toEqual(["bold: Ada", "italic: the plan"]);
    gate.open();
    await rig.simulator.waitFor(() => ada.replies()[0]?.text.endsWith("Done.") === true, SOON);
    const [answer, ...others] = ada.replies();
    expect(others).toEqual([]);
    expect(answer?.text).toBe(
      [
        "Hello Ada, this is the plan: run npm start, read the guide 👩‍🚀.",
        "• one\n• two three",
        "A quote.",
        "const a = 1 < 2;",
        "Done.",
      ].join("\n\n"),
    );
    expect(formattingOf(answer)).toEqual([
      "bold: Ada",
      "italic: the plan",
      "code: npm start",
      "text_link https://example.org/guide: the guide",
      "strikethrough: three",
      "blockquote: A quote.",
      "pre ts: const a = 1 < 2;",
    ]);
    const versions = answer?.history.map(({ text }) => text) ?? [];
    expect(versions.length).toBeGreaterThan(1);
    for (const version of versions) expect(answer?.text.startsWith(version)).toBe(true);
  });

  it("answers ten chats at once, each with its own text", async () => {
    const gate = createGate();
    const people = Array.from({ length: 10 }, (_, index) => {
      const secret = `parcel-${String.fromCharCode(65 + index).repeat(5)}`;
      model.on(`I own ${secret}.`, [
        say(`I have noted ${secret}, `),
        holdAt(gate),
        say(`and I keep ${secret} safe.`),
      ]);
      return { ...newcomer(rig, `Person ${index}`), secret };
    });
    for (const person of people) person.write(`I own ${person.secret}.`);
    const begins = (person: (typeof people)[number]): boolean =>
      person.replies()[0]?.text === `I have noted ${person.secret},`;
    await rig.simulator.waitFor(() => people.every(begins), SOON);
    gate.open();
    await Promise.all(
      people.map(({ reads, secret }) => reads(`I have noted ${secret}, and I keep ${secret} safe.`)),
    );
    for (const { chat, replies, secret } of people) {
      const shown = replies().flatMap(({ history }) => history.map(({ text }) => text));
      const told = toldIn(model.requests(`I own ${secret}.`)[0]);
      for (const { secret: other } of people) {
        if (other === secret) continue;
        for (const text of [...shown, told]) expect(text).not.toContain(other);
      }
      expect(model.requests(`I own ${secret}.`)).toHaveLength(1);
      expect(rig.simulator.calls({ chatId: chat.id, method: "sendMessage" })).toHaveLength(1);
    }
  });

  it("shows a reply of 12,000 characters whole, in order and once, with its formatting", async () => {
    const ada = newcomer(rig);
    const numbers = Array.from({ length: 100 }, (_, index) => index + 1);
    const lines = Array.from({ length: 80 }, (_, index) => `line_${index + 1} = "a < b && c > d ${index}"`);
    const sentence = (number: number) =>
      `**No. ${number}** is said in a sentence of some length, which *ends* here.`;
    const before = numbers.slice(0, 30).map(sentence).join("\n\n");
    const after = [...numbers.slice(30).map(sentence), "All said."].join("\n\n");
    const code = `\`\`\`python\n${lines.join("\n")}\n\`\`\``;
    const filler = "Tea is better than coffee. ".repeat(110);
    const markdown = [before, code, filler.trim(), after].join("\n\n");
    expect(markdown.length).toBeGreaterThan(12_000);
    model.on("everything, please", [say(markdown, { chunkSize: 200 })]);
    ada.write("everything, please");
    await rig.simulator.waitFor(() => ada.replies().at(-1)?.text.endsWith("All said.") === true, SOON);
    const parts = ada.replies();
    for (const { text } of parts) expect(text.length).toBeLessThanOrEqual(4096);
    const plain = markdown
      .replaceAll("**", "")
      .replaceAll("*", "")
      .replaceAll(/```\w*\n?/g, "");
    expect(withoutBlanks(parts.map(({ text }) => text).join("\n"))).toBe(withoutBlanks(plain));
    const formatting = parts.flatMap(formattingOf);
    expect(formatting.filter((one) => one.startsWith("bold"))).toEqual(
      numbers.map((number) => `bold: No. ${number}`),
    );
    expect(formatting.filter((one) => one === "italic: ends")).toHaveLength(100);
    const codeLines = formatting
      .filter((one) => one.startsWith("pre python: "))
      .flatMap((one) => one.slice("pre python: ".length).split("\n"));
    expect(codeLines).toEqual(lines);
    expect(parts.map(({ id }) => id)).toEqual(parts.map(({ id }) => id).toSorted((a, b) => a - b));
  });

  it("goes on in the same message after a tool call, set apart by a blank line", async () => {
    const ada = newcomer(rig);
    model.on(
      "my order 1001",
      [say("Let me look."), callTool("lookup_order", { id: "1001" })],
      [say("It is on its way.")],
    );
    ada.write("Where is my order 1001?");
    await shop.gates["1001"].reached;
    await ada.reads("Let me look.");
    shop.gates["1001"].open();
    await ada.reads("Let me look.\n\nIt is on its way.");
    expect(shop.asked.filter((path) => path === "/orders/1001")).toHaveLength(1);
    const [first, second] = model.requests("my order 1001");
    expect(first?.tools.toSorted()).toEqual([
      "cancel_order",
      "cancel_schedule",
      "change_address",
      "change_schedule",
      "draft_email",
      "export_invoices",
      "find_shop",
      "list_products",
      "list_schedules",
      "lookup_order",
      "opening_hours",
      "pause_schedule",
      "refund_order",
      "remind_me",
      "return_order",
      "run_schedule_now",
      "schedule_digest",
      "search_context",
      "send_invoice",
      "send_photo",
      "set_context",
      "track",
      "voice_summary",
    ]);
    expect(toldIn(second)).toContain("shipped");
    expect(toldIn(second)).not.toContain("Hopper");
    for (const { text } of ada.replies()[0]?.history ?? []) {
      expect("Let me look.\n\nIt is on its way.".startsWith(text)).toBe(true);
    }
  });

  it("shows below what was said how far an export is, and sends its files after the answer", async () => {
    const ada = newcomer(rig);
    model.on(
      "my invoices",
      [say("I collect them."), callTool("export_invoices", { orderIds: ["2001", "2002"] })],
      [say("Here they are.")],
    );
    ada.write("Please send me my invoices");
    await shop.gates["2002"].reached;
    await ada.reads("I collect them.\n\n⏳ Invoice 2 of 2 50 %");
    shop.gates["2002"].open();
    const whole = "I collect them.\n\nHere they are.";
    await rig.simulator.waitFor(() => ada.replies().length === 3, SOON);
    expect(ada.replies()[0]?.text).toBe(whole);
    expect(rig.simulator.calls({ chatId: ada.chat.id, method: "sendDocument" })).toHaveLength(2);
  });
});

/** Every piece of formatting with the text that it lies on. */
function formattingOf(message: VisibleMessage | undefined): string[] {
  return (message?.entities ?? []).map((entity) => {
    const on = message?.text.slice(entity.offset, entity.offset + entity.length).trimEnd();
    const detail = "url" in entity ? ` ${entity.url}` : "language" in entity ? ` ${entity.language}` : "";
    return `${entity.type}${detail}: ${on}`;
  });
}

function withoutBlanks(text: string): string {
  return text.replaceAll(/\s+/g, "");
}
