import { describe, expect, it } from "vitest";
import { bindingNames } from "../../../ops/serve/environment.ts";
import { parseWorkerConfig } from "../../../ops/serve/worker-config.ts";
import { writeWorkerdConfig } from "../../../ops/serve/workerd-config.ts";

const config = parseWorkerConfig(
  JSON.stringify({
    name: "bot",
    main: "worker.ts",
    compatibility_date: "2026-10-15",
    durable_objects: { bindings: [{ name: "AGENT", class_name: "Agent" }] },
    migrations: [{ tag: "v1", new_sqlite_classes: ["Agent"] }],
    vars: { GREETING: 'say "hi"\n', LIMITS: { parts: 3 } },
  }),
  "wrangler.jsonc",
);
const modules = [{ name: "worker.js", type: "esModule" }] as const;

describe("workerd configuration", () => {
  it("declares every object class with its storage, and its binding", () => {
    const written = writeWorkerdConfig({ config, modules, environmentNames: [] });
    expect(written).toContain('(className = "Agent", uniqueKey = "bot-Agent", enableSql = true)');
    expect(written).toContain('(name = "AGENT", durableObjectNamespace = "Agent")');
  });

  it("leaves out the flag for Node's modules where it is the default, because workerd warns of it", () => {
    const flags = (compatibilityDate: string) =>
      writeWorkerdConfig({
        config: { ...config, compatibilityDate, compatibilityFlags: ["nodejs_compat"] },
        modules,
        environmentNames: [],
      });
    expect(flags("2026-10-15")).not.toContain("nodejs_compat");
    expect(flags("2026-08-03")).toContain("nodejs_compat");
  });

  it("escapes what a configured text may hold", () => {
    const written = writeWorkerdConfig({ config, modules, environmentNames: [] });
    expect(written).toContain(String.raw`(name = "GREETING", text = "say \"hi\"\x0a")`);
    expect(written).toContain(String.raw`(name = "LIMITS", json = "{\"parts\":3}")`);
  });

  it("lets the environment win over a configured variable, without its value", () => {
    const written = writeWorkerdConfig({ config, modules, environmentNames: ["GREETING"] });
    expect(written).toContain('(name = "GREETING", fromEnvironment = "GREETING")');
    expect(written).not.toContain("say");
  });

  it("gives the bot a disk that it can only read for its folder of skills", () => {
    const written = writeWorkerdConfig({ config, modules, environmentNames: ["SKILLS_FOLDER"] });
    expect(written).toContain('(name = "SKILLS_FOLDER", service = "skills")');
    expect(written).toContain(
      '(name = "skills", disk = (path = "skills", writable = false, allowDotfiles = true))',
    );
    expect(writeWorkerdConfig({ config, modules, environmentNames: [] })).not.toContain("skills");
  });

  it("passes on the bot's own and the declared variables that are set, and no others", () => {
    const environment = { TELEGRAM_BOT_TOKEN: "1:a", MODEL: "", GREETING: "x", PATH: "/bin", HOME: "/root" };
    expect(bindingNames(environment, ["GREETING", "LIMITS"])).toEqual(["GREETING", "TELEGRAM_BOT_TOKEN"]);
  });
});
