import { z } from "zod";
import { ConfigurationError } from "../core/base/errors.ts";
import { isRecord } from "../core/json/is-record.ts";
import { isPrivateHost } from "../core/web/public-url.ts";
import { EXTENSION_HOOKS } from "./extension-config.ts";
import type { ExtensionManifest } from "./extension-config.ts";

/** Parts of the bot that extensions can use. */
export interface Grantable {
  readonly workspace: boolean;
  readonly memory: boolean;
}

/** Longest source, in characters. */
const LONGEST_SOURCE = 200_000;
const NAME = /^[A-Za-z][A-Za-z0-9-]{0,23}$/;
const LABEL = /^[A-Za-z][\w-]{0,14}$/;
const HOST = /^(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$/;
const PERMISSIONS = ["network", "workspace"];

const context = z.strictObject({
  label: z.string().regex(LABEL),
  description: z.string().max(500).optional(),
  type: z.literal("writable").optional(),
  maxTokens: z.int().min(1).max(10_000).optional(),
});

const schema = z.strictObject({
  name: z.string().regex(NAME),
  version: z.string().min(1).max(64),
  description: z.string().max(500).optional(),
  permissions: z
    .strictObject({
      network: z.union([z.array(z.string()).max(32), z.literal(false)]).optional(),
      workspace: z.enum(["read", "read-write", "none"]).optional(),
    })
    .optional(),
  context: z.array(context).max(8).optional(),
  hooks: z.array(z.enum(EXTENSION_HOOKS)).max(EXTENSION_HOOKS.length).optional(),
});

/**
 * Returns the manifest of an extension, as a value of its own. A permission that the bot cannot give is an error that
 * names it.
 *
 * @throws {ConfigurationError} `extension-manifest`, `extension-permission`, `extension-source`
 */
export function checkManifest(from: unknown, source: unknown, has: Grantable): ExtensionManifest {
  // A getter could say something else when it is read again.
  const given: unknown = JSON.parse(JSON.stringify(from ?? null));
  const name = isRecord(given) && typeof given["name"] === "string" ? given["name"].slice(0, 40) : "";
  checkPermissions(name, isRecord(given) ? given["permissions"] : undefined);
  for (const block of isRecord(given) && Array.isArray(given["context"]) ? given["context"] : [])
    checkContext(name, block);
  const parsed = schema.safeParse(given);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new ConfigurationError(
      "extension-manifest",
      `The manifest of the extension "${name}" is not valid at "${issue?.path.join(".")}": ${issue?.message}.`,
    );
  }
  const manifest = parsed.data;
  if (manifest.permissions?.workspace?.startsWith("read") === true && !has.workspace)
    throw refused(
      name,
      `workspace "${manifest.permissions.workspace}"`,
      "The bot has no files: give its class the static member workspace",
    );
  if ((manifest.context ?? []).length > 0 && !has.memory)
    throw refused(
      name,
      "blocks of the prompt (context)",
      "The bot has no memory: give its class the static member memory",
    );
  if (typeof source !== "string" || source.trim() === "" || source.length > LONGEST_SOURCE)
    throw new ConfigurationError(
      "extension-source",
      `The source of the extension "${name}" must be a text of at most ${LONGEST_SOURCE} characters.`,
    );
  return manifest;
}

function checkPermissions(name: string, given: unknown): void {
  if (!isRecord(given)) return;
  const unknown = Object.keys(given).find((key) => !PERMISSIONS.includes(key));
  if (unknown !== undefined)
    throw refused(
      name,
      `"${unknown.slice(0, 40)}"`,
      `No extension can get that, only ${PERMISSIONS.join(" and ")}`,
    );
  const { network } = given;
  for (const host of Array.isArray(network) ? (network as unknown[]) : []) {
    const isPublic = typeof host === "string" && HOST.test(host) && !isPrivateHost(host.replace(/^\*\./, ""));
    if (isPublic) continue;
    throw refused(
      name,
      `network "${String(host).slice(0, 80)}"`,
      "Name public hosts in small letters, such as api.example.com or *.example.com",
    );
  }
  if (network === true) throw refused(name, "the whole network", "Name its hosts");
}

function checkContext(name: string, block: unknown): void {
  const type = isRecord(block) ? block["type"] : undefined;
  if (type !== undefined && type !== "writable")
    throw refused(name, `a block of the type ${JSON.stringify(type).slice(0, 40)}`, 'Blocks are "writable"');
}

function refused(name: string, asked: string, fix: string): ConfigurationError {
  return new ConfigurationError(
    "extension-permission",
    `The extension "${name}" asks for ${asked}, which it cannot get. ${fix}.`,
  );
}
