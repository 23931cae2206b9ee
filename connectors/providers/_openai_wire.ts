/**
 * Requests and answers of OpenAI's dialect, for vendors that speak it and for programs' own providers.
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
import { writeForm } from "../../src/util/multipart.ts";
import type { ChunkReader } from "./_chunk_reader.ts";
import { throwIfError } from "./_http.ts";
import type { StreamParts } from "./_openai_stream.ts";

/** What a request's body lacks for the provider: its own name of the model, and that usage is to be reported. */
export function editsOf(
  { model, stream, body }: CompletionRequest,
  streamUsage: boolean = true,
): Readonly<Record<string, unknown>> {
  return stream && streamUsage && body.stream_options?.include_usage !== true
    ? { model: model.id, stream_options: { ...body.stream_options, include_usage: true } }
    : { model: model.id };
}

/**
 * The JSON of a request's body: the client's own text where it came as such, spliced.
 *
 * @param request The request.
 * @param edits What differs for the provider; undefined removes a member.
 * @default `{ model }`, by the provider's own name of it
 */
export function jsonOf(
  { model, body, wire }: OperationRequest,
  edits: Readonly<Record<string, unknown>> = { model: model.id },
): string {
  return wire === undefined
    ? JSON.stringify({ ...body, ...edits })
    : editMembers(wire.text, { ...wire.edits, ...edits });
}

/**
 * The body of a request, and the headers that go with it: JSON, or a form where it has files.
 *
 * @param request The request.
 * @param runtime For a boundary that no file has.
 */
export function bodyOf(
  request: OperationRequest,
  runtime: Pick<Runtime, "random">,
): Pick<UpstreamRequest, "body" | "headers"> {
  const { files, body, model } = request;
  if (files === undefined) return { headers: {}, body: jsonOf(request) };
  return formOf({ files, fields: { ...body, model: model.id } }, runtime);
}

/**
 * A form with files, and the header that goes with it.
 *
 * @param form Its fields by name, and its files.
 * @param runtime For a boundary that no file has.
 */
export function formOf(
  { files, fields: values }: { readonly files: readonly UploadedFile[]; readonly fields: JsonObject },
  { random }: Pick<Runtime, "random">,
): Pick<UpstreamRequest, "body" | "headers"> {
  const fields = Object.entries(values).flatMap(([name, value]) => fieldsOf(name, value));
  const boundary = `form-${[random(), random(), random()].map((one) => one.toString(36).slice(2)).join("")}`;
  const { contentType, chunks } = writeForm({ fields, files }, boundary);
  return { headers: { "content-type": contentType }, body: chunks };
}

/** Lists as several fields of a name that ends in `[]`, as OpenAI's clients write them. */
function fieldsOf(name: string, value: unknown): readonly (readonly [string, string])[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((one) => fieldsOf(`${name}[]`, one));
  return [[name, typeof value === "object" ? JSON.stringify(value) : String(value)]];
}

/**
 * A complete response.
 *
 * @param body The parsed JSON.
 * @throws {UpstreamError} When it is an error, or has no choices.
 */
export function completionOf(body: Record<string, unknown>): ChatCompletion {
  throwIfError(body);
  if (!Array.isArray(body.choices) || body.choices.length === 0) {
    throw new UpstreamError("The provider's answer has no choices", { kind: "invalid_response" });
  }
  return body as unknown as ChatCompletion;
}

let modules: typeof import("./_openai_stream.ts") | undefined;

/**
 * Reads a streamed response. What reads streams is imported with the first: a page that asks for none goes without.
 *
 * @param opening The response, once its head is read.
 * @param partsOf How it is read.
 */
export function streamOf(
  opening: Promise<UpstreamResponse>,
  partsOf: (chunks: ChunkReader) => Omit<StreamParts, "chunks">,
): AsyncIterableIterator<CompletionChunk> {
  const read = ({ ChunkReader, readStream }: typeof import("./_openai_stream.ts")) => {
    const chunks = new ChunkReader();
    return readStream(opening, { ...partsOf(chunks), chunks });
  };
  if (modules !== undefined) return read(modules);
  opening.catch(() => {}); // thrown when it is read
  const stream = import("./_openai_stream.ts").then((loaded) => read(modules = loaded));
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    next: async () => await (await stream).next(),
    return: async () => await (await stream).return(undefined),
  };
}
