/**
 * Reads JSON bodies.
 * @module
 */
import type { PlainRequest } from "../contracts/shell.ts";
import { UnsupportedRequestError } from "../errors.ts";
import { checkMemberCount, invalid } from "../pipeline/check_body.ts";
import { bodyBounds, findJsonExcess, innerBounds } from "../util/bounded_json.ts";
import { countMembers, memberText, repeatedMember } from "../util/json_members.ts";
import { HttpError } from "./error_body.ts";
import type { UploadedFile } from "../contracts/provider.ts";
import type { FormRules } from "../pipeline/operation.ts";
import { findBoundary, type Form, readForm } from "../util/multipart.ts";
import type { Exchange } from "./exchange.ts";

const decoder = new TextDecoder("utf-8", { fatal: true });

/** Maximum length of a member's name in an error message. */
const maxNameLength = 64;

/**
 * Reads the JSON body of a request. Its headers are checked before the body is read.
 *
 * @param time The start of the request, and the time limit of its body.
 * @throws {HttpError} 415 if its headers specify another media type.
 * @throws {UnsupportedRequestError} `invalid_json` if it cannot be parsed, `invalid_value` for a repeated member, or more
 * than the bounds of a body.
 */
export async function readJsonBody(
  exchange: Pick<Exchange, "body"> & { readonly request: Pick<PlainRequest, "headers"> },
  time: RequestTime,
): Promise<{
  readonly value: unknown;
  readonly text: string;
}> {
  checkType(exchange.request.headers.get("content-type"));
  return parseJsonBody(await exchange.body(time));
}

/** Parses a body; throws like {@linkcode readJsonBody}. */
function parseJsonBody(bytes: Uint8Array): { readonly value: unknown; readonly text: string } {
  let text: string;
  try {
    text = decoder.decode(bytes); // also drops one leading byte order mark
  } catch {
    throw new UnsupportedRequestError("The body is not valid UTF-8", { code: "invalid_json" });
  }
  const excess = findJsonExcess(text, bodyBounds);
  if (excess !== undefined) throw invalid(`The body has ${excess}`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    const what = text.trim() === "" ? "is empty" : "is not valid JSON";
    throw new UnsupportedRequestError(`The body ${what}`, { code: "invalid_json" });
  }
  refuseRepeated(text, value);
  return { value, text };
}

/** Rejects repeated members: the proxy would validate one, and the provider might read the other. */
function refuseRepeated(text: string, value: unknown, path: string = ""): void {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return;
  checkMemberCount(value);
  const repeated = countMembers(text) === Object.keys(value).length ? undefined : repeatedMember(text);
  if (repeated !== undefined) {
    const param = path + (repeated.length > maxNameLength ? `${repeated.slice(0, maxNameLength)}…` : repeated);
    throw invalid(`${JSON.stringify(param)} is given twice`, param);
  }
  if (path === "" && "mesh" in value) refuseRepeated(memberText(text, "mesh"), value.mesh, "mesh.");
}

function checkType(type: string | null): void {
  if (type === "application/json") return; // the common case
  const unsupported = (message: string) => new HttpError(message, { status: 415, code: "unsupported_media_type" });
  if (type !== null && !/^\s*application\/(json|[\w.-]+\+json)\s*(;|$)/i.test(type)) {
    throw unsupported("The content type has to be application/json");
  }
  const charset = /;\s*charset="?([^";\s]+)/i.exec(type ?? "")?.[1];
  if (charset !== undefined && !/^utf-?8$/i.test(charset)) throw unsupported("The charset has to be UTF-8");
}

/** The body of a request. */
interface RequestParts {
  readonly value: unknown;
  /** The JSON as received. */
  readonly text?: string;
  /** Views of the received bytes. */
  readonly files?: readonly UploadedFile[];
}

/** The time limit of a request. */
export interface RequestTime {
  /** Start time, monotonic ms. */
  readonly startedAt: number;
  /** Time limit from then on, ms. */
  readonly limitMs: number;
}

