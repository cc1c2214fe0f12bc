import { createWorker, modelFromEnv, Think } from "switchboard";
import type { BotEnvironment } from "switchboard";
import { defineMessengers } from "switchboard/messengers";
import { telegramFromEnv } from "switchboard/messengers/telegram";
import { skills } from "switchboard/skills";
import { workspace } from "switchboard/workspace";
import bundled, { lock } from "./skills/index.ts";

/** A bot for a small office: it makes tables of receipts and answers complaints, as two skills say. */
export class OfficeBot extends Think<BotEnvironment> {
  static override workspace = workspace({ keepSentFiles: true });
  static override skills = skills({ lock });

  override getModel() {
    return modelFromEnv(this.env);
  }

  override getSkills() {
    return [bundled];
  }

  override getSkillScriptRunner() {
    return skills.runner({ workspaceInstance: this.workspace });
  }

  override getMessengers() {
    return defineMessengers({ telegram: telegramFromEnv(this.env) });
  }
}

export default createWorker(OfficeBot);
