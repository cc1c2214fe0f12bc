import { wait } from "../../../src/core/deps.ts";
import type { Clock } from "../../../src/core/deps.ts";
import type { CardButton, CardContent } from "../../../src/core/content.ts";
import type { CardPress, PressAnswer } from "../../../src/core/card-press.ts";
import type { ThinkCommands } from "../../../src/messengers/declare/commands.ts";
import type { Cards } from "../../../src/messengers/replies/cards.ts";
import type { Oracle } from "../oracle/oracle.ts";
import type { Plan, PlanItem } from "../plan/plan.ts";

type PlannedPress = Extract<PlanItem, { kind: "press-card" }>;

const SLOW_MS = 12_000;
/** The words of a card that is one message, and of one that is several. */
const WORDS = { short: 4, long: 36 };

/** The bot's own code as far as it has to do with cards: what they say, and what becomes of their presses. */
export class BotCode {
  readonly #oracle: Oracle;
  readonly #presses: ReadonlyMap<string, PlannedPress>;
  readonly #versions = new Map<string, number>();

  constructor({ items }: Pick<Plan, "items">, oracle: Oracle) {
    this.#oracle = oracle;
    const presses = items.filter((item): item is PlannedPress => item.kind === "press-card");
    this.#presses = new Map(presses.map((press) => [press.token, press]));
  }

  commands(): ThinkCommands {
    return { card: { description: "Show a card", handler: ({ args }) => this.next(args) } };
  }

  /** The next version of a card. Each fourth one has no buttons, each third one is several messages. */
  next(token: string): CardContent {
    const version = (this.#versions.get(token) ?? 0) + 1;
    this.#versions.set(token, version);
    const count = version % 3 === 0 ? WORDS.long : WORDS.short;
    const [first, ...rest] = Array.from({ length: count }, (_, index) => `${token}v${version}w${index}`);
    const button = (label: string): CardButton => {
      return { kind: "callback", label, payload: { card: token, button: label } };
    };
    const link: CardButton = { kind: "link", label: "Shop", url: "https://shop.example" };
    const buttons = version % 4 === 0 ? {} : { buttons: [[button("keep"), button(`v${version}`)], [link]] };
    return { kind: "card", text: `**${first ?? ""}** ${rest.join(" ")}`, ...buttons };
  }

  async onAction(press: CardPress, cards: Cards, clock: Clock): Promise<PressAnswer> {
    this.#oracle.presses.begins(press);
    const { card, manner } = this.#presses.get(press.event.action?.id ?? "") ?? {};
    switch (manner) {
      case "toast":
        return "done";
      case "alert":
        return { text: "done", alert: true };
      case "slow":
        await wait(clock, SLOW_MS);
        return "done late";
      case "hang":
        return new Promise(() => {});
      case "throws":
        throw new Error("The handler fails.");
      case "revises":
        cards.revise(press.cardId, this.next(card ?? ""));
        return "revised";
      case "removes":
        cards.remove(press.cardId);
        return "removed";
      case "nothing":
      case undefined:
        return undefined;
      default:
        return manner satisfies never;
    }
  }
}
