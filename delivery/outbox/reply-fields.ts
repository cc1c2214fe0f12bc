import { placeFields } from "../../src/core/chat/log-fields.ts";
import type { LogFields } from "../../src/core/base/log.ts";
import type { Reply } from "./reply.ts";

/** Returns the log fields of a reply. Its id is that of its turn or notice. */
export function replyFields({ record }: Reply): LogFields {
  return { turn: record.id, ...placeFields(record.address) };
}
