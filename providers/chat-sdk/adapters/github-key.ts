import { createPrivateKey } from "node:crypto";
import type { Adapter } from "chat";

interface Credentials {
  readonly appId: number | string;
  readonly privateKey: string;
}
type Octokit = {
  auth(options: {
    readonly type: "installation";
    readonly factory: (options: Credentials) => void;
  }): Promise<unknown>;
};

/** The parts of the adapter that have the key of an App. */
interface GitHubAdapter {
  appCredentials?: Credentials | null;
  defaultOctokit?: Octokit | null;
  /** Set for an App with one installation, whose client is made before anybody can change its key. */
  readonly fixedInstallationId?: number | null;
  getOctokit?(installationId: number): Octokit;
}

/**
 * Has the adapter take the key of an App as GitHub makes it. It is PKCS#1, of which the client makes PKCS#8 on Node alone;
 * in workerd every call fails.
 */
export function takeKeyOfApp(adapter: Adapter): void {
  const github = adapter as unknown as GitHubAdapter;
  const { appCredentials, defaultOctokit, fixedInstallationId } = github;
  if (appCredentials) github.appCredentials = withUsualKey(appCredentials);
  if (!fixedInstallationId || !defaultOctokit) return;
  // The client tells its credentials to the maker of another one, at once.
  defaultOctokit
    .auth({
      type: "installation",
      factory: (credentials) => {
        github.appCredentials = withUsualKey(credentials);
      },
    })
    .catch(() => undefined);
  github.defaultOctokit = null;
  github.defaultOctokit = github.getOctokit?.(fixedInstallationId) ?? defaultOctokit;
  github.appCredentials = null;
}

function withUsualKey({ appId, privateKey }: Credentials): Credentials {
  try {
    // In an environment variable, line breaks may be written out.
    const key = createPrivateKey(privateKey.replaceAll("\\n", "\n"));
    return { appId, privateKey: key.export({ type: "pkcs8", format: "pem" }).toString() };
  } catch {
    // It is no key. The first call says so.
    return { appId, privateKey };
  }
}
