import { runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { createGate } from "../../../lab/support/gate.ts";
import { ENGLISH_TEXTS } from "../../../src/core/text/english-texts.ts";
import { captureLog } from "../support/log-lines.ts";
import { createRefundBot, shown } from "../support/refund-bot.ts";
import { holdAt, say } from "../support/scripted-model.ts";
import type { ModelScript, ModelStep } from "../support/scripted-model.ts";
import { createWorld } from "../support/world.ts";
import type { World } from "../support/world.ts";

const { errorResponseText: UNANSWERED, interruptedResponseText: UNFINISHED } = ENGLISH_TEXTS;

beforeEach(() => void captureLog());

/** A chat or topic that takes no messages for a while. */
interface Place {
  readonly name: string;
  /** As the platform shows it. */
  readonly shownAs: string;
  readonly thread: string;
  readonly from: Parameters<World["write"]>[2] & { readonly chat: string };
  /** Somebody reopens it, without a word. */
  readonly isReopened: boolean;
}

const IN_GROUP = { isGroup: true, mentions: true } as const;
const PLACES: readonly Place[] = [
  { name: "a person blocks the bot", shownAs: "c1", thread: "c1", from: { chat: "c1" }, isReopened: false },
  {
    name: "the bot is removed from a group",
    shownAs: "g1",
    thread: "g1",
    from: { chat: "g1", ...IN_GROUP },
    isReopened: false,
  },
  {
    name: "a topic is closed",
    shownAs: "f1/5",
    thread: "f1:5",
    from: { chat: "f1", topic: "5", ...IN_GROUP },
    isReopened: true,
  },
];
const KILLS = [
  "no process is killed",
  "its process is killed while they are away",
  "the next one is killed as they come back",
];
const TABLE = PLACES.flatMap((place) => KILLS.map((kill) => ({ place, kill })));

async function kill(world: World, { thread }: Place): Promise<void> {
  const stub = world.thread(thread);
  await runInDurableObject(stub, (_bot, state) => state.abort("killed by a test")).catch(() => undefined);
  await runDurableObjectAlarm(world.thread(thread));
}

const write = (world: World, { from }: Place, text: string) => world.write(from.chat, text, from);

/** The chat takes nothing any more: `refused` makes the bot find that out. */
async function goes(world: World, place: Place, how: string, refused: () => unknown): Promise<void> {
  world.chats.gone.add(place.shownAs);
  await refused();
  await vi.waitFor(() => expect(world.chats.refused).toBeGreaterThan(0), { timeout: 8000, interval: 10 });
  await vi.waitFor(
    async () => {
      const states = await runInDurableObject(world.thread(place.thread), (_bot, { storage }) =>
        storage.sql
          .exec<{ state: string }>("SELECT state FROM turn_v1 UNION ALL SELECT state FROM inbox_v1")
          .toArray()
          .map(({ state }) => state),
      );
      expect(states.filter((state) => state !== "ended" && state !== "done")).toEqual([]);
    },
    { timeout: 8000, interval: 10 },
  );
  if (how === KILLS[1]) await kill(world, place);
}

async function comesBack(world: World, place: Place, how: string): Promise<void> {
  world.chats.gone.delete(place.shownAs);
  const { chat, topic } = place.from;
  if (place.isReopened)
    await world.post({
      kind: "reopened",
      id: "r1",
      chat,
      user: "ada",
      isGroup: true,
      ...(topic !== undefined && { topic }),
    });
  else await write(world, place, "I am back");
  if (how === KILLS[2]) await kill(world, place);
}

/** Answers what is said with these steps, and anything else at once. */
const script =
  (steps: Readonly<Record<string, readonly ModelStep[]>>): ModelScript =>
  ({ said }) =>
    Object.entries(steps).find(([key]) => said.includes(key))?.[1] ?? [say("Welcome back.")];

const welcome = ({ isReopened }: Place): string[] => (isReopened ? [] : ["Welcome back."]);

const expectShown = (world: World, { shownAs }: Place, ...texts: string[]): Promise<unknown> =>
  vi.waitFor(() => expect(world.chats.answers(shownAs)).toEqual(texts), { timeout: 8000, interval: 10 });

describe.each(TABLE)("when $place.name, and $kill", ({ kill: how, place }) => {
  it("says that an answer was cut in mid-stream", async () => {
    const [gate, never] = [createGate(), createGate()];
    const world = createWorld({
      script: script({ Tell: [say("Once upon"), holdAt(gate), say(" a time"), holdAt(never)] }),
    });
    await write(world, place, "Tell");
    await expectShown(world, place, "Once upon");
    await goes(world, place, how, () => gate.open());
    await comesBack(world, place, how);
    await expectShown(world, place, `Once upon a time\n\n${UNFINISHED}`, ...welcome(place));
    await write(world, place, "And then?");
    await expectShown(world, place, `Once upon a time\n\n${UNFINISHED}`, ...welcome(place), "Welcome back.");
    never.open();
  });

  it("says that an answer was cut before its first words were seen", async () => {
    const [gate, never] = [createGate(), createGate()];
    const world = createWorld({ script: script({ Tell: [holdAt(gate), say("Once upon"), holdAt(never)] }) });
    await write(world, place, "Tell");
    await goes(world, place, how, () => gate.open());
    await comesBack(world, place, how);
    await expectShown(world, place, `Once upon\n\n${UNFINISHED}`, ...welcome(place));
    never.open();
  });

  it("shows an answer that was whole", async () => {
    const gate = createGate();
    const world = createWorld({
      script: script({ Tell: [holdAt(gate), say("The whole answer.")] }),
      messenger: { delivery: { mode: "final-only" } },
    });
    await write(world, place, "Tell");
    await goes(world, place, how, () => gate.open());
    await comesBack(world, place, how);
    await expectShown(world, place, "The whole answer.", ...welcome(place));
  });

  it("speaks of a message that waited behind the cut answer", async () => {
    const [gate, never] = [createGate(), createGate()];
    const world = createWorld({
      script: script({ Tell: [say("Once upon"), holdAt(gate), say(" a time"), holdAt(never)] }),
    });
    await write(world, place, "Tell");
    await expectShown(world, place, "Once upon");
    await write(world, place, "And what else?");
    await goes(world, place, how, () => gate.open());
    await comesBack(world, place, how);
    await expectShown(world, place, `Once upon a time\n\n${UNFINISHED}`, UNANSWERED, ...welcome(place));
    expect(world.requests.map(({ said }) => said)).toHaveLength(place.isReopened ? 1 : 2);
    never.open();
  });

  it("tells the outcome of a request that was decided in the meantime", async () => {
    const { effects, world } = createRefundBot({ approvers: ["boss"], askIn: "approver-dm" });
    await world.write("boss", "Hello", { user: "boss" });
    await shown(world, "Hm?", "boss");
    await write(world, place, "refund 7");
    await shown(world, "I'll ask.", place.shownAs);
    await goes(world, place, how, () => world.press("boss", "Approve", { user: "boss" }));
    expect(effects).toEqual(["7"]);
    await comesBack(world, place, how);
    await shown(world, "Told: Approved", place.shownAs);
    expect(world.chats.answers(place.shownAs).filter((text) => text.startsWith("Told:"))).toHaveLength(1);
  });
});
