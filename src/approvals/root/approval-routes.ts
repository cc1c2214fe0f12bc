import { z } from "zod";
import { systemDeps } from "../../core/base/deps.ts";
import { decodedPart, onlyBy, problem } from "../../core/web/problem.ts";
import { readJson } from "../../core/json/read-json.ts";
import type { FeatureRoutes, RoutedBot } from "../../feature/feature-routes.ts";
import { APPROVALS } from "./approval-calls.ts";
import type { ApprovalIndexCalls, OutsideResult } from "./approval-calls.ts";
import { isAdmin, unauthorized } from "../../feature/admin.ts";
import { parseJson } from "../../core/json/parse-json.ts";

const PREFIX = "/admin/approvals";
const PATH = /^\/admin\/approvals(?:\/([^/]+)(\/decision)?)?$/;

const decisionSchema = z.strictObject({
  decision: z.enum(["approve", "reject"]),
  /** The person or system that decides, for the card and the audit. */
  actor: z.string().trim().min(1).max(200),
  /** The person for whom it decides. */
  person: z.strictObject({ messenger: z.string(), userId: z.string() }).optional(),
  asAdmin: z.boolean().optional(),
  reason: z.string().max(2000).optional(),
  inputHash: z.string().optional(),
});

const cursorSchema = z.strictObject({ createdAt: z.number(), id: z.string() });

/**
 * The paths of dashboards, which list what waits for people in all conversations, and decide. Only `ADMIN_TOKEN` opens
 * them. Nothing is ever decided by a GET.
 */
export const approvalRoutes: FeatureRoutes = {
  isFor: (pathname) => pathname === PREFIX || pathname.startsWith(`${PREFIX}/`),
  serve: serveApprovals,
};

async function serveApprovals(request: Request, bot: RoutedBot): Promise<Response> {
  if (!isAdmin(request, bot.env)) return unauthorized();
  const { pathname, searchParams } = new URL(request.url);
  const [match, encoded, isDecision] = PATH.exec(pathname) ?? [];
  const id = encoded === undefined ? undefined : decodedPart(encoded);
  if (match === undefined || (encoded !== undefined && id === undefined)) return notFound();
  const root = await bot.root(APPROVALS);
  if (isDecision !== undefined && id !== undefined) {
    return request.method === "POST" ? decide(request, id, root) : onlyBy("POST");
  }
  if (request.method !== "GET") return onlyBy("GET");
  if (id === undefined) return list(searchParams, root);
  const found = await root.findApproval(id);
  return found === undefined ? notFound() : Response.json(found);
}

async function list(search: URLSearchParams, root: ApprovalIndexCalls): Promise<Response> {
  const limit = Number(search.get("limit") ?? "100");
  const cursor = search.get("cursor") ?? undefined;
  if (!Number.isInteger(limit) || limit < 1 || limit > 1000 || !isCursor(cursor))
    return problem(
      400,
      "filter-invalid",
      "limit is a whole number from 1 to 1000, and cursor that of the page before.",
    );
  return Response.json(await root.waitingApprovals({ limit, ...(cursor !== undefined && { cursor }) }));
}

async function decide(request: Request, id: string, root: ApprovalIndexCalls): Promise<Response> {
  const body = await readJson(request, systemDeps.clock);
  if (body instanceof Response) return body;
  const parsed = decisionSchema.safeParse(body.json);
  if (!parsed.success || (parsed.data.asAdmin === true && parsed.data.person !== undefined))
    return problem(
      400,
      "decision-invalid",
      'Send { "decision": "approve" | "reject", "actor": "<name>" }, for a rejection also "reason". "inputHash" is optional. Either "person": { "messenger", "userId" } says for whom you decide, or "asAdmin": true.',
    );
  const { actor, asAdmin: isAdmin, decision, inputHash, person, reason } = parsed.data;
  const made = decision === "approve" ? { kind: decision } : { kind: decision, reason };
  const result = await root.decideAnywhere(id, {
    decision: made,
    actor,
    inputHash,
    isAdmin,
    person: person && { messengerId: person.messenger, userId: person.userId },
  });
  return answer(result, await root.findApproval(id));
}

function answer(result: OutsideResult, approval: unknown): Response {
  switch (result.kind) {
    case "decided":
      return Response.json({ decided: true, approval });
    case "agreed":
      return Response.json(
        { decided: false, agreed: result.agreed, quorum: result.quorum, approval },
        { status: 202 },
      );
    case "late":
      return problem(409, "approval-late", "Somebody decided before. GET the approval to see what.");
    case "expired":
      return problem(409, "approval-expired", "Nobody decided in time. Now it is too late.");
    case "other-input":
      return problem(
        409,
        "approval-changed",
        "The approval is for another input. GET it again, and show it before you decide.",
      );
    case "not-allowed":
      return problem(
        403,
        "approval-not-allowed",
        `This is up to ${result.approvers}. Name one of them with "person", or decide with "asAdmin": true.`,
      );
    case "unknown":
      return notFound();
    default:
      return result satisfies never;
  }
}

function isCursor(cursor: string | undefined): boolean {
  return cursor === undefined || cursorSchema.safeParse(parseJson(cursor)).success;
}

function notFound(): Response {
  return problem(
    404,
    "approval-unknown",
    "There is no approval at this address. GET /admin/approvals has all that wait.",
  );
}
