import type { Clock } from "../../core/deps.ts";
import type { Log } from "../../core/log.ts";
import type { UnsentFile } from "../../core/unsent-file.ts";
import type { NoteStore } from "../../inbox/note-store.ts";
import type { DeclaredMessengers } from "../declare/declared-messengers.ts";
import { unsentFileText } from "../declare/unsent-file-text.ts";
import type { UnsentFiles } from "../replies/unsent-files.ts";
import { noteOf } from "../turns/note-parts.ts";

export interface UnsentNotesOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly messengers: Pick<DeclaredMessengers, "find">;
  readonly notes: Pick<NoteStore, "add">;
}

/** Tells people of files that cannot be sent in the messenger's own texts, and the model by notes. */
export function createUnsentNotes({ clock, log, messengers, notes }: UnsentNotesOptions): UnsentFiles {
  return {
    textOf(messengerId, file: UnsentFile) {
      log.warn("file.unsent", { messenger: messengerId, code: file.code });
      return unsentFileText(messengers.find(messengerId)?.delivery, file, log);
    },
    note: (id, text) => notes.add(`unsent:${id}`, { text: noteOf(text), at: clock.now() }),
  };
}
