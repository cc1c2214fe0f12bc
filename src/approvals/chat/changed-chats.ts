import type { ChatMove } from "../../core/chat-move.ts";
import type { GonePlace } from "../../core/delivery.ts";
import type { Address } from "../../core/surface.ts";
import type { Approvals } from "../consent/approvals.ts";
import type { ApprovalsHost } from "../rules/bot-methods.ts";
import type { ApprovalCards } from "./approval-cards.ts";

export interface ChangedChatsOptions {
  readonly host: Pick<ApprovalsHost, "database">;
  readonly approvals: Pick<Approvals, "questions" | "together" | "waiting">;
  readonly cards: ApprovalCards;
}

/** Requests that wait in a chat which accepts no messages any more, or continues under another id. */
export class ChangedChats {
  readonly #options: ChangedChatsOptions;

  constructor(options: ChangedChatsOptions) {
    this.#options = options;
  }

  /** Ends the requests that were asked in a chat that is gone, and says who cannot be asked there any more. */
  gone(place: GonePlace): void {
    const { cards, host } = this.#options;
    const { questions } = this.#options.approvals;
    host.database.transaction(() => {
      for (const approval of questions.lose((one) => cards.lostIn(one, place))) cards.tellUnreached(approval);
    });
    questions.cancel(({ origin }) =>
      origin !== undefined && cards.isAt(origin, place) ? "chat-gone" : undefined,
    );
  }

  /** The waiting requests of a chat that has moved get their cards there, because the old ones stayed behind. */
  moved(messengerId: string, { to }: ChatMove): void {
    const { approvals, cards, host } = this.#options;
    const isThere = (address: Address): boolean => {
      const today = cards.placeToday(address);
      return today.messengerId === messengerId && today.chatId === to.chatId;
    };
    host.database.transaction(() => {
      for (const approval of approvals.waiting()) {
        const places = [approval.origin ?? [], approval.askedIn.map(({ address }) => address)].flat();
        if (places.some(isThere) && cards.isDrawn(approval))
          cards.draw(approval, approvals.together(approval));
      }
    });
  }
}
