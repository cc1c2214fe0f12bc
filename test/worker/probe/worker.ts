import { DurableObject } from "cloudflare:workers";
// Not used: it proves that a worker that imports it starts.
import "cloudflare:email";

interface ProbeEnv {
  readonly Probe: DurableObjectNamespace<Probe>;
  readonly GREETING: string;
}

export class Probe extends DurableObject<ProbeEnv> {
  async setAlarm(delayMs: number): Promise<void> {
    await this.ctx.storage.setAlarm(Date.now() + delayMs);
  }

  /** The same for another object of this class, reached without a binding. */
  async setAlarmOf(name: string, delayMs: number): Promise<void> {
    const namespace = (this.ctx.exports as unknown as ProbeEnv).Probe;
    await namespace.getByName(name).setAlarm(delayMs);
  }

  override alarm(): void {
    console.log(`alarm of ${this.ctx.id.name}`);
  }
}

export default {
  async fetch(request, env): Promise<Response> {
    const url = new URL(request.url);
    const delayMs = Number(url.searchParams.get("delayMs"));
    switch (url.pathname) {
      case "/health":
        return Response.json({ greeting: env.GREETING, names: Object.keys(env).toSorted() });
      case "/alarms":
        await env.Probe.getByName("root").setAlarm(delayMs);
        await env.Probe.getByName("root").setAlarmOf("root/thread", delayMs);
        return new Response("set");
      case "/stall":
        return new Response(
          new ReadableStream({ start: (stream) => stream.enqueue(new TextEncoder().encode("first")) }),
        );
      default:
        return new Response("not found", { status: 404 });
    }
  },
} satisfies ExportedHandler<ProbeEnv>;
