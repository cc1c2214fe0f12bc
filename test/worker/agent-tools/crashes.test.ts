import { runDurableObjectAlarm } from "cloudflare:test";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import type { Think, ThinkActions } from "../../../src/index.ts";
import { createGate } from "../../../lab/support/gate.ts";
import { systemDeps } from "../../../src/core/base/deps.ts";
import { action } from "../../../src/index.ts";
import { createAgentBot, isChild, topicOf } from "../support/agent-bot.ts";
import { expectShown } from "../support/asking-bot.ts";
import { captureLog } from "../support/log-lines.ts";
import { callTool, say } from "../support/scripted-model.ts";
import type { ModelScript } from "../support/scripted-model.ts";
import type { World } from "../support/world.ts";
import { testEnv } from "../test-env.ts";
import { OtherBot } from "../worker.ts";

/** Time that passes between two looks at the chat: an object that has died is woken some seconds later. */
const STEP_MS = 1_000;
/** Shorter waits are those between two tries. They are as many times shorter here. */
const LONGEST_TRY_MS = 10_000;
const TIMES_SHORTER = 10;

beforeEach(() => {
  captureLog();
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
  const { clock } = systemDeps;
  const later = clock.setTimeout.bind(clock);
  const spy = vi
    .spyOn(clock, "setTimeout")
    .mockImplementation((callback, delayMs) =>
      later(callback, delayMs > LONGEST_TRY_MS ? delayMs : delayMs / TIMES_SHORTER),
    );
  return () => {
    spy.mockRestore();
    vi.useRealTimers();
  };
});

/** The writes of a run whose agent asks for consent, in their order: in the conversation, and in the object of the agent. */
const WRITES = {
  "the run": ["conversation", /INSERT INTO agent_run_v1/, 1],
  "the run at its agent": ["agent", /INSERT INTO scheduled_run_v1/, 1],
  "the first turn of the agent": ["agent", /INSERT INTO prompt_v1/, 1],
  "that the agent knows the run": ["conversation", /UPDATE agent_run_v1 .* state = 'starting'/, 1],
  "the agent's question": ["agent", /INSERT INTO approval_v1/, 1],
  "the end of the agent's first turn": ["agent", /UPDATE prompt_v1 SET .*ended_at = /, 1],
  "the first step of the call": ["conversation", /INTO run_log_v1/, 1],
  "the question in the chat": ["conversation", /INSERT INTO question_v1/, 1],
  "the answer in the chat": ["conversation", /UPDATE question_v1 SET .*\bend = /, 1],
  "the decision at the agent": ["agent", /UPDATE approval_v1 SET/, 1],
  "the agent's effect": ["agent", /INSERT INTO action_v1/, 1],
  "the outcome of the effect": ["agent", /INSERT INTO action_v1/, 2],
  "the agent's second turn": ["agent", /INSERT INTO prompt_v1/, 2],
  "the end of the run": ["conversation", /UPDATE agent_run_v1 SET .*ended_at/, 1],
  "that everybody knows the end": ["conversation", /UPDATE agent_run_v1 SET is_told/, 1],
  "the outcome of the call": ["conversation", /UPDATE parked_call_v1 SET state = \?, outcome/, 1],
} as const satisfies Record<string, Write>;

/** The writes of a run whose agent asks somebody else for consent. */
const OTHERS = {
  "that the conversation asks nobody": ["agent", /UPDATE scheduled_run_v1 SET run/, 1],
  "the agent's question": ["agent", /INSERT INTO approval_v1/, 1],
  "the question in the index": ["root", /INTO approval_index_v1/, 1],
  "the card": ["agent", /INTO card_v1/, 1],
  "that the run goes on after its call": ["conversation", /UPDATE agent_run_v1 SET after_end/, 1],
  "the outcome of the call": ["conversation", /INSERT INTO action_v1/, 2],
  "the decision at the agent": ["agent", /UPDATE approval_v1 SET/, 2],
  "the agent's effect": ["agent", /INSERT INTO action_v1/, 1],
  "the outcome of the effect": ["agent", /INSERT INTO action_v1/, 2],
  "the agent's second turn": ["agent", /INSERT INTO prompt_v1/, 2],
  "the end of the agent's second turn": ["agent", /UPDATE prompt_v1 SET .*ended_at = /, 2],
  "the end of the run": ["conversation", /UPDATE agent_run_v1 SET .*ended_at/, 1],
  "the turn about the end": ["conversation", /INSERT INTO prompt_v1/, 1],
  "that everybody knows the end": ["conversation", /UPDATE agent_run_v1 SET is_told/, 1],
} as const satisfies Record<string, Write>;

