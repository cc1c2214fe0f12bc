import { expect, it } from "vitest";
import { importedFeatures, ImportedFeature } from "../../../src/feature/imported-feature.ts";
import { memory } from "../../../src/memory/index.ts";

it("refuses configureSession() without the import, and names it", () => {
  class Forgetful {
    configureSession(): void {}
  }
  expect(() => importedFeatures(Forgetful)).toThrow(
    expect.objectContaining({
      code: "feature-not-imported",
      message: expect.stringContaining('import { memory } from "switchboard/memory"') as string,
    }),
  );
  class Remembering extends Forgetful {
    static memory = memory();
  }
  expect(importedFeatures(Remembering).map(({ name }) => name)).toContain("memory");
  expect(Remembering.memory).toBeInstanceOf(ImportedFeature);
});
