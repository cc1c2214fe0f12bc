import type { RichText } from "../../../src/core/message/rich-text.ts";
import type { NativeStream, Probing, Surface } from "../../../src/core/chat/surface.ts";
import type { Mutant } from "../machine/mutant.ts";
import { stripMark } from "../oracle/visible-text.ts";
import { withoutWrites } from "./without-writes.ts";

/** Defects of the delivery. */
export const deliveryMutants: readonly Mutant[] = [
  {
    name: "lost-checkpoint",
    what: "the whole text of a reply is not stored when its turn ends",
    threadDatabase: (database) =>
      withoutWrites(database, (statement) =>
        /^\s*UPDATE reply_v1 SET state = CASE state .* 'final' END, text/.test(statement),
      ),
  },
  {
    name: "row-after-call",
    what: "an outbox row is written after its post instead of before it",
    threadDatabase: (database) =>
      withoutWrites(
        database,
        (statement, bindings) => /INTO outbox_v1/.test(statement) && bindings.includes("sending"),
      ),
  },
  {
    name: "resend-unmarked",
    what: "a post without an answer is made again, neither resolved nor marked",
    surface: (surface) => ({
      ...surface,
      probing: undefined,
      search: undefined,
      post: (address, message, options) => surface.post(address, withoutMark(message), options),
      edit: (address, id, message, options) => surface.edit(address, id, withoutMark(message), options),
    }),
  },
  {
    name: "unknown-is-failure",
    what: "a post without an answer counts as not made",
    surface: (surface) => ({
      ...surface,
      classifyError(error) {
        const failure = surface.classifyError(error);
        return failure.kind === "unknown" ? { kind: "transient", code: failure.code } : failure;
      },
    }),
  },
  {
    name: "failure-is-success",
    what: "a post without an answer counts as made",
    surface: (surface) => ({
      ...surface,
      post: (address, message, options) =>
        surface.post(address, message, options).catch((error: unknown) => {
          if (surface.classifyError(error).kind === "unknown") return { messageId: "1" };
          throw error;
        }),
    }),
  },
  {
    name: "surplus-stays",
    what: "messages of a longer, void attempt are not taken away",
    surface: (surface) => ({ ...surface, remove: () => Promise.resolve() }),
  },
  {
    name: "interruption-shrinks",
    what: "the new attempt of an interrupted model call is shown before it is as long",
    delivery: (delivery) => Object.assign(delivery, { interrupt: () => {} }),
  },
  {
    name: "interruption-forgotten",
    what: "a second death forgets the interrupted text that is visible",
    threadDatabase: (database) =>
      withoutWrites(database, (statement) => /^\s*UPDATE reply_v1 SET text = \? WHERE/.test(statement)),
  },
  {
    name: "edit-not-awaited",
    what: "an edit counts as done before its answer",
    surface: (surface) => ({
      ...surface,
      edit(address, messageId, message, options) {
        surface.edit(address, messageId, message, options).catch(() => undefined);
        return Promise.resolve();
      },
    }),
  },
  {
    name: "deduped-by-update",
    what: "a message is known again by the number of its update only",
    eventKey: (updateId) => `u:${updateId}`,
  },
  {
    name: "answered-again",
    what: "messages that were answered are queued again at a start",
    onThreadStart: (database) => {
      database.run("UPDATE inbox_v1 SET state = 'queued' WHERE outcome = 'answered'");
    },
  },
  {
    name: "draft-is-message",
    what: "a draft that shows the whole text counts as its message",
    surface: (surface) => {
      const shown = new Set<string>();
      return {
        ...surface,
        ...(surface.drafts !== undefined && {
          drafts: {
            ...surface.drafts,
            show: async (address, draft, options) => {
              await surface.drafts?.show(address, draft, options);
              shown.add(draft.text);
            },
          },
        }),
        post: async (address, message, options) =>
          shown.has(message.text) ? { messageId: "1" } : surface.post(address, message, options),
      };
    },
  },
  {
    name: "stream-left-open",
    what: "a stream that an earlier process has begun is never ended",
    surface: withStream((stream) => {
      const begun = new Set<string>();
      return {
        begin: async (address, message, options) => {
          const posted = await stream.begin(address, message, options);
          begun.add(posted.messageId);
          return posted;
        },
        end: async (address, messageId, options) => {
          if (begun.has(messageId)) await stream.end(address, messageId, options);
        },
      };
    }),
  },
  {
    name: "append-is-success",
    what: "an addition to a streamed message counts as made when its answer is lost",
    surface: withStream((stream, surface) => ({
      append: (address, messageId, more, options) =>
        stream.append(address, messageId, more, options).catch((error: unknown) => {
          if (surface.classifyError(error).kind !== "unknown") throw error;
        }),
    })),
  },
  {
    name: "buffered-grows",
    what: "a buffered reply shows interim text",
    mode: (mode) => (mode === "buffered" ? "edit" : mode),
  },
  {
    name: "foreign-id-adopted",
    what: "a message of somebody else is taken for the lost one",
    surface: withProbing((probing) => ({
      probe: async (...asked) => ((await probing.probe(...asked)) === "other" ? "own" : "other"),
    })),
  },
  {
    name: "doubt-resolved-twice",
    what: "a lost message that was found is posted again",
    surface: withProbing((probing) => ({
      probe: async (...asked) => {
        const found = await probing.probe(...asked);
        return found === "own" ? "other" : found;
      },
    })),
  },
  {
    name: "search-too-early",
    what: "a lost post is made again while it may still land",
    policy: { callTimeoutMs: 1_000 },
  },
  {
    name: "final-only-grows",
    what: "a reply that should come whole appears while it streams",
    mode: (mode) => (mode === "final-only" ? "buffered" : mode),
  },
];

/** Changes the probing of a surface, if it has any. */
function withProbing(changed: (probing: Probing) => Partial<Probing>): (surface: Surface) => Surface {
  return (surface) => {
    const { probing } = surface;
    return probing === undefined ? surface : { ...surface, probing: { ...probing, ...changed(probing) } };
  };
}

/** Changes the stream of a surface, if it has any. */
function withStream(
  changed: (stream: NativeStream, surface: Surface) => Partial<NativeStream>,
): (surface: Surface) => Surface {
  return (surface) => {
    const { stream } = surface;
    return stream === undefined
      ? surface
      : { ...surface, stream: { ...stream, ...changed(stream, surface) } };
  };
}

function withoutMark<Content extends RichText>(content: Content): Content {
  const text = stripMark(content.text);
  const shift = content.text.length - text.length;
  const entities = content.entities.map((entity) => ({ ...entity, offset: entity.offset - shift }));
  return { ...content, text, entities };
}