type Role = "root" | "conversation" | "agent";
type Write = readonly [Role, RegExp, number];

function roleOf({ name }: Pick<Think, "name">): Role {
  if (isChild({ name })) return "agent";
  return name.includes("/") ? "conversation" : "root";
}

interface Killer {
  readonly arm: (agent: Think) => void;
  readonly hasStruck: () => boolean;
}

/** Ends one of the objects before or after one of its writes that match, once. */
function killerAt([role, pattern, wanted]: Write, when: "before" | "after"): Killer {
  let left = wanted;
  let struck = false;
  return {
    hasStruck: () => struck,
    arm: (agent) => {
      countStatements(agent);
      if (roleOf(agent) !== role) return;
      const { ctx } = agent as unknown as { readonly ctx: DurableObjectState };
      const { sql } = ctx.storage;
      const exec = sql.exec.bind(sql);
      const watched = (...call: Parameters<typeof exec>): ReturnType<typeof exec> => {
        if (struck || !pattern.test(call[0])) return exec(...call);
        left -= 1;
        if (left > 0) return exec(...call);
        struck = true;
        if (when === "before") {
          ctx.abort("killed by a test");
          throw new Error("killed by a test");
        }
        const rows = exec(...call);
        // The write is durable, and the process dies at once.
        void ctx.storage.sync().then(() => ctx.abort("killed by a test"));
        return rows;
      };
      Object.defineProperty(sql, "exec", { value: watched, configurable: true });
    },
  };
}

/** The writes of a run in the background. */
const BACKGROUND = {
  "the run": ["conversation", /INSERT INTO agent_run_v1/, 1],
  "that the agent knows the run": ["conversation", /UPDATE agent_run_v1 .* state = 'starting'/, 1],
  "the outcome of the call": ["conversation", /INSERT INTO action_v1/, 2],
  "the end of the agent's turn": ["agent", /UPDATE prompt_v1 SET .*ended_at = /, 1],
  "the end of the run": ["conversation", /UPDATE agent_run_v1 SET .*ended_at/, 1],
  "the turn about the end": ["conversation", /INSERT INTO prompt_v1/, 1],
  "that everybody knows the end": ["conversation", /UPDATE agent_run_v1 SET is_told/, 1],
} as const satisfies Record<string, Write>;

const acting: ModelScript = (request) => {
  const outcome = /^Result: (.*)$/m.exec(request.said);
  if (outcome !== null) return [say(`Done: ${outcome[1]}`)];
  if (request.prompt.at(-1)?.role === "tool") return [say("Tool.")];
  return [callTool("act", { topic: topicOf(request) })];
};

/** The platform delivers an update until it is taken. */
async function deliver(send: () => Promise<number>): Promise<void> {
  await vi.waitFor(async () => expect(await send().catch(() => 500)).toBe(200), 8000);
}

/** Statements of all objects so far, by which a test sees whether one still works. */
let statements = 0;

function countStatements(agent: Think): void {
  const { sql } = (agent as unknown as { readonly ctx: DurableObjectState }).ctx.storage;
  const exec = sql.exec.bind(sql);
  const counted = (...call: Parameters<typeof exec>): ReturnType<typeof exec> => {
    statements += 1;
    return exec(...call);
  };
  Object.defineProperty(sql, "exec", { value: counted, configurable: true });
}

/**
 * Time passes while all objects rest: those that have died are woken by their alarms, and those that live look again.
 */
