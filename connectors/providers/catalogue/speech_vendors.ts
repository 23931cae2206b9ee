/**
 * Models of vendors of speech, a list for each.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** ElevenLabs' audio models. Prices are those of its API without a plan. */
export const elevenlabs: readonly CatalogueEntry[] = [
  {
    id: "eleven_multilingual_v2",
    serves: ["generation.audio.text-to-speech"],
    voices: "JBFqnCBsd6RMkjVDRZzb 21m00Tcm4TlvDq8ikWAM",
    formats: "mp3 pcm",
    isDefault: true,
    pricing: [{ per_million_characters: 80 }],
    source: ["elevenlabs.io/pricing/api by LiteLLM", "2026-11-20"],
  },
  {
    id: "eleven_flash_v2_5",
    serves: ["generation.audio.text-to-speech"],
    voices: "JBFqnCBsd6RMkjVDRZzb 21m00Tcm4TlvDq8ikWAM",
    formats: "mp3 pcm",
    pricing: [{ per_million_characters: 40 }],
    source: ["elevenlabs.io/pricing/api by LiteLLM", "2026-11-20"],
  },
  {
    id: "eleven_v3",
    serves: ["generation.audio.text-to-speech"],
    voices: "JBFqnCBsd6RMkjVDRZzb 21m00Tcm4TlvDq8ikWAM",
    formats: "mp3 pcm",
    pricing: [{ per_million_characters: 80 }],
    source: ["elevenlabs.io/pricing/api by LiteLLM", "2026-11-20"],
  },
  {
    id: "scribe_v2",
    serves: ["understanding.audio.speech-to-text"],
    formats: "json text srt vtt verbose_json",
    isDefault: true,
    pricing: [{ per_minute: 0.003667 }],
    source: ["elevenlabs.io/pricing/api by LiteLLM and voice-prices", "2026-11-20"],
  },
  {
    id: "scribe_v1",
    serves: ["understanding.audio.speech-to-text"],
    formats: "json text srt vtt verbose_json",
    pricing: [{ per_minute: 0.003667 }],
    source: ["elevenlabs.io/pricing/api by LiteLLM", "2026-11-20"],
  },
];

/**
 * Azure Speech has voices and no models: `neural` stands for all of them. Prices depend on the region; this is the
 * price of most.
 */
export const azure: readonly CatalogueEntry[] = [
  {
    id: "neural",
    serves: ["generation.audio.text-to-speech"],
    voices: "en-US-JennyMultilingualNeural en-US-JennyNeural en-US-ChristopherNeural",
    formats: "mp3 opus wav pcm",
    isDefault: true,
    pricing: [{ per_million_characters: 15 }],
    source: ["azure.microsoft.com by LiteLLM", "2026-11-20"],
  },
];

/**
 * Deepgram's models. At Deepgram each voice is a model; `aura-2` stands for all of its voices. The price of nova-3 is
 * that of recorded audio in one language.
 */
export const deepgram: readonly CatalogueEntry[] = [
  {
    id: "nova-3",
    serves: ["understanding.audio.speech-to-text"],
    formats: "json text srt vtt verbose_json",
    isDefault: true,
    pricing: [{ per_minute: 0.0043 }],
    source: ["deepgram.com/pricing by LiteLLM and voice-prices", "2026-11-20"],
  },
  {
    id: "aura-2",
    serves: ["generation.audio.text-to-speech"],
    voices: "aura-2-thalia-en aura-2-asteria-en aura-2-helena-en aura-2-luna-en",
    formats: "mp3 opus aac flac wav pcm",
    isDefault: true,
    pricing: [{ per_million_characters: 30 }],
    source: ["deepgram.com/pricing by LiteLLM and voice-prices", "2026-11-20"],
  },
];

/** AssemblyAI's models for recorded audio. Prices are those without add-ons. */
export const assemblyai: readonly CatalogueEntry[] = [
  {
    id: "universal-2",
    serves: ["understanding.audio.speech-to-text"],
    formats: "json text srt vtt verbose_json",
    isDefault: true,
    pricing: [{ per_minute: 0.0025 }],
    source: ["www.assemblyai.com/pricing by voice-prices", "2026-09-30"],
  },
  {
    id: "universal-3-pro",
    serves: ["understanding.audio.speech-to-text"],
    formats: "json text srt vtt verbose_json",
    languages: "en es pt de fr it",
    pricing: null,
    source: ["www.assemblyai.com/docs", "2026-11-23"],
  },
  {
    id: "universal-3-5-pro",
    serves: ["understanding.audio.speech-to-text"],
    formats: "json text srt vtt verbose_json",
    pricing: [{ per_minute: 0.0035 }],
    source: ["www.assemblyai.com/pricing by voice-prices", "2026-09-30"],
  },
];
