import { expect, it } from "vitest";
import type { DeliveryReceipt, ReplyStart } from "../../../src/core/chat/delivery.ts";
import type { FakeSurface, FakeSurfaceOptions } from "../../support/fake-surface.ts";
import { createCrashWorld, ignoreCrash, startOf } from "./crash-world.ts";
import type { CrashProcess, CrashWorld } from "./crash-world.ts";
import { expectedMessages, MARK } from "./engine-harness.ts";

/** What a thread object does with its delivery, written so that it can be begun again after a crash. */
interface Scenario {
  readonly name: string;
  readonly maxLength: number;
  /** What the platform does once. */
  readonly faults?: (platform: FakeSurface) => void;
  /** The turn: goes on from whatever the stored state says. */
  readonly turn: (process: CrashProcess) => Promise<void>;
  /** The replies' texts, in order. */
  readonly texts: readonly string[];
  /** Texts of attempts that were begun and given up. */
  readonly drafts?: readonly string[];
  readonly lastReplyId: string;
}

const SENTENCE = "The lamp went out at nine and nobody noticed it. ";
const LONG = Array.from({ length: 9 }, (_, index) => `Paragraph ${index}: ${SENTENCE}\n\n`).join("");

async function stream(
  process: CrashProcess,
  id: string,
  text: string,
  more: Partial<ReplyStart> = {},
): Promise<void> {
  const { delivery, advance, isDead } = process;
  delivery.open(startOf(id, more));
  delivery.replace(id, "");
  for (let at = 0; at < text.length && !isDead(); at += 25) {
    delivery.append(id, text.slice(at, at + 25));
    await advance(60);
  }
  if (!isDead()) delivery.finish(id, text);
}

const isOver = ({ delivery }: CrashProcess, id: string): boolean => {
  const state = delivery.receipt(id)?.state;
  return state !== undefined && state !== "streaming";
};

const SCENARIOS: readonly Scenario[] = [
  {
    name: "a short reply that streams",
    maxLength: 4096,
    texts: [SENTENCE.repeat(4)],
    lastReplyId: "r1",
    turn: async (process) => {
      if (!isOver(process, "r1")) await stream(process, "r1", SENTENCE.repeat(4));
    },
  },
  {
    name: "a reply of several messages",
    maxLength: 300,
    texts: [LONG],
    lastReplyId: "r1",
    turn: async (process) => {
      if (!isOver(process, "r1")) await stream(process, "r1", LONG);
    },
  },
  {
    name: "a notice while a reply streams, and one after it",
    maxLength: 300,
    texts: [SENTENCE.repeat(3), "Second.", "Third."],
    lastReplyId: "r3",
    turn: async (process) => {
      if (!isOver(process, "r1")) await stream(process, "r1", SENTENCE.repeat(3));
      if (process.isDead()) return;
      process.delivery.send(startOf("r2"), "Second.");
      process.delivery.send(startOf("r3"), "Third.");
    },
  },
  {
    name: "an attempt that is begun again shorter",
    maxLength: 300,
    texts: ["Only this is left."],
    drafts: [LONG],
    lastReplyId: "r1",
    turn: async (process) => {
      if (isOver(process, "r1")) return;
      const { delivery, advance, isDead } = process;
      delivery.open(startOf("r1"));
      delivery.append("r1", LONG);
      await advance(1_000);
      if (isDead()) return;
      delivery.replace("r1", "Only this");
      await advance(500);
      if (!isDead()) delivery.finish("r1", "Only this is left.");
    },
  },
  ...(["post", "edit"] as const).map((method): Scenario => ({
    name: `a reply whose chat is gone for a while, which a refused ${method} shows`,
    maxLength: 300,
    texts: [LONG],
    lastReplyId: "r1",
    faults: (platform) =>
      platform.fault(method, undefined, undefined, {
        kind: "fail",
        failure: { kind: "gone", code: "blocked" },
      }),
    turn: async (process) => {
      const { advance, delivery, isDead } = process;
      if (!isOver(process, "r1")) await stream(process, "r1", LONG, { isAwaited: true });
      // Its turn ends after the chat was gone, or has ended before.
      else delivery.finish("r1", LONG);
      await advance(30_000);
      if (isDead()) return;
      delivery.revive("7");
      delivery.resume({ messengerId: "telegram", chatId: "7" });
    },
  })),
  {
    name: "a reply that takes over a withdrawn one",
    maxLength: 300,
    texts: [SENTENCE.repeat(2)],
    drafts: [LONG.slice(0, 700)],
    lastReplyId: "r2",
    turn: async (process) => {
      if (isOver(process, "r2")) return;
      const { delivery, advance, isDead } = process;
      if (!isOver(process, "r1") && delivery.receipt("r2") === undefined) {
        delivery.open(startOf("r1"));
        delivery.append("r1", LONG.slice(0, 700));
        await advance(400);
        if (isDead()) return;
        delivery.withdraw("r1");
      }
      delivery.open(startOf("r2", { takesOver: "r1" }));
      delivery.replace("r2", SENTENCE);
      await advance(300);
      if (!isDead()) delivery.finish("r2", SENTENCE.repeat(2));
    },
  },
];

type Finding = Pick<FakeSurfaceOptions, "probing" | "search">;

/** Ways to find a lost post. */
const FINDINGS: readonly Finding[] = [
  { probing: true },
  { search: "keys" },
  { search: "lists" },
  { search: "repeats" },
];

interface Ending extends CrashWorld {
  readonly receipt: DeliveryReceipt | undefined;
}

