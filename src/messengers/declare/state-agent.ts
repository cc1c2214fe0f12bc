import { Agent } from "agents";

/**
 * Exists so that a bot written for `@cloudflare/think` compiles, which exports this class from its Worker. Switchboard
 * needs no object for the Chat SDK's state, because conversations keep their own.
 *
 * @deprecated Nothing uses it. A Worker need not export it.
 */
export class ThinkMessengerStateAgent extends Agent {}
