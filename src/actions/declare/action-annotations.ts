/** Facts about the effect of an action. */
export interface ActionAnnotations {
  /**
   * The action changes nothing. Its calls run side by side and leave no record. Within a turn, a call with the same
   * input may get the result of the last 30 seconds, unless something with an effect ran in between. @default false
   */
  readonly readOnly?: boolean;
  /** The effect of the action cannot be undone. People are asked first, unless `approval` says otherwise. @default false */
  readonly destructive?: boolean;
  /** People are always asked first, or for the inputs that the function `approval` says. @default false */
  readonly requiresConfirmation?: boolean;
}