/** Lives through the scenario, dying at each of the given boundaries. */
async function live(scenario: Scenario, crashes: readonly number[], finding: Finding = {}): Promise<Ending> {
  let receipt: DeliveryReceipt | undefined;
  const world = createCrashWorld({
    limits: { maxLength: scenario.maxLength, maxEntities: 100 },
    ...finding,
  });
  scenario.faults?.(world.platform);
  for (const crashAt of [...crashes, 0]) {
    let process: CrashProcess | undefined;
    try {
      process = world.boot(crashAt);
      void process.delivery.run().catch(ignoreCrash);
      await scenario.turn(process);
      await process.advance(60_000);
    } catch (error) {
      ignoreCrash(error);
    }
    if (crashAt === 0) receipt = process?.delivery.receipt(scenario.lastReplyId);
  }
  return { ...world, receipt };
}

/**
 * Every message once and in order. A post whose answer was lost may have left a draft of the part, which then stands
 * right before the marked message, or at the end when the attempt was given up. Returns how many posts were in doubt.
 */
function expectWhole(world: Ending, scenario: Scenario): number {
  const limits = { maxLength: scenario.maxLength, maxEntities: 100 };
  const parts = scenario.texts.flatMap((text) => expectedMessages(text, limits));
  const drafts = [...parts, ...(scenario.drafts ?? []).flatMap((text) => expectedMessages(text, limits))];
  const rest = [...world.platform.visible("7")];
  const isDraft = (text: string): boolean => drafts.some((draft) => draft.startsWith(text));
  let marked = 0;
  expect(world.receipt?.state).toBe("delivered");
  for (const part of parts) {
    const withMark = `${MARK}\n${part}`;
    if (rest[1] === withMark) {
      expect(rest.shift()).toSatisfy(isDraft);
    }
    if (rest[0] === withMark) marked += 1;
    else expect(rest[0]).toBe(part);
    rest.shift();
  }
  if (scenario.drafts === undefined) expect(rest).toEqual([]);
  for (const text of rest) expect(text).toSatisfy(isDraft);
  return marked + rest.length;
}

/** Boundaries at which a post may have left and its answer is not stored. */
const IN_DOUBT = ["after write", "before post", "after post", "before write"];

it.each(SCENARIOS)("ends whole when the process dies once, at any boundary: $name", async (scenario) => {
  const calm = await live(scenario, []);
  expect(expectWhole(calm, scenario)).toBe(0);
  const [boundaries, deaths] = [calm.boundaries(), calm.deaths()];
  const posts = calm.platform.calls.filter(({ method }) => method === "post").length;
  let inDoubt = 0;
  for (const [index, crashAt] of deaths.entries()) {
    const world = await live(scenario, [crashAt]);
    const marked = expectWhole(world, scenario);
    // It stands for the boundaries up to the next one.
    inDoubt += marked * ((deaths[index + 1] ?? boundaries.length + 1) - crashAt);
    // A mark only where it is owed.
    if (marked > 0) expect(IN_DOUBT).toContain(boundaries[crashAt - 1]);
    expect(marked).toBeLessThanOrEqual(1);
  }
  // From the write before a post to the write after it, and nowhere else.
  expect(inDoubt).toBeLessThanOrEqual(posts * IN_DOUBT.length);
});

it.each(SCENARIOS.flatMap((scenario) => FINDINGS.map((finding) => ({ ...scenario, scenario, finding }))))(
  "shows each message once and unmarked when the process dies once, at any boundary, where a lost post is found by $finding: $name",
  async ({ scenario, finding }) => {
    const limits = { maxLength: scenario.maxLength, maxEntities: 100 };
    const parts = scenario.texts.flatMap((text) => expectedMessages(text, limits));
    for (const crashAt of (await live(scenario, [], finding)).deaths()) {
      const world = await live(scenario, [crashAt], finding);
      expect(world.receipt?.state).toBe("delivered");
      expect(world.platform.visible("7"), `boundary ${crashAt}`).toEqual(parts);
    }
  },
);

it.each(FINDINGS)(
  "shows a message once when the process dies at any two boundaries, also during a search by %o",
  async (finding) => {
    const text = "Half past nine, and nobody noticed it.";
    const scenario: Scenario = {
      name: "a reply in two chunks",
      maxLength: 4096,
      texts: [text],
      lastReplyId: "r1",
      turn: async (process) => {
        if (!isOver(process, "r1")) await stream(process, "r1", text);
      },
    };
    for (const first of (await live(scenario, [], finding)).deaths()) {
      for (const second of (await live(scenario, [first], finding)).deaths()) {
        if (second <= first) continue;
        const world = await live(scenario, [first, second], finding);
        expect(world.receipt?.state).toBe("delivered");
        expect(world.platform.visible("7"), `boundaries ${first} and ${second}`).toEqual([text]);
      }
    }
  },
);

it("ends whole when the process dies twice, at any two boundaries", async () => {
  const text = "Half past nine, and nobody noticed it.";
  const scenario: Scenario = {
    name: "a reply in two chunks",
    maxLength: 4096,
    texts: [text],
    lastReplyId: "r1",
    turn: async (process) => {
      if (!isOver(process, "r1")) await stream(process, "r1", text);
    },
  };
  for (const first of (await live(scenario, [])).deaths()) {
    for (const second of (await live(scenario, [first])).deaths()) {
      if (second <= first) continue;
      const world = await live(scenario, [first, second]);
      expect(world.receipt?.state).toBe("delivered");
      const shown = world.platform.visible("7").map((message) => message.replace(`${MARK}\n`, ""));
      expect(shown.at(-1)).toBe(text);
      // Each death may leave a draft, and what follows it says so.
      const drafts = shown.slice(0, -1);
      expect(drafts.length).toBeLessThanOrEqual(2);
      for (const draft of drafts) expect(text.startsWith(draft)).toBe(true);
      if (drafts.length > 0) expect(world.platform.visible("7").at(-1)).toMatch(MARK);
    }
  }
});
