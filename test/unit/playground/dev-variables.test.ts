import { describe, expect, it } from "vitest";
import { createDevVariables } from "../../../playground/dev-variables.ts";

/** Variables of a bot in the simulator, after `read` has changed. */
function rig(first: Record<string, string>) {
  const said: string[] = [];
  let read = first;
  const variables = createDevVariables({
    read: async () => ({ values: { ...read }, names: Object.keys(read).toSorted(), files: [] }),
    defaults: { DEBUG: "1", SHOP_URL: "http://127.0.0.1:7" },
    fixed: { PORT: "9000", TELEGRAM_BOT_TOKEN: "1:simulator" },
    say: (line) => void said.push(line),
  });
  return { said, variables, save: (next: Record<string, string>) => void (read = next) };
}

describe("the variables under switchboard dev", () => {
  it("are those of the files, before the defaults and after those that dev has chosen", async () => {
    const { variables } = rig({ SHOP_URL: "http://shop", PORT: "1", MANAGER_ID: "7" });
    expect(await variables()).toEqual({
      environment: {
        DEBUG: "1",
        SHOP_URL: "http://shop",
        MANAGER_ID: "7",
        PORT: "9000",
        TELEGRAM_BOT_TOKEN: "1:simulator",
      },
      passedOn: ["MANAGER_ID", "PORT", "SHOP_URL"],
    });
  });

  it("say once which of them count from the next start", async () => {
    const { said, save, variables } = rig({ PORT: "1", MANAGER_ID: "7" });
    await variables();
    save({ PORT: "2", MANAGER_ID: "8", TELEGRAM_BOT_TOKEN: "2:real" });
    expect((await variables()).environment).toMatchObject({ MANAGER_ID: "8", PORT: "9000" });
    await variables();
    expect(said).toEqual(["PORT, TELEGRAM_BOT_TOKEN: counts from the next start of switchboard dev."]);
  });
});
