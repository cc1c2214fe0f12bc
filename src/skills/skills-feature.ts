import type { SkillSource } from "agents/skills";
import type { ThinkActions } from "../actions/declare/action.ts";
import { runBotCode } from "../core/time/bot-code.ts";
import { failureCode } from "../core/base/errors.ts";
import type { Feature } from "../feature/feature.ts";
import type { FeatureHost } from "../feature/feature-host.ts";
import { skillActions, type RunnerOfSkills } from "./skill-actions.ts";
import { SkillLibrary } from "./skill-library.ts";

/** The methods of the bot's class that are about skills. */
interface SkillMethods {
  getSkills?(): readonly SkillSource[] | Promise<readonly SkillSource[]>;
  getSkillScriptRunner?(): RunnerOfSkills | undefined;
}

/** Instructions that the model reads when it needs them. Only their names and descriptions are in the prompt. */
export class SkillsFeature implements Feature {
  readonly name = "skills";
  readonly #host: FeatureHost<SkillMethods>;
  readonly #library: SkillLibrary;
  #actions: ThinkActions = {};
  #actionsOf: unknown;

  constructor(host: FeatureHost<unknown>, { lock = {} }: SkillsOptions) {
    // Every bot may have these methods.
    this.#host = host as FeatureHost<SkillMethods>;
    const { agent, deps, log } = this.#host;
    const { clock } = deps;
    this.#library = new SkillLibrary({
      clock,
      log,
      lock,
      sources: () => runBotCode({ clock, log }, "getSkills", () => agent.getSkills?.() ?? []),
    });
  }

  /** The sources are read at most once a minute. If that fails, the skills of the last time stay. */
  async loadActions(): Promise<void> {
    const { agent, deps, log } = this.#host;
    try {
      await this.#library.load();
    } catch (error) {
      log.warn("skills.failed", { code: failureCode(error) });
    }
    const { catalog } = this.#library;
    if (catalog === undefined || catalog === this.#actionsOf) return;
    this.#actionsOf = catalog;
    const runner = await runBotCode({ clock: deps.clock, log }, "getSkillScriptRunner", () =>
      agent.getSkillScriptRunner?.(),
    ).catch((): undefined => undefined);
    this.#actions = skillActions(catalog, runner);
  }

  actions(): ThinkActions {
    return this.#actions;
  }

  prompt(): string | undefined {
    return this.#library.catalog?.prompt() ?? undefined;
  }
}

/** Options of `skills`. */
export interface SkillsOptions {
  /**
   * Hashes of the skills from outside of the bot's code, by name: of a bucket, of a folder of `serve`, or of the
   * conversation's files. Another one, or one that has changed, is not offered. `switchboard skills add --pin` writes it.
   *
   * @default none: only skills of the bot's code
   */
  readonly lock?: Readonly<Record<string, string>>;
}
