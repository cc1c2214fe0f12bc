import { z } from "zod";
import { checkNames } from "../../core/check-names.ts";
import { ConfigurationError } from "../../core/errors.ts";
import { MESSENGER_OPTIONS } from "../../core/messenger-options.ts";
import type { MessengerDefinition, MessengerLimits } from "../../core/messenger.ts";
import { unsetItem } from "../../core/unset-item.ts";

const isFunction = z.custom<(...input: never[]) => unknown>(
  (value) => typeof value === "function",
  "it must be a function",
);

/** Options that nothing else checks. A wrong one would show with the first message, or never. */
const schema = z.object({
  path: z.string().optional(),
  respondTo: z.array(z.string()).optional(),
  subscribeOnMention: z.boolean().optional(),
  conversation: z.union([z.enum(["thread", "self"]), isFunction]).optional(),
  verifyWebhook: z.union([z.literal(false), isFunction]).optional(),
  toEvent: isFunction.optional(),
  channelSpeakerLabel: z.union([z.boolean(), isFunction]).optional(),
  adapterName: z.string().optional(),
  acceptsMedia: z.array(z.string()).optional(),
  allow: z.union([z.array(z.union([z.string(), z.number()])), isFunction]).optional(),
  rerunOnEdit: z.boolean().optional(),
});

/** The accepted values of each option, in words, because the error of a union type says nothing. */
const TAKES: Readonly<Record<keyof typeof schema.shape, string>> = {
  path: 'a path, such as "/telegram"',
  respondTo: 'a list, such as ["direct-message", "mention"]',
  subscribeOnMention: "true or false",
  conversation: '"thread", "self" or a function',
  verifyWebhook: "a function or false",
  toEvent: "a function",
  channelSpeakerLabel: "true, false or a function",
  adapterName: "a name",
  acceptsMedia: 'a list of media types, such as ["image/*"]',
  allow: "a list of user ids or a function",
  rerunOnEdit: "true or false",
};

const LIMITS = {
  turnsPerPersonPerDay: true,
  turnsPerPersonPerMinute: true,
  tokensPerPersonPerDay: true,
} as const;

/**
 * Checks the common options of all messengers: that they exist, and have the right type.
 *
 * @throws {ConfigurationError} that names the option
 */
export function checkOptions(id: string, definition: MessengerDefinition): void {
  const owner = `the messenger "${id}"`;
  checkNames<MessengerDefinition>(definition, { ...MESSENGER_OPTIONS, platform: true }, { owner });
  checkNames<MessengerLimits>(definition.limits, LIMITS, { owner, at: "limits" });
  const unset = unsetItem(`allow of ${owner}`, definition.allow);
  if (unset !== undefined) throw new ConfigurationError("messenger-option-invalid", unset);
  const [issue] = schema.safeParse(definition).error?.issues ?? [];
  if (issue === undefined) return;
  const option = String(issue.path[0]) as keyof typeof TAKES;
  throw new ConfigurationError("messenger-option-invalid", `${option} of ${owner} must be ${TAKES[option]}.`);
}
