import type { MessengerEvent } from "../../core/chat/messenger-event.ts";
import { sortEvent } from "../../inbox/sort-event.ts";
import type { Sorting } from "../../inbox/sort-event.ts";
import { completesAlbum } from "../../inbox/waiting-messages.ts";
import type { ReadyCommands } from "../declare/commands.ts";
import type { NormalizedMessengerDefinition } from "../declare/define-messengers.ts";
import { eventHandlers } from "./bot-handlers.ts";
import type { KnownCommands } from "./known-commands.ts";
import type { IntakeParts } from "./intake-parts.ts";

/** Decides what to do with an event, from what the conversation remembers and what the bot's code handles. */
export class EventSorter {
  readonly #options: IntakeParts;
  readonly #commands: KnownCommands;

  constructor(options: IntakeParts, commands: KnownCommands) {
    this.#options = options;
    this.#commands = commands;
  }

  /** @param known the commands. Without it the bot is asked, which may throw. */
  sort(
    event: MessengerEvent,
    { respondTo }: NormalizedMessengerDefinition,
    known: ReadyCommands = this.#commands.all(),
  ): Sorting {
    const { bot, inbox, memory, messengers } = this.#options;
    const sorting = sortEvent(event, {
      respondTo,
      isSubscribed: memory.isSubscribed(event.thread.id),
      hasCommand: (name) => Object.hasOwn(known, name),
      hears: (handler) => eventHandlers(messengers, bot, event.messengerId)[handler] !== undefined,
    });
    return sorting.kind === "ignore" && completesAlbum(inbox, event) ? { kind: "answer" } : sorting;
  }
}
