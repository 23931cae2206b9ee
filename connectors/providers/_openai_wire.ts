/**
 * Requests and responses in OpenAI's dialect, for compatible vendors and for providers that programs define.
 * @module
 */
import type { ChatCompletion, JsonObject } from "../../src/contracts/openai.ts";
import type {
  CompletionChunk,
  CompletionRequest,
  OperationRequest,
  UploadedFile,
} from "../../src/contracts/provider.ts";
import type { Runtime, UpstreamRequest, UpstreamResponse } from "../../src/contracts/runtime.ts";
import { UpstreamError } from "../../src/errors.ts";
import { editMembers } from "../../src/util/json_members.ts";
import { newBoundary, writeForm } from "../../src/util/multipart.ts";
import { throwIfError, upstreamError } from "./_http.ts";
import { findErrorMessage, readOpenAiError } from "./_openai_error.ts";
import type { ChunkStreamParts } from "./_openai_stream.ts";

/**
 * The JSON request body; the client's own JSON with edits spliced in, if available.
 *
 * @param edits Members to change; undefined removes a member.
 * @default `{ model }`, the upstream model id
 */
export function writeJson(
  { model, body, wire }: OperationRequest,
  edits: Readonly<Record<string, unknown>> = { model: model.id },
): string {
  return wire === undefined
    ? JSON.stringify({ ...body, ...edits })
    : editMembers(wire.text, { ...wire.edits, ...edits });
}

/**
 * The request body and its headers: JSON, or a multipart form if there are files.
 *
 * @param runtime Generates a boundary that does not occur in any file.
 */
export function writeOperationBody(
  request: OperationRequest,
  runtime: Pick<Runtime, "random">,
): Pick<UpstreamRequest, "body"> & Partial<Pick<UpstreamRequest, "headers">> {
  const { files, body, model } = request;
  if (files === undefined) return { body: writeJson(request) };
  return writeMultipart({ files, fields: { ...body, model: model.id } }, runtime);
}

/**
 * A multipart form with files, and its header.
 *
 * @param form Its fields by name, and its files.
 * @param runtime Generates a boundary that does not occur in any file.
 */
export function writeMultipart(
  { files, fields: values }: { readonly files: readonly UploadedFile[]; readonly fields: JsonObject },
  { random }: Pick<Runtime, "random">,
): Pick<UpstreamRequest, "body" | "headers"> {
  const fields = Object.entries(values).flatMap(([name, value]) => flattenFormField(name, value));
  const boundary = newBoundary({ random });
  const { contentType, chunks } = writeForm({ fields, files }, boundary);
  return { headers: { "content-type": contentType }, body: chunks };
}

/** Arrays become repeated fields whose name ends in `[]`, as OpenAI's clients encode them. */
function flattenFormField(name: string, value: unknown): readonly (readonly [string, string])[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item) => flattenFormField(`${name}[]`, item));
  return [[name, typeof value === "object" ? JSON.stringify(value) : String(value)]];
}

/** Edits that a request body needs for the provider: the upstream model id, and reporting of usage. */
export function findEdits(
  { model, stream, body }: CompletionRequest,
  streamUsage: boolean = true,
): Readonly<Record<string, unknown>> {
  const isRejected = model.parameters?.drop?.includes("stream_options");
  return stream && streamUsage && !isRejected && body.stream_options?.include_usage !== true
    ? { model: model.id, stream_options: { ...body.stream_options, include_usage: true } }
    : { model: model.id };
}

/**
 * Validates a complete response.
 *
 * @param body The parsed JSON.
 * @throws {UpstreamError} If it is an error, or has no choices.
 */
export function checkCompletion(body: Record<string, unknown>): ChatCompletion {
  throwIfError(body);
  if (!Array.isArray(body.choices) || body.choices.length === 0) {
    if (findErrorMessage(body) !== undefined) throw upstreamError(200, readOpenAiError(body, 200));
    throw new UpstreamError("The provider's response has no choices", { kind: "invalid_response" });
  }
  return body as unknown as ChatCompletion;
}

let modules: typeof import("./_openai_stream.ts") | undefined;

/**
 * Reads a streaming response. The parser is imported with the first stream, so that pages without streaming do not load
 * it.
 *
 * @param opening The response, once its head has been received.
 * @param parts Its parsers and options.
 */
export function openChunkStream(
  opening: Promise<UpstreamResponse>,
  parts: ChunkStreamParts,
): AsyncIterableIterator<CompletionChunk> {
  const read = ({ ChunkStream }: typeof import("./_openai_stream.ts")) => new ChunkStream(opening, parts);
  if (modules !== undefined) return read(modules);
  opening.catch(() => {}); // the error is thrown when the stream is read
  const stream = import("./_openai_stream.ts").then((loaded) => read(modules = loaded));
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: async () => await (await stream).next(),
    return: async () => await (await stream).return(),
  };
}
