/** Speech to text and its translation end to end: over real HTTP, by the library and by the official client. */
import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { describe, it } from "@std/testing/bdd";
import { toFile } from "openai";
import { create, type FileInput, type Provider, routingOf, UnsupportedRequestError } from "../../mod.ts";
import { findBoundary, readForm } from "../../src/util/multipart.ts";
import { customProvider } from "../support/_custom_provider.ts";
import { environment } from "../support/_library.ts";
import { createSdk } from "../support/_dialect_proxy.ts";
import { type OperationOptions, operationStage } from "../support/_operations.ts";
import { createWave } from "../support/_sound.ts";
import { tally } from "../support/_tuned.ts";
import { assertMatchesSchema } from "../support/schema.ts";
import {
  completeResponse,
  json,
  type ReceivedRequest,
  type Script,
  startUpstream,
  status,
} from "../support/upstream.ts";

const sound = createWave(3);
const file = new File([sound], "a.wav", { type: "audio/wav" });
const files = [{ field: "file", name: "a.wav", type: "audio/wav", bytes: sound }];
const heard = json({ text: "Hello", usage: { type: "duration", seconds: 3 } });

const stage = (cast: Readonly<Record<string, Script>>, options: Partial<OperationOptions> = {}) =>
  operationStage(cast, { capability: "speech-to-text", ...options });

/** A form for the pool; undefined leaves a field out. */
function createForm(fields: Readonly<Record<string, unknown>> = {}): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries({ model: "pool", file, ...fields })) {
    for (const one of [value].flat()) if (one !== undefined) form.append(name, one instanceof File ? one : String(one));
  }
  return form;
}

/** Options of a post that is a form. */
const upload = (fields: Readonly<Record<string, unknown>> = {}) => ({ headers: {}, body: createForm(fields) });

/** What a provider was sent: fields, and the file. */
function parseSent({ headers, bytes }: ReceivedRequest) {
  const { fields, files } = readForm(new Uint8Array(bytes), findBoundary(headers["content-type"]!)!)!;
  return { fields: Object.fromEntries(fields), files };
}

