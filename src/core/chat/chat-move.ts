/** A thread of a chat, by the platform's ids. */
export interface ChatPlace {
  readonly chatId: string;
  readonly threadId: string;
}

/** A chat that continues under another id, such as a Telegram group that was upgraded to a supergroup. Plain JSON. */
export interface ChatMove {
  readonly from: ChatPlace;
  readonly to: ChatPlace;
}
