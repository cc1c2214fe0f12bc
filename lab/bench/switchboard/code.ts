/**
 * A bot whose root answers: `/turn` makes a turn of a text, `/approve` agrees to a waiting call of code, and `/runs?n=100`
 * runs code in the sandbox alone.
 */
import { action, createWorker, modelFromEnv, Think } from "switchboard";
import type { BotEnvironment, ConfiguredModel, ThinkActions } from "switchboard";
import {
  ActionConnector,
  codemode,
  createCodemodeRuntime,
  createQuickJSExecutor,
} from "switchboard/codemode";
import type { CodemodeRuntime } from "switchboard/codemode";
import type { ToolSet } from "ai";
import { z } from "zod";

const inputSchema = z.object({ id: z.string() });
const note = {
  inputSchema,
  execute: ({ id }: z.infer<typeof inputSchema>) => ({ id, words: "x".repeat(200) }),
};
const executor = createQuickJSExecutor({ limits: { calls: 2_000 } });
const RUN = `async () => {
  const list = Array.from({ length: 2_000 }, (_, at) => ({ at, words: "x".repeat(50) }));
  const { number } = await notes.count(list.length);
  return list.filter(({ at }) => at % 2 === 0).length + number;
}`;

export class CodeBot extends Think<BotEnvironment> {
  static override codemode = codemode();

  override getModel(): ConfiguredModel {
    return modelFromEnv(this.env);
  }

  override getActions(): ThinkActions {
    return {
      note: action({ ...note, description: "Writes a note." }),
      pay: action({ ...note, description: "Pays.", kind: "durable-pause" }),
    };
  }

  #code(): CodemodeRuntime {
    const connectors = [new ActionConnector(this.ctx, this.env)];
    return createCodemodeRuntime({ ctx: this.ctx, connectors, executor });
  }

  override getTools(): ToolSet {
    return { codemode: this.#code().tool() };
  }

  override async onRequest(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/turn") return Response.json(await this.saveMessages(await request.text()));
    if (pathname === "/approve") {
      const [pending] = await this.#code().pending();
      if (pending === undefined) return new Response("Nothing waits", { status: 409 });
      const { executionId } = pending;
      return Response.json(await this.#code().approve({ executionId }));
    }
    const count = async (length: unknown): Promise<{ number: number }> => ({ number: Number(length) });
    for (let left = Number(searchParams.get("n")); left > 0; left -= 1) {
      const { error } = await executor.execute(RUN, [{ name: "notes", fns: { count } }]);
      if (error !== undefined) return new Response(error, { status: 500 });
    }
    return Response.json("done");
  }
}

export default createWorker(CodeBot);
