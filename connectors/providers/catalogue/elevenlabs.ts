/**
 * ElevenLabs' audio models. Prices depend on the plan.
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
    pricing: null,
    source: ["elevenlabs.io/docs", "2026-11-22"],
  },
  {
    id: "eleven_flash_v2_5",
    serves: ["generation.audio.text-to-speech"],
    voices: "JBFqnCBsd6RMkjVDRZzb 21m00Tcm4TlvDq8ikWAM",
    formats: "mp3 pcm",
    pricing: null,
    source: ["elevenlabs.io/docs", "2026-11-22"],
  },
  {
    id: "scribe_v2",
    serves: ["understanding.audio.speech-to-text"],
    formats: "json text srt vtt verbose_json",
    isDefault: true,
    pricing: null,
    source: ["elevenlabs/elevenlabs-python", "2026-11-23"],
  },
  {
    id: "scribe_v1",
    serves: ["understanding.audio.speech-to-text"],
    formats: "json text srt vtt verbose_json",
    pricing: null,
    source: ["elevenlabs/elevenlabs-python", "2026-11-23"],
  },
];
