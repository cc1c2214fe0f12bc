import { expect, it } from "vitest";
import { createGate } from "../../../lab/support/gate.ts";
import { holdAt, say } from "../support/scripted-model.ts";
import { untilReached } from "../support/until-reached.ts";
import { createWorld } from "../support/world.ts";

it("lets a bot's own /stop and /new do what the built-in ones do, in its own words", async () => {
  const gate = createGate();
  const world = createWorld({
    messenger: { delivery: { stoppedResponseText: "(angehalten)", editEveryMs: 0 } },
    script: ({ prompt, said }) =>
      said === "Warte" ? [holdAt(gate)] : [say(`${prompt.filter(({ role }) => role === "user").length}`)],
    commands: {
      stop: {
        description: "Hält die Antwort an",
        handler: ({ stop }) => (stop() ? undefined : "Es läuft keine Antwort."),
      },
      new: {
        description: "Beginnt von vorn",
        handler: ({ beginAnew }) => {
          beginAnew();
          return "Von vorn.";
        },
      },
    },
  });
  await world.write("c1", "/stop");
  await world.shows("c1", "Es läuft keine Antwort.");
  await world.write("c1", "Warte");
  await untilReached(gate);
  await world.write("c1", "/stop");
  await world.shows("c1", "Es läuft keine Antwort.", "(angehalten)");
  await world.write("c1", "/new");
  await world.write("c1", "Hallo");
  await world.shows("c1", "Es läuft keine Antwort.", "(angehalten)", "Von vorn.", "1");
  expect(world.requests.map(({ said }) => said)).toEqual(["Warte", "Hallo"]);
  gate.open();
});