describe("POST /v1/audio/transcriptions", () => {
  it("answers in OpenAI's shape, passes the form on, and says where it went", async () => {
    await using scene = await stage({ a: heard });
    const fields = {
      language: "en",
      prompt: "Names",
      temperature: 0.5,
      "timestamp_granularities[]": ["word", "segment"],
    };
    const response = await scene.post("audio/transcriptions", {}, upload(fields));
    assertEquals([response.status, response.headers.get("x-mesh-model")], [200, "a"]);
    assertMatchesSchema("CreateTranscriptionResponseJson", response.json);
    const request = scene.upstreams.a!.requests[0]!;
    assertEquals(request.path, "/v1/audio/transcriptions");
    const { fields: sent, files } = parseSent(request);
    assertEquals(sent, {
      model: "a",
      language: "en",
      prompt: "Names",
      temperature: "0.5",
      "timestamp_granularities[]": "segment", // the last of two
    });
    assertEquals(files, [{ field: "file", name: "a.wav", type: "audio/wav", bytes: sound }]);
  });

  const subtitles = "1\n00:00:00,000 --> 00:00:03,000\nHello\n";
  const texts = [["text", "Hello", "text/plain"], ["srt", subtitles, "x-subrip"], [
    "vtt",
    "WEBVTT",
    "text/vtt",
  ]] as const;
  for (const [format, text, type] of texts) {
    it(`answers with the text itself for the format ${format}`, async () => {
      await using scene = await stage({ a: completeResponse(200, text, "text/plain") });
      const response = await scene.post("audio/transcriptions", {}, upload({ response_format: format }));
      assertEquals(response.text, text);
      assertStringIncludes(response.headers.get("content-type")!, type);
    });
  }

  it("answers with the text itself where a server writes it into JSON", async () => {
    await using scene = await stage({ a: [json({ text: "Hello" }), json("Hello"), json({ text: subtitles })] });
    const ask = async (response_format: string) =>
      (await scene.post("audio/transcriptions", {}, upload({ response_format }))).text;
    assertEquals([await ask("text"), await ask("text"), await ask("srt")], ["Hello", "Hello", subtitles]);
  });

  it("passes verbose_json on as it came", async () => {
    const body = {
      task: "transcribe",
      language: "english",
      duration: 3,
      text: "Hello",
      segments: [],
      words: [{ word: "Hello", start: 0, end: 1 }],
    };
    await using scene = await stage({ a: json(body) }, { models: { a: { pricing: { per_minute: 1 } } } });
    const response = await scene.post("audio/transcriptions", {}, upload({ response_format: "verbose_json" }));
    assertEquals([response.json, response.headers.get("x-mesh-cost-usd")], [body, "0.05"]);
  });

  it("comes from the next model when one fails, or answers with something else", async () => {
    const page = completeResponse(200, "<html>", "text/html");
    for (const broken of [status(503), json({}), json({ error: { message: "no" } }), page]) {
      await using scene = await stage({ a: broken, b: heard }, { pool: { retry: { max_attempts: 0 } } });
      const response = await scene.post("audio/transcriptions", {}, upload());
      assertEquals([response.status, response.headers.get("x-mesh-model")], [200, "b"]);
      assertEquals(parseSent(scene.upstreams.b!.requests[0]!).files[0]!.bytes, sound);
      const { capability, fallback_chain } = scene.routing;
      assertEquals(capability, "understanding.audio.speech-to-text");
      assertEquals(fallback_chain.map(({ model }) => model), ["a", "b"]);
    }
  });

  it("comes from the next model when subtitles are asked for and text comes", async () => {
    await using scene = await stage({ a: json({ text: "Hello" }), b: completeResponse(200, "WEBVTT", "text/vtt") });
    const response = await scene.post("audio/transcriptions", {}, upload({ response_format: "vtt" }));
    assertEquals([response.text, response.headers.get("x-mesh-model")], ["WEBVTT", "b"]);
  });

  it("deactivates a model that fails again and again", async () => {
    await using scene = await stage({ a: status(500), b: heard }, {
      pool: { retry: { max_attempts: 0 }, deactivation: { retry_limit: 2 } },
    });
    for (let count = 0; count < 4; count++) await scene.post("audio/transcriptions", {}, upload());
    assertEquals(scene.calls, { a: 2, b: 4 });
  });

  it("takes silence for what it is", async () => {
    await using scene = await stage({ a: json({ text: "" }), b: heard });
    const response = await scene.post("audio/transcriptions", {}, upload());
    assertEquals([response.json.text, response.headers.get("x-mesh-model")], ["", "a"]);
  });
});

describe("Transcripts under limits", () => {
  const models = { a: { pricing: { per_minute: 2 } } }; // ten cents for the sound

  it("spend a budget to the cent, and no more, however many come at once", async () => {
    await using scene = await stage({ a: heard }, { models, pool: { budget: { daily_limit: 0.3 } } });
    const ask = () => scene.client.audio.transcriptions.create({ file }).then(() => "ok", ({ code }) => code);
    assertEquals(tally(await Promise.all(Array.from({ length: 8 }, ask))), { ok: 3, budget_exceeded: 5 });
    assertEquals(scene.client.stats().find(({ scope }) => scope === "pool")!.cost_total, 0.3);
  });

  it("cost what their provider reports, else what the file says of itself, marked as an estimate", async () => {
    const usages = [{ usage: { type: "duration", seconds: 6 } }, { usage: { prompt_audio_seconds: 9 } }, {}, {
      usage: "?",
    }];
    await using scene = await stage({ a: usages.map((usage) => json({ text: "Hello", ...usage })) }, { models });
    const seen: unknown[] = [];
    for (const _ of usages) {
      const { headers } = await scene.post("audio/transcriptions", {}, upload());
      seen.push([headers.get("x-mesh-cost-usd"), scene.routing.cost_usd, scene.routing.estimated]);
    }
    assertEquals(seen, [["0.2", 0.2, undefined], ["0.3", 0.3, undefined], [null, 0.1, true], [null, 0.1, true]]);
  });

  it("cost their tokens, those of sound at their own price", async () => {
    const usage = { type: "tokens", input_tokens: 110, output_tokens: 10, input_token_details: { audio_tokens: 100 } };
    const pricing = { input: 1000, output: 2000, audio_input: 3000 };
    await using scene = await stage({ a: json({ text: "Hello", usage }) }, { models: { a: { pricing } } });
    const { headers } = await scene.post("audio/transcriptions", {}, upload());
    assertEquals(headers.get("x-mesh-cost-usd"), "0.33");
    assertEquals([scene.routing.tokens_in, scene.routing.tokens_out], [110, 10]);
  });

  it("count towards what the vendor allows", async () => {
    await using scene = await stage({ a: heard, b: heard }, { models: { a: { limits: { rpm: 2 } } } });
    const ask = async () => routingOf(await scene.client.audio.transcriptions.create({ file }))!.model;
    assertEquals(tally(await Promise.all(Array.from({ length: 5 }, ask))), { a: 2, b: 3 });
  });
});

