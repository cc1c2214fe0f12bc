import { checkOptions, FLAG, FUNCTION, isObject, isText, TEXT, whole } from "../core/json/check-options.ts";
import type { OptionRules } from "../core/json/check-options.ts";
import { ConfigurationError } from "../core/base/errors.ts";
import { ImportedFeature } from "../feature/imported-feature.ts";
import { FILE_TOOLS } from "./file-tools.ts";
import { WORKSPACE, WorkspaceFeature } from "./workspace-feature.ts";
import type { WorkspaceOptions } from "./workspace-options.ts";

const MOST_BYTES = 50 * 1024 * 1024;
const TOOLS = [...Object.keys(FILE_TOOLS), "send_file", "bash"];

const OPTIONS: OptionRules<WorkspaceOptions> = {
  maxBytes: whole(1),
  maxFiles: whole(1),
  maxFileBytes: whole(1, MOST_BYTES),
  keepSentFiles: FLAG,
  media: [
    'a list of media types, such as ["image/*"]',
    (value) => Array.isArray(value) && value.every(isText),
  ],
  tools: [
    `a list of ${TOOLS.join(", ")}`,
    (value) => Array.isArray(value) && value.every((one) => TOOLS.includes(String(one))),
  ],
  bash: ['the result of bash() of "switchboard/workspace/bash"', isObject],
  largeFiles: { bucket: FUNCTION, fromBytes: whole(1), prefix: TEXT },
  mayDelete: FUNCTION,
};

/**
 * Gives each conversation files of its own: tools for its model, /files for its people, and `this.workspace` for the
 * bot's code.
 *
 * @throws {ConfigurationError} `workspace-option`
 * @example
 * export class DeskBot extends Think<Env> {
 *   static override workspace = workspace({ keepSentFiles: true });
 * }
 */
export function workspace<Env = unknown>(options: WorkspaceOptions<Env> = {}): ImportedFeature {
  checkOptions(options, OPTIONS, { owner: "workspace", code: "workspace-option" });
  const { bash, tools } = options;
  if (bash === undefined && tools?.includes("bash") === true)
    throw new ConfigurationError(
      "workspace-option",
      'The tool "bash" of workspace() needs the option bash: bash() of "switchboard/workspace/bash".',
    );
  return new ImportedFeature({
    name: WORKSPACE,
    // The environment is that of the bot's class.
    create: (host) => new WorkspaceFeature(host, options as WorkspaceOptions),
  });
}
