import type { FlexibleSchema, InferSchema } from "ai";

/** See `ActionContext.sample`. */
export interface Sample {
  <Schema extends FlexibleSchema>(
    request: SampleRequest & { readonly schema: Schema },
  ): Promise<InferSchema<Schema>>;
  (request: SampleRequest): Promise<string>;
}

/** One call of the bot's model. */
export interface SampleRequest {
  readonly prompt: string;
  /** Instructions for this call. @default none */
  readonly system?: string;
  /** The answer is a value of this schema. @default a text */
  readonly schema?: FlexibleSchema;
  /** Most tokens of the answer. @default the model's own limit */
  readonly maxOutputTokens?: number;
}