/** A request after its body was read. */
export interface Work extends RequestParts {
  readonly time: RequestTime;
}

/**
 * Reads the body of a request, then takes a slot.
 *
 * @param form Converts a form to a body; only JSON is accepted by default.
 */
export async function readWork(exchange: Exchange, form?: FormRules): Promise<Work> {
  const { mesh, request } = exchange;
  const startedAt = mesh.runtime.clock.monotonic();
  const limitMs = findRequestTimeout(request, mesh.settings.deadlineMs);
  const time = { startedAt, limitMs };
  const type = request.headers.get("content-type");
  const isForm = form !== undefined && !(form.takesJson && !multipart.test(type ?? ""));
  if (isForm) checkFormType(type);
  else checkType(type);
  const bytes = await exchange.body(isForm ? { startedAt, limitMs, isUpload: true } : time);
  const beginning = exchange.begin();
  if (beginning !== undefined) await beginning;
  if (isForm) {
    const { value, files } = parseFormBody(bytes, type, form);
    return { value, files, time };
  }
  const { value, text } = parseJsonBody(bytes);
  return { value, text, time };
}

const multipart = /^\s*multipart\//i;

/** The shorter of the configured deadline and the one that official clients send in seconds, ms. */
export function findRequestTimeout(request: PlainRequest, ownMs: number): number {
  const clientMs = Math.round(Number(request.headers.get("x-stainless-timeout") ?? NaN) * 1000);
  return clientMs > 0 ? Math.min(clientMs, ownMs) : ownMs;
}

/** @throws {HttpError} 415 for a content type that is not one of forms. */
function checkFormType(type: string | null): void {
  if (multipart.test(type ?? "")) return;
  throw new HttpError("The content type has to be multipart/form-data", {
    status: 415,
    code: "unsupported_media_type",
  });
}

/**
 * Parses a form.
 *
 * @param type The content type of the request.
 * @param form Converts the form to a body.
 * @throws {UnsupportedRequestError} `invalid_value` for a malformed form.
 */
function parseFormBody(
  bytes: Uint8Array,
  ...[type, form]: readonly [type: string | null, form: FormRules]
): Required<Pick<RequestParts, "value" | "files">> {
  const boundary = findBoundary(type);
  const parts = boundary === undefined ? undefined : readForm(bytes, boundary);
  if (parts === undefined) {
    throw new UnsupportedRequestError("The body is not a valid form: its boundary is wrong, or it is cut short", {
      code: "invalid_value",
    });
  }
  return { value: toFormBody(parts.fields, form), files: parts.files };
}

/** Converts string fields to members of a body. */
function toFormBody(fields: Form["fields"], { fields: rules }: FormRules): Record<string, unknown> {
  const body = new Map<string, unknown>();
  for (const [received, text] of fields) {
    const name = received.endsWith("[]") ? received.slice(0, -2) : received;
    const value = parseField(text, { name, rule: Object.hasOwn(rules, name) ? rules[name] : undefined });
    const before = body.get(name);
    if (before !== undefined || received !== name) body.set(name, [before ?? [], value].flat());
    else body.set(name, value);
  }
  return Object.fromEntries(body);
}

function parseField(
  text: string,
  { name, rule }: { name: string; rule: FormRules["fields"][string] | undefined },
): unknown {
  if (rule === undefined) return text;
  if (rule === "boolean" && (text === "true" || text === "false")) return text === "true";
  if (rule === "number" && text.trim() !== "" && Number.isFinite(Number(text))) return Number(text);
  if (rule === "json") {
    const excess = findJsonExcess(text, innerBounds);
    if (excess !== undefined) throw invalid(`"${name}" has ${excess}`, name);
    try {
      return JSON.parse(text);
    } catch {
      // reported below
    }
  }
  throw invalid(`"${name}" has to be ${rule === "json" ? "JSON" : `a ${rule}`}`, name);
}
