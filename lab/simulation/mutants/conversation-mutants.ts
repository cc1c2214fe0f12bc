import type { Address } from "../../../src/core/chat/surface.ts";
import type { Mutant } from "../machine/mutant.ts";
import { PACING } from "../platform/platform.ts";
import { withoutWrites } from "./without-writes.ts";

/** Defects around the delivery: in the inbox, in turns, and in a messenger's options. */
export const conversationMutants: readonly Mutant[] = [
  {
    name: "press-waits",
    what: "the answer to a press of a button waits for the chat's budget",
    delivery: (delivery, { gateOf, clock }) => {
      const answer = delivery.answerAction.bind(delivery);
      delivery.answerAction = async (address, press, notice) => {
        for (;;) {
          const grant = await gateOf(address).acquire({
            address,
            purpose: "post",
            pacing: PACING,
            speaker: "press",
          });
          if (grant.kind === "granted") break;
          await new Promise<void>((resolve) => {
            clock.setTimeout(resolve, grant.retryAt - clock.now());
          });
        }
        return answer(address, press, notice);
      };
    },
  },
  {
    name: "press-twice",
    what: "a press of a button is answered twice",
    delivery: (delivery) => {
      const answer = delivery.answerAction.bind(delivery);
      delivery.answerAction = async (address, press, notice) => {
        await answer(address, press, notice);
        return answer(address, press, notice);
      };
    },
  },
  {
    name: "file-is-vital",
    what: "a file that cannot be loaded fails the call of the model",
    isFileVital: true,
  },
  {
    name: "deletion-ignored",
    what: "a message that was deleted before its turn is answered",
    event: (event) => (event.kind === "message-deleted" ? { ...event, kind: "service" } : event),
  },
  {
    name: "edit-ignored",
    what: "an edit of a message changes nothing",
    event: (event) => (event.kind === "message-edited" ? { ...event, kind: "service" } : event),
  },
  {
    name: "newest-first",
    what: "the newest of the waiting messages is answered first",
    threadDatabase: (database) => ({
      ...withoutWrites(database, () => false),
      all: (statement, ...bindings) => {
        const isQueue = /FROM inbox_v1 WHERE .* ORDER BY seq/.test(statement) && bindings.includes("queued");
        const rows = database.all<never>(statement, ...bindings);
        return isQueue ? rows.toReversed() : rows;
      },
    }),
  },
  {
    name: "steer-ignored",
    what: "the model continues with its next step although a message waits",
    beforeStep: () => "go",
  },
  {
    name: "gate-open",
    what: "a tool with an effect runs while more of the person's message may come",
    beforeTool: () => "run",
  },
  {
    name: "takeover-beside",
    what: "a reply that takes the place of another one is posted beside it",
    delivery: (delivery) => {
      const open = delivery.open.bind(delivery);
      delivery.open = (start) => open({ ...start, takesOver: undefined });
    },
  },
  {
    name: "reply-to-first-chat",
    what: "every reply of a conversation goes to the chat in which it wrote first",
    delivery: (delivery) => {
      const open = delivery.open.bind(delivery);
      let first: Address | undefined;
      delivery.open = (start) => open({ ...start, address: (first ??= start.address) });
    },
  },
  {
    name: "notice-to-last-chat",
    what: "the reply of a command goes to the chat in which the conversation wrote last",
    delivery: (delivery) => {
      const open = delivery.open.bind(delivery);
      const send = delivery.send.bind(delivery);
      let last: Address | undefined;
      delivery.open = (start) => {
        last = start.address;
        open(start);
      };
      delivery.send = (start, text) => send({ ...start, address: last ?? start.address }, text);
    },
  },
  {
    name: "end-lost",
    what: "the last words of a text are lost on their way to the delivery",
    saying: (delivery) => {
      const finish = delivery.finish.bind(delivery);
      delivery.finish = (id, text) => finish(id, text.length > 60 ? text.slice(0, -20) : text);
    },
  },
  {
    name: "command-unanswered",
    what: "the reply of a command is not sent",
    saying: (delivery) => {
      const send = delivery.send.bind(delivery);
      delivery.send = (start, text) => {
        if (!start.id.startsWith("command:")) send(start, text);
      };
    },
  },
  {
    name: "command-twice",
    what: "the reply of a command is sent twice",
    saying: (delivery) => {
      const send = delivery.send.bind(delivery);
      delivery.send = (start, text) => {
        send(start, text);
        if (start.id.startsWith("command:")) send({ ...start, id: `${start.id}+` }, text);
      };
    },
  },
  {
    name: "stop-ignored",
    what: "`/stop` does nothing and says nothing",
    event: (event) => (event.message?.command?.name === "stop" ? { ...event, kind: "service" } : event),
  },
  {
    name: "quote-lost",
    what: "a reply does not quote what it answers",
    surface: (surface) => ({
      ...surface,
      post: (address, message, options) => surface.post(address, { ...message, replyTo: undefined }, options),
    }),
  },
  {
    name: "silence-shown",
    what: "the model's signal of silence is shown",
    policy: { silence: false },
  },
  {
    name: "footer-lost",
    what: "a complete answer has no footer",
    policy: { footer: undefined },
  },
  {
    name: "blocks-dropped",
    what: "a message of blocks is sent as its text",
    surface: (surface) => ({
      ...surface,
      post: (address, { blocks: _blocks, ...message }, options) => surface.post(address, message, options),
      edit: (address, id, { blocks: _blocks, ...message }, options) =>
        surface.edit(address, id, message, options),
    }),
  },
  {
    name: "rich-forgotten",
    what: "a server without rich messages is forgotten when the reply that found it ends",
    threadDatabase: (database) => withoutWrites(database, (statement) => /INTO rich_rest_v1/.test(statement)),
  },
  {
    name: "leave-resends",
    what: "a lost post is made again whatever the policy says",
    policy: { onUnknown: "resend" },
  },
];
