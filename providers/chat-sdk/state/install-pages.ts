import type { Adapter } from "chat";
import { equalSecrets } from "../../../src/core/bytes/constant-time.ts";
import type { PlatformContext } from "../../../src/core/chat/messenger.ts";
import { problem } from "../../../src/core/web/problem.ts";
import type { InstallationRules } from "../adapters/installation-rules.ts";
import type { InstallOptions } from "../options.ts";
import type { StateCalls } from "./state-at-root.ts";

/** A person has this long to accept. */
const STATE_MS = 10 * 60_000;
const COOKIE = "switchboard-install";

/** Everything that an installation needs. The adapter is initialized. */
export interface InstallPages {
  readonly adapter: Adapter;
  readonly rules: InstallationRules;
  readonly options: InstallOptions;
  readonly context: PlatformContext;
  readonly calls: StateCalls;
}

/**
 * Sends a person to the platform's page on which the app is installed. The state of the request is sealed, and is also a
 * cookie: nobody can make another person's browser finish an installation that it has not begun.
 */
export async function beginInstallation(request: Request, pages: InstallPages): Promise<Response> {
  const { adapter, calls, context, options, rules } = pages;
  const page = rules.page?.(adapter, options.scopes);
  if (page === undefined) return notFound();
  const { clock, newId } = context.deps;
  const state = await calls.seal(JSON.stringify([clock.now() + STATE_MS, newId()]), purposeOf(context));
  const url = new URL(page.url);
  for (const [name, value] of Object.entries(page.parameters)) url.searchParams.set(name, value);
  url.searchParams.set("redirect_uri", redirectUriOf(request, pages));
  url.searchParams.set("state", state);
  const headers = {
    location: url.href,
    "set-cookie": cookie(request, state, STATE_MS / 1000),
    "cache-control": "no-store",
  };
  return new Response(null, { status: 302, headers });
}

/** Takes the person's answer from the platform, and stores the installation. */
export async function finishInstallation(request: Request, pages: InstallPages): Promise<Response> {
  const { adapter, context, rules } = pages;
  const state = new URL(request.url).searchParams.get("state") ?? "";
  if (!(await isOurs(request, state, pages))) {
    return problem(403, "install-state", "This link was not made for you, or is too old. Begin again.");
  }
  const done = (status: number, words: string): Response =>
    new Response(words, {
      status,
      headers: {
        "content-type": "text/plain; charset=utf-8",
        "cache-control": "no-store",
        "referrer-policy": "no-referrer",
        "set-cookie": cookie(request, "", 0),
      },
    });
  try {
    await rules.finish?.(adapter, request, redirectUriOf(request, pages));
  } catch {
    // The person has declined, the code is too old, or the platform or the storage fails.
    context.log.warn("chat-sdk.install-failed", { messenger: context.messengerId });
    return done(400, "The bot was not installed. Please begin again.");
  }
  context.log.info("chat-sdk.installed", { messenger: context.messengerId });
  return done(200, "The bot is installed. You can close this page.");
}

async function isOurs(request: Request, state: string, { calls, context }: InstallPages): Promise<boolean> {
  const kept = cookieIn(request);
  if (state === "" || kept === undefined || !equalSecrets(state, kept)) return false;
  const opened = await calls.unseal(state, purposeOf(context));
  const until = opened === undefined ? undefined : (JSON.parse(opened) as readonly unknown[])[0];
  return typeof until === "number" && until > context.deps.clock.now();
}

function purposeOf({ messengerId }: PlatformContext): string {
  return `install:${messengerId}`;
}

function redirectUriOf(request: Request, { context, options }: InstallPages): string {
  return (
    options.redirectUri ?? new URL(`/messengers/${context.messengerId}/install/callback`, request.url).href
  );
}

function cookie(request: Request, value: string, seconds: number): string {
  const { pathname, protocol } = new URL(request.url);
  const path = pathname.replace(/\/callback$/, "");
  const secure = protocol === "https:" ? "; Secure" : "";
  return `${COOKIE}=${value}; Path=${path}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`;
}

function cookieIn(request: Request): string | undefined {
  const cookies = (request.headers.get("cookie") ?? "").split(/;\s*/);
  return cookies.find((one) => one.startsWith(`${COOKIE}=`))?.slice(COOKIE.length + 1);
}

function notFound(): Response {
  return problem(404, "not-found", "There is nothing to install here.");
}
