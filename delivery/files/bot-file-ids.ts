import type { Database } from "../../src/core/store/database.ts";
import type { Deps } from "../../src/core/base/deps.ts";
import type { BotFileIds } from "./sent-file.ts";
import { SentFileStore } from "./sent-file-store.ts";

/** Returns the ids of files that the whole bot knows, kept in one object for all. */
export function createBotFileIds({
  database,
  deps,
}: {
  readonly database: Database;
  readonly deps: Pick<Deps, "clock">;
}): BotFileIds {
  const sent = new SentFileStore(database);
  return {
    findSentFile: async (file) => sent.find(file),
    noteSentFile: async (file, fileId) => sent.remember(file, fileId, deps.clock.now()),
    forgetSentFile: async (file, fileId) => sent.forget(file, fileId),
  };
}
