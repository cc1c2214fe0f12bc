/** Memory of a bot: blocks of the prompt, search in the transcript, and `/memory` for people. */
export { memory } from "./memory.ts";
export { R2SkillProvider } from "./r2-skill-provider.ts";
export type { TextBucket } from "./r2-skill-provider.ts";
export type {
  ContextBlock,
  ContextProvider,
  FoundText,
  PersonOf,
  SearchResult,
  Session,
} from "../feature/session.ts";
export type { CompactFunction, Compaction } from "../turn/model/own-compaction.ts";
