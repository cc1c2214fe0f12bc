import type { TextContext } from "../../core/chat/delivery.ts";
import { logBotFailure } from "../../core/time/bot-code.ts";
import { eventFields } from "../../core/chat/log-fields.ts";
import type { Log } from "../../core/base/log.ts";
import type { MessengerEvent } from "../../core/chat/messenger-event.ts";
import { OutgoingText, silencePrompt, type OutgoingOptions, type TextSink } from "../../outgoing/index.ts";
import type { NormalizedMessengerDefinition } from "../declare/define-messengers.ts";

/** Creates the filter between a model's text and one reply. */
export function replyFilter(
  definition: NormalizedMessengerDefinition,
  event: MessengerEvent | undefined,
  sink: TextSink,
  log: Log,
): OutgoingText {
  return new OutgoingText(outgoingOptions(definition, event, log), contextOf(event), sink);
}

/** Returns the filtered text of an incomplete answer (it failed, was stopped, or made way), without a footer. */
export function filteredFragment(
  definition: NormalizedMessengerDefinition,
  event: MessengerEvent | undefined,
  text: string,
  log: Log,
): string {
  const nobody = { append: () => {}, replace: () => {}, interrupt: () => {} };
  return new OutgoingText(outgoingOptions(definition, event, log), contextOf(event), nobody).fragment(text);
}

/** Returns the system prompt's paragraph about silence, for an event of a group where the model may choose it. */
export function silenceInstruction(
  definition: NormalizedMessengerDefinition,
  event: MessengerEvent,
): string | undefined {
  return event.thread.isDirectMessage ? undefined : silencePrompt({ silence: silenceOf(definition) });
}

/** Tells whether events may get no answer, because they do not address the bot. */
export function mayStaySilent(
  definition: NormalizedMessengerDefinition,
  events: readonly MessengerEvent[],
): boolean {
  return (
    silenceOf(definition) !== false &&
    events.every(({ kind, thread }) => kind === "message" && !thread.isDirectMessage)
  );
}

function outgoingOptions(
  definition: NormalizedMessengerDefinition,
  event: MessengerEvent | undefined,
  log: Log,
): OutgoingOptions {
  const own = event === undefined ? log : log.with(eventFields(event.messengerId, event));
  const { footer, removeArtefacts, transform } = definition.delivery ?? {};
  return {
    silence: silenceOf(definition),
    removeArtefacts,
    transform,
    footer,
    onError: (error, name) => logBotFailure(own, `delivery.${name}`, error),
  };
}

function silenceOf({
  delivery,
  respondTo,
}: NormalizedMessengerDefinition): { readonly signal?: string } | false {
  const silence = delivery?.silence ?? respondTo.includes("subscribed-thread");
  return silence === true ? {} : silence;
}

function contextOf(event: MessengerEvent | undefined): TextContext {
  return { locale: event?.author?.language, event };
}
