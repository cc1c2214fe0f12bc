import { afterEach, describe, expect, it, vi } from "vitest";
import { consoleLogOf } from "../../../src/log/console-log.ts";

afterEach(() => {
  vi.restoreAllMocks();
});

describe("the log of the console", () => {
  it.each([undefined, {}, { DEBUG: "" }, { DEBUG: "0" }, { DEBUG: "express:*" }, { DEBUG: true }])(
    "reveals nothing with the environment %j",
    (env) => {
      expect(consoleLogOf(env).reveal("psst")).toBeUndefined();
    },
  );

  it.each(["1", "true"])("reveals words with DEBUG=%s, but no secret", (DEBUG) => {
    const log = consoleLogOf({
      DEBUG,
      TELEGRAM_WEBHOOK_SECRET_TOKEN: 'hush"hush',
      SHOP_PASSWORD: "open sesame",
      GREETING: "good morning",
    });
    const words = [
      'no hush"hush, no hush%22hush',
      "no open sesame and no open%20sesame",
      "no https://api.telegram.org/bot7000000001:AAtokenTOKENtokenTOKEN/getMe",
      "no Bearer abc.def and no sk-abcdefghijk",
      "no https://ada:pass@shop.example/",
      "but good morning",
    ].join("; ");
    const revealed = log.reveal(words);
    expect(revealed).not.toMatch(/hush|sesame|tokenTOKEN|abc\.def|sk-abc|ada:pass/);
    expect(revealed).toContain("but good morning");
  });

  it("cuts what is too long", () => {
    expect(consoleLogOf({ DEBUG: "1" }).reveal("a ".repeat(5_000))?.length).toBeLessThanOrEqual(1_001);
  });

  it("is written to the console by its level", () => {
    const spies = (["log", "warn", "error"] as const).map((level) =>
      vi.spyOn(console, level).mockImplementation(() => {}),
    );
    const log = consoleLogOf({});
    log.info("a");
    log.warn("b");
    log.error("c");
    expect(spies.map(({ mock }) => mock.calls.length)).toEqual([1, 1, 1]);
  });
});
