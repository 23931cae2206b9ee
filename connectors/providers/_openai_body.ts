/**
 * The body of a request in OpenAI's dialect: JSON, or a form where it has files.
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import type { OperationRequest, UploadedFile } from "../../src/contracts/provider.ts";
import type { Runtime, UpstreamRequest } from "../../src/contracts/runtime.ts";
import { editMembers } from "../../src/util/json_members.ts";
import { newBoundary, writeForm } from "../../src/util/multipart.ts";

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
  const boundary = newBoundary({ random });
  const { contentType, chunks } = writeForm({ fields, files }, boundary);
  return { headers: { "content-type": contentType }, body: chunks };
}

/** Lists as several fields of a name that ends in `[]`, as OpenAI's clients write them. */
function fieldsOf(name: string, value: unknown): readonly (readonly [string, string])[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((one) => fieldsOf(`${name}[]`, one));
  return [[name, typeof value === "object" ? JSON.stringify(value) : String(value)]];
}
