import type { Clock } from "../../core/base/deps.ts";
import { errorCode } from "../../core/base/errors.ts";
import type { Log } from "../../core/base/log.ts";
import type { ResolvedFile } from "../../turn/model/load-files.ts";
import type { EventFiles } from "./event-files.ts";
import { fileContent } from "./file-content.ts";
import { fromPeople } from "./own-marks.ts";
import type { Transcripts } from "./transcripts.ts";
import { describe, parseStoredFile } from "./user-message.ts";
import type { StoredFile } from "./user-message.ts";

export interface ModelFilesOptions {
  readonly clock: Clock;
  /** The log of the turn whose model is called. */
  readonly log: () => Log;
  readonly files: EventFiles;
  /** Absent if the bot transcribes nothing. */
  readonly transcripts: Transcripts | undefined;
}

/** A file that could not be loaded is left out of model calls for this time, so that not every call waits for it. */
const REST_MS = 60_000;

/** Stored files as content for the model. */
export class ModelFiles {
  readonly #options: ModelFilesOptions;
  /** Files that could not be loaded, with the time until which they are left out. */
  readonly #unavailable = new Map<string, number>();

  constructor(options: ModelFilesOptions) {
    this.#options = options;
  }

  /** Returns the content of a stored file. `undefined` if the address is not a reference to one. */
  async resolve(
    url: string,
    mediaType: string,
    name: string | undefined,
    signal: AbortSignal | undefined,
  ): Promise<ResolvedFile | undefined> {
    const stored = parseStoredFile(url);
    if (stored === undefined) return undefined;
    if (stored.isTranscribed === true) return this.#transcript(url, stored, mediaType, name);
    const { clock, files } = this.#options;
    const text = fromPeople(
      `${describe({ kind: stored.kind ?? "document", name, mediaType })} (it could not be loaded)`,
    );
    const now = clock.now();
    if ((this.#unavailable.get(url) ?? 0) > now) return { kind: "text", text };
    try {
      const file = await files.fetch(stored.messengerId, stored.reference, {
        ...(signal !== undefined && { signal }),
      });
      return fileContent(file, mediaType, name);
    } catch (error) {
      // The sender chose the media type, so only its known first part goes into the log.
      const media = /^(?:application|audio|image|text|video)(?=\/)/.exec(mediaType)?.[0] ?? "other";
      const log = this.#options.log();
      log.warn("file.unavailable", { code: errorCode(error) ?? "unknown", media });
      for (const [known, until] of this.#unavailable) if (until <= now) this.#unavailable.delete(known);
      if (signal?.aborted !== true) this.#unavailable.set(url, clock.now() + REST_MS);
      return { kind: "text", text };
    }
  }

  /** Returns the line of a voice message, with its transcript if there is one. */
  async #transcript(
    url: string,
    { kind = "audio", messengerId, reference, sizeBytes }: StoredFile,
    mediaType: string,
    name: string | undefined,
  ): Promise<ResolvedFile> {
    const { files, transcripts } = this.#options;
    const attachment = {
      kind,
      reference,
      mediaType,
      ...(name !== undefined && { name }),
      ...(sizeBytes !== undefined && { sizeBytes }),
    };
    const line = fromPeople(describe(attachment));
    const said = await transcripts?.of(url, files.fetchable(messengerId, attachment));
    if (said === undefined) return { kind: "text", text: line };
    const text = fromPeople(said.trim());
    return {
      kind: "text",
      text: text === "" ? `${line} (nothing is said in it)` : `${line} What is said in it:\n${text}`,
    };
  }
}
