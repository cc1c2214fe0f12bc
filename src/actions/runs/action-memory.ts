import { ConfigurationError, SwitchboardError } from "../../core/base/errors.ts";
import type { ActionContext } from "../declare/action-context.ts";
import type { ActionHost, ActionRequest } from "./action-host.ts";
import type { ActionStates, StoredState } from "../memory/action-states.ts";
import { checkValue } from "../../core/json/check-value.ts";
import type { ActionMemory, MemoryOptions } from "../declare/memory-options.ts";

/** Most characters of a value as JSON. */
const LONGEST = 64 * 1024;
const MOST_TRIES = 20;

/** The memory of an action, for one call. */
export class StoredMemory implements ActionMemory<unknown> {
  readonly #host: Pick<ActionHost, "states">;
  readonly #name: string;
  readonly #memory: MemoryOptions | undefined;
  readonly #of: Pick<ActionContext, "client" | "person">;

  constructor(
    host: Pick<ActionHost, "states">,
    { action, name }: Pick<ActionRequest, "action" | "name">,
    of: Pick<ActionContext, "client" | "person">,
  ) {
    this.#host = host;
    this.#name = name;
    this.#memory = action.memory;
    this.#of = of;
  }

  async get(): Promise<unknown> {
    return (await this.#read(this.#place()))?.value;
  }

  async set(value: unknown): Promise<void> {
    const { key, states } = this.#place();
    await states.write(key, this.#storable(await this.#checked(value)), "any");
  }

  async update(change: (value: unknown) => unknown): Promise<unknown> {
    const place = this.#place();
    const { key, states } = place;
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const before = await this.#read(place);
      const value = await this.#checked(await change(before?.value));
      if (await states.write(key, this.#storable(value), before?.revision ?? "none")) return value;
    }
    throw new SwitchboardError(
      "memory-busy",
      `The memory of the action "${this.#name}" was changed by others each time. Try again later.`,
    );
  }

  async delete(): Promise<void> {
    const { key, states } = this.#place();
    await states.write(key, undefined, "any");
  }

  get #options(): MemoryOptions {
    if (this.#memory !== undefined) return this.#memory;
    throw new ConfigurationError(
      "memory-missing",
      `The action "${this.#name}" uses ctx.memory, but has no memory. Give it memory: { schema }.`,
    );
  }

  #place(): Place {
    const { scope = "conversation" } = this.#options;
    if (scope !== "person") return { states: this.#host.states(scope), key: `memory:${scope}:${this.#name}` };
    const { client, person } = this.#of;
    if (person === undefined)
      throw new ConfigurationError(
        "memory-person",
        `The memory of the action "${this.#name}" is that of a person, and no person is in this call.`,
      );
    const key = `memory:person:${this.#name}:${client.messengerId ?? ""}:${person.userId}`;
    return { states: this.#host.states("bot"), key };
  }

  async #read({
    key,
    states,
  }: Place): Promise<{ readonly value: unknown; readonly revision: string } | undefined> {
    const stored = await states.read(key);
    if (stored === undefined) return undefined;
    return { value: await this.#checked(await this.#migrated(stored)), revision: stored.revision };
  }

  async #migrated({ value, version }: StoredState): Promise<unknown> {
    const { migrate, version: wanted = 1 } = this.#options;
    if (version === wanted) return JSON.parse(value);
    if (version > wanted)
      throw new ConfigurationError(
        "memory-newer",
        `The memory of the action "${this.#name}" has version ${version}, and the bot knows ${wanted}. Deploy the newer bot again.`,
      );
    if (migrate === undefined)
      throw new ConfigurationError(
        "memory-version",
        `The memory of the action "${this.#name}" has version ${version}, and the bot wants ${wanted}. Give it a migrate.`,
      );
    return migrate({ value: JSON.parse(value), version });
  }

  #storable(value: unknown): Pick<StoredState, "value" | "version"> {
    const json = JSON.stringify(value);
    if (json === undefined) throw this.#invalid("It is nothing that JSON can hold.");
    if (json.length > LONGEST)
      throw new ConfigurationError(
        "memory-too-large",
        `The memory of the action "${this.#name}" has at most ${LONGEST} characters as JSON.`,
      );
    return { value: json, version: this.#options.version ?? 1 };
  }

  async #checked(value: unknown): Promise<unknown> {
    const checked = await checkValue(this.#options.schema, value);
    if (checked.isValid) return checked.value;
    const places = checked.issues.map(({ path }) => path.join(".") || "the value").join(", ");
    throw this.#invalid(`It does not fit at: ${places === "" ? "the value" : places}.`);
  }

  #invalid(problem: string): ConfigurationError {
    return new ConfigurationError(
      "memory-invalid",
      `The memory of the action "${this.#name}" does not fit its schema. ${problem}`,
    );
  }
}

/** Where a value is stored. */
interface Place {
  readonly states: ActionStates;
  readonly key: string;
}
