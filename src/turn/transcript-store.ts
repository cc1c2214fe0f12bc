import type { Database } from "../core/database.ts";
import { firstRow } from "../core/database.ts";
import { LazyTables } from "../core/lazy-tables.ts";

/** Transcripts of audio files. The table is created with the first one, because most conversations never have any. */
const SCHEMA = `
CREATE TABLE IF NOT EXISTS transcript_v1 (
  file TEXT PRIMARY KEY,
  text TEXT
) STRICT, WITHOUT ROWID`;

export interface StoredTranscript {
  /** `undefined`: the transcription failed, and is not tried again. */
  readonly text: string | undefined;
}

export interface TranscriptStore {
  read(file: string): StoredTranscript | undefined;
  write(file: string, transcript: StoredTranscript): void;
}

export function createTranscriptStore(database: Database): TranscriptStore {
  const tables = new LazyTables(database, { table: "transcript_v1", schema: [SCHEMA] });
  return {
    read(file) {
      const row = firstRow(
        tables.all<{ text: string | null }>("SELECT text FROM transcript_v1 WHERE file = ?", file),
      );
      return row === undefined ? undefined : { text: row.text ?? undefined };
    },
    write(file, { text }) {
      tables.make();
      database.run("INSERT OR REPLACE INTO transcript_v1 (file, text) VALUES (?, ?)", file, text ?? null);
    },
  };
}
