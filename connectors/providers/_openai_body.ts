/**
 * Request bodies in OpenAI's dialect: JSON, or a multipart form if there are files.
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import type { OperationRequest, UploadedFile } from "../../src/contracts/provider.ts";
import type { Runtime, UpstreamRequest } from "../../src/contracts/runtime.ts";
import { editMembers } from "../../src/util/json_members.ts";
import { newBoundary, writeForm } from "../../src/util/multipart.ts";

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
): Pick<UpstreamRequest, "body" | "headers"> {
  const { files, body, model } = request;
  if (files === undefined) return { headers: {}, body: writeJson(request) };
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
  if (Array.isArray(value)) return value.flatMap((one) => flattenFormField(`${name}[]`, one));
  return [[name, typeof value === "object" ? JSON.stringify(value) : String(value)]];
}
