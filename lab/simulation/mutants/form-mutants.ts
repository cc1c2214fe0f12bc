import { asSchema, jsonSchema } from "ai";
import type { FlexibleSchema } from "ai";
import type { ActionContext } from "../../../src/actions/declare/action-context.ts";
import type { CardBody } from "../../../src/core/chat/delivery.ts";
import type { Mutant } from "../machine/mutant.ts";
import { changingInserts } from "./bindings.ts";

/** Defects of forms that people fill in by writing and sending. */
export const formMutants: readonly Mutant[] = [
  {
    name: "field-asked-again",
    what: "the card below an answered field asks for the same field again",
    needs: "fill-in",
    saying: (delivery) => {
      const sendCard = delivery.sendCard.bind(delivery);
      const first = new Map<string, CardBody>();
      Object.assign(delivery, {
        sendCard: (start, body, options) => {
          const [, question] = /^(question:[^:]+):/.exec(start.id) ?? [];
          const again = first.get(question ?? "");
          if (again === undefined && question !== undefined) first.set(question, body);
          sendCard(start, again === undefined ? body : { ...again, buttons: KEEP }, options);
        },
      } satisfies Partial<typeof delivery>);
    },
  },
  {
    name: "photo-for-file",
    what: "the answer of a form has the photo in place of the file",
    needs: "fill-in",
    threadDatabase: (database) =>
      changingInserts(database, "run_log_v1", "result", (text) => {
        if (!text.includes('"photo":')) return text;
        const { value } = JSON.parse(text) as { value: { photo: unknown } };
        return JSON.stringify({ value: { ...value, file: value.photo } });
      }),
  },
  {
    name: "refused-answer-counts",
    what: "an action gets an answer that its schema refuses",
    needs: "fill-in",
    actions: (actions) =>
      Object.fromEntries(
        Object.entries(actions).map(([name, action]) => [
          name,
          { ...action, execute: unchecked(action.execute) },
        ]),
      ),
  },
];

/** A form knows the value that it asks for. */
const KEEP: CardBody["buttons"] = [[{ kind: "callback", label: "Keep it", token: "keep" }]];

/** An action whose answers no schema checks. */
function unchecked(execute: (input: never, ctx: never) => unknown): (input: never, ctx: never) => unknown {
  return (input, ctx: ActionContext) => {
    const elicit = (asked: { readonly schema: FlexibleSchema }): unknown =>
      ctx.elicit({ ...asked, schema: jsonSchema(asSchema(asked.schema).jsonSchema) } as never);
    return execute(input, Object.assign(Object.create(ctx) as ActionContext, { elicit }) as never);
  };
}
