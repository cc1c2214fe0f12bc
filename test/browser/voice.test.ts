import { describe, expect, it } from "vitest";
import { usePage } from "./page-rig.ts";

const rig = usePage();
const record = () => rig.page.getByRole("button", { name: "Record a voice message" });
const allowMicrophone = () => rig.page.context().grantPermissions(["microphone"]);
const finish = () => rig.page.getByRole("button", { name: "Finish the recording" });
const context = () => rig.page.locator("#context-text");

describe("a voice message from the microphone", () => {
  it("is recorded, and sent as OGG with Opus that can be played", async () => {
    await allowMicrophone();
    await record().press("Enter");
    await rig.page.getByText("Recording", { exact: true }).waitFor();
    await rig.page.getByRole("timer").getByText("0:01").waitFor();
    await finish().press("Enter");
    await context().getByText("voice.ogg").waitFor();
    await rig.write("");
    const voice = rig.page.getByRole("log").getByLabel("Voice message");
    await voice.waitFor();
    await voice.evaluate((audio) => Reflect.get(audio, "play").call(audio));
    await expect
      .poll(() => voice.evaluate((audio) => Reflect.get(audio, "currentTime")))
      .toBeGreaterThan(0.2);
    const played = Number(await voice.evaluate((audio) => Reflect.get(audio, "duration")));
    await rig.simulator.waitFor(() => rig.webhook.received.length === 1);
    const sent = rig.webhook.received[0]?.update.message?.voice;
    expect(sent).toMatchObject({ mime_type: "audio/ogg", duration: Math.round(played) });
    const { file_path: path } = await rig.api.getFile(sent?.file_id ?? "");
    const file = await fetch(`${rig.simulator.url}/file/bot${rig.simulator.token}/${path}`);
    const bytes = Buffer.from(await file.arrayBuffer());
    expect(bytes.toString("latin1", 0, 4)).toBe("OggS");
    expect(bytes.toString("latin1", 28, 36)).toBe("OpusHead");
  });

  it("is not sent when the person discards it, or opens another chat", async () => {
    rig.simulator.privateChat(rig.simulator.addUser({ first_name: "Bob" }));
    await allowMicrophone();
    await record().press("Enter");
    await rig.page.getByRole("timer").waitFor();
    await rig.page.getByRole("button", { name: "Discard" }).press("Enter");
    await rig.page.getByRole("timer").waitFor({ state: "hidden" });
    await record().press("Enter");
    await finish().waitFor();
    await rig.entry("Bob").click();
    await rig.page.getByRole("timer").waitFor({ state: "hidden" });
    await rig.write("Hello");
    await rig.simulator.waitFor(() => rig.webhook.received.length === 1);
    expect(rig.webhook.received[0]?.update.message?.text).toBe("Hello");
  });

  it("is finished and sent at once by the button that sends", async () => {
    await allowMicrophone();
    await record().press("Enter");
    // A recording that ends at once has no sound.
    await rig.page.getByRole("timer").getByText("0:01").waitFor();
    await rig.page.getByRole("button", { name: "Send", exact: true }).press("Enter");
    await rig.page.getByRole("log").getByLabel("Voice message").waitFor();
    expect(await context().isVisible()).toBe(false);
  });

  it("is not possible, in plain words, when the browser refuses the microphone", async () => {
    await record().press("Enter");
    await rig.page
      .getByRole("status")
      .getByText(
        "The browser does not let this page use the microphone. Allow it in the page's settings. " +
          "You can attach a recording instead.",
      )
      .waitFor();
    expect(await record().getAttribute("aria-pressed")).toBe("false");
  });
});
