import { equalSecrets } from "../core/bytes/constant-time.ts";
import { problem } from "../core/web/problem.ts";

/** Tells whether a request has the environment's `ADMIN_TOKEN` as bearer. Never, if that is not set. */
export function isAdmin(request: Request, env: unknown): boolean {
  const token = (env as { readonly ADMIN_TOKEN?: unknown }).ADMIN_TOKEN;
  if (typeof token !== "string" || token === "") return false;
  const [scheme, sent] = (request.headers.get("authorization") ?? "").split(" ");
  return scheme?.toLowerCase() === "bearer" && sent !== undefined && equalSecrets(sent, token);
}

/** Returns the response to a request without the token. */
export function unauthorized(): Response {
  return problem(401, "unauthorized", "Send the bot's ADMIN_TOKEN: Authorization: Bearer <token>.", {
    "www-authenticate": "Bearer",
  });
}
