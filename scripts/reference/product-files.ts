import { readdirSync } from "node:fs";
import path from "node:path";

/** Returns all source files of the product, from the root, sorted. */
export function productFiles(root: string): string[] {
  return ["src", "delivery", "providers"]
    .flatMap((folder) =>
      readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" }).map((file) =>
        path.join(folder, file),
      ),
    )
    .filter((file) => file.endsWith(".ts") && !file.endsWith(".d.ts"))
    .toSorted();
}
