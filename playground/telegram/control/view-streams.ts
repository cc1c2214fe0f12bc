import type { ServerResponse } from "node:http";
import type { z } from "zod";
import { describeView } from "./describe-view.ts";
import type { viewSchema, ViewSources } from "./describe-view.ts";

/** Typing, drafts and growing messages end without a change that anything reports. */
const LOOK_EVERY_MS = 1000;

interface ViewStream {
  readonly response: ServerResponse;
  readonly asked: z.infer<typeof viewSchema>;
  /** The last view that was sent, as JSON. */
  shown: string;
}

/**
 * Sends to each page all that it shows: at once, and again whenever that has changed. A page that is slow gets the newest
 * view only.
 */
export class ViewStreams {
  readonly #sources: ViewSources;
  readonly #streams = new Set<ViewStream>();
  #looks: NodeJS.Timeout | undefined;

  constructor(sources: ViewSources) {
    this.#sources = sources;
  }

  open(response: ServerResponse, asked: z.infer<typeof viewSchema>): void {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    const stream: ViewStream = { response, asked, shown: "" };
    this.#streams.add(stream);
    this.#looks ??= setInterval(() => this.send(), LOOK_EVERY_MS).unref();
    response.on("drain", () => this.#send(stream));
    response.on("close", () => {
      this.#streams.delete(stream);
      if (this.isIdle) this.#stopLooking();
    });
    this.#send(stream);
  }

  /** Whether no page is open. */
  get isIdle(): boolean {
    return this.#streams.size === 0;
  }

  /** Sends the views that have changed. */
  send(): void {
    for (const stream of this.#streams) this.#send(stream);
  }

  close(): void {
    this.#stopLooking();
    for (const { response } of this.#streams) response.end();
  }

  #send(stream: ViewStream): void {
    const { asked, response } = stream;
    if (response.writableNeedDrain || response.writableEnded) return;
    const view = JSON.stringify(describeView(this.#sources, asked));
    if (view === stream.shown) return;
    stream.shown = view;
    response.write(`event: view\ndata: {"now":${this.#sources.world.clock.now()},"view":${view}}\n\n`);
  }

  #stopLooking(): void {
    clearInterval(this.#looks);
    this.#looks = undefined;
  }
}
