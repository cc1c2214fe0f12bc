import type { Adapter } from "chat";

/** A place where an app is installed, such as a workspace. */
export interface Installation {
  readonly id: string;
  /** Tells whether it was made again since. A token, or an id. */
  readonly version: string;
  /** Runs a call of the adapter with the rights of the installation. */
  run<Result>(call: () => Promise<Result>): Promise<Result>;
}

/** A change of installations, as a webhook tells. Keys are those of the adapter's state. */
export interface InstallationChanges {
  readonly stored?: readonly { readonly key: string; readonly value: unknown }[];
  readonly removed?: readonly string[];
  /** Only installations from before this time were removed, in epoch milliseconds. @default all */
  readonly before?: number;
}

/** A page of the platform on which people install the app. */
export interface InstallPage {
  readonly url: string;
  readonly parameters: Readonly<Record<string, string>>;
}

/** An adapter that one app uses for several installations, each with its own token. */
export interface InstallationRules {
  /** Whether the adapter is configured that way. */
  readonly isUsed: (adapter: Adapter) => boolean;
  /** Returns the installation of the webhook that is being handled. Undefined: the thread's id tells it. */
  current(adapter: Adapter): string | undefined;
  /** Finds an installation. Undefined if the app is not installed there. Rejects if that cannot be found out now. */
  find(adapter: Adapter, id: string | undefined, threadId: string): Promise<Installation | undefined>;
  /** Reads the changes from a webhook that the adapter has accepted. */
  readonly changes?: (adapter: Adapter, headers: Headers, body: unknown) => InstallationChanges;
  /** Returns the page on which people install the app. Absent if the platform does not send them back to the bot. */
  readonly page?: (adapter: Adapter, scopes: readonly string[] | undefined) => InstallPage;
  /** Takes what the page has sent back, and stores the installation. */
  readonly finish?: (adapter: Adapter, request: Request, redirectUri: string) => Promise<void>;
  /**
   * Returns a stored value with a new token, if its token ends soon. Called where the values are kept, once at a time.
   * Undefined: it is good as it is.
   */
  readonly renew?: (
    adapter: Adapter,
    value: unknown,
    deps: { readonly fetch: typeof fetch; readonly now: number },
  ) => Promise<unknown>;
}
