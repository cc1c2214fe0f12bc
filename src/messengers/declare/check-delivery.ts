import { z } from "zod";
import { checkNames } from "../../core/check-names.ts";
import { ConfigurationError } from "../../core/errors.ts";
import type { DeliveryPolicy } from "../../core/delivery.ts";
import { silencePrompt } from "../../outgoing/index.ts";

const isFunction = z.custom<(...input: never[]) => unknown>((value) => typeof value === "function");
const policyText = z.union([z.string(), isFunction]).optional();
const durationMs = z.number().nonnegative().optional();

const schema = z.strictObject({
  mode: z.enum(["edit", "draft", "native", "buffered", "final-only"]).optional(),
  linkPreviews: z.boolean().optional(),
  richMessages: z.boolean().optional(),
  typing: z.boolean().optional(),
  resentMark: z.string().optional(),
  callTimeoutMs: z.number().positive().optional(),
  editEveryMs: durationMs,
  onUnknown: z.enum(["resend-marked", "resend", "leave"]).optional(),
  emptyResponseText: policyText,
  errorResponseText: policyText,
  overloadedResponseText: policyText,
  waitingResponseText: policyText,
  interruptedResponseText: policyText,
  stepLimitResponseText: policyText,
  stoppedResponseText: policyText,
  busyResponseText: policyText,
  refusedResponseText: policyText,
  limitResponseText: policyText,
  staleActionResponseText: policyText,
  interruptedActionResponseText: policyText,
  fileTooLargeText: policyText,
  fileUnreachableText: policyText,
  fileForbiddenText: policyText,
  fileRefusedText: policyText,
  silence: z.union([z.boolean(), z.strictObject({ signal: z.string().optional() })]).optional(),
  removeArtefacts: z.boolean().optional(),
  transform: isFunction.optional(),
  footer: policyText,
  replyTo: z.enum(["never", "groups", "always"]).optional(),
} satisfies Record<keyof DeliveryPolicy, z.ZodType>);

/**
 * Checks a messenger's delivery options, so that a mistake shows when the bot starts and not with its first answer.
 *
 * @throws {ConfigurationError} that names the option
 */
export function checkDelivery(id: string, delivery: DeliveryPolicy | undefined): void {
  if (delivery === undefined) return;
  const owner = `the messenger "${id}"`;
  checkNames<DeliveryPolicy>(delivery, schema.shape, {
    owner,
    at: "delivery",
  });
  if (typeof delivery.silence === "object") {
    checkNames(delivery.silence, { signal: true }, { owner, at: "delivery.silence" });
  }
  const checked = schema.safeParse(delivery);
  const [issue] = checked.error?.issues ?? [];
  if (issue !== undefined) {
    const option = ["delivery", ...issue.path].join(".");
    throw new ConfigurationError(
      "messenger-option-invalid",
      `${option} of ${owner} is not valid: ${issue.message}.`,
    );
  }
  if (typeof delivery.silence === "object") silencePrompt({ silence: delivery.silence });
}