describe("A transcript goes to a model", () => {
  const modelFor = async (models: Readonly<Record<string, object>>, fields: object, path = "transcriptions") => {
    await using scene = await stage({ a: heard, b: heard }, { models });
    return (await scene.post(`audio/${path}`, {}, upload({ ...fields }))).headers.get("x-mesh-model");
  };

  it("that has the format, and each has json", async () => {
    const models = { a: { response_formats: ["json"] }, b: { response_formats: ["json", "verbose_json"] } };
    assertEquals(await modelFor(models, { response_format: "verbose_json" }), "b");
    assertEquals(await modelFor(models, {}), "a");
  });

  it("that knows the language", async () => {
    const models = { a: { constraints: { supported_languages: ["de"] } } };
    assertEquals([await modelFor(models, { language: "en" }), await modelFor(models, { language: "de" })], ["b", "a"]);
  });

  it("that has room for the file", async () => {
    assertEquals(await modelFor({ a: { constraints: { max_file_size: "20KiB" } } }, {}), "b");
  });

  it("or is refused, with what each lacks", async () => {
    await using scene = await stage({ a: heard }, { models: { a: { response_formats: ["json"] } } });
    const response = await scene.post("audio/transcriptions", {}, upload({ response_format: "srt" }));
    assertEquals([response.status, response.json.error.code], [400, "unsupported_by_pool"]);
    assertStringIncludes(response.json.error.message, 'transcript in the format "srt"');
  });

  it("and explains why", async () => {
    await using scene = await stage({ a: heard, b: heard }, { models: { a: { response_formats: ["json"] } } });
    const asked = { response_format: "srt" };
    const { order, excluded } = await scene.client.explain(asked, { operation: "transcription", files });
    assertEquals([order.map(({ model }) => model), excluded], [["b"], [{ model: "a", reason: "features" }]]);
  });
});

