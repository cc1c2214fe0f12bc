import type { TurnEnd, TurnEvent } from "../turn/turn-event.ts";
import { answerText, jsonText, questionText } from "./content-text.ts";
import { spanIdOf, traceOf } from "./span.ts";
import type { Attributes, Span } from "./span.ts";

export interface TurnSpansOptions {
  readonly agent: string;
  readonly conversationId: () => string;
  /** Removes secrets from a text. Undefined: spans hold no text. */
  readonly content: ((text: string) => string) | undefined;
}

type Of<Kind extends TurnEvent["kind"]> = Extract<TurnEvent, { readonly kind: Kind }>;

/** A turn that this process has seen something of, and not its end. */
interface OpenTurn {
  step?: Of<"step-begun"> | undefined;
  /** The newest answer of a model in this step. */
  model?: Of<"model-ended"> | undefined;
  readonly tools: Map<string, Of<"tool-begun">>;
}

/** Most turns that are remembered. One runs at a time; those of `chat()` may run beside it. */
const MOST_OPEN = 64;

/**
 * Makes spans of events: `invoke_agent` (the turn) > `chat` (a step) and `execute_tool`. Actions, questions, approvals and
 * deliveries have spans below the call or the turn that they belong to.
 *
 * A span is made at its end. One whose end this process does not see is never made.
 */
export class TurnSpans {
  readonly #options: TurnSpansOptions;
  readonly #open = new Map<string, OpenTurn>();

  constructor(options: TurnSpansOptions) {
    this.#options = options;
  }

