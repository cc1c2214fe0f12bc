import { jsonSchema } from "ai";
import type { FlexibleSchema, InferSchema } from "ai";
import type { ActionAnnotations } from "./action-annotations.ts";
import type { Action, ActionOptions } from "./action.ts";
import { defineAction } from "./define-action.ts";
import type { ActionMemory, MemoryOptions } from "./memory-options.ts";

/** Time limit of one run of an action that a builder makes, in milliseconds. */
const BUILDER_TIMEOUT_MS = 60_000;

/** Defines an action step by step. `handler` ends it. Each step returns a builder of its own, and changes none. */
export interface ActionBuilder<
  Context,
  Input = unknown,
  Output = unknown,
  Memory extends FlexibleSchema = FlexibleSchema,
> {
  /** Tells the model what the action does. @default the name */
  describe(description: string): ActionBuilder<Context, Input, Output, Memory>;
  /** Zod, another Standard Schema, or `jsonSchema` of the AI SDK. @default no input */
  input<Schema extends FlexibleSchema>(
    schema: Schema,
  ): ActionBuilder<Context, InferSchema<Schema>, Output, Memory>;
  /** Type of the output. An output that does not fit is logged only, unless there is a `strictOutput`. @default any */
  output<Schema extends FlexibleSchema>(
    schema: Schema,
  ): ActionBuilder<Context, Input, InferSchema<Schema>, Memory>;
  annotate(annotations: ActionAnnotations): ActionBuilder<Context, Input, Output, Memory>;
  /** Time limit of one run, in milliseconds. @default 60000 */
  timeout(limit: number | { readonly ms: number }): ActionBuilder<Context, Input, Output, Memory>;
  /** Makes an output that does not fit a failure. */
  strictOutput(): ActionBuilder<Context, Input, Output, Memory>;
  /** A value that the action keeps between its runs, as `ctx.memory`. @default none */
  memory<Schema extends FlexibleSchema>(
    memory: MemoryOptions<Schema>,
  ): ActionBuilder<Context, Input, Output, Schema>;
  /** Whether a run that failed is made again: see `ActionOptions`. @default false */
  retry(
    retry: NonNullable<OtherOptions<Context, Input>["retry"]>,
  ): ActionBuilder<Context, Input, Output, Memory>;
  /** The contexts of which one must be active: see `ActionOptions`. @default always */
  contexts(...names: readonly string[]): ActionBuilder<Context, Input, Output, Memory>;
  /** Any other options of `action`, such as `idempotencyKey`, `permissions`, `approval` and `onError`. */
  options(options: OtherOptions<Context, Input>): ActionBuilder<Context, Input, Output, Memory>;
  /** @throws {ConfigurationError} as `action` */
  handler(
    execute: (
      input: Input,
      ctx: Context & { readonly memory: ActionMemory<InferSchema<Memory>> },
    ) => Output | Promise<Output>,
  ): Action;
}

/** Options of an action for which a builder has no step of their own. */
type OtherOptions<Context, Input> = Partial<
  Omit<
    ActionOptions<FlexibleSchema<Input>, unknown, Context>,
    "name" | "description" | "inputSchema" | "returns" | "strictOutput" | "memory" | "execute"
  >
>;

type Steps = Partial<Omit<ActionOptions<FlexibleSchema, unknown>, "name" | "execute">>;

/** Returns a builder of the action of this name. */
export function actionBuilder<Context>(name: string): ActionBuilder<Context> {
  return builder(name, {});
}

function builder<Context, Input, Output, Memory extends FlexibleSchema>(
  name: string,
  steps: Steps,
): ActionBuilder<Context, Input, Output, Memory> {
  const next = <NextInput, NextOutput, NextMemory extends FlexibleSchema>(
    step: object,
  ): ActionBuilder<Context, NextInput, NextOutput, NextMemory> => builder(name, { ...steps, ...step });
  return {
    describe: (description) => next({ description }),
    input: (inputSchema) => next({ inputSchema }),
    output: (returns) => next({ returns }),
    annotate: (annotations) => next({ annotations: { ...steps.annotations, ...annotations } }),
    timeout: (limit) => next({ timeoutMs: typeof limit === "number" ? limit : limit.ms }),
    strictOutput: () => next({ strictOutput: true }),
    memory: (memory) => next({ memory }),
    retry: (retry) => next({ retry }),
    contexts: (...contexts) => next({ contexts }),
    options: next,
    handler: (execute) =>
      defineAction<FlexibleSchema<Input>, Output, Context, Memory>({
        description: name,
        timeoutMs: BUILDER_TIMEOUT_MS,
        strictOutput: false,
        ...(steps as object),
        inputSchema: (steps.inputSchema ?? NO_INPUT) as FlexibleSchema<Input>,
        name,
        execute,
      }),
  };
}

const NO_INPUT = jsonSchema({ type: "object", properties: {} });
