/**
 * Models of speech, images and the like, a list for each vendor.
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

/**
 * OpenAI's models for embeddings, speech, transcription, images and moderation. Retirements are from
 * developers.openai.com: on 2027-01-06 its speech API is shut down without a successor, so no model is a default for it.
 */
export const openai: readonly CatalogueEntry[] = [
  {
    id: "text-embedding-3-small",
    serves: ["representation.embeddings.text-embeddings"],
    window: 8_192,
    dimensions: 1_536,
    isDefault: true,
    pricing: [{ input: 0.02 }],
    source: ["developers.openai.com by LiteLLM", "2026-11-20"],
  },
  {
    id: "text-embedding-3-large",
    serves: ["representation.embeddings.text-embeddings"],
    window: 8_192,
    dimensions: 3_072,
    pricing: [{ input: 0.13 }],
    source: ["developers.openai.com by LiteLLM", "2026-11-20"],
  },
  {
    id: "text-embedding-ada-002",
    serves: ["representation.embeddings.text-embeddings"],
    window: 8_192,
    dimensions: 1_536,
    hasFixedSize: true,
    pricing: [{ input: 0.1 }],
    source: ["genai-prices, LiteLLM", "2026-08-21"],
  },
  {
    id: "gpt-4o-mini-tts",
    serves: ["generation.audio.text-to-speech"],
    voices: "alloy ash ballad cedar coral echo fable marin nova onyx sage shimmer verse",
    formats: "mp3 opus aac flac wav pcm",
    pricing: [{ input: 0.6, audio_output: 12 }],
    retires: "2027-01-06",
    source: ["genai-prices, developers.openai.com", "2026-11-22"],
  },
  {
    id: "tts-1",
    serves: ["generation.audio.text-to-speech"],
    voices: "alloy ash coral echo fable nova onyx sage shimmer",
    formats: "mp3 opus aac flac wav pcm",
    rules: "plain_speech",
    pricing: [{ per_million_characters: 15 }],
    retires: "2027-01-06",
    source: ["models.dev, developers.openai.com", "2026-11-22"],
  },
  {
    id: "tts-1-hd",
    serves: ["generation.audio.text-to-speech"],
    voices: "alloy ash coral echo fable nova onyx sage shimmer",
    formats: "mp3 opus aac flac wav pcm",
    rules: "plain_speech",
    pricing: [{ per_million_characters: 30 }],
    retires: "2027-01-06",
    source: ["LiteLLM, developers.openai.com", "2026-11-22"],
  },
  {
    id: "gpt-transcribe",
    serves: ["understanding.audio.speech-to-text"],
    formats: "json",
    lacks: ["audio-translation"],
    isDefault: true,
    pricing: [{ per_minute: 0.0045 }],
    source: ["developers.openai.com", "2026-11-21"],
  },
  {
    id: "gpt-4o-mini-transcribe",
    serves: ["understanding.audio.speech-to-text"],
    formats: "json",
    lacks: ["audio-translation"],
    pricing: [{ input: 1.25, output: 5, audio_input: 3 }],
    retires: "2027-02-26",
    source: ["genai-prices, developers.openai.com", "2026-11-22"],
  },
  {
    id: "gpt-4o-transcribe",
    serves: ["understanding.audio.speech-to-text"],
    formats: "json",
    lacks: ["audio-translation"],
    pricing: [{ input: 2.5, output: 10, audio_input: 6 }],
    retires: "2027-02-26",
    source: ["genai-prices, developers.openai.com", "2026-11-22"],
  },
  {
    id: "whisper-1",
    serves: ["understanding.audio.speech-to-text"],
    formats: "json text srt verbose_json vtt",
    pricing: [{ per_minute: 0.006 }],
    retires: "2027-02-26",
    source: ["models.dev, developers.openai.com", "2026-11-22"],
  },
  {
    id: "gpt-image-2.6-flare",
    serves: ["generation.image.text-to-image", "generation.image.image-to-image", "generation.image.inpainting"],
    formats: "b64_json",
    isDefault: true,
    pricing: [{ input: 5, output: 30, cached_input: 1.25, image_input: 8, image_output: 30, cached_image_input: 2 }],
    source: ["developers.openai.com, docs.apiyi.com, LiteLLM (image tokens)", "2026-11-26"],
  },
  {
    id: "gpt-image-2.6-sunburst",
    serves: ["generation.image.text-to-image", "generation.image.image-to-image", "generation.image.inpainting"],
    formats: "b64_json",
    pricing: [{ input: 5, output: 30, cached_input: 1.25, image_input: 8, image_output: 30, cached_image_input: 2 }],
    source: ["developers.openai.com, LiteLLM (image tokens)", "2026-11-26"],
  },
  {
    id: "gpt-image-2",
    serves: ["generation.image.text-to-image", "generation.image.image-to-image", "generation.image.inpainting"],
    formats: "b64_json",
    pricing: [{ input: 5, output: 30, cached_input: 1.25, image_input: 8, image_output: 30, cached_image_input: 2 }],
    source: ["models.dev, genai-prices, LiteLLM (image tokens)", "2026-11-26"],
  },
  {
    id: "omni-moderation-latest",
    serves: ["evaluation.content-moderation"],
    isDefault: true,
    pricing: [{ input: 0, output: 0 }],
    source: ["OpenAI REST API reference 2.3.0, LiteLLM", "2026-11-21"],
  },
];
