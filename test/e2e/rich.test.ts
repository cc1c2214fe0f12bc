import type { RichBlock } from "grammy/types";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { splitText } from "../../delivery/text/split/index.ts";
import { richBlocks, telegramEntities } from "../../delivery/text/render/index.ts";
import { CallParameters } from "../../playground/telegram/bot-api/call-parameters.ts";
import { readRichMessage } from "../../playground/telegram/bot-api/rich/read-rich-message.ts";
import { toInputRichMessage } from "../../providers/telegram/rich-message.ts";
import { createGate } from "../../lab/support/gate.ts";
import { holdAt, say } from "../../lab/support/model-script.ts";
import { startRig, type Rig } from "../../lab/support/rig.ts";
import { SharedDeath } from "./shared-death.ts";
import { logs, newcomer, rehearse, SOON, toldIn, type Person, type Rehearsal } from "./rehearsal.ts";

let rig: Rig;
let model: Rehearsal;

beforeAll(async () => {
  rig = await startRig({
    simulator: { redelivery: { baseMs: 100, maxMs: 500 } },
    config: "test/e2e/bots/rich/wrangler.jsonc",
  });
  model = rehearse(rig);
});
afterAll(async () => {
  await rig.close();
});
beforeEach(() => rig.simulator.clearFaults());

const FOOTER = "_Written by a program._";

/** About `length` characters, with everything that a rich message can show. */
function reportOf(length: number): string {
  const section = (index: number): string => `## Section ${index}

What is said in **section ${index}** is *not* what is said in the one before it, see [there](https://example.org/${index}).
${" It is written down here so that nobody has to look for it somewhere else.".repeat(6)}

- first point
  1. with a detail
  2. and another one
- [x] done

| n | square |
|--:|:------:|
| ${index} | ${index * index} |

> quoted
>
> > twice

\`\`\`ts
const section = ${index};
\`\`\`

It follows that $n_${index} = ${index}$.`;
  const sections: string[] = ["# Report"];
  for (let index = 1; sections.join("\n\n").length < length; index += 1) sections.push(section(index));
  return sections.join("\n\n");
}

/** What the chat should show of a text, as the simulator keeps it. */
function richOf(text: string): readonly RichBlock[] {
  const limits = { maxLength: 32_768, maxEntities: 500 };
  const [part, ...others] = splitText(text, { renderer: richBlocks, limits, final: true });
  expect(others).toEqual([]);
  const message = toInputRichMessage(part?.content.blocks ?? []);
  return readRichMessage(new CallParameters({ values: { rich_message: message }, files: new Map() }));
}

/** The texts of the ordinary messages that a text becomes. */
function ordinaryOf(text: string): readonly string[] {
  const mark = "(sent again after a connection problem)\n".length;
  const limits = { maxLength: 4096 - mark, maxEntities: 100 };
  return splitText(text, { renderer: telegramEntities, limits, final: true }).map(
    ({ content }) => content.text,
  );
}

const withFooter = (text: string): string => `${text}\n\n${FOOTER}`;
const methodsOf = ({ chat }: Person): string[] => [
  ...new Set(rig.simulator.calls({ chatId: chat.id }).map(({ method }) => method)),
];
const richCallsOf = ({ chat }: Person): number =>
  rig.simulator.calls({ chatId: chat.id }).filter(({ payload }) => payload.rich_message !== undefined).length;
const showsRich = async (person: Person, text: string): Promise<void> => {
  const expected = JSON.stringify(richOf(text));
  await rig.simulator.waitFor(() => JSON.stringify(person.replies().at(-1)?.rich) === expected, SOON);
};
/** A moment at which a message is no longer part of the one before, in the seconds that a message carries. */
const later = (): number => Math.floor(Date.now() / 1000) + 60;

