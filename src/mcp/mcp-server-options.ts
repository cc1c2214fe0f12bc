/** Options of `mcpServer`. */
export interface McpServerOptions {
  /** The first part of the tools' names, `<app>__<action>`: 1 to 24 small letters, digits and `-`. */
  readonly app: string;
  /** The names of the actions that are tools. @default all of `getActions()` */
  readonly actions?: readonly string[];
  /**
   * The origins of web pages that may call, such as `https://inspector.example.com`. Other programs send no origin.
   *
   * @default none
   */
  readonly origins?: readonly string[];
  /**
   * The person whose private chat is asked for consent to calls of tokens without a person.
   *
   * @default the bot's team decides, with `switchboard`'s HTTP paths or `/approvals`
   */
  readonly owner?: { readonly messenger: string; readonly userId: string };
}
