import { placeFields } from "../../src/core/log-fields.ts";
import type { LogFields } from "../../src/core/log.ts";
import type { Reply } from "./reply.ts";

/** How the log names a reply: its id is that of its turn or its notice. */
export function replyFields({ record }: Reply): LogFields {
  return { turn: record.id, ...placeFields(record.address) };
}
