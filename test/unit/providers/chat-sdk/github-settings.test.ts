import { generateKeyPairSync } from "node:crypto";
import { createGitHubAdapter } from "@chat-adapter/github";
import { createMockLogger } from "@chat-adapter/tests";
import { describe, expect, it } from "vitest";
import { createRig } from "./rig.ts";

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const curve = generateKeyPairSync("ec", { namedCurve: "P-256" });
const pkcs8 = { type: "pkcs8", format: "pem" } as const;
const pem = rsa.privateKey.export(pkcs8).toString();

const rigOf = (privateKey: string, installationId?: number) =>
  createRig(
    createGitHubAdapter({
      logger: createMockLogger(),
      appId: "1",
      privateKey,
      webhookSecret: "secret",
      ...(installationId !== undefined && { installationId }),
    }),
  );

describe.each([undefined, 7])("an App of GitHub with the installation %s", (installationId) => {
  it.each([
    ["a path", "/etc/keys/app.pem"],
    ["its first lines", pem.slice(0, 200)],
    ["the public key", rsa.publicKey.export({ type: "spki", format: "pem" }).toString()],
    ["a key that signs otherwise", curve.privateKey.export(pkcs8).toString()],
  ])("says what to set instead of %s, and nothing of it", (_what, key) => {
    let error: unknown;
    try {
      rigOf(key, installationId);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ code: "chat-sdk-adapter" });
    expect(String(error)).toContain("Set GITHUB_PRIVATE_KEY");
    for (const line of key.split("\n").filter((part) => part !== ""))
      expect(String(error)).not.toContain(line);
  });

  it("takes a key, also with line breaks that are written out", () => {
    expect(() => rigOf(pem, installationId)).not.toThrow();
    expect(() => rigOf(pem.replaceAll("\n", "\\n"), installationId)).not.toThrow();
  });
});
