import type { Adapter } from "chat";
import { z } from "zod";
import type { InstallationRules } from "./installation-rules.ts";

/** The parts of the adapter that know installations. */
const linearAdapter = z.object({
  mode: z.string().optional(),
  oauthClientId: z.string().nullish(),
  oauthClientSecret: z.string().nullish(),
});
type LinearAdapter = z.infer<typeof linearAdapter> & {
  readonly organizationId: string;
  getInstallation(id: string): Promise<unknown>;
  handleOAuthCallback(request: Request, options: { readonly redirectUri: string }): Promise<unknown>;
  withInstallation<Result>(installation: unknown, call: () => Promise<Result>): Promise<Result>;
};

const installation = z.looseObject({
  accessToken: z.string(),
  refreshToken: z.string().nullish(),
  expiresAt: z.number().nullish(),
});
const renewed = z.object({
  access_token: z.string(),
  refresh_token: z.string().nullish(),
  expires_in: z.number().nullish(),
});

/** The adapter itself renews a token five minutes before its end, in each object at once. */
const RENEW_BEFORE_MS = 15 * 60_000;

const methodsOf = (adapter: Adapter): LinearAdapter => adapter as unknown as LinearAdapter;

/** An app on Linear is installed in workspaces. Its tokens last a day, and the one that renews them works once. */
export const linearInstallations: InstallationRules = {
  isUsed(adapter) {
    const { oauthClientId, oauthClientSecret } = linearAdapter.parse(adapter);
    return Boolean(oauthClientId && oauthClientSecret);
  },
  current: (adapter) => z.string().parse(methodsOf(adapter).organizationId),
  async find(adapter, id) {
    if (id === undefined) return undefined;
    const { data } = installation.safeParse(await methodsOf(adapter).getInstallation(id));
    if (data === undefined) return undefined;
    return {
      id,
      version: data.accessToken,
      run: (call) => methodsOf(adapter).withInstallation(data, call),
    };
  },
  page(adapter, scopes) {
    const { mode, oauthClientId } = linearAdapter.parse(adapter);
    const usual =
      mode === "agent-sessions" ? ["read", "write", "app:assignable", "app:mentionable"] : ["read", "write"];
    return {
      url: "https://linear.app/oauth/authorize",
      parameters: {
        client_id: oauthClientId ?? "",
        response_type: "code",
        actor: "app",
        prompt: "consent",
        scope: (scopes ?? usual).join(","),
      },
    };
  },
  async finish(adapter, request, redirectUri) {
    await methodsOf(adapter).handleOAuthCallback(request, { redirectUri });
  },
  async renew(adapter, value, { fetch, now }) {
    const { data: known } = installation.safeParse(value);
    const { oauthClientId, oauthClientSecret } = linearAdapter.parse(adapter);
    if (!known?.refreshToken || typeof known.expiresAt !== "number") return undefined;
    if (known.expiresAt - now > RENEW_BEFORE_MS || !oauthClientId || !oauthClientSecret) return undefined;
    const response = await fetch("https://api.linear.app/oauth/token", {
      method: "POST",
      body: new URLSearchParams({
        grant_type: "refresh_token",
        refresh_token: known.refreshToken,
        client_id: oauthClientId,
        client_secret: oauthClientSecret,
      }),
    });
    // The app was removed, or Linear is down. The old token may still work.
    if (!response.ok) return undefined;
    const {
      access_token: accessToken,
      expires_in: seconds,
      refresh_token,
    } = renewed.parse(await response.json());
    return {
      ...known,
      accessToken,
      refreshToken: refresh_token ?? known.refreshToken,
      expiresAt: typeof seconds === "number" ? now + seconds * 1000 : null,
    };
  },
};
