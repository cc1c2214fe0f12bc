import type { Database } from "../core/store/database.ts";
import { defineTable, lazyTable, text } from "../core/store/table.ts";
import type { RowOf } from "../core/store/table.ts";

/** Transcripts of audio files. The table is created with the first one, because most conversations never have any. */
const TRANSCRIPTS = defineTable("transcript_v1", {
  file: text("PRIMARY KEY"),
  /** `undefined`: the transcription failed, and is not tried again. */
  text: text(),
});

export type StoredTranscript = Omit<RowOf<typeof TRANSCRIPTS>, "file">;

export interface TranscriptStore {
  read(file: string): StoredTranscript | undefined;
  write(file: string, transcript: StoredTranscript): void;
}

export function createTranscriptStore(database: Database): TranscriptStore {
  const transcripts = lazyTable(database, TRANSCRIPTS);
  return {
    read: (file) => transcripts.first("WHERE file = ?", file),
    write: (file, { text }) => transcripts.put({ file, text }),
  };
}
