import type { ActionRequest, ApprovalQuestion } from "../../actions/action-host.ts";
import type { Json } from "../../core/content.ts";
import type { TurnInfo } from "../../core/turn-info.ts";
import type { ActionConsent } from "../../messengers/tools/action-consent.ts";
import type { CallFacts } from "../../messengers/tools/action-rights.ts";
import type { TurnConsent } from "../../messengers/turns/turn-consent.ts";
import type { Approvals } from "../consent/approvals.ts";
import type { ConsentCalls } from "./consent-calls.ts";
import { factsOfOutcome } from "./outcome-facts.ts";

/** The approvals of a conversation, as its turns and their actions use them. */
export class ChatConsent implements ActionConsent, TurnConsent {
  readonly #approvals: Pick<Approvals, "get" | "hasConsent" | "isAsking" | "drop">;
  readonly #calls: ConsentCalls;

  constructor({
    approvals,
    consent,
  }: {
    readonly approvals: Pick<Approvals, "get" | "hasConsent" | "isAsking" | "drop">;
    readonly consent: ConsentCalls;
  }) {
    this.#approvals = approvals;
    this.#calls = consent;
  }

  ask(question: ApprovalQuestion, facts: CallFacts): ReturnType<ActionConsent["ask"]> {
    return this.#calls.ask(question, facts);
  }

  useGrant(question: ApprovalQuestion, facts: CallFacts): ReturnType<ActionConsent["useGrant"]> {
    return this.#calls.useGrant(question, facts);
  }

  endUse(request: ActionRequest, output: Json): void {
    this.#calls.endUse(request, output);
  }

  factsOfOutcome(turn: TurnInfo): CallFacts | undefined {
    return factsOfOutcome(turn, (id) => this.#approvals.get(id));
  }

  hasConsent(turnId: string): boolean {
    return this.#approvals.hasConsent(turnId);
  }

  isAsking(turnId: string): boolean {
    return this.#approvals.isAsking(turnId);
  }

  turnReplaced(turnId: string): void {
    this.#approvals.drop(turnId, "replaced");
  }
}
