import { z } from "zod";
import { systemDeps } from "../core/base/deps.ts";
import { ConfigurationError, errorCode } from "../core/base/errors.ts";
import { decodedPart, onlyBy, problem } from "../core/web/problem.ts";
import { readChecked } from "../core/json/read-json.ts";
import { listedConversationName, namedConversationName } from "../messengers/declare/conversation-name.ts";
import type { FeatureRoutes, RoutedBot } from "../feature/feature-routes.ts";
import { SUBMISSIONS } from "./submission-door.ts";
import type { SubmissionDoor } from "./submission-door.ts";
import type { SubmitMessagesOptions } from "./submissions.ts";
import type { SubmissionInput } from "../messengers/turns/question-messages.ts";

const PATH = /^\/conversations\/([^/]+)\/submissions(?:\/([^/]+))?$/;

/** The parts are checked again with the rest of the submission. */
const bodySchema = z
  .strictObject({
    text: z.string().optional(),
    messages: z.custom<SubmissionInput>((value) => typeof value === "object" && value !== null).optional(),
    deliver: z.boolean().optional(),
    answerTo: z
      .custom<NonNullable<SubmitMessagesOptions["answerTo"]>>((value) => value !== undefined)
      .optional(),
    metadata: z.record(z.string(), z.union([z.string(), z.number(), z.boolean(), z.null()])).optional(),
  })
  .refine(({ messages, text }) => (messages === undefined) !== (text === undefined));

/** The paths of systems that submit prompts to a conversation. */
export const submissionRoutes: FeatureRoutes = {
  isFor: (pathname) => PATH.test(pathname),
  serve: serveSubmissions,
};

async function serveSubmissions(request: Request, bot: RoutedBot): Promise<Response> {
  const refusal = await bot.refuse();
  if (refusal !== undefined) return refusal;
  const { pathname } = new URL(request.url);
  const [, encodedName = "", encodedId] = PATH.exec(pathname) ?? [];
  const name = conversationIn(encodedName);
  const id = encodedId === undefined ? undefined : decodedPart(encodedId);
  if (name === undefined || (encodedId !== undefined && id === undefined))
    return problem(
      400,
      "conversation-name-invalid",
      "Name a conversation as listConversations() has it, or as subAgent() takes it, with encodeURIComponent.",
    );
  const door = await bot.conversation(SUBMISSIONS, name);
  try {
    if (id === undefined) {
      return request.method === "POST"
        ? await submit(request, `/conversations/${encodedName}/submissions`, door)
        : onlyBy("POST");
    }
    if (request.method === "DELETE") {
      const isCancelled = await door.cancelSubmissionOf(id);
      return isCancelled ? new Response(null, { status: 204 }) : gone();
    }
    if (request.method !== "GET") return onlyBy("GET, DELETE");
    const found = await door.inspectSubmissionOf(id);
    return found === undefined ? gone() : Response.json(found);
  } catch (error) {
    const refused = refusalOf(error);
    if (refused === undefined) throw error;
    return refused;
  }
}

async function submit(request: Request, path: string, door: SubmissionDoor): Promise<Response> {
  const idempotencyKey = request.headers.get("idempotency-key") ?? undefined;
  const read = await readChecked(request, systemDeps.clock, bodySchema, {
    code: "submission-invalid",
    message:
      'Send { "text": "..." } or { "messages": [...] }, and if you like "deliver", "answerTo" and "metadata".',
  });
  if (read instanceof Response) return read;
  const { messages, text, ...rest } = read.body;
  const { accepted, ...submission } = await door.takeSubmission(messages ?? text ?? "", {
    ...rest,
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  });
  const statusUrl = `${path}/${encodeURIComponent(submission.submissionId)}`;
  return Response.json(
    { accepted, ...submission, statusUrl },
    { status: 202, headers: { location: statusUrl } },
  );
}

const STATUS: Readonly<Record<string, number>> = {
  "submission-invalid": 400,
  "submission-empty": 400,
  "submission-too-large": 413,
  "submission-conflict": 409,
  "messenger-unknown": 422,
  "target-invalid": 422,
  "target-missing": 422,
  "chat-unknown": 422,
  "chat-gone": 422,
  "window-closed": 422,
  "person-not-reachable": 422,
};

/** The answer to an error whose message is meant for the caller. */
function refusalOf(error: unknown): Response | undefined {
  const code = errorCode(error);
  const status = code === undefined ? undefined : STATUS[code];
  if (code === undefined || status === undefined || !(error instanceof Error)) return undefined;
  return problem(status, code, error.message);
}

/** The name of a conversation: one of the directory, or the bot's own. */
function conversationIn(encoded: string): string | undefined {
  const name = decodedPart(encoded);
  if (name === undefined) return undefined;
  try {
    if (!/^(?:[^@:]+@)?(?:thread|named):/.test(name)) return namedConversationName(name, "The path");
    listedConversationName(name, "The path");
    return name;
  } catch (error) {
    if (error instanceof ConfigurationError) return undefined;
    throw error;
  }
}

function gone(): Response {
  return problem(404, "submission-unknown", "There is no open submission with this id in the conversation.");
}
