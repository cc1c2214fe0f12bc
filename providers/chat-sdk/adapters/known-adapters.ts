import type { AdapterProfile } from "./adapter-profile.ts";
import { discord } from "./discord.ts";
import { gchat } from "./gchat.ts";
import { github } from "./github.ts";
import { linear } from "./linear.ts";
import { slack } from "./slack.ts";
import { teams } from "./teams.ts";
import { whatsapp } from "./whatsapp.ts";

const unknown: AdapterProfile = { capabilities: {} };

const profiles: Readonly<Record<string, AdapterProfile>> = {
  discord,
  gchat,
  github,
  linear,
  slack,
  teams,
  whatsapp,
};

/** Returns the profile of an adapter. An unknown adapter has one that says nothing. */
export function profileOf(name: string): AdapterProfile {
  return (Object.hasOwn(profiles, name) ? profiles[name] : undefined) ?? unknown;
}
