import { SwitchboardError } from "../core/errors.ts";
import type { CallAttachments } from "./attachments.ts";
import { CollectedAttachments, MOST_ATTACHMENTS } from "./collected-attachments.ts";
import { unsentAttachment } from "./unsent-attachment.ts";

const NOT_SHOWN = new SwitchboardError(
  "attachment-not-shown",
  "A call of another system has no reply that could show it.",
);

/** The attachments of a call that no reply answers. Its result names them, and none is kept. */
export const unshownAttachments: CallAttachments = {
  collect: () => new CollectedAttachments(MOST_ATTACHMENTS, () => undefined),
  keep: async (_run, { drafts, unsent }) => [
    ...unsent,
    ...drafts.map(({ json }) => unsentAttachment(json, NOT_SHOWN)),
  ],
  record: () => undefined,
};
