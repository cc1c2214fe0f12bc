import { failureCode, InvalidInputError, SwitchboardError } from "../../core/base/errors.ts";
import type { FetchedFile, PlatformContext } from "../../core/chat/messenger.ts";
import type {
  AttachmentMetadata,
  FetchableAttachment,
  FetchAttachmentOptions,
  MessengerContext,
} from "../../core/chat/messenger-context.ts";
import type {
  AttachmentReference,
  MessengerAttachment,
  MessengerEvent,
} from "../../core/chat/messenger-event.ts";
import { withTimeLimit } from "../../core/time/with-time-limit.ts";
import { inMessengerContext } from "../../core/turn/turn-context.ts";
import type { DeclaredMessengers } from "../declare/declared-messengers.ts";
import type { EventContexts } from "../declare/event-contexts.ts";

export interface EventFilesOptions {
  readonly messengers: Pick<DeclaredMessengers, "get" | "context">;
}

const TIMEOUT_MS = 20_000;
/** Largest file, in bytes. It is in memory as a whole. */
const MOST_BYTES = 50 * 1024 * 1024;

/** Shows events to bot code, and fetches the bytes of their files. */
export class EventFiles implements EventContexts {
  readonly #options: EventFilesOptions;

  constructor(options: EventFilesOptions) {
    this.#options = options;
  }

  /**
   * @throws {InvalidInputError} when the file is too large or can never be fetched
   * @throws {SwitchboardError} when the download failed and may succeed later
   */
  async fetch(
    messengerId: string,
    reference: AttachmentReference,
    { maxBytes, signal }: FetchAttachmentOptions = {},
  ): Promise<FetchedFile> {
    const { maxMediaBytes, platform } = this.#options.messengers.get(messengerId);
    const limit = maxBytes ?? maxMediaBytes;
    if (!(limit > 0) || limit > MOST_BYTES) {
      throw new InvalidInputError(
        "attachment-limit",
        `maxBytes is ${limit}. It must be more than 0 and at most ${MOST_BYTES}.`,
      );
    }
    const context = this.#options.messengers.context(messengerId);
    return inTime(context, signal, (signal) =>
      platform.fetchAttachment(reference, context, { maxBytes: limit, signal }),
    );
  }

  async #metadata(
    messengerId: string,
    { kind, mediaType, name, reference, sizeBytes }: MessengerAttachment,
    signal: AbortSignal | undefined,
  ): Promise<AttachmentMetadata> {
    const { platform } = this.#options.messengers.get(messengerId);
    const context = this.#options.messengers.context(messengerId);
    const found = await inTime(
      context,
      signal,
      async (signal) => (await platform.fetchAttachmentMetadata?.(reference, context, { signal })) ?? {},
    );
    return {
      kind,
      ...(name !== undefined && { name }),
      // The sender's own program knows the type better than the file's extension does.
      ...defined("mediaType", mediaType ?? found.mediaType),
      ...defined("sizeBytes", found.sizeBytes ?? sizeBytes),
    };
  }

  /** Returns an attachment with its methods. They are not enumerable, so the rest stays plain JSON. */
  fetchable(messengerId: string, attachment: MessengerAttachment): FetchableAttachment {
    const methods: Pick<FetchableAttachment, "fetch" | "fetchMetadata"> = {
      fetch: (options) => this.fetch(messengerId, attachment.reference, options),
      fetchMetadata: (options) => this.#metadata(messengerId, attachment, options?.signal),
    };
    return Object.defineProperties(
      { ...attachment },
      {
        fetch: { value: methods.fetch },
        fetchMetadata: { value: methods.fetchMetadata },
        size: { value: attachment.sizeBytes },
      },
    ) as FetchableAttachment;
  }

  inContext<T>(event: MessengerEvent, body: (context: MessengerContext) => T): T {
    const context = this.contextOf(event);
    return inMessengerContext(context, () => body(context));
  }

  /**
   * Returns an event as bot code sees it. `events` returns all events of the turn, and is called only when bot code
   * reads their files.
   */
  contextOf(
    event: MessengerEvent,
    events: () => readonly MessengerEvent[] = () => [event],
  ): MessengerContext {
    const fetchable = (
      of: MessengerEvent,
      list: readonly MessengerAttachment[] = [],
    ): FetchableAttachment[] => list.map((attachment) => this.fetchable(of.messengerId, attachment));
    const { action, message, thread } = event;
    const quoted = message?.quoted;
    const own = fetchable(event, message?.attachments);
    const quotedFiles = fetchable(event, quoted?.attachments);
    let attachments: readonly FetchableAttachment[] | undefined;
    const context = {
      ...event,
      thread: aliased(thread, { channelId: thread.chatId, channelName: thread.title }),
      ...(action !== undefined && {
        action: aliased(action, { actionId: action.data, value: action.data }),
      }),
      ...(message !== undefined && {
        message: {
          ...message,
          attachments: own,
          ...(quoted !== undefined && { quoted: { ...quoted, attachments: quotedFiles } }),
        },
      }),
    };
    return Object.defineProperty(context, "attachments", {
      get: () => {
        const all = events();
        attachments ??= [
          ...all.flatMap((each) => fetchable(each, each.message?.attachments)),
          ...all.flatMap((each) => fetchable(each, each.message?.quoted?.attachments)),
        ];
        return attachments;
      },
    }) as MessengerContext;
  }
}

/** Adds Think's names to a copy. They are not enumerable, so the rest stays as it is in JSON. */
function aliased<T extends object>(of: T, names: Readonly<Record<string, unknown>>): T {
  const hidden = Object.entries(names).map(([name, value]) => [name, { value }]);
  return Object.defineProperties({ ...of }, Object.fromEntries(hidden) as PropertyDescriptorMap);
}

/**
 * Makes a call with a signal that aborts after the time limit, or when the caller's signal does. Passes on only our own
 * errors. The text of any other may contain an address with a token (I10).
 */
async function inTime<T>(
  { deps: { clock } }: PlatformContext,
  signal: AbortSignal | undefined,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  try {
    return await withTimeLimit(clock, TIMEOUT_MS, (limit) =>
      call(signal === undefined ? limit : AbortSignal.any([signal, limit])),
    );
  } catch (error) {
    if (error instanceof SwitchboardError) throw error;
    throw new SwitchboardError("attachment-failed", `Fetching an attachment failed: ${failureCode(error)}.`);
  }
}

function defined<Name extends string, T>(name: Name, value: T | undefined): { [name in Name]?: T } {
  return (value === undefined ? {} : { [name]: value }) as { [name in Name]?: T };
}