  /** Returns the spans that end with an event. */
  ended(event: TurnEvent): Span[] {
    const { turnId } = event;
    switch (event.kind) {
      case "turn-begun":
        this.#of(turnId);
        return [];
      case "step-begun":
        Object.assign(this.#of(turnId), { step: event, model: undefined });
        return [];
      case "model-ended":
        this.#of(turnId).model = event;
        return [];
      case "step-ended":
        return this.#step(event.turnId, event);
      case "tool-begun":
        this.#of(turnId).tools.set(event.callId, event);
        return [];
      case "tool-ended":
        return this.#tool(event);
      case "turn-ended":
        return this.#turn(event);
      case "action-ended":
        return [this.#below(event, `action ${event.action}`, { "switchboard.action.name": event.action })];
      case "question-ended":
        return [this.#below(event, "question", { "switchboard.question.outcome": event.outcome })];
      case "approval-ended":
        return [this.#below(event, "approval", { "switchboard.approval.outcome": event.outcome })];
      case "delivery-ended": {
        const { at, outcome, replyId } = event;
        const attributes = { "switchboard.delivery.outcome": outcome };
        const delivery = { ...event, callId: undefined, beganAt: at, outcome: replyId };
        return [this.#below(delivery, "delivery", attributes, outcome === "failed")];
      }
    }
  }

  #turn(event: Of<"turn-ended">): Span[] {
    const { at, beganAt, isRestarted, outcome, turn, turnId, used } = event;
    const cut = this.#cut(turnId, at, outcome);
    this.#open.delete(turnId);
    const { agent } = this.#options;
    return [
      ...cut,
      {
        ...traceOf(turnId),
        parentSpanId: undefined,
        name: `invoke_agent ${agent}`,
        kind: "internal",
        beganAt,
        endedAt: at,
        attributes: {
          ...this.#common("invoke_agent"),
          "gen_ai.usage.input_tokens": used.inputTokens,
          "gen_ai.usage.output_tokens": used.outputTokens,
          "switchboard.turn.kind": turn.kind,
          "switchboard.turn.outcome": outcome,
          "switchboard.turn.steps": used.steps,
          "switchboard.turn.cost": used.cost,
          "switchboard.turn.restarted": isRestarted ? true : undefined,
          "error.type": outcome === "failed" ? "turn-failed" : undefined,
        },
        isFailed: outcome === "failed",
      },
    ];
  }

  /** Ends whatever its turn has cut off. */
  #cut(turnId: string, at: number, outcome: TurnEnd): Span[] {
    const tools = [...(this.#open.get(turnId)?.tools.values() ?? [])];
    const cut = [
      ...this.#step(turnId, { at, code: undefined, message: undefined }),
      ...tools.flatMap((begun) =>
        this.#tool({ ...begun, kind: "tool-ended", at, outcome: "done", output: undefined }),
      ),
    ];
    return cut.map((span) => ({
      ...span,
      attributes: {
        ...span.attributes,
        "switchboard.tool.outcome": undefined,
        "switchboard.cut_by": outcome,
      },
    }));
  }

  /** Ends the step that is open. */
  #step(turnId: string, { at, code, message }: Pick<Of<"step-ended">, "at" | "code" | "message">): Span[] {
    const open = this.#open.get(turnId);
    const begun = open?.step;
    if (open === undefined || begun === undefined) return [];
    const { model } = open;
    Object.assign(open, { step: undefined, model: undefined });
    const { content } = this.#options;
    return [
      {
        ...this.#child(turnId, `step ${begun.step} ${begun.at}`),
        name: model === undefined ? "chat" : `chat ${model.model}`,
        kind: "client",
        beganAt: begun.at,
        endedAt: at,
        attributes: {
          ...this.#common("chat"),
          "gen_ai.provider.name": model?.provider,
          "gen_ai.request.model": model?.model,
          "gen_ai.usage.input_tokens": model?.usage.input,
          "gen_ai.usage.output_tokens": model?.usage.output,
          "gen_ai.input.messages": content && questionText(begun.messages, content),
          "gen_ai.output.messages": content && message && answerText(message, content),
          "switchboard.step": begun.step,
          "error.type": code,
        },
        isFailed: code !== undefined,
      },
    ];
  }

  #tool({ at, callId, outcome, output, tool, turnId }: Of<"tool-ended">): Span[] {
    const open = this.#open.get(turnId);
    const begun = open?.tools.get(callId);
    if (begun === undefined) return [];
    open?.tools.delete(callId);
    const { content } = this.#options;
    return [
      {
        ...this.#child(turnId, toolName(callId)),
        name: `execute_tool ${tool}`,
        kind: "internal",
        beganAt: begun.at,
        endedAt: at,
        attributes: {
          ...this.#common("execute_tool"),
          "gen_ai.tool.name": tool,
          "gen_ai.tool.call.id": callId,
          "gen_ai.tool.call.arguments": content && jsonText(begun.input, content),
          "gen_ai.tool.call.result": content && jsonText(output, content),
          "switchboard.tool.outcome": outcome,
          "error.type": outcome === "failed" ? "tool-failed" : undefined,
        },
        isFailed: outcome === "failed",
      },
    ];
  }

  /** A span below the call that it belongs to, or below the turn. */
  #below(
    { at, beganAt, callId, kind, outcome, turnId }: Of<"action-ended" | "question-ended"> | Below,
    name: string,
    attributes: Attributes,
    isFailed = outcome === "failed",
  ): Span {
    const { spanId: turn, traceId } = traceOf(turnId);
    return {
      traceId,
      spanId: spanIdOf(turnId, `${kind} ${callId} ${outcome} ${beganAt}`),
      parentSpanId: callId === undefined ? turn : spanIdOf(turnId, toolName(callId)),
      name,
      kind: "internal",
      beganAt,
      endedAt: at,
      attributes: {
        "gen_ai.conversation.id": this.#options.conversationId(),
        ...attributes,
        "error.type": isFailed ? `${name.split(" ", 1)[0]}-failed` : undefined,
      },
      isFailed,
    };
  }

  #child(turnId: string, name: string): Pick<Span, "traceId" | "spanId" | "parentSpanId"> {
    const { spanId, traceId } = traceOf(turnId);
    return { traceId, spanId: spanIdOf(turnId, name), parentSpanId: spanId };
  }

  #common(operation: string): Attributes {
    return {
      "gen_ai.operation.name": operation,
      "gen_ai.agent.name": this.#options.agent,
      "gen_ai.conversation.id": this.#options.conversationId(),
    };
  }

  #of(turnId: string): OpenTurn {
    const known = this.#open.get(turnId);
    if (known !== undefined) return known;
    const [oldest] = this.#open.keys();
    if (oldest !== undefined && this.#open.size >= MOST_OPEN) this.#open.delete(oldest);
    const open: OpenTurn = { tools: new Map() };
    this.#open.set(turnId, open);
    return open;
  }
}

/** An event that has a span of its own without being a step of the model's work. */
interface Below {
  readonly kind: TurnEvent["kind"];
  readonly turnId: string;
  readonly callId: string | undefined;
  readonly at: number;
  readonly beganAt: number;
  readonly outcome: string;
}

function toolName(callId: string): string {
  return `tool ${callId}`;
}
