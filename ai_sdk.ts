/**
 * Models for the Vercel AI SDK (package `ai`), in process: `streamText({ model: mesh("chat-completion") })` without a
 * proxy.
 *
 * @example
 * ```ts
 * import { streamText } from "ai";
 * import { mesh } from "@modelmesh/core/ai-sdk";
 *
 * const { textStream } = streamText({ model: mesh("chat-completion"), prompt: "Hello" });
 * for await (const text of textStream) console.log(text);
 * ```
 * @module
 */
import { create } from "./mod.ts";
import { type MeshProvider, providerOver } from "./src/client/ai_sdk/provider.ts";
import type { LanguageModel } from "./src/client/ai_sdk/spec.ts";
import type { MeshClient } from "./src/client/client.ts";
import type { CreateOptions } from "./src/client/options.ts";

export type { MeshProvider } from "./src/client/ai_sdk/provider.ts";
export type * from "./src/client/ai_sdk/other_spec.ts";
export type * from "./src/client/ai_sdk/spec.ts";
export type { MeshClient } from "./src/client/client.ts";
export type { CreateOptions } from "./src/client/options.ts";

let ofEnvironment: MeshProvider | undefined;

/**
 * Creates a language model backed by the providers that have an API key in the environment.
 *
 * @param name A capability such as `chat-completion`, or a model such as `openai.gpt-5-mini`.
 * @throws {NoProvidersError} If no provider has an API key.
 *
 * @example
 * ```ts
 * import { generateText } from "ai";
 * import { mesh } from "@modelmesh/core/ai-sdk";
 *
 * const { text } = await generateText({ model: mesh("chat-completion"), prompt: "Hello" });
 * ```
 */
export function mesh(name: string): LanguageModel;
/**
 * Creates an AI SDK provider, which returns models by name.
 *
 * @param clientOrOptions A client, or options for a new one. When omitted, providers are detected by the API keys in
 * the environment.
 * @throws {NoProvidersError} If no provider has an API key.
 * @throws {ConfigError} If an option is invalid.
 *
 * @example
 * ```ts
 * import { embedMany } from "ai";
 * import { mesh } from "@modelmesh/core/ai-sdk";
 *
 * const provider = mesh({ config: "modelmesh.yaml" });
 * const { embeddings } = await embedMany({ model: provider.embeddingModel("text-embeddings"), values: ["red", "green"] });
 * ```
 */
export function mesh(clientOrOptions?: MeshClient | CreateOptions): MeshProvider;
export function mesh(first?: string | MeshClient | CreateOptions): LanguageModel | MeshProvider {
  if (typeof first === "string") return mesh().languageModel(first);
  if (first === undefined) return ofEnvironment ??= providerOver(create({}));
  return providerOver(isClient(first) ? first : create(first));
}

/** Also recognizes a client created by another copy of the package. */
function isClient(options: MeshClient | CreateOptions): options is MeshClient {
  return typeof (options as Partial<MeshClient>).chat?.completions?.create === "function";
}
