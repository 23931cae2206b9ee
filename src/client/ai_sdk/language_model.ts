/**
 * A language model of the `ai` package over a client.
 * @module
 */
import { contentOf, finishOf, metadataOf, responseFacts, usageOf } from "./_answer.ts";
import { chatRequestOf } from "./_request.ts";
import { factsOf, type ModelContext, settingsOf } from "./_settings.ts";
import { partsOf } from "./_stream.ts";
import type { GenerateResult, LanguageCallOptions, LanguageModel, StreamResult } from "./spec.ts";

/** Creates a language model. */
export function languageModel(context: ModelContext): LanguageModel {
  const { client, name } = context;
  return {
    ...factsOf(context),
    supportedUrls: {},
    async doGenerate(options: LanguageCallOptions): Promise<GenerateResult> {
      const { request, warnings } = chatRequestOf(options, name);
      const body = await client.chat.completions.create(request, settingsOf(options));
      const [choice] = body.choices;
      return {
        content: contentOf(body),
        finishReason: finishOf(choice?.finish_reason, Boolean(choice?.message.refusal)),
        usage: usageOf(body.usage),
        warnings,
        providerMetadata: metadataOf(body),
        request: { body: request },
        response: { ...responseFacts(body), body },
      };
    },
    async doStream(options: LanguageCallOptions): Promise<StreamResult> {
      const { request, warnings } = chatRequestOf(options, name);
      const streamed = { ...request, stream: true as const, stream_options: { include_usage: true } };
      const stream = await client.chat.completions.create(streamed, settingsOf(options));
      return { stream: partsOf(stream, warnings), request: { body: streamed } };
    },
  };
}
