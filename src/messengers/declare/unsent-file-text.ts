import type { DeliveryPolicy } from "../../core/delivery.ts";
import type { Log } from "../../core/log.ts";
import { hardLines, plainMarkdown } from "../../core/plain-markdown.ts";
import { unsentReason } from "../../core/unsent-file.ts";
import type { UnsentFile, UnsentReason } from "../../core/unsent-file.ts";
import { safeText } from "./texts.ts";
import type { SafeText } from "./texts.ts";

const TEXTS: Readonly<Record<UnsentReason, SafeText>> = {
  "too-large": "fileTooLargeText",
  unreachable: "fileUnreachableText",
  forbidden: "fileForbiddenText",
  refused: "fileRefusedText",
};

/** Returns the text in place of a file that could not be sent: its name, with a link if it has one, and the reason. */
export function unsentFileText(
  policy: DeliveryPolicy | undefined,
  { code, name, url }: UnsentFile,
  log: Log | undefined,
): string {
  const label = plainMarkdown(name);
  const head = url === undefined ? `**${label}**` : `[${label}](<${url}>)`;
  const reason = safeText(policy, TEXTS[unsentReason(code)], undefined, log);
  return hardLines(reason === "" ? [head] : [head, reason]);
}
