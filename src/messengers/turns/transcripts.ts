import { runBotCode } from "../../core/bot-code.ts";
import type { Clock } from "../../core/deps.ts";
import type { Log } from "../../core/log.ts";
import type { FetchableAttachment } from "../../core/messenger-context.ts";
import type { TranscriptStore } from "../../turn/transcript-store.ts";

export interface TranscriptsOptions {
  readonly clock: Clock;
  /** The log of the turn for which the bot's code runs. */
  readonly log: () => Log;
  readonly store: TranscriptStore;
  readonly transcribe: (audio: FetchableAttachment) => string | undefined | Promise<string | undefined>;
}

/** What is said in audio files, by the bot's `transcribe`: once for each file, with its outcome stored. */
export class Transcripts {
  readonly #options: TranscriptsOptions;
  /** A turn that begins again waits for the transcript that the withdrawn one asked for. */
  readonly #running = new Map<string, Promise<string | undefined>>();

  constructor(options: TranscriptsOptions) {
    this.#options = options;
  }

  /** The text of a file; `undefined` if there is none. Rejects only if the storage does. */
  of(file: string, audio: FetchableAttachment): Promise<string | undefined> {
    const stored = this.#options.store.read(file);
    if (stored !== undefined) return Promise.resolve(stored.text);
    const running = this.#running.get(file) ?? this.#transcribe(file, audio);
    this.#running.set(file, running);
    return running;
  }

  async #transcribe(file: string, audio: FetchableAttachment): Promise<string | undefined> {
    const { clock, log, store, transcribe } = this.#options;
    try {
      const text = await runBotCode({ clock, log: log() }, "transcribe", async () =>
        textOf(await transcribe(audio)),
      );
      if (text !== undefined) store.write(file, { text });
      return text;
    } catch {
      // `runBotCode` has logged why. One that failed is not tried in every later turn.
      store.write(file, { text: undefined });
      return undefined;
    } finally {
      this.#running.delete(file);
    }
  }
}

/** Longest text that is kept of one file, in characters: hours of speech. */
const MAX_LENGTH = 200_000;

function textOf(transcript: unknown): string | undefined {
  if (transcript === undefined) return undefined;
  if (typeof transcript !== "string") throw new TypeError(`Expected a text, got ${typeof transcript}.`);
  return transcript.slice(0, MAX_LENGTH);
}
