/* Stands for the adapters of other platforms in a bot for one. */
export const adapter = "left out";