async function until(
  world: World,
  agents: ReadonlySet<string>,
  isSo: () => boolean,
  agentClass: "ChildBot" | "OtherBot" = "ChildBot",
): Promise<void> {
  let seen = -1;
  await vi.waitFor(
    async () => {
      if (isSo()) return;
      if (statements === seen) {
        vi.setSystemTime(Date.now() + STEP_MS);
        const own = [world.stub, world.thread("c1")];
        for (const stub of [...own, ...[...agents].map((name) => testEnv[agentClass].getByName(name))])
          await runDurableObjectAlarm(stub).catch(() => undefined);
      }
      seen = statements;
      throw new Error(`Chat c1 shows ${JSON.stringify(world.chats.visible("c1"))}`);
    },
    { timeout: 20_000, interval: 20 },
  );
}

describe("a conversation or an agent that dies in the middle of a run", () => {
  it.each(
    Object.entries(WRITES).flatMap(([what, write]) =>
      (["before", "after"] as const).map((when) => ({ what, when, write })),
    ),
  )("asks once, has one effect and one result: $when $what", async ({ when, write }) => {
    const killer = killerAt(write, when);
    const effects: string[] = [];
    const agents = new Set<string>();
    const act = action({
      description: "Acts.",
      inputSchema: z.object({ topic: z.string() }),
      approval: true,
      idempotencyKey: ({ input }) => input.topic,
      execute: ({ topic }) => {
        // Outside, the effect has its key.
        if (!effects.includes(topic)) effects.push(topic);
        return { acted: topic };
      },
    });
    const world = createAgentBot({
      child: acting,
      getActions: (agent): ThinkActions => (isChild(agent) ? { act } : {}),
      onStart: (agent) => {
        if (isChild(agent)) agents.add(agent.name);
        killer.arm(agent);
      },
    });
    const isTold = (): boolean => world.chats.answers("c1").some((text) => text.startsWith("Told:"));
    await deliver(() => world.write("c1", "Research A7", { id: "cause" }));
    await until(world, agents, () => world.chats.button("c1", "Approve") !== undefined);
    // A person who is told that a press was interrupted presses again.
    for (let presses = 1; presses <= 2 && !isTold(); presses += 1) {
      const token = world.chats.button("c1", "Approve");
      if (token === undefined) break;
      const id = `press-${presses}`;
      await deliver(() => world.post({ kind: "press", id, chat: "c1", user: "ada", text: token }));
      await until(world, agents, () => world.chats.answered.includes(id) || isTold());
    }
    await until(world, agents, isTold);
    expect(killer.hasStruck()).toBe(true);
    expect(effects).toEqual(["A7"]);
    expect(agents.size).toBe(1);
    const visible = world.chats.answers("c1");
    expect(visible.filter((text) => text.includes("Researcher:"))).toHaveLength(1);
    expect(visible.filter((text) => text.startsWith("Told:"))).toEqual(['Told: "Done: {"acted":"A7"}"']);
  });
});

interface AskingOthers {
  readonly world: World;
  readonly killer: Killer;
  readonly effects: string[];
  readonly agents: ReadonlySet<string>;
  /** The results that the chat has seen. A decision that comes before the end of the call is told by the call. */
  readonly told: () => string[];
  readonly reaches: (isSo: () => boolean) => Promise<void>;
}

/**
 * A bot whose agent asks Dana for the consent to its action.
 *
 * @param held until when the conversation does nothing after it has died
 */
function createAskingOthers(killer: Killer, held?: Promise<void>): AskingOthers {
  const effects: string[] = [];
  const agents = new Set<string>();
  const act = action({
    description: "Acts.",
    inputSchema: z.object({ topic: z.string() }),
    approval: true,
    approvers: ["dana"],
    requesterMayApprove: false,
    idempotencyKey: ({ input }) => input.topic,
    execute: ({ topic }) => {
      if (!effects.includes(topic)) effects.push(topic);
      return { acted: topic };
    },
  });
  const world = createAgentBot({
    child: acting,
    agentClass: OtherBot,
    getActions: (agent): ThinkActions => (isChild(agent) ? { act } : {}),
    onStart: (agent) => {
      if (isChild(agent)) agents.add(agent.name);
      killer.arm(agent);
      return roleOf(agent) === "conversation" && killer.hasStruck() ? held : undefined;
    },
  });
  const told = (): string[] =>
    world.chats.answers("c1").filter((text) => text.includes('Done: {"acted":"A7"}'));
  return { world, killer, effects, agents, told, reaches: (isSo) => until(world, agents, isSo, "OtherBot") };
}

