import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { SimChat } from "../../playground/telegram/simulator.ts";
import { createGate } from "../../lab/support/gate.ts";
import { holdAt, say } from "../../lab/support/model-script.ts";
import type { ModelStep } from "../../lab/support/model-script.ts";
import { startRig, type Rig } from "../../lab/support/rig.ts";
import { logs, readsLike, rehearse, repliesIn, SOON, toldIn, type Rehearsal } from "./rehearsal.ts";

let rig: Rig;
let model: Rehearsal;

beforeAll(async () => {
  rig = await startRig({ simulator: { redelivery: { baseMs: 100, maxMs: 500 } } });
  model = rehearse(rig);
});

afterAll(async () => {
  await rig.close();
});

function newGroup() {
  const ada = rig.simulator.addUser({ first_name: "Ada" });
  const bob = rig.simulator.addUser({ first_name: "Bob" });
  return { ada, bob, group: rig.simulator.addGroup({ title: "Team", type: "group", members: [ada, bob] }) };
}

const mention = (text: string): string => `@switchboard_bot ${text}`;
const atOnce = (text: string): ModelStep => say(text, { chunkSize: text.length });

/** As a rig outside of Node does it. */
async function upgrade(group: SimChat): Promise<SimChat> {
  const response = await fetch(`${rig.simulator.url}/_sim/upgradeGroup`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ chatId: group.id }),
  });
  return ((await response.json()) as { chat: SimChat }).chat;
}

/** Calls that the platform took, and those that it refused, by the chat that they named. */
function callsTo(chat: SimChat, method: string): number {
  return rig.simulator.calls({ chatId: chat.id, method }).length;
}

describe("a group that is upgraded to a supergroup", () => {
  it("goes on in the supergroup with its memory, and an answer under way is finished there", async () => {
    const { ada, bob, group } = newGroup();
    const gate = createGate();
    model.on("the cat is called Ada's Mog", [atOnce("Nice name.")]);
    model.on("tell me a story", [say("Once upon a time"), holdAt(gate), say(" there was a cat.")]);
    rig.simulator.sendText(group, ada, mention("the cat is called Ada's Mog"));
    await readsLike(rig, group, ["Nice name."]);
    rig.simulator.sendText(group, bob, mention("tell me a story"));
    await readsLike(rig, group, ["Nice name.", "Once upon a time"]);
    rig.simulator.sendText(group, ada, mention("and what did she say of the weather?"));
    const upgraded = await upgrade(group);
    await logs(rig, new RegExp(`"chat.moved"[^\n]*"chat":"${group.id}"[^\n]*"toChat":"${upgraded.id}"`));
    gate.open();
    await readsLike(rig, upgraded, ["Once upon a time there was a cat.", "Noted."]);
    await readsLike(rig, group, ["Nice name.", "Once upon a time"]);
    expect(repliesIn(rig, upgraded).map(({ replyToId }) => replyToId)).toEqual([undefined, undefined]);
    const question = rig.simulator.sendText(upgraded, bob, mention("how is the cat called?"));
    await readsLike(rig, upgraded, ["Once upon a time there was a cat.", "Noted.", "Noted."]);
    expect(toldIn(model.requests("how is the cat called?")[0])).toContain("the cat is called Ada's Mog");
    expect(repliesIn(rig, upgraded).at(-1)?.replyToId).toBe(question.message_id);
  });

  it("is followed by the refusal alone, over a SIGKILL, and what the platform says later changes nothing", async () => {
    const { ada, bob, group } = newGroup();
    const gate = createGate();
    model.on("remember the number 4711", [holdAt(gate), atOnce("I remember 4711.")]);
    rig.simulator.sendText(group, ada, mention("remember the number 4711"));
    await gate.reached;
    // The platform cannot reach the bot: the only news is the refusal of its call.
    rig.simulator.deleteWebhook();
    const upgraded = await upgrade(group);
    rig.simulator.fault({
      kind: "5xx",
      body: "json",
      chatId: upgraded.id,
      method: "sendMessage",
      times: Number.POSITIVE_INFINITY,
    });
    gate.open();
    await logs(rig, new RegExp(`"delivery.call-failed"[^\n]*"transient"[^\n]*"telegram:${upgraded.id}"`));
    // What was logged is stored by the time at which the bot answers something else.
    expect((await fetch(`${rig.bot.url}/health`)).status).toBe(200);
    await rig.bot.kill("SIGKILL");
    rig.simulator.clearFaults();
    await rig.bot.restart();
    await readsLike(rig, upgraded, ["I remember 4711."]);
    rig.simulator.sendText(group, ada, mention("which number, asked in the old group?"));
    rig.simulator.sendText(upgraded, bob, mention("which number, asked in the new one?"));
    rig.simulator.setWebhook(rig.webhookUrl, rig.secret);
    await readsLike(rig, upgraded, ["I remember 4711.", "Noted.", "Noted."]);
    for (const cue of ["asked in the old group", "asked in the new one"]) {
      expect(model.requests(cue)).toHaveLength(1);
      expect(toldIn(model.requests(cue)[0])).toContain("I remember 4711.");
    }
    await rig.simulator.waitFor(
      () => rig.simulator.updates().every(({ state }) => state === "delivered"),
      SOON,
    );
    expect(repliesIn(rig, group)).toEqual([]);
    expect(callsTo(group, "sendMessage")).toBe(1);
  });
});
