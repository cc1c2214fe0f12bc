/** Questions and answers of the kept data of a bot, which dies before the answers are complete. */
export const KEPT = {
  streaming: "Tell me about the sea",
  lost: "Say something short",
  first: "Tell me about the mountains",
  queued: "And about the lakes?",
  answers: {
    "Tell me about the sea":
      "The sea covers most of the planet, and this is the part of the answer that comes after the upgrade.",
    "Say something short": "Lost, and found again.",
    "Tell me about the mountains":
      "Mountains grow where plates meet, and this is the part of the answer that comes after the upgrade.",
    "And about the lakes?": "Lakes are the part of the answer that nobody has begun before the upgrade.",
  } as Readonly<Record<string, string>>,
} as const;
