/** Sound by vendors with words of their own: the ways that one request and one reply cannot show. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { formatSubtitles, groupSegments } from "../../connectors/providers/_subtitles.ts";
import type { JsonObject } from "../../src/contracts/openai.ts";
import type {
  CompletionRequest,
  OperationName,
  OperationRequest,
  OperationResponse,
} from "../../src/contracts/provider.ts";
import { denoRuntime } from "../../src/runtime/deno.ts";
import { fakeClock, testRuntime } from "../../src/runtime/test.ts";
import { loadedProviders } from "../support/connectors.ts";
import { completeResponse, json, type Script, startUpstream } from "../support/upstream.ts";
import { catchFailure } from "./_provider_calls.ts";
import { version } from "../../src/version.ts";

const bytes = new TextEncoder().encode("a sound");
const files = [{ field: "file", name: "a.mp3", type: "audio/mpeg", bytes }];

/** A provider on a clock whose waits take no time, and what becomes of a request. */
async function over(connector: string, script: Script) {
  const upstream = await startUpstream(script);
  const clock = fakeClock({ skipSleeps: true });
  const runtime = testRuntime({ clock, send: denoRuntime().send });
  const { create } = loadedProviders.find(({ id }) => id === connector)!;
  const provider = create({ id: connector, baseUrl: upstream.url, config: {} }, runtime);
  const dropped: string[] = [];
  const { signal } = new AbortController();
  const options = {
    signal,
    credential: "key-of-the-vendor",
    send: (sent: Parameters<typeof runtime.send>[0]) => runtime.send({ ...sent, signal }),
    reportDropped: (names: readonly string[]) => void dropped.push(...names),
  };
  return {
    clock,
    dropped,
    provider,
    requests: () => upstream.requests.map(({ method, path }) => `${method} ${path}`),
    sent: (index: number) => upstream.requests[index]!,
    async ask(operation: OperationName, body: JsonObject, more: Partial<OperationRequest> = {}) {
      const uploads = operation === "speech" ? {} : { files };
      const request = { operation, model: { id: "small" }, stream: false, body, ...uploads, ...more };
      return await provider.complete(request as unknown as CompletionRequest, options) as unknown as OperationResponse;
    },
    list: () => provider.listModels(options),
    [Symbol.asyncDispose]: () => upstream.close(),
  };
}

function decodeSound({ content }: OperationResponse): string {
  return new TextDecoder().decode(content!.bytes as Uint8Array);
}

