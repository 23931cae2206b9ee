/**
 * Jina: its search and reader APIs have their own hosts.
 * @module
 */
import type { ProviderConnector, ProviderSettings } from "../../src/contracts/connector.ts";
import { OpenAiCompatibleProvider } from "./_openai_compatible.ts";
import { createDeclaration } from "./_openai_vendor.ts";
import { jina } from "./model_makers.ts";

const hosts: Readonly<Record<string, string>> = {
  search: "https://s.jina.ai/",
  reader: "https://r.jina.ai/",
};

/** The Jina connector with its implementation. A configured base URL applies to all calls. */
export const jinaConnector: ProviderConnector = {
  ...createDeclaration(jina),
  create(settings, runtime) {
    const own = settings as ProviderSettings;
    const address = (path: string) => hosts[path] ?? `${jina.baseUrl}/${path}`;
    return new OpenAiCompatibleProvider(own.baseUrl === undefined ? { ...jina, address } : jina, own, runtime);
  },
};
