import { DurableObject } from "cloudflare:workers";

interface Env {
  readonly BareObject: DurableObjectNamespace<BareObject>;
}

/** The lowest cost of a durable webhook: one object, one row. */
export class BareObject extends DurableObject<Env> {
  constructor(context: DurableObjectState, env: Env) {
    super(context, env);
    context.storage.sql.exec(
      "CREATE TABLE IF NOT EXISTS event (seq INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, raw TEXT NOT NULL)",
    );
  }

  /** `/hop/...` stores the row in an object of the chat, as a bot with an object per conversation must. */
  override async fetch(request: Request): Promise<Response> {
    const raw = await request.text();
    const update = JSON.parse(raw) as { update_id: number; message?: { chat: { id: number } } };
    const key = String(update.update_id);
    if (new URL(request.url).pathname.startsWith("/hop/")) {
      await this.env.BareObject.getByName(`chat/${update.message?.chat.id ?? 0}`).insert(key, raw);
    } else this.insert(key, raw);
    return Response.json({ ok: true });
  }

  insert(key: string, raw: string): void {
    this.ctx.storage.sql.exec("INSERT OR IGNORE INTO event (key, raw) VALUES (?, ?)", key, raw).toArray();
  }
}

export default {
  fetch(request, env) {
    if (new URL(request.url).pathname === "/health") return Response.json({ status: "ok" });
    return env.BareObject.getByName("default").fetch(request);
  },
} satisfies ExportedHandler<Env>;
