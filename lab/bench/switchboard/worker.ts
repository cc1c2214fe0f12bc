/**
 * The shipped bot, with extra routes for the benchmark: rows written, and turns without a messenger to fill
 * transcripts.
 */
import { createWorker } from "switchboard";
import { SupportAgent as ShippedAgent } from "../../../examples/support-bot/agent.ts";
import { countRows, takeRowsWritten } from "../worker/count-rows.ts";

export class SupportAgent extends ShippedAgent {
  constructor(...parameters: ConstructorParameters<typeof ShippedAgent>) {
    super(...parameters);
    countRows(this.ctx.storage);
  }
}

const bot = createWorker(SupportAgent);

export default {
  fetch(request, env, context) {
    if (new URL(request.url).pathname === "/bench/rows") return Response.json(takeRowsWritten());
    return bot.fetch?.(request, env, context) ?? new Response(null, { status: 404 });
  },
} satisfies ExportedHandler;
