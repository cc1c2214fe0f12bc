import type { OptionNames } from "./check-names.ts";
import type { MessengerOptions } from "./messenger.ts";

/** Names of the options that every messenger has. */
export const MESSENGER_OPTIONS: OptionNames<MessengerOptions> = {
  path: true,
  respondTo: true,
  subscribeOnMention: true,
  conversation: true,
  verifyWebhook: true,
  delivery: true,
  toEvent: true,
  channelSpeakerLabel: true,
  adapterName: true,
  acceptsMedia: true,
  maxMediaBytes: true,
  allow: true,
  refusal: true,
  limits: true,
  burstMs: true,
  whenBusy: true,
  rerunOnEdit: true,
  staleAfterMs: true,
  inboxLimit: true,
};
