/**
 * Azure Speech has voices and no models: `neural` stands for all of them. Prices depend on the region; this is the
 * price of most.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** The models. */
export const entries: readonly CatalogueEntry[] = [
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
