/**
 * A language model of the `ai` package over a client.
 * @module
 */
import { readMetadata, responseFacts, toContentParts, toFinishReason, toLanguageUsage } from "./_answer.ts";
import { toChatRequest } from "./_request.ts";
import { type ModelContext, toCallSettings, toModelFacts } from "./_settings.ts";
import { toStreamParts } from "./_stream.ts";
import type { GenerateResult, LanguageCallOptions, LanguageModel, StreamResult } from "./spec.ts";

/** Creates a language model. */
export function languageModel(context: ModelContext): LanguageModel {
  const { client, name } = context;
  return {
    ...toModelFacts(context),
    supportedUrls: {},
    async doGenerate(options: LanguageCallOptions): Promise<GenerateResult> {
      const { request, warnings } = toChatRequest(options, name);
      const body = await client.chat.completions.create(request, toCallSettings(options));
      const [choice] = body.choices;
      return {
        content: toContentParts(body),
        finishReason: toFinishReason(choice?.finish_reason, Boolean(choice?.message.refusal)),
        usage: toLanguageUsage(body.usage),
        warnings,
        providerMetadata: readMetadata(body),
        request: { body: request },
        response: { ...responseFacts(body), body },
      };
    },
    async doStream(options: LanguageCallOptions): Promise<StreamResult> {
      const { request, warnings } = toChatRequest(options, name);
      const streamed = { ...request, stream: true as const, stream_options: { include_usage: true } };
      const stream = await client.chat.completions.create(streamed, toCallSettings(options));
      return { stream: toStreamParts(stream, warnings), request: { body: streamed } };
    },
  };
}
