/** One call that reached the fake Bot API. */
export interface BotApiCall {
  readonly method: string;
  readonly payload: Record<string, unknown>;
}

type Answer = Response | (() => Promise<Response> | Response);

/** A Bot API behind `fetch`: keeps every call, and answers as told or as the real one does for a success. */
export function createFakeBotApi(token: string): {
  readonly calls: BotApiCall[];
  readonly fetch: typeof fetch;
  /** The next answer to a method, instead of success. */
  readonly answerNext: (method: string, answer: Answer) => void;
} {
  const calls: BotApiCall[] = [];
  const planned = new Map<string, Answer[]>();
  let lastMessageId = 1000;

  const success = (method: string, payload: Record<string, unknown>): unknown => {
    switch (method) {
      case "sendMessage":
      case "sendRichMessage":
        lastMessageId += 1;
        return {
          message_id: lastMessageId,
          date: 1_800_000_000,
          chat: { id: payload.chat_id, type: "private" },
        };
      case "editMessageText":
        return { message_id: payload.message_id, date: 1_800_000_000, chat: { id: payload.chat_id } };
      case "getMe":
        return {
          id: Number(token.split(":")[0]),
          is_bot: true,
          first_name: "Support",
          username: "support_bot",
        };
      default:
        return true;
    }
  };

  return {
    calls,
    answerNext: (method, answer) => planned.set(method, [...(planned.get(method) ?? []), answer]),
    fetch: async (input, init) => {
      const url = new URL(addressOf(input));
      const method = url.pathname.split("/").at(-1) ?? "";
      const body = init?.body;
      const payload = typeof body === "string" ? (JSON.parse(body) as Record<string, unknown>) : {};
      calls.push({ method, payload });
      const answer = planned.get(method)?.shift();
      if (answer !== undefined) return typeof answer === "function" ? answer() : answer;
      return Response.json({ ok: true, result: success(method, payload) });
    },
  };
}

/** An answer as the Bot API gives it when it refuses. */
export function refusal(
  errorCode: number,
  description: string,
  parameters?: Record<string, number>,
): Response {
  return Response.json({ ok: false, error_code: errorCode, description, parameters }, { status: errorCode });
}

/** The address of a request, whichever way `fetch` was given it. */
export function addressOf(input: string | URL | Request): string {
  return input instanceof Request ? input.url : input.toString();
}
