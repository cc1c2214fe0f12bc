import type { CallGroup } from "../core/chat/inner-calls.ts";
import type { Submission, SubmitMessagesOptions, SubmitMessagesResult } from "./submissions.ts";
import type { SubmissionInput } from "../messengers/turns/question-messages.ts";

/** The calls of other systems to a conversation. */
export interface SubmissionDoor {
  takeSubmission(input: SubmissionInput, options: SubmitMessagesOptions): Promise<SubmitMessagesResult>;
  inspectSubmissionOf(id: string): Promise<Submission | undefined>;
  /** Returns `false` if it has ended already, or does not exist. */
  cancelSubmissionOf(id: string): Promise<boolean>;
}

export const SUBMISSIONS: CallGroup<SubmissionDoor> = { name: "submissions" };
