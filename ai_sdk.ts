/**
 * Models for the Vercel AI SDK (package `ai` 7; with an option also 6 and 5), in process:
 * `streamText({ model: mesh("chat-completion") })` without a proxy.
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
import { ConfigError, create } from "./mod.ts";
import { toProviderV2, toProviderV3 } from "./src/client/ai_sdk/older_models.ts";
import type { MeshProviderV2, MeshProviderV3 } from "./src/client/ai_sdk/older_spec.ts";
import { type MeshProvider, providerOver } from "./src/client/ai_sdk/provider.ts";
import type { LanguageModel } from "./src/client/ai_sdk/spec.ts";
import type { MeshClient } from "./src/client/client.ts";
import type { CreateOptions } from "./src/client/options.ts";

export type { MeshProvider } from "./src/client/ai_sdk/provider.ts";
export type * from "./src/client/ai_sdk/older_spec.ts";
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
/**
 * Creates a provider for `ai` 6, whose models implement specification version v3.
 *
 * @param clientOrOptions A client, or options for a new one; `undefined` detects providers.
 * @param options The version.
 * @throws {NoProvidersError} If no provider has an API key.
 * @throws {ConfigError} If an option is invalid.
 */
export function mesh(
  clientOrOptions: MeshClient | CreateOptions | undefined,
  options: { specification: "v3" },
): MeshProviderV3;
/**
 * Creates a provider for `ai` 5, whose models implement specification version v2.
 *
 * @param clientOrOptions A client, or options for a new one; `undefined` detects providers.
 * @param options The version.
 * @throws {NoProvidersError} If no provider has an API key.
 * @throws {ConfigError} If an option is invalid.
 *
 * @example
 * ```ts
 * import { mesh } from "@modelmesh/core/ai-sdk";
 *
 * const provider = mesh({ config: "modelmesh.yaml" }, { specification: "v2" });
 * const model = provider("chat-completion"); // for generateText of ai 5
 * ```
 */
export function mesh(
  clientOrOptions: MeshClient | CreateOptions | undefined,
  options: { specification: "v2" },
): MeshProviderV2;
export function mesh(
  first?: string | MeshClient | CreateOptions,
  { specification = "v4" }: { readonly specification?: "v2" | "v3" | "v4" } = {},
): LanguageModel | MeshProvider | MeshProviderV3 | MeshProviderV2 {
  if (typeof first === "string") return mesh().languageModel(first);
  const toProvider = Object.hasOwn(versions, specification) ? versions[specification] : undefined;
  if (toProvider === undefined) {
    const message = 'expected "v4" for ai 7, "v3" for ai 6, or "v2" for ai 5';
    throw new ConfigError([{ path: "specification", message }]);
  }
  return toProvider(first === undefined ? detectedProvider() : providerOver(isClient(first) ? first : create(first)));
}

/** Providers of each specification version. */
const versions = { v2: toProviderV2, v3: toProviderV3, v4: (provider: MeshProvider) => provider };

function detectedProvider(): MeshProvider {
  return ofEnvironment ??= providerOver(create({}));
}

/** Also recognizes a client created by another copy of the package. */
function isClient(options: MeshClient | CreateOptions): options is MeshClient {
  return typeof (options as Partial<MeshClient>).chat?.completions?.create === "function";
}
