/**
 * `client.responses`.
 * @module
 */
import type { ChatCompletion, ChatCompletionRequest, JsonObject, RequestBody } from "../contracts/openai.ts";
import type { ModelResponse, ResponseRequest } from "../contracts/responses.ts";
import { responses } from "../dialects/responses/responses.ts";
import type { Translation } from "../dialects/dialect.ts";
import type { Delivered } from "../pipeline/perform.ts";
import { chat } from "../pipeline/operations/chat.ts";
import { OriginalRequest } from "../pipeline/original.ts";
import { isObject } from "../util/is_object.ts";
import { call, requireNonStreaming } from "./call.ts";
import type { CallContext } from "./call_context.ts";
import type { CallSettings } from "./options.ts";
import { ResponseStream } from "./response_stream.ts";

const decoder = new TextDecoder();

/** OpenAI's Responses API, translated to chat. */
export class Responses {
  readonly #context: CallContext;

  /** Created by the client; programs do not construct it. */
  constructor(context: CallContext) {
    this.#context = context;
  }

  /**
   * Creates a streamed response. The promise resolves when the first content has arrived.
   *
   * @param request A request of OpenAI's Responses API with `stream: true`. Without `model`, the client's pool is used.
   * @param settings Abort signal, timeout in milliseconds, session id.
   * @throws {MeshError} When the request fails. An aborted call throws the signal's reason.
   */
  create(request: ResponseRequest & { stream: true }, settings?: CallSettings): Promise<ResponseStream>;
  /**
   * Creates a response and returns it complete.
   *
   * @param request A request of OpenAI's Responses API. Without `model`, the client's pool is used.
   * @param settings Abort signal, timeout in milliseconds, session id.
   * @throws {MeshError} When the request fails. An aborted call throws the signal's reason.
   *
   * @example
   * ```ts
   * import { create } from "@modelmesh/core";
   *
   * const client = create("chat-completion");
   * const { output_text } = await client.responses.create({ input: "Hello" });
   * console.log(output_text);
   * ```
   */
  create(request: ResponseRequest & { stream?: false | null }, settings?: CallSettings): Promise<ModelResponse>;
  create(request: ResponseRequest, settings: CallSettings = {}): Promise<ModelResponse | ResponseStream> {
    let translation: Translation | undefined;
    let sourceRequest: unknown;
    const translated = (value: unknown): ChatCompletionRequest => {
      sourceRequest = value;
      translation = responses.translate(value, { headers: new Headers(settings.headers), url: "" });
      const body = chat.check({ ...translation.chat, ...pickSymbols(value) }, []);
      return body.stream === true ? { ...body, stream_options: { include_usage: true } } : body;
    };
    return call<ChatCompletionRequest, ChatCompletion, ModelResponse | ResponseStream>(this.#context, {
      operation: { ...chat, check: translated }, // a request that middleware replaced is translated as well
      request,
      settings,
      describeOriginal: () => ({
        original: toOriginalRequest(sourceRequest, translation!),
        session: translation!.session,
        labeled: sourceRequest as RequestBody,
      }),
      toResult: (result) => toModelResponse(result, translation!),
    });
  }
}

/** What middleware has added for a provider of its own, beside the JSON. */
function pickSymbols(request: unknown): object {
  const symbols = isObject(request) ? Object.getOwnPropertySymbols(request) : [];
  return Object.fromEntries(symbols.map((symbol) => [symbol, Reflect.get(request as object, symbol)]));
}

function toOriginalRequest(request: unknown, { dropped = [], native }: Translation): OriginalRequest {
  return new OriginalRequest({
    dialect: responses.name,
    dropped,
    native: native && {
      get text() {
        return JSON.stringify(request);
      },
      ...native,
    },
  });
}

function toModelResponse(result: Delivered<ChatCompletion>, translation: Translation): ModelResponse | ResponseStream {
  if (result.kind === "stream") {
    return new ResponseStream(result.stream, { requestId: result.requestId, translator: translation.events() });
  }
  const { native, body } = requireNonStreaming(result);
  const response: JsonObject = native === undefined ? translation.toResponse(body) : JSON.parse(decoder.decode(native));
  return { access_programs: null, ...response, output_text: joinOutputText(response) } as unknown as ModelResponse;
}

function joinOutputText({ output }: JsonObject): string {
  const items = Array.isArray(output) ? output.filter(isObject) : [];
  return items.flatMap(({ type, content }) => type === "message" && Array.isArray(content) ? content : [])
    .map((part) => part?.type === "output_text" && typeof part.text === "string" ? part.text : "").join("");
}
