/**
 * Azure Speech: text to speech. The setting `region` is part of the URL.
 *
 * Source: learn.microsoft.com/azure/ai-services/speech-service/rest-text-to-speech (MicrosoftDocs/azure-ai-docs).
 * @module
 */
import type { ProviderSettings } from "../../src/contracts/connector.ts";
import { ConfigError } from "../../src/errors.ts";
import { knownModels } from "./_catalogue.ts";
import { lazily } from "./_openai_operations.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";
import { entries } from "./catalogue/azure_speech.ts";

/** Azure Speech. */
export const azureSpeech: OpenAiCompatible = {
  id: "azure.tts.v1",
  vendor: "azure-speech",
  baseUrl: findSpeechAddress,
  detection: {
    keys: ["AZURE_SPEECH_KEY"],
    baseUrl: ["AZURE_SPEECH_BASE_URL"],
    requires: { region: ["AZURE_SPEECH_REGION"] },
  },
  authorize: (credential) => ({ "ocp-apim-subscription-key": credential }),
  parameters: { refuse: ["stream_format"] },
  withoutChat: true,
  list: { path: "voices/list" },
  models: () => knownModels(entries),
  attributes: {
    region: {
      type: "text",
      about: "Region of the resource, such as `westeurope`. Defaults to `AZURE_SPEECH_REGION`.",
    },
  },
  operations: { speech: lazily(async () => (await import("./_azure_speech.ts")).azureSpeechCall) },
};

function findSpeechAddress(settings: ProviderSettings, env?: (name: string) => string | undefined): string {
  const { region = (settings.config as Record<string, unknown> | undefined)?.region } = settings;
  const name = region ?? env?.("AZURE_SPEECH_REGION")?.trim();
  if (typeof name === "string" && /^[a-z0-9]+$/i.test(name)) {
    return `https://${name}.tts.speech.microsoft.com/cognitiveservices`;
  }
  throw new ConfigError([{
    path: `providers.${settings.id}.config.region`,
    message: !name
      ? "The resource's region is missing: set it, or the variable AZURE_SPEECH_REGION, or a base_url"
      : 'Expected a region such as "westeurope"',
  }]);
}