describe("rich messages", () => {
  it("shows a long answer growing in one message, word for word, with its tables and lists", async () => {
    const ada = newcomer(rig);
    const gate = createGate();
    const text = reportOf(12_000);
    model.on("the whole report", [
      say(text.slice(0, 700), { chunkSize: 50 }),
      holdAt(gate),
      say(text.slice(700), { chunkSize: 400 }),
    ]);
    ada.write("the whole report, please");
    await rig.simulator.waitFor(
      () => ada.replies()[0]?.rich?.some(({ type }) => type === "table") === true,
      SOON,
    );
    gate.open();
    await showsRich(ada, withFooter(text));
    expect(ada.replies()).toHaveLength(1);
    expect(methodsOf(ada)).not.toContain("sendMessage");
    for (const { rich } of ada.replies()[0]?.history ?? []) expect(rich).toBeDefined();
  });

  it("tells the model what a quoted rich message said", async () => {
    const ada = newcomer(rig);
    model.on("one table", [say("| a | b |\n|---|---|\n| apple | pear |")]);
    ada.write("one table");
    await showsRich(ada, withFooter("| a | b |\n|---|---|\n| apple | pear |"));
    model.on("which fruit", [say("Apple.")]);
    const [table] = ada.replies();
    rig.simulator.sendText(ada.chat, ada.user, "which fruit?", { date: later(), replyTo: table?.id ?? 0 });
    const whole = "Apple.\n\nWritten by a program.";
    await rig.simulator.waitFor(() => ada.replies()[1]?.text === whole, SOON);
    expect(ada.replies()[1]?.rich).toBeUndefined();
    expect(toldIn(model.requests("which fruit")[0])).toContain("pear");
  });

  it("goes on with ordinary messages when the server knows no rich ones, and asks once", async () => {
    const ada = newcomer(rig);
    const text = reportOf(6_000);
    rig.simulator.fault({ kind: "rich-refused", unknown: true, chatId: ada.chat.id, times: Infinity });
    model.on("an older server", [say(text, { chunkSize: 300, paceMs: 20 })]);
    ada.write("an older server");
    await ada.reads(...ordinaryOf(withFooter(text)));
    expect(ordinaryOf(withFooter(text)).length).toBeGreaterThan(1);
    expect(richCallsOf(ada)).toBe(1);
    await logs(rig, /"event":"delivery.rich-unsupported"/);
    model.on("and once more", [say("# Yes")]);
    rig.simulator.sendText(ada.chat, ada.user, "and once more", { date: later() });
    await ada.reads(...ordinaryOf(withFooter(text)), ...ordinaryOf(withFooter("# Yes")));
    expect(richCallsOf(ada)).toBe(1);
  });

  it("goes on in the same message and in further ones when an edit is refused in mid-stream", async () => {
    const ada = newcomer(rig);
    const gate = createGate();
    const text = reportOf(6_000);
    model.on("refused later", [
      say(text.slice(0, 600)),
      holdAt(gate),
      say(text.slice(600), { chunkSize: 300 }),
    ]);
    ada.write("refused later");
    await rig.simulator.waitFor(() => ada.replies()[0]?.rich !== undefined, SOON);
    const [first] = ada.replies();
    rig.simulator.fault({ kind: "rich-refused", unknown: false, chatId: ada.chat.id });
    gate.open();
    await ada.reads(...ordinaryOf(withFooter(text)));
    expect(ada.replies()[0]?.id).toBe(first?.id);
    expect(ada.replies().every(({ rich }) => rich === undefined)).toBe(true);
    // It was this one's content.
    model.on("the next answer", [say("# Rich again")]);
    rig.simulator.sendText(ada.chat, ada.user, "the next answer", { date: later() });
    await showsRich(ada, withFooter("# Rich again"));
  });
});

describe("SIGKILL in the middle of a rich message", () => {
  const death = new SharedDeath(() => rig);

  death.it("completes it in place", async ({ die }) => {
    const ada = newcomer(rig);
    const gate = createGate();
    const text = reportOf(2_000);
    model.on(
      "half a report",
      [say(text.slice(0, 600)), holdAt(gate), say(text.slice(600))],
      [say(text, { chunkSize: 100 })],
    );
    ada.write("half a report");
    await rig.simulator.waitFor(() => (ada.replies()[0]?.text.length ?? 0) > 100, SOON);
    const before = ada.replies()[0]?.id;
    await die();
    await showsRich(ada, withFooter(text));
    expect(ada.replies().map(({ id }) => id)).toEqual([before]);
    gate.open();
  });

  for (const processed of [true, false]) {
    death.it(`finds its post again, or makes it (done: ${processed}), once and unmarked`, async ({ die }) => {
      const ada = newcomer(rig);
      const text = reportOf(1_000);
      model.on(`lost post ${processed}`, [say(text, { chunkSize: 100 })]);
      rig.simulator.fault({ kind: "hang", processed, method: "sendRichMessage", chatId: ada.chat.id });
      ada.write(`lost post ${processed}`);
      await rig.simulator.waitFor(
        () => rig.simulator.calls({ chatId: ada.chat.id, method: "sendRichMessage" }).length > 0,
        SOON,
      );
      await die();
      await showsRich(ada, withFooter(text));
      expect(ada.replies()).toHaveLength(1);
    });
  }

  death.it("keeps to ordinary messages where rich ones were refused before", async ({ die }) => {
    const ada = newcomer(rig);
    const gate = createGate();
    const text = reportOf(6_000);
    rig.simulator.fault({ kind: "rich-refused", unknown: true, chatId: ada.chat.id });
    model.on(
      "refused and killed",
      [say(text.slice(0, 4_500), { chunkSize: 300 }), holdAt(gate), say(text.slice(4_500))],
      [say(text, { chunkSize: 300 })],
    );
    ada.write("refused and killed");
    await rig.simulator.waitFor(() => ada.replies().length === 2, SOON);
    const before = ada.replies().map(({ id }) => id);
    await die();
    await ada.reads(...ordinaryOf(withFooter(text)));
    expect(
      ada
        .replies()
        .slice(0, 2)
        .map(({ id }) => id),
    ).toEqual(before);
    expect(richCallsOf(ada)).toBe(1);
    gate.open();
  });
});

describe("rich drafts", () => {
  it("grow as drafts with a stop button, and then are one message", async () => {
    rig.simulator.setWebhook(`${rig.bot.url}/drafting`, rig.secret);
    try {
      const ada = newcomer(rig);
      const gate = createGate();
      const text = reportOf(1_500);
      model.on("drafted", [say(text.slice(0, 700)), holdAt(gate), say(text.slice(700))]);
      ada.write("drafted");
      await rig.simulator.waitFor(() => rig.simulator.draft(ada.chat)?.rich !== undefined, SOON);
      expect(rig.simulator.draft(ada.chat)).toMatchObject({ canStop: true, keepOnStop: true });
      expect(ada.replies()).toEqual([]);
      gate.open();
      await showsRich(ada, text);
      expect(ada.replies()).toHaveLength(1);
      expect(ada.replies()[0]?.history).toHaveLength(1);
      expect(methodsOf(ada).toSorted()).toEqual(
        [
          "sendRichMessage",
          "sendRichMessageDraft",
          ...methodsOf(ada).filter((name) => name === "sendChatAction"),
        ].toSorted(),
      );
    } finally {
      rig.simulator.setWebhook(rig.webhookUrl, rig.secret);
    }
  });
});