describe("Sound by vendors with words of their own", () => {
  it("Azure's speech is asked for in SSML, in which no text is markup", async () => {
    await using vendor = await over("azure.tts.v1", completeResponse(200, bytes, "audio/mpeg"));
    const markup = async (body: JsonObject) => {
      const input = 'a < b & "c" > d\u0000\u0007.';
      const { content } = await vendor.ask("speech", { input, voice: "de-DE-KatjaNeural", ...body });
      await new Response(content!.bytes as BodyInit).arrayBuffer();
      const { headers, body: sent } = vendor.sent(vendor.requests().length - 1);
      assertEquals([headers["content-type"], headers["user-agent"]], ["application/ssml+xml", `modelmesh/${version}`]);
      assertEquals(headers["ocp-apim-subscription-key"], "key-of-the-vendor");
      return [headers["x-microsoft-outputformat"], sent];
    };
    const text = "a &lt; b &amp; &quot;c&quot; &gt; d  .";
    const speak = (inner: string, voice = "de-DE-KatjaNeural", language = "de-DE") =>
      `<speak version="1.0" xmlns="http://www.w3.org/2001/10/synthesis" xml:lang="${language}">` +
      `<voice name="${voice}">${inner}</voice></speak>`;
    assertEquals(await markup({}), ["audio-24khz-96kbitrate-mono-mp3", speak(text)]);
    assertEquals(await markup({ response_format: "wav", speed: 1.5 }), [
      "riff-24khz-16bit-mono-pcm",
      speak(`<prosody rate="1.5">${text}</prosody>`),
    ]);
    assertEquals(vendor.dropped, []);
    assertEquals((await markup({ speed: 4, instructions: "slowly" }))[1], speak(`<prosody rate="2">${text}</prosody>`));
    assertEquals(vendor.dropped, ["instructions", "speed"]);
    assertEquals((await markup({ voice: 'x"/>' }))[1], speak(text, "x&quot;/&gt;", "en-US"));
  });

  it("Azure's voices are listed as a list, which proves that it is there", async () => {
    await using vendor = await over("azure.tts.v1", [
      json([{ ShortName: "en-US-JennyNeural" }]),
      json("no"),
      completeResponse(200, "<h1>", "text/html"),
    ]);
    assertEquals((await vendor.list()).map(({ id }) => id), ["neural"]);
    assertEquals(vendor.requests(), ["GET /v1/voices/list"]);
    const kind = async () => vendor.provider.classifyError(await catchFailure(vendor.list));
    assertEquals([await kind(), await kind()], ["invalid_response", "invalid_response"]);
  });

  const upload = json({ upload_url: "https://cdn.example/1" });
  const state = (status: string, more: object = {}) => json({ id: "t/1", status, ...more });
  const completed = state("completed", {
    text: "Red. Green.",
    audio_duration: 3,
    language_code: "en",
    words: [{ text: "Red.", start: 250, end: 900 }],
  });

  it("AssemblyAI's transcript is uploaded, ordered, and asked for once a second until it is there", async () => {
    await using vendor = await over("assemblyai.stt.v1", [upload, state("queued"), state("processing"), completed]);
    const { body } = await vendor.ask("transcription", { language: "en", prompt: "colors" }, {
      model: { id: "universal-2" },
    });
    assertEquals(body, { text: "Red. Green.", usage: { type: "duration", seconds: 3 } });
    assertEquals(vendor.requests(), [
      "POST /v1/upload",
      "POST /v1/transcript",
      "GET /v1/transcript/t%2F1",
      "GET /v1/transcript/t%2F1",
    ]);
    assertEquals(vendor.sent(0).body, "a sound");
    assertEquals(vendor.sent(1).json(), {
      audio_url: "https://cdn.example/1",
      speech_models: ["universal-2"],
      language_code: "en",
    });
    for (const index of [0, 1, 2]) assertEquals(vendor.sent(index).headers.authorization, "key-of-the-vendor");
    assertEquals([vendor.clock.sleeps, vendor.dropped], [[1_000, 1_000], ["prompt"]]);
  });

  it("AssemblyAI writes subtitles itself, and sentences for verbose_json, in seconds", async () => {
    const srt = "1\n00:00:00,250 --> 00:00:00,900\nRed.\n";
    const sentences = json({ sentences: [{ text: "Red.", start: 250, end: 900 }] });
    await using vendor = await over("assemblyai.stt.v1", [
      ...[upload, completed, completeResponse(200, srt, "text/plain")],
      ...[upload, completed, sentences],
      ...[upload, completed],
    ]);
    assertEquals(decodeSound(await vendor.ask("transcription", { response_format: "srt" })), srt);
    const { body } = await vendor.ask("transcription", { response_format: "verbose_json" });
    assertEquals(body, {
      task: "transcribe",
      language: "en",
      duration: 3,
      text: "Red. Green.",
      segments: [{ id: 0, start: 0.25, end: 0.9, text: "Red." }],
      words: [{ word: "Red.", start: 0.25, end: 0.9 }],
      usage: { type: "duration", seconds: 3 },
    });
    assertEquals(decodeSound(await vendor.ask("transcription", { response_format: "text" })), "Red. Green.");
    assertEquals(vendor.requests().filter((line) => line.startsWith("GET")), [
      "GET /v1/transcript/t%2F1/srt",
      "GET /v1/transcript/t%2F1/sentences",
    ]);
  });

  it("AssemblyAI's failed transcripts are the sound's fault, or its servers'; odd states are neither", async () => {
    const ends = [
      [state("error", { error: "File does not appear to contain audio" }), "request"],
      [state("error", { error: "Server error, developers have been alerted" }), "server"],
      [state("error"), "request"],
      [state("lost"), "invalid_response"],
      [json({ status: "completed" }), "invalid_response"],
      [state("completed"), "invalid_response"],
      [json([]), "invalid_response"],
    ] as const;
    await using vendor = await over("assemblyai.stt.v1", ends.flatMap(([end]) => [upload, state("queued"), end]));
    for (const [, kind] of ends) {
      const error = await catchFailure(() => vendor.ask("transcription", {}));
      assertEquals(vendor.provider.classifyError(error), kind);
    }
  });

  /** Words as ElevenLabs lists them, those at an index with a time of their own. */
  function spoken(...words: readonly (readonly [text: string, start: number, end: number])[]) {
    return words.map(([text, start, end]) => ({
      text,
      start,
      end,
      type: text === " " ? "spacing" : "word",
      logprob: 0,
    }));
  }

  it("ElevenLabs' words become sentences, and those subtitles", async () => {
    const words = spoken(["Red", 0.1, 0.5], [" ", 0.5, 0.6], ["is.", 0.6, 1], [" ", 1, 1.1], [
      "Green",
      3_661.25,
      3_662,
    ]);
    const reply = json({ language_code: "eng", text: "Red is. Green", words });
    await using vendor = await over("elevenlabs.tts.v1", reply);
    const ask = (response_format: string) =>
      vendor.ask("transcription", { response_format, language: "en", temperature: 0.5, prompt: "colors" }, {
        model: { id: "scribe_v2" },
      });
    assertEquals(
      decodeSound(await ask("srt")),
      "1\n00:00:00,100 --> 00:00:01,000\nRed is.\n\n2\n01:01:01,250 --> 01:01:02,000\nGreen\n",
    );
    assertEquals(
      decodeSound(await ask("vtt")),
      "WEBVTT\n\n00:00:00.100 --> 00:00:01.000\nRed is.\n\n01:01:01.250 --> 01:01:02.000\nGreen\n",
    );
    assertEquals((await ask("verbose_json")).body, {
      task: "transcribe",
      language: "eng",
      duration: 3_662,
      text: "Red is. Green",
      segments: [{ id: 0, start: 0.1, end: 1, text: "Red is." }, { id: 1, start: 3_661.25, end: 3_662, text: "Green" }],
      words: [{ word: "Red", start: 0.1, end: 0.5 }, { word: "is.", start: 0.6, end: 1 }, {
        word: "Green",
        start: 3_661.25,
        end: 3_662,
      }],
      usage: { type: "duration", seconds: 3_662 },
    });
    const sent = [...vendor.sent(0).body.matchAll(/name="(\w+)"\r\n\r\n(.*)\r\n/g)].map((
      [, name, value],
    ) => [name, value]);
    assertEquals(sent, [["model_id", "scribe_v2"], ["tag_audio_events", "false"], ["language_code", "en"], [
      "temperature",
      "0.5",
    ]]);
    assertEquals(vendor.dropped, ["prompt", "prompt", "prompt"]);
  });

  it("segmentsOf() ends a segment with a sentence, a pause or two full lines; subtitlesOf() takes no segments, too", () => {
    const texts = (words: ReturnType<typeof spoken>) => groupSegments(words).map(({ text }) => text);
    assertEquals(texts(spoken([" ", 0, 0], ['"Go!"', 0, 1], [" ", 1, 1], ["on", 1, 2])), ['"Go!"', "on"]);
    assertEquals(texts(spoken(["a", 0, 1], [" ", 1, 3], ["b", 3, 4], ["c", 5.6, 6])), ["a b", "c"]);
    const long = Array.from({ length: 40 }, (_, at) => ["word ", at, at + 1] as const);
    assertEquals(groupSegments(spoken(...long)).map(({ text, start }) => [text.length, start]), [[84, 0], [84, 17], [
      29,
      34,
    ]]);
    assertEquals([texts([]), formatSubtitles([], "srt"), formatSubtitles([], "vtt")], [[], "", "WEBVTT\n"]);
  });

  it("Deepgram's utterances become subtitles", async () => {
    const results = {
      channels: [{ alternatives: [{ transcript: "Red. Green.", words: [] }] }],
      utterances: [{ start: 0.5, end: 1.0004, transcript: "Red." }, { start: 59.9999, end: 61, transcript: "Green." }],
    };
    await using vendor = await over("deepgram.audio.v1", json({ metadata: { duration: 61 }, results }));
    assertEquals(
      decodeSound(await vendor.ask("transcription", { response_format: "srt" })),
      "1\n00:00:00,500 --> 00:00:01,000\nRed.\n\n2\n00:01:00,000 --> 00:01:01,000\nGreen.\n",
    );
  });

  /** Gemini's response with some parts. */
  const answered = (parts: object[], more: object = {}) =>
    json({ candidates: [{ content: { parts }, finishReason: "STOP" }], ...more });

  it("Gemini's samples become a wave file unless they are asked for as such; tokens are counted", async () => {
    const samples = btoa("\u0001\u0002\u0003\u0004");
    const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 50 };
    const sound = (mimeType: string, data = samples) =>
      answered([{ text: "ok" }, { inlineData: { mimeType, data } }], { usageMetadata });
    await using vendor = await over("google.gemini.v1", [
      sound("audio/L16;codec=pcm;rate=16000"),
      sound("audio/L16", "a*"),
    ]);
    const { body, content } = await vendor.ask("speech", { input: "red", voice: "Kore", speed: 2 });
    const wave = content!.bytes as Uint8Array;
    const view = new DataView(wave.buffer);
    assertEquals([content!.type, wave.length, view.getUint32(24, true), view.getUint32(40, true)], [
      "audio/wav",
      48,
      16_000,
      4,
    ]);
    assertEquals([new TextDecoder().decode(wave.subarray(0, 4)), [...wave.subarray(44)]], ["RIFF", [1, 2, 3, 4]]);
    assertEquals((body.usage as JsonObject).output_tokens, 50);
    assertEquals(vendor.dropped, ["speed"]);
    const error = await catchFailure(() => vendor.ask("speech", { input: "red", voice: "Kore" }));
    assertEquals(vendor.provider.classifyError(error), "invalid_response");
  });

  it("Gemini hears a language and a prompt", async () => {
    const usageMetadata = {
      promptTokenCount: 40,
      candidatesTokenCount: 5,
      thoughtsTokenCount: 2,
      promptTokensDetails: [{ modality: "AUDIO", tokenCount: 32 }],
    };
    await using vendor = await over("google.gemini.v1", [
      answered([{ text: "thinking", thought: true }, { text: "Red." }], { usageMetadata }),
      json({ promptFeedback: { blockReason: "SAFETY" } }),
      answered([]),
    ]);
    const asked = { language: "de", prompt: 'a "b"', temperature: 0, response_format: "text", include: ["logprobs"] };
    const first = await vendor.ask("transcription", asked);
    assertEquals(decodeSound(first), "Red.");
    assertEquals(first.body.usage, {
      type: "tokens",
      input_tokens: 40,
      output_tokens: 7,
      total_tokens: 47,
      input_token_details: { audio_tokens: 32, text_tokens: 8 },
    });
    const { contents, generationConfig } = vendor.sent(0).json();
    assertStringIncludes(
      contents[0].parts[0].text,
      'The language spoken is "de". What came before it, or words that may',
    );
    assertStringIncludes(contents[0].parts[0].text, '"a \\"b\\""');
    assertEquals([generationConfig, vendor.dropped], [{ temperature: 0 }, ["include"]]);
    const refused = await catchFailure(() => vendor.ask("transcription", {}));
    assertEquals(vendor.provider.classifyError(refused), "request");
    assertEquals((await vendor.ask("transcription", {})).body, { text: "" }); // silence
  });

  it("Gemini is not asked for what one request cannot carry", async () => {
    await using vendor = await over("google.gemini.v1", answered([]));
    const large = [{ ...files[0]!, bytes: new Uint8Array(14 * 1024 * 1024 + 1) }];
    const error = await catchFailure(() => vendor.ask("transcription", {}, { files: large }));
    assertEquals([vendor.provider.classifyError(error), vendor.requests()], ["request", []]);
  });
});
