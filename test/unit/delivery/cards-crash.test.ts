import { describe, expect, it } from "vitest";
import type { Fault } from "../../support/fake-platform.ts";
import { cardOf, PHOTO } from "./card-harness.ts";
import { createCrashWorld, ignoreCrash, startOf } from "./crash-world.ts";
import type { CrashProcess, CrashWorld } from "./crash-world.ts";
import { ADDRESS } from "./engine-harness.ts";

const neverAborted = new AbortController().signal;

type Step = (process: CrashProcess) => void | Promise<void>;

const post: Step = ({ delivery }) => delivery.sendCard(startOf("c1"), cardOf("One", ["Yes"]));
const revise: Step = ({ delivery }) => void delivery.revise("c1", cardOf("Two", ["No"]));
const picture: Step = ({ delivery }) => void delivery.revise("c1", cardOf("Two", ["No"], { image: PHOTO }));
const bytes: Step = async ({ delivery }) => {
  const image = await delivery.storeImage(ADDRESS.messengerId, new TextEncoder().encode("png"));
  delivery.revise("c1", cardOf("Two", ["No"], { image }));
};
const remove: Step = ({ delivery }) => void delivery.remove("c1", "key-1", "(removed)");

/** What the object does, in order; each step is done again when the process died before it knew that it was stored. */
const SCENARIOS = [
  { name: "a card that is revised", steps: [post, revise], texts: ["Two"], keyboards: [[["No"]]] },
  { name: "a card that gets a picture", steps: [post, picture], texts: ["Two"], keyboards: [[["No"]]] },
  {
    name: "a card that gets a picture of bytes",
    steps: [post, bytes],
    texts: ["Two"],
    keyboards: [[["No"]]],
  },
  { name: "a card that is removed", steps: [post, revise, remove], texts: [], keyboards: [] },
];

async function live(steps: readonly Step[], crashAt: number): Promise<CrashWorld> {
  const files = { maxBytes: () => 1_000_000, maxAlbumSize: 10, callTimeoutMs: 20_000 };
  const world = createCrashWorld({ probing: true, capabilities: { images: true, files, typing: false } });
  let done = 0;
  const begin = async (at: number): Promise<boolean> => {
    try {
      const process = world.boot(at);
      await process.advance(1);
      void process.delivery.run().catch(ignoreCrash);
      while (!process.isDead() && done < steps.length) {
        await steps[done]?.(process);
        done += 1;
        await process.advance(1_000);
      }
      if (!process.isDead()) await process.advance(60_000);
      return process.isDead();
    } catch (error) {
      ignoreCrash(error);
      return true;
    }
  };
  if (await begin(crashAt)) await begin(Infinity);
  return world;
}

it.each(SCENARIOS)("shows $name completely, whenever the process dies", async (scenario) => {
  const { steps, texts, keyboards } = scenario;
  const total = (await live(steps, Infinity)).boundaries().length;
  expect(total).toBeGreaterThan(8);
  for (let crashAt = 1; crashAt <= total; crashAt += 1) {
    const { platform } = await live(steps, crashAt);
    const { chatId } = ADDRESS;
    expect({ crashAt, texts: platform.visible(chatId) }).toEqual({ crashAt, texts });
    expect({ crashAt, keyboards: platform.keyboards(chatId) }).toEqual({ crashAt, keyboards });
  }
});

describe("a question about a lost post, which takes effect late,", () => {
  const { chatId } = ADDRESS;
  const lost = async (question: Fault): Promise<{ world: CrashWorld; process: CrashProcess }> => {
    const world = createCrashWorld({ probing: true, capabilities: { typing: false } });
    world.platform.fault("post", { kind: "lose", done: true });
    world.platform.fault("probe", question);
    const process = world.boot(0);
    void process.delivery.run().catch(ignoreCrash);
    await post(process);
    await process.advance(1_000);
    await revise(process);
    return { world, process };
  };

  it("puts no older buttons under a card", async () => {
    const { process, world } = await lost({ kind: "hang", answerAfterMs: 4_900 });
    await process.advance(60_000);
    expect(world.platform.visible(chatId)).toEqual(["Two"]);
    expect(world.platform.keyboards(chatId)).toEqual([[["No"]]]);
  });

  it("puts no older text over a card, also when its process has died", async () => {
    const { process, world } = await lost({ kind: "lose", done: false });
    process.kill();
    const next = world.boot(0);
    void next.delivery.run().catch(ignoreCrash);
    await next.advance(3_000);
    expect(world.platform.visible(chatId)).toEqual(["Two"]);
    const { text, buttons } = cardOf("One", ["Yes"]);
    void world.platform.edit(ADDRESS, "101", { text, entities: [], buttons }, { signal: neverAborted });
    await next.advance(60_000);
    expect(world.platform.visible(chatId)).toEqual(["Two"]);
    expect(world.platform.keyboards(chatId)).toEqual([[["No"]]]);
  });
});
