/**
 * Way in which a reply appears while its text is still coming. In the end, every mode leaves the whole reply as
 * ordinary messages.
 *
 * - `edit`: a message that is posted as soon as there is something worth reading, and grows by edits. Where messages
 *   cannot be edited: `buffered`.
 * - `draft`: a temporary preview that grows, and becomes a message when the text is complete. For private chats on
 *   platforms with drafts. Elsewhere, and if the platform refuses the draft: `edit`.
 * - `native`: the platform's own way to stream into a message. Where it has none: `edit`.
 * - `buffered`: the messages of a long reply are posted one by one when each is complete, and never changed.
 * - `final-only`: only the typing indicator until the text is complete.
 */
export type DeliveryMode = "edit" | "draft" | "native" | "buffered" | "final-only";
