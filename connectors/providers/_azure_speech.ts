/**
 * Azure Speech: SSML requests, audio responses.
 *
 * Sources: learn.microsoft.com/azure/ai-services/speech-service/rest-text-to-speech (formats, headers) and
 * /speech-synthesis-markup-voice (the rate, 0.5 to 2 times the voice's own).
 * @module
 */
import type { OperationCall } from "../../src/contracts/provider.ts";
import { getSoundType } from "../../src/util/audio_format.ts";
import { undeclaredParams } from "./_dropped_params.ts";
import type { Post } from "./_openai_vendor.ts";
import { readAudio } from "./_audio.ts";
import { findOwn } from "../../src/util/entries.ts";
import { toText } from "../../src/util/to_text.ts";

/** Output formats, at the sample rates of OpenAI's API. */
const formats: Readonly<Record<string, string>> = {
  mp3: "audio-24khz-96kbitrate-mono-mp3",
  opus: "ogg-24khz-16bit-mono-opus",
  wav: "riff-24khz-16bit-mono-pcm",
  pcm: "raw-24khz-16bit-mono-pcm",
};
const translated: ReadonlySet<string> = /* @__PURE__ */ new Set([
  ...["model", "input", "voice", "response_format", "speed", "stream_format"],
]);
const rates = { min: 0.5, max: 2 };
const encoder = /* @__PURE__ */ new TextEncoder();

/**
 * Text to speech. The voice name contains the language.
 *
 * @param post Posts to the vendor.
 */
export function azureSpeechCall(post: Post): OperationCall {
  return async (request, options) => {
    const { body } = request;
    const speed = typeof body.speed === "number" ? body.speed : 1;
    const rate = Math.min(rates.max, Math.max(rates.min, speed));
    const left = [...undeclaredParams(body, translated), ...(rate === speed ? [] : ["speed"])];
    if (left.length > 0) options.reportDropped?.(left);
    const format = typeof body.response_format === "string" ? body.response_format : "mp3";
    const headers = { "x-microsoft-outputformat": findOwn(formats, format) ?? format };
    const ssml = speechMarkup({ text: toText(body.input), voice: toText(body.voice), rate });
    const raw = { type: "application/ssml+xml", chunks: [encoder.encode(ssml)] };
    return {
      body: {},
      content: await readAudio(await post("v1", { ...request, headers, raw }, options), getSoundType(format)),
    };
  };
}

function speechMarkup({ text, voice, rate }: { text: string; voice: string; rate: number }): string {
  const speechParams = rate === 1 ? escapeXml(text) : `<prosody rate="${rate}">${escapeXml(text)}</prosody>`;
  const language = /^[a-z]{2,3}-[A-Za-z]{2,4}(?=-)/.exec(voice)?.[0] ?? "en-US";
  return `<speak version="1.0" xmlns="http://www.w3.org/2001/10/synthesis" xml:lang="${language}">` +
    `<voice name="${escapeXml(voice)}">${speechParams}</voice></speak>`;
}

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** Escapes text for XML; characters that XML does not allow become spaces. */
function escapeXml(text: string): string {
  // deno-lint-ignore no-control-regex
  return text.replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g, " ").replace(/[&<>"]/g, (sign) => entities[sign]!);
}