describe("A bad transcription request", () => {
  const form = "multipart/form-data; boundary=b";
  const cases: readonly (readonly [what: string, init: RequestInit, status: number, param: string | null])[] = [
    ["no file", upload({ file: undefined }), 400, "file"],
    ["an empty file", upload({ file: new File([], "a.wav") }), 400, "file"],
    ["a text for a file", upload({ file: "sound" }), 400, "file"],
    ["two files", upload({ file: [file, file] }), 400, "file"],
    ["no model", upload({ model: undefined }), 400, "model"],
    ["an unknown model", upload({ model: "nothing" }), 404, "model"],
    ["a temperature over 1", upload({ temperature: 2 }), 400, "temperature"],
    ["a temperature that is no number", upload({ temperature: "warm" }), 400, "temperature"],
    ["unknown granularities", upload({ "timestamp_granularities[]": "page" }), 400, "timestamp_granularities"],
    ["a stream, which no model has", upload({ stream: true }), 400, "model"],
    ["another boundary", { body: "--c\r\n\r\n--c--", headers: { "content-type": form } }, 400, null],
    ["no boundary", { body: "--b--", headers: { "content-type": "multipart/form-data" } }, 400, null],
    ["cut short", { body: "--b\r\ncontent-disposition: form-data", headers: { "content-type": form } }, 400, null],
    ["JSON", { body: "{}", headers: { "content-type": "application/json" } }, 415, null],
  ];
  for (const [what, init, code, param] of cases) {
    it(`is refused: ${what}`, async () => {
      await using scene = await stage({ a: heard });
      const response = await scene.post("audio/transcriptions", {}, init);
      const { error } = response.json;
      assertMatchesSchema("ErrorResponse", { error });
      assertEquals([response.status, error.param], [code, param]);
      assertEquals(scene.calls.a, 0);
    });
  }

  it("is refused over the limit of uploads, which is none of other bodies", async () => {
    const proxy = { upload_limit: "20KiB", body_limit: "1KiB" };
    await using scene = await stage({ a: heard }, { config: { proxy } });
    const small = upload({ file: new File([sound.subarray(0, 15_000)], "a.wav") });
    assertEquals((await scene.post("audio/transcriptions", {}, small)).status, 200);
    const { status: code, json: { error } } = await scene.post("audio/transcriptions", {}, upload());
    assertEquals([code, error.code], [413, "request_too_large"]);
    assertStringIncludes(error.message, "(proxy.upload_limit)");
  });

  it("is what a provider says it is, when all say so", async () => {
    await using scene = await stage({ a: status(400) });
    const response = await scene.post("audio/transcriptions", {}, upload());
    assertEquals(response.status, 400);
    assertStringIncludes(response.json.error.message, "Scripted 400");
  });
});

describe("client.audio.transcriptions", () => {
  it("answers by the pool for it of detected providers", async () => {
    await using upstream = await startUpstream(heard);
    const client = create({ env: environment({ openai: upstream.url }) });
    const answer = await client.audio.transcriptions.create({ file });
    assertEquals([answer.text, routingOf(answer)!.pool], ["Hello", "speech-to-text"]);
    assertEquals(parseSent(upstream.requests[0]!).fields.model, "gpt-transcribe");
    await client.close();
  });

  async function* inPieces(): AsyncGenerator<Uint8Array> {
    yield await Promise.resolve(sound.subarray(0, 100));
    yield sound.subarray(100);
  }
  const inputs: readonly (readonly [what: string, input: () => FileInput, name: string, type: string])[] = [
    ["a File", () => file, "a.wav", "audio/wav"],
    ["a Blob", () => new Blob([sound], { type: "audio/x-wav" }), "file", "audio/x-wav"],
    ["bytes", () => sound, "file", "application/octet-stream"],
    ["a buffer", () => sound.buffer, "file", "application/octet-stream"],
    ["a Response", () => new Response(sound, { headers: { "content-type": "audio/wav" } }), "file", "audio/wav"],
    ["a stream", () => new Blob([sound]).stream(), "file", "application/octet-stream"],
    ["a stream of a file", () => Object.assign(inPieces(), { path: "/tmp/b.mp3" }), "b.mp3", "audio/mpeg"],
  ];
  for (const [what, input, name, type] of inputs) {
    it(`takes ${what}`, async () => {
      await using scene = await stage({ a: heard });
      assertEquals((await scene.client.audio.transcriptions.create({ file: input() })).text, "Hello");
      assertEquals(parseSent(scene.upstreams.a!.requests[0]!).files, [{ field: "file", name, type, bytes: sound }]);
    });
  }

  it("answers with a string for the formats that are text", async () => {
    await using scene = await stage({ a: completeResponse(200, "WEBVTT", "text/vtt") });
    const text: string = await scene.client.audio.transcriptions.create({ file, response_format: "vtt" });
    assertEquals(text, "WEBVTT");
  });

  it("throws what is wrong with a request, and stops by its signal", async () => {
    await using scene = await stage({ a: heard });
    const { transcriptions } = scene.client.audio;
    for (const wrong of [undefined, "speech.mp3", 5, new Uint8Array()]) {
      const asked = { file: wrong as unknown as FileInput };
      await assertRejects(() => transcriptions.create(asked), UnsupportedRequestError, '"file"');
    }
    const reason = new Error("enough");
    const error = await assertRejects(() => transcriptions.create({ file }, { signal: AbortSignal.abort(reason) }));
    assert(error === reason);
  });
});

