import { createWorker, Think } from "switchboard";

/** A bot of which a Worker can call everything: `POST /call` with a path such as `deliveries.list`, and arguments. */
export class PartsBot extends Think {}

interface Env {
  readonly PartsBot: DurableObjectNamespace<PartsBot>;
}

/** A promise of the runtime: a property of it, and a call, are sent without waiting for it. */
type Pipelined = { readonly [name: string]: Pipelined } & ((...args: readonly unknown[]) => Promise<unknown>);

const bot = createWorker<Env>(PartsBot);

export default {
  ...bot,
  async fetch(request, env, context) {
    if (new URL(request.url).pathname !== "/call")
      return (await bot.fetch?.(request, env, context)) ?? new Response();
    const [path, ...args] = await request.json<[string, ...unknown[]]>();
    const [first = "", ...names] = path.split(".");
    const stub = env.PartsBot.getByName("default") as unknown as Pipelined;
    try {
      const called = names.reduce<Pipelined | undefined>((at, name) => at?.[name], stub[first]);
      return Response.json({ value: await called?.(...args) });
    } catch (error) {
      return Response.json({ error: error instanceof Error ? error.message : "failed" });
    }
  },
} satisfies ExportedHandler<Env>;
