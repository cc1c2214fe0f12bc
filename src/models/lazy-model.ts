import type {
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamResult,
} from "@ai-sdk/provider";
import { ModelCallError } from "./model-call-error.ts";

export interface LazyModelOptions {
  /** The package to install, e.g. `@ai-sdk/anthropic`. */
  readonly packageName: string;
  /** Name of the provider, as the package gives it. */
  readonly provider: string;
  readonly modelId: string;
  /** Imports the package. The bundler must see the package's name, so each caller writes the import itself. */
  readonly load: (missing: OnMissing) => Promise<LanguageModelV4>;
}

/** Handles the failure of an import: `import("...").catch(missing)`. Bundlers accept a missing package with it. */
export type OnMissing = (error: unknown) => never;

/**
 * A model of a package that a bot need not have: the package is imported with the first call. If it is missing, every
 * call fails with `model-package-missing`, which names it.
 */
export class LazyModel implements LanguageModelV4 {
  readonly specificationVersion = "v4";
  readonly provider: string;
  readonly modelId: string;
  readonly #options: LazyModelOptions;
  #loaded: LanguageModelV4 | undefined;

  constructor(options: LazyModelOptions) {
    this.#options = options;
    this.provider = options.provider;
    this.modelId = options.modelId;
  }

  /**
   * Objects may share a model. None waits for the import that another one has begun: it stays open if that object dies.
   *
   * @throws {ModelCallError} `model-package-missing`
   */
  async load(): Promise<LanguageModelV4> {
    if (this.#loaded !== undefined) return this.#loaded;
    const { load, packageName } = this.#options;
    const loaded = await load(() => {
      throw new ModelCallError(this, { code: "model-package-missing", retryable: false, packageName });
    });
    this.#loaded ??= loaded;
    return this.#loaded;
  }

  /** The addresses of files that the model fetches itself. None if the package is missing: the call says so. */
  get supportedUrls(): Promise<Record<string, RegExp[]>> {
    return this.load().then(
      (model) => model.supportedUrls,
      () => ({}),
    );
  }

  async doGenerate(options: LanguageModelV4CallOptions): Promise<LanguageModelV4GenerateResult> {
    return (await this.load()).doGenerate(options);
  }

  async doStream(options: LanguageModelV4CallOptions): Promise<LanguageModelV4StreamResult> {
    return (await this.load()).doStream(options);
  }
}
