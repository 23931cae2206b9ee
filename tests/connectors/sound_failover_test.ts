/** Sound that fails over between vendors: the format stays, the voice is each vendor's own, and no other vendor's wish is lost. */
import { assertEquals } from "@std/assert";
import { create, routingOf } from "../../mod.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { completeResponse, json, type Script, startUpstream, status } from "../support/upstream.ts";

const busy = status(503);
const file = new File([new Uint8Array([1, 2, 3])], "a.mp3", { type: "audio/mpeg" });

/** A client of models of several vendors, in order: each by its connector and id, with what its vendor answers. */
async function over(vendors: readonly (readonly [connector: string, model: string, script: Script, more?: object])[]) {
  const upstreams = await Promise.all(vendors.map(([, , script]) => startUpstream(script)));
  const names = vendors.map(([connector]) => connector.split(".")[0]!);
  const per = <One>(make: (index: number) => One) =>
    Object.fromEntries(names.map((name, index) => [name, make(index)]));
  const client = create({
    clock: fakeClock({ skipSleeps: true }),
    config: {
      providers: per((at) => ({
        connector: vendors[at]![0],
        base_url: upstreams[at]!.url,
        api_key: `key-of-${names[at]}-0123`,
      })),
      models: per((at) => ({ provider: names[at]!, model: vendors[at]![1], ...vendors[at]![3] })),
      pools: { pool: { models: names, strategy: "priority", model_priority: names, retry: { max_attempts: 0 } } },
    },
  });
  return {
    client,
    paths: () => upstreams.map(({ requests }) => requests.map(({ path }) => path)),
    sent: (index: number) => upstreams[index]!.requests[0]!,
    async [Symbol.asyncDispose]() {
      await client.close();
      for (const upstream of upstreams) await upstream.close();
    },
  };
}

Deno.test("subtitles come from whichever vendor listens", async () => {
  const srt = "1\n00:00:00,250 --> 00:00:00,900\nRed.\n";
  const words = [{ text: "Red.", start: 0.25, end: 0.9, type: "word" }];
  const order = json({ upload_url: "https://cdn.example/1", id: "t1", status: "error", error: "Server error" });
  await using scene = await over([
    ["deepgram.audio.v1", "nova-3", busy],
    ["assemblyai.stt.v1", "universal-2", order],
    ["google.gemini.v1", "gemini-3.8-flash", busy],
    ["elevenlabs.tts.v1", "scribe_v2", json({ language_code: "eng", text: "Red.", words })],
  ]);
  const ask = { file, response_format: "srt", language: "en" } as const;
  assertEquals(await scene.client.audio.transcriptions.create(ask), srt);
  assertEquals(scene.paths(), [
    ["/v1/listen?model=nova-3&smart_format=true&utterances=true&language=en"],
    ["/v1/upload", "/v1/transcript"],
    [], // it has no subtitles
    ["/v1/speech-to-text"],
  ]);
});

Deno.test("a speech keeps its format, and has the voice that stands for the one asked for", async () => {
  const voices = { alloy: "en-GB-SoniaNeural", default: "en-US-JennyNeural" };
  await using scene = await over([
    ["elevenlabs.tts.v1", "eleven_flash_v2_5", busy, { voices: { alloy: "JBFqnCBsd6RMkjVDRZzb" } }],
    ["google.gemini.v1", "gemini-3.8-flash-tts", busy, { voices: { alloy: "Kore" } }],
    ["azure.tts.v1", "neural", completeResponse(200, new Uint8Array([1, 2, 3]), "audio/mpeg"), { voices }],
  ]);
  const speech = await scene.client.audio.speech.create({ input: "Red.", voice: "alloy" });
  assertEquals([speech.headers.get("content-type"), (await speech.bytes()).length], ["audio/mpeg", 3]);
  assertEquals(scene.paths().map((paths) => paths.length), [1, 0, 1]); // Gemini has no mp3
  assertEquals(scene.sent(0).path.includes("JBFqnCBsd6RMkjVDRZzb"), true);
  assertEquals(/<voice name="([^"]*)"/.exec(scene.sent(2).body)?.[1], "en-GB-SoniaNeural");
  assertEquals(routingOf(speech)?.fallback_chain.map(({ model, outcome }) => [model, outcome]), [
    ["elevenlabs", "server"],
    ["azure", "ok"],
  ]);
});
