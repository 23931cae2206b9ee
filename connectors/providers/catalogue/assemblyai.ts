/**
 * AssemblyAI's models for recorded audio. Prices are omitted, since public lists differ.
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
    pricing: null,
    source: ["www.assemblyai.com/docs", "2026-11-23"],
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
    pricing: null,
    source: ["www.assemblyai.com/docs", "2026-11-23"],
  },
];
