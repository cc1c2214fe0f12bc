import { formatSkillDiagnostic, loadSkillCatalog, manifest } from "agents/skills";
import type { SkillCatalog, SkillManifestEntry, SkillSource } from "agents/skills";
import type { Clock } from "../core/base/deps.ts";
import type { Log } from "../core/base/log.ts";
import { hashOfSkill, manifestEntryOf, readSkill } from "./skill-snapshot.ts";
import type { SkillSnapshot } from "./skill-snapshot.ts";
import { isOwnSource } from "./skill-sources.ts";

export interface SkillLibraryOptions {
  readonly clock: Clock;
  readonly log: Log;
  readonly lock: Readonly<Record<string, string>>;
  /** The bot's own method. */
  readonly sources: () => readonly SkillSource[] | Promise<readonly SkillSource[]>;
}

/** Age at which the sources are read again. */
const FRESH_MS = 60_000;
const MOST_SKILLS = 100;

/**
 * The skills that the model is offered, from memory: all of a skill is read and checked at one moment, so that nothing
 * can change between the check and its use.
 *
 * 1. A skill from outside is there only with the hash that the bot's author has agreed to.
 * 2. The first source of a name wins. A source that fails keeps its skills of the last time.
 */
export class SkillLibrary {
  readonly #options: SkillLibraryOptions;
  readonly #told = new Set<string>();
  #sources: readonly SkillSource[] | undefined;
  #listed: SkillCatalog | undefined;
  #read: ReadonlyMap<string, SkillSnapshot> = new Map();
  #offered: SkillCatalog | undefined;
  #loadedAt: number | undefined;

  constructor(options: SkillLibraryOptions) {
    this.#options = options;
  }

  /** Undefined before the first `load`. */
  get catalog(): SkillCatalog | undefined {
    return this.#offered;
  }

  /** Reads the sources, if that was long ago. */
  async load(): Promise<void> {
    const { clock, sources } = this.#options;
    const now = clock.now();
    if (this.#loadedAt !== undefined && now - this.#loadedAt < FRESH_MS) return;
    this.#sources ??= await sources();
    const previous = this.#listed;
    const listed = await loadSkillCatalog(this.#sources, previous === undefined ? {} : { previous });
    for (const diagnostic of listed.diagnostics)
      this.#tell(diagnostic._tag, formatSkillDiagnostic(diagnostic));
    const failed = new Set(
      listed.diagnostics.flatMap((one) => (one._tag === "SourceFailed" ? [one.sourceId] : [])),
    );
    const skills: SkillManifestEntry[] = [];
    const read = new Map<string, SkillSnapshot>();
    for (const { resources, skill, sourceId } of listed.skills.slice(0, MOST_SKILLS)) {
      const source = this.#sources.find(({ id }) => id === sourceId);
      const snapshot = failed.has(sourceId)
        ? this.#read.get(skill.name)
        : source && (await readSkill(source, { resources, skill }));
      if (snapshot !== undefined) read.set(skill.name, snapshot);
      if (source === undefined || snapshot === undefined) this.#tell("unreadable", skill.name);
      else if (isOwnSource(source) || this.#isLocked(skill.name, hashOfSkill(snapshot)))
        skills.push(manifestEntryOf(snapshot));
    }
    this.#listed = listed;
    this.#read = read;
    this.#offered = await loadSkillCatalog([manifest({ id: "offered", skills })]);
    this.#loadedAt = now;
  }

  #isLocked(name: string, hash: string): boolean {
    const { lock } = this.#options;
    const agreed = Object.hasOwn(lock, name) ? lock[name] : undefined;
    if (agreed !== hash) this.#tell(agreed === undefined ? "not-agreed" : "changed", name);
    return agreed === hash;
  }

  /** Says each problem once in the life of the object. The words of a foreign skill stay out of the log. */
  #tell(reason: string, detail: string): void {
    const { log } = this.#options;
    if (this.#told.has(`${reason} ${detail}`)) return;
    this.#told.add(`${reason} ${detail}`);
    log.warn("skills.left-out", { reason, detail: log.reveal(detail) });
  }
}