describe("Translation of speech", () => {
  it("goes to its own endpoint of a provider, by proxy and by client", async () => {
    await using scene = await stage({ a: heard });
    assertEquals((await scene.post("audio/translations", {}, upload())).json.text, "Hello");
    assertEquals((await scene.client.audio.translations.create({ file })).text, "Hello");
    assertEquals(scene.upstreams.a!.requests.map(({ path }) => path), Array(2).fill("/v1/audio/translations"));
  });

  it("skips models and providers that only transcribe", async () => {
    await using upstream = await startUpstream(heard);
    const client = create({ env: environment({ openai: upstream.url, groq: upstream.url, mistral: upstream.url }) });
    const asked = { model: "speech-to-text" };
    const { order, excluded } = await client.explain(asked, { operation: "audio-translation", files });
    assertEquals(order, []);
    assertEquals(excluded, [
      { model: "mistral.voxtral-mini-latest", reason: "delivery" },
      { model: "openai.gpt-transcribe", reason: "features" },
      { model: "groq.whisper-large-v3-turbo", reason: "features" },
    ]);
    const answer = await client.audio.translations.create({ file, model: "groq/whisper-large-v3" });
    assertEquals(routingOf(answer)!.model, "groq.whisper-large-v3");
    await client.close();
  });
});

describe("A provider of a program", () => {
  const over = (complete: Provider["complete"]) =>
    create({
      config: {
        providers: { own: { instance: customProvider({ operations: ["transcription"], complete }) } },
        models: { m: { provider: "own", capabilities: ["speech-to-text"], pricing: { per_minute: 6 } } },
        pools: { pool: { models: ["m"] } },
      },
    });

  it("gets what is asked as an AudioRequest, and may answer with an AudioResponse alone", async () => {
    let extra: unknown;
    await using client = over((request) => {
      extra = request.extra;
      return Promise.resolve({ extra: { text: "Hello", duration: 2 } });
    });
    const { transcriptions } = client.audio;
    assertEquals(await transcriptions.create({ file: sound, language: "en" }), { text: "Hello", duration: 2 });
    assertEquals(extra, { input: sound, format: "json", model: "m", language: "en" });
    assertEquals(await transcriptions.create({ file: sound, response_format: "text" }), "Hello");
    assertEquals(client.stats().find(({ scope }) => scope === "model")!.cost_total, 0.4);
  });

  it("that answers without text has failed", async () => {
    await using client = over(() => Promise.resolve({ extra: { audio: sound } }));
    const { code } = await client.audio.transcriptions.create({ file: sound }).catch((error) => error);
    assertEquals(code, "all_attempts_failed");
  });
});

describe("The openai package", () => {
  it("gets transcripts, whole and as text, and translations", async () => {
    await using scene = await stage({ a: [heard, completeResponse(200, "Hello", "text/plain"), heard] });
    const { transcriptions, translations } = createSdk(scene.proxy).audio;
    const sent = await toFile(sound, "a.wav");
    assertEquals((await transcriptions.create({ model: "pool", file: sent })).text, "Hello");
    const granular = { timestamp_granularities: ["word" as const], response_format: "text" as const };
    assertEquals(await transcriptions.create({ model: "pool", file: sent, ...granular }), "Hello");
    assertEquals((await translations.create({ model: "pool", file: sent })).text, "Hello");
  });
});
