import { runBotCode } from "../../core/time/bot-code.ts";
import type { Clock } from "../../core/base/deps.ts";
import type { Log } from "../../core/base/log.ts";
import type { FetchableAttachment } from "../../core/chat/messenger-context.ts";
import type { TranscriptStore } from "../../turn/transcript-store.ts";

export interface TranscriptsOptions {
  readonly clock: Clock;
  /** Returns the log of the turn in which the bot's code runs. */
  readonly log: () => Log;
  readonly store: TranscriptStore;
  readonly transcribe: (audio: FetchableAttachment) => string | undefined | Promise<string | undefined>;
}

/** Transcribes audio files with the bot's `transcribe`, once for each file. The outcome is stored. */
export class Transcripts {
  readonly #options: TranscriptsOptions;
  /** Running transcriptions by file. A restarted turn waits for the one that the withdrawn turn began. */
  readonly #running = new Map<string, Promise<string | undefined>>();

  constructor(options: TranscriptsOptions) {
    this.#options = options;
  }

  /** Returns the text of a file; `undefined` if there is none. Rejects only if the storage does. */
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
      // `runBotCode` has logged the reason. A failed file is not tried again in every later turn.
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
