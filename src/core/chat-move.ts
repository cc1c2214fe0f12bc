/** A thread of a chat, as its platform names both. */
export interface ChatPlace {
  readonly chatId: string;
  readonly threadId: string;
}

/** A chat that goes on under another id, such as a Telegram group that was upgraded to a supergroup. Plain JSON. */
export interface ChatMove {
  readonly from: ChatPlace;
  readonly to: ChatPlace;
}
