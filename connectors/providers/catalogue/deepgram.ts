/**
 * Deepgram's models. At Deepgram each voice is a model; `aura-2` stands for all of its voices. The price of nova-3 is
 * that of recorded audio in one language.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** The models. */
export const entries: readonly CatalogueEntry[] = [
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
