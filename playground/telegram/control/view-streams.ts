import type { ServerResponse } from "node:http";
import type { z } from "zod";
import { describeView } from "./describe-view.ts";
import type { View, viewSchema, ViewSources } from "./describe-view.ts";

/** Typing, drafts and growing messages end without a change that anything reports. */
const LOOK_EVERY_MS = 1000;

/** A list of a view: each item as JSON by its number, and the numbers as they are sent. */
interface WrittenList {
  readonly items: ReadonlyMap<number, string>;
  readonly numbers: string;
}

/** A view as JSON, apart from its lists. */
interface WrittenView {
  readonly rest: string;
  readonly lists: ReadonlyMap<string, WrittenList>;
}

interface ViewStream {
  readonly response: ServerResponse;
  readonly asked: z.infer<typeof viewSchema>;
  /** The view that the page has. */
  shown: WrittenView;
}

/**
 * Sends to each page all that it shows: at once, and again whenever that has changed. An item of a list that the page has
 * already is sent as its number only, so that a long chat costs no more than its changes. A page that is slow gets the
 * newest view only.
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
    const stream: ViewStream = { response, asked, shown: { rest: "", lists: new Map() } };
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

  /** Sends the views that have changed. Pages that show the same share the work. */
  send(): void {
    const written = new Map<string, WrittenView>();
    for (const stream of this.#streams) this.#send(stream, written);
  }

  close(): void {
    this.#stopLooking();
    for (const { response } of this.#streams) response.end();
  }

  #send(stream: ViewStream, written = new Map<string, WrittenView>()): void {
    const { asked, response, shown } = stream;
    if (response.writableNeedDrain || response.writableEnded) return;
    const key = JSON.stringify(asked);
    const view = written.get(key) ?? writeView(describeView(this.#sources, asked));
    written.set(key, view);
    const lists = [...view.lists].map(([name, list]) => [name, changesOf(shown.lists.get(name), list)]);
    const isSame = lists.every(([name = "", text]) => text === shown.lists.get(name)?.numbers);
    if (isSame && view.rest === shown.rest) return;
    stream.shown = view;
    const listsText = lists.map(([name, text]) => `"${name}":[${text}]`).join(",");
    const now = this.#sources.world.clock.now();
    response.write(`event: view\ndata: {"now":${now},"view":${view.rest},"lists":{${listsText}}}\n\n`);
  }

  #stopLooking(): void {
    clearInterval(this.#looks);
    this.#looks = undefined;
  }
}

function writeView({ lists, ...rest }: View): WrittenView {
  return {
    rest: JSON.stringify(rest),
    lists: new Map(
      Object.entries(lists).map(([name, list]) => {
        const items = new Map(list.map((item) => [item.id, JSON.stringify(item)]));
        return [name, { items, numbers: [...items.keys()].join(",") }];
      }),
    ),
  };
}

/** Writes a list for a page that has an older one. */
function changesOf(shown: WrittenList | undefined, { items }: WrittenList): string {
  return [...items].map(([id, json]) => (shown?.items.get(id) === json ? id : json)).join(",");
}
