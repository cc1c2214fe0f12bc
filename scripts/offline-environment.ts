/** Returns the environment in which wrangler makes no network requests. */
export function offlineEnvironment(): NodeJS.ProcessEnv {
  return {
    ...process.env,
    WRANGLER_SEND_METRICS: "false",
    WRANGLER_HIDE_BANNER: "true",
    CLOUDFLARE_CF_FETCH_ENABLED: "false",
    X_LOCAL_OBSERVABILITY: "false",
    X_LOCAL_EXPLORER: "false",
  };
}
