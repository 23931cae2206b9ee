/**
 * Lists of the catalogue, and the sources' names of their providers.
 * @module
 */
import type { CatalogueEntry } from "../../connectors/providers/_catalogue.ts";

const builtIn = new URL("../../connectors/providers/catalogue/", import.meta.url);

/** Names of a provider in the sources, by vendor. A missing name means that the source lacks the provider. */
const names: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  anthropic: { "models.dev": ["anthropic"], "genai-prices": ["anthropic"], LiteLLM: ["anthropic"] },
  assemblyai: { LiteLLM: ["assemblyai"] },
  azure: { "models.dev": ["azure"], "genai-prices": ["azure"], LiteLLM: ["azure"] },
  baseten: { "models.dev": ["baseten"], LiteLLM: ["baseten"] },
  bedrock: { "models.dev": ["amazon-bedrock"], "genai-prices": ["aws"], LiteLLM: ["bedrock", "bedrock_converse"] },
  cerebras: { "models.dev": ["cerebras"], "genai-prices": ["cerebras"], LiteLLM: ["cerebras"] },
  cloudflare: { "models.dev": ["cloudflare-workers-ai"], LiteLLM: ["cloudflare"] },
  cohere: { "models.dev": ["cohere"], "genai-prices": ["cohere"], LiteLLM: ["cohere", "cohere_chat"] },
  deepgram: { LiteLLM: ["deepgram"] },
  deepinfra: { "models.dev": ["deepinfra"], "genai-prices": ["deepinfra"], LiteLLM: ["deepinfra"] },
  deepseek: { "models.dev": ["deepseek"], "genai-prices": ["deepseek"], LiteLLM: ["deepseek"] },
  elevenlabs: { LiteLLM: ["elevenlabs"] },
  fireworks: { "models.dev": ["fireworks-ai"], "genai-prices": ["fireworks"], LiteLLM: ["fireworks_ai"] },
  firecrawl: { LiteLLM: ["firecrawl"] },
  gemini: { "models.dev": ["google"], "genai-prices": ["google"], LiteLLM: ["gemini"] },
  groq: { "models.dev": ["groq"], "genai-prices": ["groq"], LiteLLM: ["groq"] },
  huggingface: { "models.dev": ["huggingface"] },
  jina: { LiteLLM: ["jina_ai"] },
  minimax: { "models.dev": ["minimax"], LiteLLM: ["minimax"] },
  mistral: { "models.dev": ["mistral"], "genai-prices": ["mistral"], LiteLLM: ["mistral"] },
  moonshot: { "models.dev": ["moonshotai"], "genai-prices": ["moonshotai"], LiteLLM: ["moonshot"] },
  nebius: { "models.dev": ["nebius"], LiteLLM: ["nebius"] },
  novita: { "models.dev": ["novita-ai"], "genai-prices": ["novita"], LiteLLM: ["novita"] },
  nvidia: { "models.dev": ["nvidia"], LiteLLM: ["nvidia_nim"] },
  openai: { "models.dev": ["openai"], "genai-prices": ["openai"], LiteLLM: ["openai"] },
  openrouter: { "models.dev": ["openrouter"], "genai-prices": ["openrouter"], LiteLLM: ["openrouter"] },
  perplexity: { "models.dev": ["perplexity"], "genai-prices": ["perplexity"], LiteLLM: ["perplexity"] },
  qwen: { "models.dev": ["alibaba"], "genai-prices": ["alibaba"], LiteLLM: ["dashscope"] },
  sambanova: { LiteLLM: ["sambanova"] },
  serper: { LiteLLM: ["serper"] },
  tavily: { LiteLLM: ["tavily"] },
  together: { "models.dev": ["togetherai"], "genai-prices": ["together"], LiteLLM: ["together_ai"] },
  vercel: { "models.dev": ["vercel"], LiteLLM: ["vercel_ai_gateway"] },
  vertex: { "models.dev": ["google-vertex"], LiteLLM: ["vertex_ai-language-models"] },
  voyage: { "genai-prices": ["voyageai"], LiteLLM: ["voyage"] },
  xai: { "models.dev": ["xai"], "genai-prices": ["x-ai"], LiteLLM: ["xai"] },
  zai: { "models.dev": ["zai"], "genai-prices": ["zai"], LiteLLM: ["zai"] },
};

/** A list of the catalogue. */
export interface VendorList {
  /** File name without extension. */
  readonly file: string;
  /** The export of the file: `entries`, or the vendor's name in a file with the lists of several vendors. */
  readonly name: string;
  /** The vendor: the file name up to an underscore (a long list has several files), or the name of the export. */
  readonly vendor: string;
  /** URL of the file. */
  readonly url: URL;
  readonly entries: readonly CatalogueEntry[];
  /** Names of its provider, by source. */
  readonly names: Readonly<Record<string, readonly string[]>>;
}

/**
 * Returns all lists by file.
 *
 * @param folder Folder of the lists.
 */
export async function vendorLists(folder: URL = builtIn): Promise<readonly VendorList[]> {
  const files = [...Deno.readDirSync(folder)].map(({ name }) => name.replace(/\.ts$/, "")).sort();
  const lists = await Promise.all(files.map(async (file) => {
    const url = new URL(`${file}.ts`, folder);
    const exported: Readonly<Record<string, readonly CatalogueEntry[]>> = await import(url.href);
    return Object.entries(exported).map(([name, entries]): VendorList => {
      const vendor = name === "entries" ? file.split("_")[0]! : name;
      return { file, name, vendor, url, entries, names: names[vendor] ?? {} };
    });
  }));
  return lists.flat();
}
