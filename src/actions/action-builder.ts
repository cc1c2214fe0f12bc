import { jsonSchema } from "ai";
import type { FlexibleSchema, InferSchema } from "ai";
import type { Action, ActionAnnotations, ActionOptions } from "./action.ts";
import { defineAction } from "./define-action.ts";

/** Time limit of one run of an action that a builder makes, in milliseconds. */
const BUILDER_TIMEOUT_MS = 60_000;

/** Defines an action step by step. `handler` ends it. Each step returns a builder of its own, and changes none. */
export interface ActionBuilder<Context, Input = unknown, Output = unknown> {
  /** Tells the model what the action does. @default the name */
  describe(description: string): ActionBuilder<Context, Input, Output>;
  /** Zod, another Standard Schema, or `jsonSchema` of the AI SDK. @default no input */
  input<Schema extends FlexibleSchema>(schema: Schema): ActionBuilder<Context, InferSchema<Schema>, Output>;
  /** Type of the output. An output that does not fit is logged only, unless there is a `strictOutput`. @default any */
  output<Schema extends FlexibleSchema>(schema: Schema): ActionBuilder<Context, Input, InferSchema<Schema>>;
  annotate(annotations: ActionAnnotations): ActionBuilder<Context, Input, Output>;
  /** Time limit of one run, in milliseconds. @default 60000 */
  timeout(limit: number | { readonly ms: number }): ActionBuilder<Context, Input, Output>;
  /** Makes an output that does not fit a failure. */
  strictOutput(): ActionBuilder<Context, Input, Output>;
  /** @throws {ConfigurationError} as `action` */
  handler(execute: (input: Input, ctx: Context) => Output | Promise<Output>): Action;
}

type Steps = Partial<
  Pick<
    ActionOptions<FlexibleSchema, unknown>,
    "description" | "inputSchema" | "returns" | "annotations" | "timeoutMs" | "strictOutput"
  >
>;

/** Returns a builder of the action of this name. */
export function actionBuilder<Context>(name: string): ActionBuilder<Context> {
  return builder(name, {});
}

function builder<Context, Input, Output>(name: string, steps: Steps): ActionBuilder<Context, Input, Output> {
  const next = <NextInput, NextOutput>(step: Steps): ActionBuilder<Context, NextInput, NextOutput> =>
    builder(name, { ...steps, ...step });
  return {
    describe: (description) => next({ description }),
    input: (inputSchema) => next({ inputSchema }),
    output: (returns) => next({ returns }),
    annotate: (annotations) => next({ annotations: { ...steps.annotations, ...annotations } }),
    timeout: (limit) => next({ timeoutMs: typeof limit === "number" ? limit : limit.ms }),
    strictOutput: () => next({ strictOutput: true }),
    handler: (execute) =>
      defineAction<FlexibleSchema<Input>, Output, Context>({
        description: name,
        timeoutMs: BUILDER_TIMEOUT_MS,
        strictOutput: false,
        ...steps,
        inputSchema: (steps.inputSchema ?? NO_INPUT) as FlexibleSchema<Input>,
        name,
        execute,
      }),
  };
}

const NO_INPUT = jsonSchema({ type: "object", properties: {} });
