/**
 * Files, batches and fine-tuning jobs in OpenAI's dialect.
 *
 * Source: OpenAI REST API reference, document version 2.3.0: `/files`, `/batches`, `/fine_tuning/jobs`.
 * @module
 */
import type { Infrastructure, InfrastructureFacts, ObjectPage } from "../../src/contracts/infrastructure.ts";
import type { JsonObject } from "../../src/contracts/openai.ts";
import type { CallOptions } from "../../src/contracts/provider.ts";
import type { Runtime, UpstreamRequest, UpstreamResponse } from "../../src/contracts/runtime.ts";
import { UpstreamError } from "../../src/errors.ts";
import { streamResponseBytes } from "./_response_bytes.ts";
import { writeFormStream } from "../../src/util/form_stream.ts";
import { newBoundary } from "../../src/util/multipart.ts";
import { parseObject, readBytes, throwIfError } from "./_http.ts";

const decoder = /* @__PURE__ */ new TextDecoder();

/** Dependencies of the infrastructure. */
export interface InfrastructureParts {
  readonly facts: InfrastructureFacts;
  /**
   * Sends a request with the API key to a path relative to the vendor's base URL. Throws if the response status is not
   * a success.
   */
  readonly send: (
    path: string,
    request: Pick<UpstreamRequest, "method" | "body"> & { readonly headers?: UpstreamRequest["headers"] },
    options: CallOptions,
  ) => Promise<UpstreamResponse>;
  /** Generates multipart boundaries that do not occur in any file. */
  readonly runtime: Pick<Runtime, "random">;
}

/** Files, batches and fine-tuning jobs of a vendor with OpenAI's paths. */
export function openAiInfrastructure({ facts, send, runtime }: InfrastructureParts): Infrastructure {
  const post = async <Shape extends JsonObject>(
    path: string,
    { json, ...request }: Parameters<typeof send>[1] & { readonly json?: object },
    options: CallOptions,
  ): Promise<Shape> => {
    const body = json === undefined ? request : { ...request, body: JSON.stringify(json) };
    return parseObjectBody(await send(path, body, options)) as Promise<Shape>;
  };
  return {
    facts,
    async uploadFile({ name, type, content, fields, laterFields }, options) {
      const boundary = newBoundary(runtime);
      const body = writeFormStream({ name: "file", filename: name, type, bytes: content }, {
        before: Object.entries(fields),
        after: async () => Object.entries(await laterFields()),
      }, boundary);
      const headers = { "content-type": `multipart/form-data; boundary=${boundary}` };
      return withId(await post("files", { body, headers }, options));
    },
    retrieveFile: async (id, options) => withId(await post(`files/${inPath(id)}`, get, options)),
    async fileContent(id, options) {
      const response = await send(`files/${inPath(id)}/content`, get, options);
      const type = response.headers.get("content-type") ?? "application/octet-stream";
      return { type, bytes: streamResponseBytes(response) };
    },
    async deleteFile(id, options) {
      await post(`files/${inPath(id)}`, { method: "DELETE" }, options);
    },
    submitBatch: async (json, options) => withId(await post("batches", { json }, options)),
    retrieveBatch: async (id, options) => withId(await post(`batches/${inPath(id)}`, get, options)),
    cancelBatch: async (id, options) => withId(await post(`batches/${inPath(id)}/cancel`, {}, options)),
    createFineTune: async (json, options) => withId(await post("fine_tuning/jobs", { json }, options)),
    retrieveFineTune: async (id, options) => withId(await post(`fine_tuning/jobs/${inPath(id)}`, get, options)),
    changeFineTune: async (id, action, options) =>
      withId(await post(`fine_tuning/jobs/${inPath(id)}/${action}`, {}, options)),
    listOfFineTune: (path, options) => post<ObjectPage>(`fine_tuning/jobs/${path}`, get, options),
  };
}

const get = { method: "GET" };
const inPath = encodeURIComponent;

async function parseObjectBody(response: UpstreamResponse): Promise<JsonObject> {
  const body = parseObject(decoder.decode(await readBytes(response)));
  throwIfError(body);
  return body;
}

function withId<Shape extends JsonObject>(object: Shape): Shape {
  if (typeof object.id === "string" && object.id !== "") return object;
  throw new UpstreamError("The provider's response has no id", { kind: "invalid_response" });
}
