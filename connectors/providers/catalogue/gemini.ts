/**
 * Google's Gemini models, newest first. 3.6 was released at full price; with 3.7, the Flash and speech models cost half
 * until the end of 2026.
 * @module
 */
import type { CatalogueEntry } from "../_catalogue.ts";

/** The models. */
export const entries: readonly CatalogueEntry[] = [
  {
    id: "gemini-3.8-flash",
    can: "TSRVA",
    also: ["understanding.audio.speech-to-text"],
    window: 1_048_576,
    maxOutput: 65_536,
    formats: "json text",
    isDefault: true,
    pricing: [
      { input: 0.75, output: 3.75, cached_input: 0.075, audio_input: 0.75 },
      { from: "2027-01-01", input: 1.5, output: 7.5, cached_input: 0.15, audio_input: 1.5 },
    ],
    source: ["ai.google.dev by models.dev", "2026-11-21"],
  },
  {
    id: "gemini-3.7-flash",
    can: "TSRVA",
    window: 1_048_576,
    maxOutput: 65_536,
    pricing: [
      { input: 0.75, output: 3.75, cached_input: 0.075, audio_input: 0.75 },
      { from: "2027-01-01", input: 1.5, output: 7.5, cached_input: 0.15, audio_input: 1.5 },
    ],
    source: ["ai.google.dev by models.dev", "2026-11-21"],
  },
  {
    id: "gemini-3.6-flash",
    can: "TSRVA",
    window: 1_048_576,
    maxOutput: 65_536,
    pricing: [
      { input: 1.5, output: 7.5, cached_input: 0.15, audio_input: 1.5 },
      { from: "2026-08-19", input: 0.75, output: 3.75, cached_input: 0.075, audio_input: 0.75 },
      { from: "2027-01-01", input: 1.5, output: 7.5, cached_input: 0.15, audio_input: 1.5 },
    ],
    source: ["ai.google.dev by models.dev", "2026-11-21"],
  },
  {
    id: "gemini-3.5-flash",
    can: "TSRVA",
    window: 1_048_576,
    maxOutput: 65_536,
    pricing: [{ input: 1.5, output: 9, cached_input: 0.15, audio_input: 1.5 }],
    source: ["models.dev, LiteLLM, genai-prices", "2026-08-21"],
  },
  {
    id: "gemini-3.5-flash-lite",
    can: "TSRVA",
    window: 1_048_576,
    maxOutput: 65_536,
    pricing: [{ input: 0.3, output: 2.5, cached_input: 0.03 }],
    source: ["ai.google.dev by models.dev", "2026-11-21"],
  },
  {
    id: "gemini-3.1-pro-preview",
    can: "TSRVA",
    window: 1_048_576,
    maxOutput: 65_536,
    pricing: [
      { input: 2, output: 12, cached_input: 0.2 },
      { above_tokens: 200_000, input: 4, output: 18, cached_input: 0.4 },
    ],
    source: ["models.dev, LiteLLM, genai-prices", "2026-08-21"],
  },
  {
    id: "gemini-3.1-flash-lite",
    can: "TSRVA",
    window: 1_048_576,
    maxOutput: 65_536,
    pricing: [{ input: 0.25, output: 1.5, cached_input: 0.025, audio_input: 0.5 }],
    retires: "2027-05-07",
    source: ["models.dev, genai-prices", "2026-08-21"],
  },
  {
    id: "gemini-2.5-pro",
    can: "TSRVA",
    window: 1_048_576,
    maxOutput: 65_536,
    pricing: [
      { input: 1.25, output: 10, cached_input: 0.125 },
      { above_tokens: 200_000, input: 2.5, output: 15, cached_input: 0.25 },
    ],
    retires: "2026-12-01",
    source: ["models.dev, LiteLLM, genai-prices", "2026-08-21"],
  },
  {
    id: "gemini-2.5-flash",
    can: "TSRVA",
    window: 1_048_576,
    maxOutput: 65_536,
    pricing: [{ input: 0.3, output: 2.5, cached_input: 0.03, audio_input: 1 }],
    retires: "2026-12-01",
    source: ["models.dev, LiteLLM, genai-prices", "2026-08-21"],
  },
  {
    id: "gemini-2.5-flash-lite",
    can: "TSRVA",
    window: 1_048_576,
    maxOutput: 65_536,
    pricing: [{ input: 0.1, output: 0.4, cached_input: 0.01, audio_input: 0.3 }],
    source: ["models.dev, LiteLLM, genai-prices", "2026-08-21"],
  },
  {
    id: "gemini-embedding-001",
    serves: ["representation.embeddings.text-embeddings"],
    window: 2_048,
    dimensions: 3_072,
    isDefault: true,
    pricing: [{ input: 0.15 }],
    source: ["models.dev, LiteLLM, genai-prices", "2026-08-21"],
  },
  {
    id: "gemini-embedding-2",
    serves: ["representation.embeddings.text-embeddings"],
    window: 8_192,
    dimensions: 3_072,
    pricing: [{ input: 0.2 }],
    source: ["LiteLLM, Portkey", "2026-08-21"],
  },
  {
    id: "gemini-3.8-flash-lite-tts",
    serves: ["generation.audio.text-to-speech"],
    window: 8_192,
    voices:
      "Kore Zephyr Puck Charon Fenrir Leda Orus Aoede Callirrhoe Autonoe Enceladus Iapetus Umbriel Algieba Despina Erinome Algenib Rasalgethi Laomedeia Achernar Alnilam Schedar Gacrux Pulcherrima Achird Zubenelgenubi Vindemiatrix Sadachbia Sadaltager Sulafat",
    formats: "wav pcm",
    isDefault: true,
    pricing: [{ input: 0.5, audio_output: 6 }, { input: 1, audio_output: 12, from: "2027-01-01" }],
    source: ["ai.google.dev by LiteLLM", "2026-11-22"],
  },
  {
    id: "gemini-3.8-flash-tts",
    serves: ["generation.audio.text-to-speech"],
    window: 8_192,
    voices:
      "Kore Zephyr Puck Charon Fenrir Leda Orus Aoede Callirrhoe Autonoe Enceladus Iapetus Umbriel Algieba Despina Erinome Algenib Rasalgethi Laomedeia Achernar Alnilam Schedar Gacrux Pulcherrima Achird Zubenelgenubi Vindemiatrix Sadachbia Sadaltager Sulafat",
    formats: "wav pcm",
    pricing: [{ input: 0.5, audio_output: 9 }, { input: 1, audio_output: 18, from: "2027-01-01" }],
    source: ["ai.google.dev by LiteLLM", "2026-11-22"],
  },
  {
    id: "gemini-2.5-flash-preview-tts",
    serves: ["generation.audio.text-to-speech"],
    window: 8_192,
    voices:
      "Kore Zephyr Puck Charon Fenrir Leda Orus Aoede Callirrhoe Autonoe Enceladus Iapetus Umbriel Algieba Despina Erinome Algenib Rasalgethi Laomedeia Achernar Alnilam Schedar Gacrux Pulcherrima Achird Zubenelgenubi Vindemiatrix Sadachbia Sadaltager Sulafat",
    formats: "wav pcm",
    pricing: [{ input: 0.5, audio_output: 10 }],
    source: ["models.dev", "2026-07-02"],
  },
  {
    id: "gemini-3.1-flash-image",
    serves: ["generation.image.text-to-image", "generation.image.image-to-image"],
    hasOneImage: true,
    formats: "b64_json",
    isDefault: true,
    pricing: [{ input: 0.5, output: 60 }],
    source: ["models.dev, Portkey", "2026-08-21"],
  },
  {
    id: "gemini-3-pro-image",
    serves: ["generation.image.text-to-image", "generation.image.image-to-image"],
    hasOneImage: true,
    formats: "b64_json",
    pricing: [{ input: 2, output: 120 }],
    source: ["LiteLLM, Portkey", "2026-08-21"],
  },
];
