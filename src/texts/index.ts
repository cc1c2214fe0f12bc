/**
 * Ready-made languages for `texts` of a bot. A bot bundles only those that it imports.
 *
 * @module
 */
export { arabic } from "./arabic.ts";
export { byLanguage } from "./by-language.ts";
export { german } from "./german.ts";
