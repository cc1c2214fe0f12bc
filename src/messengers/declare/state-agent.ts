import { Agent } from "agents";

/**
 * Kept so that a bot written for `@cloudflare/think` compiles: it exports this class from its Worker. Switchboard needs
 * no object of its own for the Chat SDK's state; the conversations keep theirs.
 *
 * @deprecated Nothing uses it; the export may be removed from a Worker.
 */
export class ThinkMessengerStateAgent extends Agent {}
