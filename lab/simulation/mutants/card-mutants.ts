import type { Delivery } from "../../../src/core/chat/delivery.ts";
import type { Mutant } from "../machine/mutant.ts";
import { NotDone } from "../platform/call-errors.ts";
import { bound } from "./gate-mutants.ts";
import { withoutWrites } from "./without-writes.ts";

/** A moment after the press was acknowledged. */
const BESIDE_MS = 3_000;
const AT_ONCE_MS = 2_000;
const AN_HOUR_MS = 3_600_000;

/** Defects of cards and of the presses of their buttons. */
export const cardMutants: readonly Mutant[] = [
  {
    name: "press-handled-twice",
    what: "the start of a press's handler is not stored",
    needs: "press-card",
    threadDatabase: (database) =>
      withoutWrites(database, (statement) => statement.startsWith("INSERT INTO press_v1")),
  },
  {
    name: "press-acknowledged-and-lost",
    what: "a press is acknowledged and ended before its handler runs",
    needs: "press-card",
    onAction: (handler, clock) => (press) => {
      const later = async (): Promise<void> => void (await handler(press));
      clock.setTimeout(() => void later().catch(() => undefined), BESIDE_MS);
    },
  },
  {
    name: "press-taken-for-another-persons",
    what: "a press counts as one of whoever pressed first",
    needs: "press-card",
    event: (event) => (event.action === undefined ? event : { ...event, author: { userId: "7" } }),
  },
  {
    name: "press-not-handed-on",
    what: "a press of another conversation's card ends before it is stored there",
    needs: "press-card",
    handOver: () => Promise.resolve(),
  },
  {
    name: "keyboard-stripped-by-search",
    what: "a search for a lost card takes the buttons of the message that it finds",
    needs: "card",
    surface: (surface) => {
      const { probing } = surface;
      if (probing === undefined) return surface;
      return {
        ...surface,
        probing: {
          ...probing,
          probe: (address, messageId, { signal }) => probing.probe(address, messageId, { signal }),
        },
      };
    },
  },
  {
    name: "keyboard-lost-by-edit",
    what: "an edit of a card leaves out its buttons",
    needs: "card",
    surface: (surface) => ({
      ...surface,
      edit: (address, messageId, { buttons: _buttons, ...content }, options) =>
        surface.edit(address, messageId, content, options),
    }),
  },
  {
    name: "picture-kept-by-edit",
    what: "an edit of a card changes the words below its picture, and not the picture",
    needs: "card",
    surface: (surface) => ({
      ...surface,
      edit: (address, messageId, { image, ...content }, options) =>
        surface.edit(
          address,
          messageId,
          { ...content, ...(image !== undefined && { isCaption: true }) },
          options,
        ),
    }),
  },
  {
    name: "number-for-later-card",
    what: "a number counts for a card that was posted after it",
    needs: "type-number",
    gate: (gate) => ({
      ...bound(gate),
      claimMessage: (question) =>
        gate.claimMessage({ ...question, messageId: "1000000", sentAt: question.sentAt + AN_HOUR_MS }),
    }),
  },
  {
    name: "number-in-every-topic",
    what: "a number counts for the newest card of the chat, whatever its topic",
    needs: "type-number",
    gateDatabase: (database) => ({
      ...withoutWrites(database, () => false),
      all: (statement, ...bindings) =>
        database.all(statement.replace("AND thread_id = ?", "AND thread_id <> ?"), ...bindings),
    }),
  },
  {
    name: "card-revised-backwards",
    what: "of two revisions at once the earlier one wins",
    needs: "revise-card",
    delivery: (delivery, { clock }) => {
      const revise = delivery.revise.bind(delivery);
      const revisedAt = new Map<string, number>();
      const changed: Pick<Delivery, "revise"> = {
        revise: (id, card, ifDeleted) => {
          const isSecond = clock.now() < (revisedAt.get(id) ?? -Infinity) + AT_ONCE_MS;
          revisedAt.set(id, clock.now());
          return isSecond || revise(id, card, ifDeleted);
        },
      };
      Object.assign(delivery, changed);
    },
  },
  {
    name: "card-posted-twice",
    what: "a card whose post has no answer counts as not posted",
    needs: "card",
    surface: (surface) => ({
      ...surface,
      post: (address, message, options) =>
        surface.post(address, message, options).catch((error: unknown) => {
          const isLost = surface.classifyError(error).kind === "unknown";
          throw isLost && message.isCard === true ? new NotDone("Nobody answers.") : error;
        }),
    }),
  },
];
