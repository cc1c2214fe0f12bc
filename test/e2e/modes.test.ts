import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createGate } from "../../lab/support/gate.ts";
import { holdAt, say } from "../../lab/support/model-script.ts";
import { startRig, type Rig } from "../../lab/support/rig.ts";
import {
  logs,
  newcomer,
  rehearse,
  repliesIn,
  SOON,
  toldIn,
  type Person,
  type Rehearsal,
} from "./rehearsal.ts";

let rig: Rig;
let model: Rehearsal;

beforeAll(async () => {
  rig = await startRig({
    simulator: { redelivery: { baseMs: 100, maxMs: 500 } },
    config: "test/e2e/bots/drafting/wrangler.jsonc",
  });
  model = rehearse(rig);
});
afterAll(async () => {
  await rig.close();
});

/** A moment at which a message is no longer part of the one before, in the seconds that a message carries. */
const later = (): number => Math.floor(Date.now() / 1000) + 60;
/** The texts that the bot has asked for as drafts, without repetitions. */
const draftsOf = ({ chat }: Person): string[] => [
  ...new Set(
    rig.simulator
      .calls({ chatId: chat.id, method: "sendMessageDraft" })
      .map(({ payload }) => String(payload.text)),
  ),
];
const draftIs = async ({ chat }: Person, text: string): Promise<void> =>
  rig.simulator.waitFor(() => rig.simulator.draft(chat)?.text === text, SOON);
const methodsOf = ({ chat }: Person): string[] => [
  ...new Set(rig.simulator.calls({ chatId: chat.id }).map(({ method }) => method)),
];

describe("drafts", () => {
  it("shows the answer growing as a draft with a stop button, and then as one message", async () => {
    const ada = newcomer(rig);
    const [first, second] = [createGate(), createGate()];
    model.on("the plan, please", [
      say("The plan is "),
      holdAt(first),
      say("**simple**: "),
      holdAt(second),
      say("do it."),
    ]);
    ada.write("the plan, please");
    await draftIs(ada, "The plan is");
    expect(rig.simulator.draft(ada.chat)).toMatchObject({ canStop: true, keepOnStop: true });
    expect(ada.replies()).toEqual([]);
    first.open();
    await draftIs(ada, "The plan is simple:");
    second.open();
    await ada.reads("The plan is simple: do it.");
    expect(rig.simulator.draft(ada.chat)).toBeUndefined();
    expect(ada.replies()[0]?.history).toHaveLength(1);
    expect(ada.replies()[0]?.entities).toEqual([{ type: "bold", offset: 12, length: 6 }]);
    expect(methodsOf(ada)).not.toContain("editMessageText");
    for (const draft of draftsOf(ada)) expect("The plan is simple: do it.".startsWith(draft)).toBe(true);
  });

  it("makes the parts of a long answer messages one by one, and drafts the next one", async () => {
    const ada = newcomer(rig);
    const gate = createGate();
    const paragraphs = Array.from(
      { length: 60 },
      (_, index) =>
        `Paragraph ${index} of a long story says what happened on that day, and why nobody saw it.`,
    );
    const text = paragraphs.join("\n\n");
    model.on("a long story", [
      say(text.slice(0, 4900), { chunkSize: 200 }),
      holdAt(gate),
      say(text.slice(4900)),
    ]);
    ada.write("a long story, please");
    await rig.simulator.waitFor(() => ada.replies().length === 1, SOON);
    await rig.simulator.waitFor(() => rig.simulator.draft(ada.chat) !== undefined, SOON);
    const [part] = ada.replies();
    expect(paragraphs.join("").startsWith(part?.text.replaceAll("\n", "") ?? "-")).toBe(true);
    gate.open();
    await rig.simulator.waitFor(() => ada.replies().length === 2, SOON);
    expect(
      ada
        .replies()
        .map(({ text: shown }) => shown)
        .join("\n\n"),
    ).toBe(text);
    for (const { history } of ada.replies()) expect(history).toHaveLength(1);
  });

  it("ends the answer when the stop button is pressed, and keeps what was said as a message", async () => {
    const ada = newcomer(rig);
    model.on("count for ever", [say("One, two, three"), holdAt(createGate()), say(", four")]);
    ada.write("count for ever");
    await draftIs(ada, "One, two, three");
    rig.simulator.stopDraft(ada.chat);
    await ada.reads("One, two, three\n\n(stopped)");
    await logs(rig, /"outcome":"stopped"/);
    model.on("and now", [say("Now I answer.")]);
    rig.simulator.sendText(ada.chat, ada.user, "and now?", { date: later() });
    await ada.reads("One, two, three\n\n(stopped)", "Now I answer.");
    expect(model.requests("count for ever")).toHaveLength(1);
  });

  it("means edits in a group", async () => {
    const user = rig.simulator.addUser({ first_name: "Grace" });
    const group = rig.simulator.addGroup({ title: "Library", members: [user] });
    const gate = createGate();
    model.on("the plan for all", [say("The plan is "), holdAt(gate), say("simple.")]);
    rig.simulator.sendText(group, user, `@${rig.simulator.bot.username} the plan for all`);
    await rig.simulator.waitFor(() => repliesIn(rig, group)[0]?.text === "The plan is", SOON);
    gate.open();
    await rig.simulator.waitFor(() => repliesIn(rig, group)[0]?.text === "The plan is simple.", SOON);
    expect(rig.simulator.calls({ chatId: group.id, method: "sendMessageDraft" })).toEqual([]);
  });

  it.each([
    ["is not possible", { kind: "400", description: "Bad Request: TEXTDRAFT_PEER_INVALID" }],
    ["is forbidden", { kind: "403", description: "Forbidden: drafts are not allowed" }],
  ] as const)("goes on with a message that is edited when a draft %s", async (name, fault) => {
    const ada = newcomer(rig);
    const gate = createGate();
    rig.simulator.fault({ ...fault, method: "sendMessageDraft", chatId: ada.chat.id, times: 100 });
    model.on(`without drafts: ${name}`, [say("It goes on "), holdAt(gate), say("all the same.")]);
    ada.write(`without drafts: ${name}`);
    await ada.reads("It goes on");
    gate.open();
    await ada.reads("It goes on all the same.");
    expect(rig.simulator.calls({ chatId: ada.chat.id, method: "sendMessageDraft" })).toHaveLength(1);
  });

  it("shows one whole message after a SIGKILL in the middle of a draft", async () => {
    const ada = newcomer(rig);
    const gate = createGate();
    const text = "The first half of the answer, and then the second half of it.";
    model.on(
      "half an answer",
      [say(text.slice(0, 30)), holdAt(gate), say(text.slice(30))],
      [say(text, { chunkSize: 10 })],
    );
    ada.write("half an answer");
    await draftIs(ada, text.slice(0, 30).trim());
    await rig.bot.kill("SIGKILL");
    expect(ada.replies()).toEqual([]);
    await rig.bot.restart();
    await ada.reads(text);
    gate.open();
    model.on("and then", [say("That was all.")]);
    rig.simulator.sendText(ada.chat, ada.user, "and then?", { date: later() });
    await ada.reads(text, "That was all.");
    expect(rig.simulator.calls({ chatId: ada.chat.id, method: "sendMessage" })).toHaveLength(2);
    expect(toldIn(model.requests("and then")[0])).toContain(text);
  });
});

