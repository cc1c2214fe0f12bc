/** Filters a model's text before people see it. */
export { joinParagraphs } from "./join-paragraphs.ts";
export { cleanText, OutgoingText } from "./outgoing-text.ts";
export type { OutgoingContext, OutgoingOptions, OutgoingResult, TextSink } from "./outgoing-text.ts";
export { silencePrompt } from "./silence.ts";
