/** Options of `telemetry`. */
export interface TelemetryOptions {
  /**
   * Whether spans hold texts: the question, the answers of the model, and the inputs and outputs of tools, each cut at
   * 8,000 characters and without the secrets of the environment.
   *
   * @default false
   */
  readonly content?: boolean;
  /**
   * The `gen_ai.conversation.id` of spans. `"hash"`: a hash of the conversation's name, the same for all its turns.
   * `"name"`: the name itself, which holds ids of the chat's platform.
   *
   * @default "hash"
   */
  readonly conversationId?: "hash" | "name";
}
