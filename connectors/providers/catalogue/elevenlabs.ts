/**
 * ElevenLabs' audio models. Prices are those of its API without a plan.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** The models. */
export const entries: readonly CatalogueEntry[] = [
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
