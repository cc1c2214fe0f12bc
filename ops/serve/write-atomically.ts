import { randomUUID } from "node:crypto";
import { rename, writeFile } from "node:fs/promises";

/** Writes a file so that readers see the complete old file or the complete new one. */
export async function writeAtomically(file: string, content: string, mode = 0o666): Promise<void> {
  const draft = `${file}.${randomUUID().slice(0, 8)}`;
  await writeFile(draft, content, { mode });
  await rename(draft, file);
}
