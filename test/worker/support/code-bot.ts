import { runInDurableObject } from "cloudflare:test";
import type { JSONSchema7 } from "ai";
import {
  CodemodeConnector,
  codemode,
  createCodemodeRuntime,
  createQuickJSExecutor,
} from "../../../src/codemode/index.ts";
import type {
  CodemodeRuntime,
  ConnectorTool,
  ConnectorTools,
  Executor,
} from "../../../src/codemode/index.ts";
import type { Think } from "../../../src/index.ts";
import { ScriptedBot } from "../worker.ts";
import { callTool, say } from "./scripted-model.ts";
import type { ModelScript } from "./scripted-model.ts";
import { createWorld } from "./world.ts";
import type { World, WorldOptions } from "./world.ts";

/** Gives the bots of a file the feature. Returns the function that takes it away. */
export function useCodemode(): () => void {
  ScriptedBot.codemode = codemode();
  return () => {
    ScriptedBot.codemode = undefined;
  };
}

/** Runs the code that a person writes behind "run", and says what it gets and is told. */
export const codeScript: ModelScript = ({ prompt, said }) => {
  if (prompt.at(-1)?.role === "tool")
    return [say(`Tool: ${outputIn(JSON.stringify(prompt.at(-1)?.content))}`)];
  const outcome = /^Result: (.*)$/m.exec(said);
  if (outcome !== null) return [say(`Told: ${outcome[1]}`)];
  const code = /^run ([\s\S]*)$/m.exec(said)?.[1];
  return code === undefined ? [say(`Heard: ${said}`)] : [callTool("codemode", { code })];
};

function outputIn(content: string): string {
  return /"value":(.*)\}\}\]/.exec(content)?.[1] ?? content;
}

const PERSON: JSONSchema7 = {
  type: "object",
  properties: { to: { type: "string" }, text: { type: "string" } },
  required: ["to"],
};

/** A connector whose tools write down what they do. */
export class MailConnector extends CodemodeConnector {
  readonly #done: string[];
  readonly #more: ConnectorTools;

  constructor(ctx: object, done: string[], more: ConnectorTools = {}) {
    super(ctx, {});
    this.#done = done;
    this.#more = more;
  }

  name(): string {
    return "mail";
  }

  protected tools(): ConnectorTools {
    const { storage } = this.ctx as DurableObjectState;
    const did = (what: string) => async (args: unknown) => {
      const { to } = args as { readonly to: string };
      // Nothing leaves an object before its earlier writes are durable.
      await storage.sync();
      this.#done.push(`${what} ${to}`);
      return { what, to, number: this.#done.length };
    };
    return {
      list: { description: "Lists people.", replay: "reexecute", execute: () => ["ann", "bob"] },
      tag: { description: "Tags a person.", inputSchema: PERSON, execute: did("tag"), revert: did("untag") },
      note: { description: "Makes a note.", inputSchema: PERSON, execute: did("note") },
      send: {
        description: "Sends a mail to a person.",
        inputSchema: PERSON,
        requiresApproval: true,
        execute: did("send"),
        revert: did("unsend"),
      },
      ...this.#more,
    } satisfies Record<string, ConnectorTool>;
  }
}

export interface CodeBot {
  readonly world: World;
  /** What the tools have done, in order. */
  readonly done: string[];
  /** Calls a method of the runtime in the conversation's object. */
  runtime<Result>(work: (runtime: CodemodeRuntime) => Promise<Result>): Promise<Result>;
}

export function createCodeBot(
  rest: WorldOptions = {},
  more: ConnectorTools = {},
  executor: Executor = createQuickJSExecutor(),
  slowAfterMs = 50,
): CodeBot {
  const done: string[] = [];
  let runtime: CodemodeRuntime | undefined;
  const make = (agent: Think): CodemodeRuntime => {
    const { ctx } = agent as unknown as { readonly ctx: object };
    const connectors = [new MailConnector(ctx, done, more)];
    const made = createCodemodeRuntime({ ctx, connectors, executor, slowAfterMs });
    if (agent.name.includes("c1")) runtime = made;
    return made;
  };
  const world = createWorld({
    script: codeScript,
    getTools: (agent) => ({ codemode: make(agent).tool() as never }),
    ...rest,
  });
  return {
    world,
    done,
    runtime: (work) =>
      runInDurableObject(world.thread("c1"), async () => {
        if (runtime === undefined) throw new Error("The bot has made no runtime.");
        return work(runtime);
      }),
  };
}
