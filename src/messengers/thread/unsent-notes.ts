import type { DeliveryPolicy } from "../../core/chat/delivery.ts";
import type { Log } from "../../core/base/log.ts";
import { hardLines, plainMarkdown } from "../../core/message/plain-markdown.ts";
import { unsentReason } from "../../core/message/unsent-file.ts";
import type { UnsentFile, UnsentReason } from "../../core/message/unsent-file.ts";
import { safeText } from "../declare/texts.ts";
import type { SafeText } from "../../core/chat/messenger-options.ts";
import type { NoteStore } from "../../inbox/note-store.ts";
import type { UnsentFiles } from "../replies/unsent-files.ts";
import { noteOf } from "../turns/note-parts.ts";
import type { ThreadRuntimeOptions } from "./thread-runtime-options.ts";

const TEXTS: Readonly<Record<UnsentReason, SafeText>> = {
  "too-large": "fileTooLargeText",
  unreachable: "fileUnreachableText",
  forbidden: "fileForbiddenText",
  refused: "fileRefusedText",
};

/** Tells people of files that cannot be sent in the messenger's own texts, and the model by notes. */
export function createUnsentNotes(
  { deps, log, messengers }: ThreadRuntimeOptions,
  notes: NoteStore,
): UnsentFiles {
  return {
    textOf(messengerId, file: UnsentFile) {
      log.warn("file.unsent", { messenger: messengerId, code: file.code });
      return unsentFileText(messengers.find(messengerId)?.delivery, file, log);
    },
    note: (id, text) => notes.add(`unsent:${id}`, { text: noteOf(text), at: deps.clock.now() }),
  };
}

/** Returns the text in place of a file that could not be sent: its name, with a link if it has one, and the reason. */
function unsentFileText(
  policy: DeliveryPolicy | undefined,
  { code, name, url }: UnsentFile,
  log: Log | undefined,
): string {
  const label = plainMarkdown(name);
  const head = url === undefined ? `**${label}**` : `[${label}](<${url}>)`;
  const reason = safeText(policy, TEXTS[unsentReason(code)], undefined, log);
  return hardLines(reason === "" ? [head] : [head, reason]);
}
