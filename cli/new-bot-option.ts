/** The option that answers the question of a bot whose name has no data where another one has. */
export const NEW_BOT = ["--new-bot", "begin with an empty memory beside the data of another bot"] as const;
