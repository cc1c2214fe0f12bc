import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { Command } from "commander";
import { hashOfSkill } from "../../src/skills/skill-snapshot.ts";
import type { SkillSnapshot } from "../../src/skills/skill-snapshot.ts";
import { askYesNo } from "../ask.ts";
import { CommandError, ReportedFailure } from "../command-error.ts";
import type { CommandIo } from "../command-io.ts";
import { createReport } from "../report.ts";
import { LOCK, MODULE, moduleOf, readLock, readSkillFolder, statesOf } from "../skills/skill-folders.ts";

interface Common {
  readonly dir: string;
  readonly json?: boolean;
}

interface AddOptions extends Common {
  readonly pin?: boolean;
  readonly yes?: boolean;
}

const DIR = ["-d, --dir <folder>", "the bot's folder of skills", "skills"] as const;

/** `switchboard skills`: the skills that a bot's author has read and agreed to. */
export function skillsCommand(io: CommandIo): Command {
  return new Command("skills")
    .description("show skills, agree to them, and check that nobody has changed them since")
    .addCommand(addCommand(io))
    .addCommand(listCommand(io))
    .addCommand(verifyCommand(io));
}

function addCommand(io: CommandIo): Command {
  return new Command("add")
    .description("show a skill, and add it to the bot, or agree to its change")
    .argument("<folder>", "the folder with its SKILL.md")
    .option("--pin", "only agree to it: it is somewhere else, such as in a bucket")
    .option("-y, --yes", "agree without a question")
    .option(...DIR)
    .action(async (from: string, options: AddOptions) => {
      const report = createReport(io, options);
      const folder = path.resolve(io.folder, options.dir);
      const given = path.resolve(io.folder, from);
      const snapshot = await readSkillFolder(given);
      const { name } = snapshot.skill;
      const lock = await readLock(folder);
      const hash = hashOfSkill(snapshot);
      const before = lock[name]?.hash;
      for (const line of shown(snapshot)) report.say(line);
      if (before !== undefined && before !== hash)
        report.say(`"${name}" has CHANGED since you agreed to it.`);
      const isAgreed =
        options.yes === true || before === hash || (await askYesNo(io, `Agree to "${name}" as it is above?`));
      if (!isAgreed)
        throw new CommandError(
          "skill-not-agreed",
          `Nothing was added. Read "${name}" above, then repeat with --yes.`,
        );
      await mkdir(folder, { recursive: true });
      const isPinned = options.pin === true;
      const own = path.join(folder, name);
      if (!isPinned && own !== given) await cp(given, own, { recursive: true });
      const next = { ...lock, [name]: { hash, ...(isPinned && { isPinned }) } };
      await writeFile(path.join(folder, MODULE), await moduleOf(folder, next));
      await writeFile(path.join(folder, LOCK), `${JSON.stringify(next, null, 2)}\n`);
      report.result({ name, hash, isPinned }, [
        `${isPinned ? "Agreed to" : "Added"} ${name} (${hash.slice(0, 12)}).`,
      ]);
    });
}

function listCommand(io: CommandIo): Command {
  return new Command("list")
    .description("list the skills of the bot, and whether they are as they were")
    .option(...DIR)
    .action(async (options: Common) => {
      const skills = await statesOf(path.resolve(io.folder, options.dir));
      const lines = skills.map(({ hash, name, state }) => `${name}  ${state}  ${hash.slice(0, 12)}`);
      createReport(io, options).result({ skills }, lines.length === 0 ? ["The bot has no skills."] : lines);
    });
}

function verifyCommand(io: CommandIo): Command {
  return new Command("verify")
    .description("fail if a skill is not as its author has agreed to")
    .option(...DIR)
    .action(async (options: Common) => {
      const folder = path.resolve(io.folder, options.dir);
      const wrong = (await statesOf(folder)).filter(({ state }) => state !== "agreed" && state !== "pinned");
      const written = await readFile(path.join(folder, MODULE), "utf8").catch(() => "");
      const isModuleRight =
        wrong.length > 0 ||
        written === "" ||
        plain(written) === plain(await moduleOf(folder, await readLock(folder)));
      const problems = wrong.map(({ name, state }) => `${name}: ${state}`);
      if (!isModuleRight) problems.push(`${MODULE} is not as "skills add" has written it`);
      createReport(io, options).result(
        { problems },
        problems.length === 0 ? ["All skills are as they were agreed to."] : problems,
      );
      if (problems.length > 0) throw new ReportedFailure();
    });
}

/** A formatter may have changed quotes and blanks. */
function plain(code: string): string {
  return code.replaceAll(/[\s"'`,\\]/g, "");
}

/** Everything that a model or the sandbox would get. */
function shown({ files, skill }: SkillSnapshot): string[] {
  const lines = [`Skill ${skill.name}: ${skill.description}`, "", skill.body.trim()];
  for (const { content, encoding, path: file } of files)
    lines.push("", `--- ${file}`, encoding === "text" ? content : `(${content.length} characters of base64)`);
  return lines.flatMap((line) => line.split("\n")).map((line) => visible(line));
}

// oxlint-disable-next-line no-control-regex -- control characters are what is shown
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u200b-\u200f]/g;

/** A terminal obeys control characters, so they are shown as they are written. */
function visible(line: string): string {
  return line.replaceAll(UNSEEN, (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
