/** A message that the platform shows until the bot answers, such as "The bot is thinking…". */
export interface Placeholder {
  /** The id of the message that is answered. */
  readonly messageId: string;
  /** The platform's permission to replace the placeholder. A secret: it is deleted when it was used or has expired. */
  readonly token: string;
  /** Epoch milliseconds. */
  readonly shownAt: number;
  readonly expiresAt: number;
}
