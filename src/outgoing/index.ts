/** The last boundary between a model's text and what people see. */
export { joinParagraphs } from "./join-paragraphs.ts";
export { cleanText, createOutgoingText } from "./outgoing-text.ts";
export type {
  OutgoingContext,
  OutgoingOptions,
  OutgoingResult,
  OutgoingText,
  TextSink,
} from "./outgoing-text.ts";
export { DEFAULT_SILENCE_SIGNAL, silencePrompt } from "./silence.ts";
