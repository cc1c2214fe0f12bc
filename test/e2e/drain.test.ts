import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createGate } from "../../lab/support/gate.ts";
import { holdAt, say } from "../../lab/support/model-script.ts";
import { startRig, type Rig } from "../../lab/support/rig.ts";
import { newcomer, readsLike, rehearse, type Rehearsal } from "./rehearsal.ts";

let rig: Rig;
let model: Rehearsal;

beforeAll(async () => {
  rig = await startRig({ env: { DRAIN_SECONDS: "10" } });
  model = rehearse(rig);
});

afterAll(() => rig.close());

const STOPPING = /"event":"serve\.stopping"/;

describe("a bot that is told to end", () => {
  it("finishes an answer that needs only a moment, and then ends", async () => {
    const gate = createGate();
    model.on("how many bees?", [say("There are "), holdAt(gate), say("forty thousand.")]);
    const { reads, write } = newcomer(rig);
    write("how many bees?");
    await reads("There are");
    const stopped = rig.bot.stop();
    await rig.bot.logged(STOPPING);
    // It still works, also for other people.
    const other = newcomer(rig, "Bea");
    other.write("hello");
    await other.reads("Noted.");
    gate.open();
    expect(await stopped).toBe(0);
    // Nothing runs any more that could complete it.
    await reads("There are forty thousand.");
  });

  it("leaves an answer that takes longer to the next start", async () => {
    await rig.bot.restart({ DRAIN_SECONDS: "0.2" });
    const gate = createGate();
    model.on("tell me of the queen", [say("The queen "), holdAt(gate), say("lives long.")]);
    const { chat, reads, write } = newcomer(rig);
    write("tell me of the queen");
    await reads("The queen");
    expect(await rig.bot.stop()).toBe(0);
    await reads("The queen");
    gate.open();
    await rig.bot.restart();
    await readsLike(rig, chat, ["The queen lives long."]);
  });
});
