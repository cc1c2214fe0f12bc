import type { CallGroup } from "../core/chat/inner-calls.ts";

/** Paths that a feature answers in the Worker, for other systems. It takes them before any object sees the request. */
export interface FeatureRoutes {
  isFor(pathname: string): boolean;
  serve(request: Request, bot: RoutedBot): Promise<Response>;
}

/** The bot of a request, as the routes of its features use it. */
export interface RoutedBot {
  readonly env: unknown;
  /** Returns the response to a caller who may not use the bot's conversations. Undefined for all others. */
  refuse(): Promise<Response | undefined>;
  root<Calls extends object>(group: CallGroup<Calls>): Promise<Calls>;
  conversation<Calls extends object>(group: CallGroup<Calls>, name: string): Promise<Calls>;
}
