/** Added to the first reply of a conversation. */
export const DEMO_NOTICE =
  "_You are talking to the built-in demo: it is no language model and understands only a few sentences. " +
  "For real answers set_ `OPENAI_BASE_URL`, `OPENAI_API_KEY` _and_ `MODEL` _(any OpenAI-compatible server), or_ " +
  "`ANTHROPIC_API_KEY`_, and start again._";

export const SAMPLE_HINT = 'Try "track order 1001", "where is order 1001?", "show me markdown", or "help".';

/** The next message may be the number alone. */
export const WHICH_ORDER = 'Which order is it? Please tell me its number, for example "1001".';

const HELP_WANTED = /\bhelp\b|what can you do|who are you|what are you/i;

/** Whether a person wants to know what the bot can do. */
export function asksForHelp(text: string): boolean {
  return HELP_WANTED.test(text);
}

const HELP = `I am the demo of this bot. I understand:

- a greeting, or thanks
- an order's number, e.g. "where is order 1001?"
- "track order 1001": the order as a card with a picture and buttons
- "send me the invoice for order 1001": a PDF; "export the invoices of the orders 1001 and 1003": several, with progress
- "send me a photo of order 1001", "voice summary of order 1001", "draft an email about order 1001"
- "refund 20 € for order 1001", "cancel order 1002", "change the address of order 1002 to 5 Main Street, Berlin", "return order 1003"
- "remind me to stretch in 20 seconds", "remind me to order coffee in half an hour", "remind me to water the plants every day at 9"
- "where are you?", "are you open today?", "what do you sell?"
- "show me markdown": every kind of formatting
- "tell me something long": a reply that needs several messages (or "long text 12000" for about that many characters)
- "make a list"`;

const MARKDOWN = `# Formatting

This line has **bold**, *italic*, ***both***, ~~struck~~ and \`code\` in it, and [a link](https://example.com/).

1. First, a numbered list
2. with a second entry
   - and a nested one

> A quote, which goes on
> in a second line.

\`\`\`ts
const answer: number = 6 * 7; // <b> & _this_ stay as they are
\`\`\`

| Size | Price |
| ---- | ----: |
| S    |  9.00 |
| L    | 12.50 |

The end.`;

const LIST = `Three things to pack:

- a raincoat
- good shoes
- something to read`;

interface Intent {
  readonly pattern: RegExp;
  /** Whether the answer is true of every bot. @default only of the shop's */
  readonly isGeneral?: true;
  readonly answer: (match: RegExpExecArray, speaker: string | undefined, hint: string) => string;
}

/** The first one that matches answers. */
const INTENTS: readonly Intent[] = [
  {
    pattern: /\bremind me\b/i,
    answer: () => 'Tell me what and when, please: "remind me to order coffee tomorrow at 9".',
  },
  { pattern: /\b(summari[sz]e|summary)\b/i, isGeneral: true, answer: () => "The person tried out the demo." },
  { pattern: /\bmark ?down\b|\bformatting\b/i, isGeneral: true, answer: () => MARKDOWN },
  {
    pattern: /\blong\b(?:\D{0,20}(?<length>\d{2,5}))?/i,
    isGeneral: true,
    answer: (match) => longText(Number(match.groups?.["length"] ?? 6000)),
  },
  { pattern: /\blist\b/i, answer: () => LIST },
  {
    pattern: /\btip\b/i,
    answer: () => "Grind coffee just before you brew it. Ground coffee loses most of its smell within a day.",
  },
  {
    pattern: /\bdigest\b/i,
    isGeneral: true,
    answer: () => "The demo can't write that digest: it only lists entries that a task's source gives it.",
  },
  { pattern: HELP_WANTED, answer: () => HELP },
  {
    pattern: /\b(weather|rain|forecast|temperature)\b/i,
    answer: () => "I can't tell you the weather: I have no tool for it, and the demo doesn't make things up.",
  },
  {
    pattern: /\brefund/i,
    answer: () => 'How much should I refund, and for which order? For example "refund 20 € for order 1001".',
  },
  {
    pattern: /\b(orders?|parcel|package|delivery|invoices?)\b/i,
    answer: () => WHICH_ORDER,
  },
  { pattern: /\b(thanks|thank you|thx|cheers)\b/i, isGeneral: true, answer: () => "You're welcome!" },
  { pattern: /\b(bye|goodbye|see you|good night)\b/i, isGeneral: true, answer: () => "Goodbye!" },
  {
    pattern: /\b(hi|hello|hey|hallo|good (morning|afternoon|evening))\b|^\/start\b/i,
    isGeneral: true,
    answer: (_match, speaker, hint) =>
      `Hello${speaker === undefined ? "" : `, ${speaker}`}! How can I help? ${hint}`,
  },
];

/** Returns the answer to a sentence that the demo knows. Undefined for any other. */
export function answerSentence(
  asked: {
    readonly text: string;
    readonly speaker?: string;
    readonly hasFiles: boolean;
    readonly thing?: string;
  },
  owner: "the shop" | "any bot" = "the shop",
): string | undefined {
  for (const { answer, isGeneral, pattern } of INTENTS) {
    if (owner === "any bot" && isGeneral !== true) continue;
    const match = pattern.exec(asked.text);
    if (match !== null)
      return answer(match, asked.speaker, owner === "the shop" ? SAMPLE_HINT : 'Try "help".');
  }
  if (asked.thing?.startsWith("a message")) return "I can't read that kind of message.";
  if (asked.thing !== undefined)
    return `Your ${asked.thing} has arrived, but the demo only understands sentences. A real model can do more with it.`;
  if (asked.hasFiles) return "Your file has arrived, but the demo can't read files. A real model can.";
  return undefined;
}

const MOST_CHARACTERS = 20_000;

/**
 * Returns numbered paragraphs, so that a reader notices a missing or doubled one. It ends with the last whole sentence
 * that fits into the requested length.
 */
function longText(length: number): string {
  const wanted = Math.min(Math.max(length, 200), MOST_CHARACTERS);
  let text = "";
  for (let number = 1; ; number += 1) {
    const sentences = [
      `Paragraph ${number}.`,
      `The lighthouse keeper wrote down what came by in the morning: boat number ${number}, a raft of driftwood, ` +
        "and a gull that stayed for the whole day.",
      "In the evening the lamp was lit as always.",
    ];
    let paragraph = text === "" ? "" : `${text}\n\n`;
    for (const [index, sentence] of sentences.entries()) {
      paragraph += index === 0 ? sentence : ` ${sentence}`;
      if (paragraph.length > wanted) return text;
      // A paragraph must not end after its number.
      if (index > 0) text = paragraph;
    }
  }
}