describe("an object that dies while an agent asks somebody else", () => {
  it.each(
    Object.entries(OTHERS).flatMap(([what, write]) =>
      (["before", "after"] as const).map((when) => ({ what, when, write })),
    ),
  )("asks once, has one effect and one result: $when $what", async ({ when, write }) => {
    const { agents, effects, killer, reaches, told, world } = createAskingOthers(killerAt(write, when));
    await deliver(() => world.write("dana", "Hello", { user: "dana" }));
    await reaches(() => world.chats.answers("dana").includes("Heard: Hello"));
    await deliver(() => world.write("c1", "Research A7", { id: "cause" }));
    await reaches(() => world.chats.button("dana", "Approve") !== undefined);
    // A person who is told that a press was interrupted presses again.
    for (let presses = 1; presses <= 2 && told().length === 0; presses += 1) {
      const token = world.chats.button("dana", "Approve");
      if (token === undefined) break;
      const id = `press-${presses}`;
      await deliver(() => world.post({ kind: "press", id, chat: "dana", user: "dana", text: token }));
      await reaches(() => world.chats.answered.includes(id) || told().length > 0);
    }
    await reaches(() => told().length > 0 && killer.hasStruck());
    await deliver(() => world.write("c1", "Hello"));
    await reaches(() => world.chats.answers("c1").some((text) => text.includes("Heard: Hello")));
    expect(effects).toEqual(["A7"]);
    expect(agents.size).toBe(1);
    expect(world.chats.answers("dana").filter((text) => text.includes("Researcher"))).toHaveLength(1);
    expect(told()).toHaveLength(1);
  });

  it("tells a result once that is there before the call has ended", async () => {
    const write: Write = OTHERS["that the run goes on after its call"];
    const gate = createGate();
    const { effects, killer, reaches, told, world } = createAskingOthers(
      killerAt(write, "after"),
      gate.pass(),
    );
    await deliver(() => world.write("dana", "Hello", { user: "dana" }));
    await reaches(() => world.chats.answers("dana").includes("Heard: Hello"));
    await deliver(() => world.write("c1", "Research A7", { id: "cause" }));
    await vi.waitFor(() => expect(killer.hasStruck()).toBe(true));
    await world.press("dana", "Approve", { user: "dana" });
    await expectShown(world, "acted: A7", "dana");
    gate.open();
    await reaches(() => told().length > 0);
    await deliver(() => world.write("c1", "Hello"));
    await reaches(() => world.chats.answers("c1").some((text) => text.includes("Heard: Hello")));
    await reaches(() => world.chats.answers("c1").some((text) => text.startsWith("Tool:")));
    expect(effects).toEqual(["A7"]);
    expect(told()).toHaveLength(1);
  });
});

describe("a conversation or an agent that dies while a run goes on in the background", () => {
  it.each(
    Object.entries(BACKGROUND).flatMap(([what, write]) =>
      (["before", "after"] as const).map((when) => ({ what, when, write })),
    ),
  )("has one result, told once: $when $what", async ({ when, write }) => {
    const killer = killerAt(write, when);
    const agents = new Set<string>();
    const world = createAgentBot({
      child: (request) => [say(`All about ${topicOf(request)}.`)],
      tool: { detached: true },
      onStart: (agent) => {
        if (isChild(agent)) agents.add(agent.name);
        killer.arm(agent);
      },
    });
    const told = (): string[] => world.chats.answers("c1").filter((text) => text.startsWith("Told:"));
    await deliver(() => world.write("c1", "Research A7", { id: "cause" }));
    await until(world, agents, () => told().length > 0 && killer.hasStruck());
    await deliver(() => world.write("c1", "Hello"));
    await until(world, agents, () => world.chats.answers("c1").some((text) => text.includes("Heard: Hello")));
    expect(told()).toEqual(['Told: "All about A7."']);
    expect(agents.size).toBe(1);
  });
});
