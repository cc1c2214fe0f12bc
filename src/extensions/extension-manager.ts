import { ConfigurationError } from "../core/base/errors.ts";
import type { ExtensionInfo, ExtensionManifest } from "./extension-config.ts";
import { infoOf } from "./loaded-extension.ts";
import type { LoadedExtension } from "./loaded-extension.ts";

/** The extensions of one object, as their manager uses them. */
export interface ExtensionObject {
  /** Resolves when those of `getExtensions` are loaded. */
  ready(): Promise<void>;
  loaded(): readonly LoadedExtension[];
  /** Loads an extension, and keeps it. */
  add(manifest: unknown, source: string): Promise<LoadedExtension>;
  /** Returns `false` if it was not added. */
  remove(name: string): boolean;
}

/**
 * The extensions of one conversation, for the bot's own code: `this.extensionManager`. Their tools are offered by
 * themselves.
 */
export class ExtensionManager {
  readonly #object: ExtensionObject;

  /** @internal */
  constructor(object: ExtensionObject) {
    this.#object = object;
  }

  /**
   * Loads an extension into this conversation, from its next model call on, and stores it. Give it only what the bot's
   * own code has, never the words of a model.
   *
   * @throws {ConfigurationError} `extension-loaded`, `extension-manifest`, `extension-permission`, `extension-source`
   */
  async load(manifest: ExtensionManifest, source: string): Promise<ExtensionInfo> {
    await this.#object.ready();
    if (this.getManifest(manifest.name) !== null)
      throw new ConfigurationError(
        "extension-loaded",
        `The extension "${manifest.name}" is loaded. Unload it first.`,
      );
    return infoOf(await this.#object.add(manifest, source));
  }

  /** Removes an extension that `load` has loaded. Returns `false` if there is none. */
  async unload(name: string): Promise<boolean> {
    await this.#object.ready();
    return this.#object.remove(name);
  }

  /** Returns all loaded extensions, also those of `getExtensions`. Before the first turn there are none. */
  list(): ExtensionInfo[] {
    return this.#object.loaded().map(infoOf);
  }

  getManifest(name: string): ExtensionManifest | null {
    return this.#object.loaded().find(({ manifest }) => manifest.name === name)?.manifest ?? null;
  }
}