describe("buffered and final-only", () => {
  const over = async (path: string, run: () => Promise<void>): Promise<void> => {
    rig.simulator.setWebhook(`${rig.bot.url}${path}`, rig.secret);
    try {
      await run();
    } finally {
      rig.simulator.setWebhook(rig.webhookUrl, rig.secret);
    }
  };

  it("shows nothing but typing until the text is whole", async () =>
    over("/final-only", async () => {
      const ada = newcomer(rig);
      const gate = createGate();
      model.on("all at once", [say("It begins "), holdAt(gate), say("and ends at https://example.org.")]);
      ada.write("all at once");
      await gate.reached;
      await rig.simulator.waitFor(() => methodsOf(ada).includes("sendChatAction"), SOON);
      gate.open();
      await ada.reads("It begins and ends at https://example.org.");
      expect(methodsOf(ada)).toEqual(["sendChatAction", "sendMessage"]);
      const [sent] = rig.simulator.calls({ chatId: ada.chat.id, method: "sendMessage" });
      expect(sent?.payload.link_preview_options).toEqual({ is_disabled: false });
    }));

  it("posts each message of a long answer when it is complete, and edits none", async () =>
    over("/buffered", async () => {
      const ada = newcomer(rig);
      const gate = createGate();
      const text = Array.from(
        { length: 60 },
        (_, index) => `Paragraph ${index}: ${"word ".repeat(15)}end.`,
      ).join("\n\n");
      model.on("in pieces", [
        say(text.slice(0, 4700), { chunkSize: 200 }),
        holdAt(gate),
        say(text.slice(4700)),
      ]);
      ada.write("in pieces");
      await rig.simulator.waitFor(() => ada.replies().length === 1, SOON);
      gate.open();
      await rig.simulator.waitFor(
        () =>
          ada
            .replies()
            .map(({ text: shown }) => shown)
            .join("\n\n") === text,
        SOON,
      );
      expect(methodsOf(ada)).not.toContain("editMessageText");
    }));
});
