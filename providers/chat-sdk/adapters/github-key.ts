import { createPrivateKey, type KeyObject } from "node:crypto";
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

/** Says what to set if an App has no key, with which every call fails. */
export function findMistake(adapter: Adapter): string | undefined {
  const credentials = credentialsOf(adapter as unknown as GitHubAdapter);
  try {
    if (credentials === undefined || readKey(credentials).asymmetricKeyType === "rsa") return undefined;
  } catch {
    // It is no private key.
  }
  return 'The App has no private key of GitHub. Set GITHUB_PRIVATE_KEY, or the adapter\'s `privateKey`, to the whole content of the file that GitHub makes for the App. It begins with "-----BEGIN RSA PRIVATE KEY-----".';
}

/**
 * Has the adapter take the key of an App as GitHub makes it. It is PKCS#1, of which the client makes PKCS#8 on Node alone;
 * in workerd every call fails.
 */
export function takeKeyOfApp(adapter: Adapter): void {
  const github = adapter as unknown as GitHubAdapter;
  const credentials = credentialsOf(github);
  if (credentials === undefined) return;
  const privateKey = readKey(credentials).export({ type: "pkcs8", format: "pem" }).toString();
  github.appCredentials = { appId: credentials.appId, privateKey };
  const { defaultOctokit, fixedInstallationId } = github;
  if (!fixedInstallationId) return;
  github.defaultOctokit = null;
  github.defaultOctokit = github.getOctokit?.(fixedInstallationId) ?? defaultOctokit ?? null;
  github.appCredentials = null;
}

/** Undefined if the bot is an account with a token. */
function credentialsOf(github: GitHubAdapter): Credentials | undefined {
  let found = github.appCredentials ?? undefined;
  if (!github.fixedInstallationId) return found;
  // The client tells its credentials to the maker of another one, at once.
  const factory = (credentials: Credentials): void => {
    found = credentials;
  };
  github.defaultOctokit?.auth({ type: "installation", factory }).catch(() => undefined);
  return found;
}

/** @throws {Error} if it is no private key */
function readKey({ privateKey }: Credentials): KeyObject {
  // In an environment variable, line breaks may be written out.
  return createPrivateKey(privateKey.replaceAll("\\n", "\n"));
}
