/**
 * AssemblyAI's models for recorded audio. Prices are those without add-ons.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** The models. */
export const entries: readonly CatalogueEntry[] = [
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
