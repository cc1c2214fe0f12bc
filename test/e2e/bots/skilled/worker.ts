import { createWorker, modelFromEnv, Think } from "switchboard";
import type { BotEnvironment, ThinkModel } from "switchboard";
import { defineMessengers, type ThinkMessengers } from "switchboard/messengers";
import { telegramFromEnv } from "switchboard/messengers/telegram";
import { skills } from "switchboard/skills";
import type { ServedFolder, SkillSource } from "switchboard/skills";

interface Environment extends BotEnvironment {
  readonly SKILLS_FOLDER?: ServedFolder;
}

/** A bot with the skills of a folder on its machine. Its owner has agreed to "tidy" as the test writes it. */
export class SkilledBot extends Think<Environment> {
  static override skills = skills({
    lock: { tidy: "c272066a7691495ea69c2ad7abba99a7eee11c14963aff3d3d310d141f9a5a7e" },
  });

  override getModel(): ThinkModel {
    return modelFromEnv(this.env);
  }

  override getSkills(): SkillSource[] {
    return [skills.folder(this.env.SKILLS_FOLDER)];
  }

  override getMessengers(): ThinkMessengers {
    return defineMessengers({ telegram: telegramFromEnv(this.env) });
  }
}

export default createWorker(SkilledBot);
