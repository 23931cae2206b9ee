/**
 * Models for the `ai` package, in process: `streamText({ model: mesh("chat-completion") })` without a proxy.
 *
 * @example
 * ```ts ignore
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
 * A language model over the providers that have a key in the environment.
 *
 * @param name A capability such as `chat-completion`, or a model such as `openai.gpt-5-mini`.
 * @throws {NoProvidersError} When no provider has a key.
 *
 * @example
 * ```ts ignore
 * const { text } = await generateText({ model: mesh("chat-completion"), prompt: "Hello" });
 * ```
 */
export function mesh(name: string): LanguageModel;
/**
 * A provider of models by name.
 *
 * @param clientOrOptions A client, or the options of one; left out, it is over the environment's providers.
 * @throws {NoProvidersError} When no provider has a key.
 * @throws {ConfigError} When an option does not hold.
 *
 * @example
 * ```ts ignore
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

/** A client of another copy of the package is one, too. */
function isClient(given: MeshClient | CreateOptions): given is MeshClient {
  return typeof (given as Partial<MeshClient>).chat?.completions?.create === "function";
}
