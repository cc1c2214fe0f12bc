import type { ActionCaller } from "../../actions/declare/caller.ts";
import type { Payer } from "../thread/usage-news.ts";

/** A system, or the conversation of an agent, whose call may ask people. Plain JSON, which is stored with what the call waits for. */
export interface OutsideAsker {
  readonly caller: Pick<ActionCaller, "id" | "name">;
  /** Whether it can ask its person by itself. */
  readonly canAsk: boolean;
  /** Who is asked if no person calls. @default nobody */
  readonly owner?: { readonly messenger: string; readonly userId: string } | undefined;
  /** The person whose tokens `ctx.sample` uses. */
  readonly payer: Payer;
}
