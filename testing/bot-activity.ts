import { z } from "zod";

/** Fields of the log lines that tell what a bot is doing. */
const lineSchema = z.object({
  event: z.string(),
  level: z.string().optional(),
  chat: z.string().optional(),
  turn: z.string().optional(),
  outcome: z.string().optional(),
  characters: z.number().optional(),
});

/** Ends of a turn after which no answer is on its way. */
const WITHOUT_ANSWER: ReadonlySet<string> = new Set(["replaced", "gone", "not-declared"]);

/** Follows a bot's log to know whether the bot has something left to do. */
export class BotActivity {
  readonly #lines: string[] = [];
  /** Turns that run, and answers that are not delivered completely. */
  readonly #open = new Set<string>();
  /** Chats with a message that no turn has taken up yet. */
  readonly #queued = new Set<string>();
  /** Answers that were delivered before their turn's end was logged. */
  readonly #delivered = new Set<string>();
  readonly #onChange: () => void;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** The log so far, one line of JSON for each fact. */
  get lines(): readonly string[] {
    return this.#lines;
  }

  /** Whether nothing is running or on its way. */
  get isIdle(): boolean {
    return this.#open.size === 0 && this.#queued.size === 0;
  }

  /** Takes a line of the log. */
  take(line: string): void {
    this.#lines.push(line);
    const parsed = lineSchema.safeParse(parseJson(line));
    if (parsed.success) this.#note(parsed.data);
    this.#onChange();
  }

  /** Lines of warnings and errors, for the message of a test that fails. */
  problems(): readonly string[] {
    return this.#lines.filter((line) => /"level":"(?:warn|error)"/.test(line)).slice(-5);
  }

  #note({ characters = 0, chat = "", event, outcome = "", turn = "" }: z.infer<typeof lineSchema>): void {
    switch (event) {
      case "inbox.event":
        if (outcome === "queued") this.#queued.add(chat);
        break;
      case "turn.begun":
        this.#queued.delete(chat);
        this.#open.add(turn);
        break;
      case "turn.ended":
        this.#queued.delete(chat);
        if (characters === 0 || WITHOUT_ANSWER.has(outcome) || this.#delivered.has(turn)) {
          this.#open.delete(turn);
        }
        break;
      case "delivery.ended":
        this.#delivered.add(turn);
        this.#open.delete(turn);
        break;
      default:
    }
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // A line of another program.
    return undefined;
  }
}
