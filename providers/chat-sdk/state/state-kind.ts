/**
 * - `secret`: it has a token. It is sealed, and never goes away to make room.
 * - `kept`: answers depend on it, and the adapter cannot find it out again: the installation of a repository, the address
 *   of a person. It never goes away to make room.
 * - `cache`: anything else. Values that never expire go last.
 * - `claim`: it says that an event was seen. The inbox knows that better, so it is not kept.
 */
export type StateKind = "secret" | "kept" | "cache" | "claim";
