import { createGoogleChatAdapter } from "@chat-adapter/gchat";
import { createMockLogger } from "@chat-adapter/tests";
import { afterEach, describe, expect, it, vi } from "vitest";
import { GoogleChatEmulator } from "../../../contracts/gchat/emulator.ts";
import type { Webhook } from "../../../contracts/platform-emulator.ts";
import { createRig, type Rig } from "./rig.ts";

const ENDPOINT = "https://bot.example.com/messengers/gchat/webhook";
const EMAIL = "service-1234567890@gcp-sa-gsuiteaddons.iam.gserviceaccount.com";
const NUMBER = "1234567890";
const ada = { id: "7001", name: "Ada" };

const emulators = {
  "an add-on": new GoogleChatEmulator({ isAddOn: true }),
  "another app": new GoogleChatEmulator(),
};
type Kind = keyof typeof emulators;

interface Options {
  readonly endpointUrl?: string;
  readonly googleChatProjectNumber?: string;
  readonly workspaceAddOnServiceAccountEmail?: string;
}

const rigWith = (options: Options): Rig =>
  createRig(createGoogleChatAdapter({ auth: "key", logger: createMockLogger(), ...options }));

async function message(kind: Kind): Promise<Webhook> {
  const emulator = emulators[kind];
  vi.stubGlobal("fetch", (input: string | URL, init?: RequestInit) =>
    emulator.answer(new Request(input, init)),
  );
  const acted = await emulator.act({ kind: "write", by: ada, in: emulator.direct(ada), text: "Hello" });
  const [webhook] = acted?.webhooks ?? [];
  if (webhook === undefined) throw new Error("no webhook");
  return webhook;
}

afterEach(() => {
  vi.unstubAllGlobals();
});

describe("the requests of Google Chat", () => {
  it.each<[Kind, Options]>([
    ["an add-on", { endpointUrl: ENDPOINT, workspaceAddOnServiceAccountEmail: EMAIL }],
    ["another app", { googleChatProjectNumber: NUMBER }],
    ["another app", { endpointUrl: ENDPOINT, googleChatProjectNumber: NUMBER }],
  ])("to %s are verified: %j", async (kind, options) => {
    const webhook = await message(kind);
    const rig = rigWith(options);
    const { accepted, response } = await rig.receive(webhook.request(ENDPOINT));
    expect([response.status, accepted.length]).toEqual([200, 1]);
    for (const forged of webhook.forOthers?.(ENDPOINT) ?? [])
      expect(await rig.receive(forged).then((refused) => refused.response.status)).toBe(401);
  });

  it.each<[Kind, Options, string]>([
    [
      "an add-on",
      { googleChatProjectNumber: NUMBER },
      "Set the adapter's `endpointUrl` and `workspaceAddOnServiceAccountEmail`.",
    ],
    ["an add-on", { endpointUrl: ENDPOINT }, "Set the adapter's `workspaceAddOnServiceAccountEmail`."],
    [
      "an add-on",
      { endpointUrl: `${ENDPOINT}/`, workspaceAddOnServiceAccountEmail: EMAIL },
      "Check `endpointUrl` and `workspaceAddOnServiceAccountEmail`",
    ],
    ["another app", { googleChatProjectNumber: "9" }, "Check the adapter's `googleChatProjectNumber`"],
  ])("to %s are refused, and the log says what to set: %j", async (kind, options, fix) => {
    const webhook = await message(kind);
    const rig = rigWith(options);
    const { accepted, response } = await rig.receive(webhook.request(ENDPOINT));
    expect([response.status, accepted.length]).toEqual([401, 0]);
    expect(rig.log.join("\n")).toContain(fix);
    expect(rig.log.join("\n")).not.toMatch(/Hello|eyJ|s3cret/);
  });

  it.each<[Options, string]>([
    [{ googleChatProjectNumber: NUMBER, workspaceAddOnServiceAccountEmail: EMAIL }, "Set `endpointUrl`"],
    [
      { endpointUrl: ENDPOINT, workspaceAddOnServiceAccountEmail: "bot@shop.iam.gserviceaccount.com" },
      "gcp-sa-gsuiteaddons",
    ],
    [{ endpointUrl: "bot.example.com" }, "messengers/gchat/webhook"],
    [{ endpointUrl: "http://bot.example.com/messengers/gchat/webhook" }, "messengers/gchat/webhook"],
  ])("could never be verified with %j, so the bot does not start", (options, fix) => {
    expect(() => rigWith(options)).toThrow(
      expect.objectContaining({ code: "chat-sdk-adapter", message: expect.stringContaining(fix) }),
    );
  });

  it("need no address with TLS while the bot runs on its author's machine", () => {
    expect(() => rigWith({ endpointUrl: "http://127.0.0.1:8787/messengers/gchat/webhook" })).not.toThrow();
  });
});
