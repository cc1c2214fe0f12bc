import type {
  Submission,
  SubmissionInput,
  SubmitMessagesOptions,
  SubmitMessagesResult,
} from "./submissions.ts";

/** The calls of other systems to a conversation. */
export interface SubmissionDoor {
  takeSubmission(input: SubmissionInput, options: SubmitMessagesOptions): Promise<SubmitMessagesResult>;
  inspectSubmissionOf(id: string): Promise<Submission | undefined>;
  /** Returns `false` if it has ended already, or does not exist. */
  cancelSubmissionOf(id: string): Promise<boolean>;
}
