/**
 * The routing constraints of a request: the header `x-mesh-route`, or the member `mesh`. They only choose among the
 * pool's models: a target, an API key or a provider outside the pool cannot be specified.
 * @module
 */
import { parseDuration } from "../config/schema/units.ts";
import { maxPriority } from "../config/settings/defaults.ts";
import { UnsupportedRequestError } from "../errors.ts";
import { nearest } from "../util/nearest.ts";
import { listTags } from "../util/entries.ts";
import { isObject } from "../util/is_object.ts";
import { nanoPerUsd } from "../util/pricing.ts";
import { toText } from "../util/to_text.ts";

/** Names, and the field that contains them, for errors. */
export interface NameList {
  /** Model names, provider entry ids or vendors. */
  readonly names: readonly string[];
  /** `mesh.only` and similar, or `x-mesh-route`. */
  readonly param: string;
}

/** The maximum price of a request, and the field that contains it, for errors. */
export interface PriceLimit {
  /** Nano-dollars. */
  readonly nanoUsd: number;
  /** `mesh.max_price` or `x-mesh-route`. */
  readonly param: string;
}

/** When a stream commits to its model: at its first content, or once it is complete. */
export type CommitPoint = "first_content" | "complete";

/** When the stream of a request commits, and the field that contains it, for errors. */
export interface Commit {
  readonly at: CommitPoint;
  /** `mesh.commit` or `x-mesh-route`. */
  readonly param: string;
}

/** Labels for records: an object of strings, or an array of strings. */
export type Tags = Readonly<Record<string, string>> | readonly string[];

/** What a request is counted by, besides its client. */
export interface RequestLabels {
  /** Name of the team. */
  readonly team?: string | undefined;
  readonly tags?: Tags | undefined;
  /** The end user, as its client names it. */
  readonly user?: string | undefined;
}

/** What a request says about the cache, not yet validated, and the field that contains it, for errors. */
export interface CacheDirective {
  readonly value: unknown;
  /** `mesh.cache` or `x-mesh-cache`. */
  readonly param: string;
}

/** Routing constraints. */
export interface RoutingConstraints {
  /** The only allowed models. */
  readonly only?: NameList;
  /** Excluded models. */
  readonly ignore?: NameList;
  /** Preferred models, in order, before all others. */
  readonly order?: NameList;
  /** Maximum estimated cost of the request. */
  readonly maxPrice?: PriceLimit;
  /** Maximum time to a response, or to the first content of a stream, ms. */
  readonly deadlineMs?: number;
  /** Maximum time of one try to the first content of a stream, ms. */
  readonly firstTokenMs?: number;
  /** When a streamed response commits; the pool's setting by default. */
  readonly commit?: Commit;
  /** Groups requests for strategies that honor sessions. */
  readonly session?: string;
  /** Labels of the request, for its records and for limits. */
  readonly tags?: Tags;
  /** Its end user, for its records and for limits. */
  readonly user?: string;
  /** Priority in a queue, from 0; undefined for that of the pool. */
  readonly priority?: number;
  readonly cache?: CacheDirective;
}

/** Further headers of a request; null for those that it does not have. */
interface HeaderValues {
  readonly priority?: string | null;
  readonly tags?: string | null;
  readonly cache?: string | null;
}

type Draft = { -readonly [key in keyof RoutingConstraints]: RoutingConstraints[key] };
/** A field, with its name in messages and in `param`. */
interface ConstraintField {
  readonly label: string;
  readonly param: string;
}
type Reader = (value: unknown, field: ConstraintField, draft: Draft) => void;

const routeHeader = "x-mesh-route";
const priorityHeader = "x-mesh-priority";
const tagsHeader = "x-mesh-tags";
const cacheHeader = "x-mesh-cache";
const maxHeaderChars = 4096;
const maxNames = 64;
const maxNameChars = 256;
const maxTags = 16;
const maxTagChars = 64;
const maxPriceUsd = 1_000_000;

const headerReaders: Readonly<Record<string, Reader>> = {
  only: (value, field, draft) => draft.only = readNameList(splitNames(value, field), field),
  ignore: (value, field, draft) => draft.ignore = readNameList(splitNames(value, field), field),
  order: (value, field, draft) => draft.order = readNameList(splitNames(value, field), field),
  "max-price": (value, field, draft) => draft.maxPrice = readPriceLimit(decimal(value), field),
  deadline: (value, field, draft) => draft.deadlineMs = readDuration(value, field),
  first_token: (value, field, draft) => draft.firstTokenMs = readDuration(value, field),
  commit: (value, field, draft) => draft.commit = readCommit(value, field),
  priority: (value, field, draft) => draft.priority = readPriority(decimal(value), field),
};

const bodyReaders: Readonly<Record<string, Reader>> = {
  only: (value, field, draft) => draft.only = readNameList(value, field),
  ignore: (value, field, draft) => draft.ignore = readNameList(value, field),
  order: (value, field, draft) => draft.order = readNameList(value, field),
  max_price: (value, field, draft) => draft.maxPrice = readPriceLimit(value, field),
  deadline: (value, field, draft) => draft.deadlineMs = readDuration(value, field),
  first_token: (value, field, draft) => draft.firstTokenMs = readDuration(value, field),
  commit: (value, field, draft) => draft.commit = readCommit(value, field),
  session: (value, field, draft) => draft.session = readConstraintText(value, field, maxNameChars),
  tags: (value, field, draft) => draft.tags = mergeTags([draft.tags, readTags(value, field)]),
  user: (value, field, draft) => draft.user = readConstraintText(value, field, maxNameChars),
  priority: (value, field, draft) => draft.priority = readPriority(value, field),
  cache: (value, { param }, draft) => draft.cache = { value, param },
};

/**
 * Reads the routing constraints of a request; undefined if there are none. Members of the body have precedence over the
 * header. A null member counts as absent.
 *
 * The header consists of `name=value` pairs separated by `;`. Values of lists are separated by `,`. White space around
 * them and empty pairs are ignored (RFC 9110, section 5.6.6). A model whose name contains a separator or a non-ASCII
 * character can only be named in the body.
 *
 * @param header The value of `x-mesh-route`.
 * @param body The request, of which only `mesh` is read.
 * @param further The value of `x-mesh-priority`, which has precedence over `priority` in the other header; that of
 * `x-mesh-tags`, to whose tags the body's are added; and that of `x-mesh-cache`.
 * @throws {UnsupportedRequestError} `invalid_value`, with the field, if unknown, repeated, empty, too long or
 * malformed.
 *
 * @example
 * ```ts
 * const messages = [{ role: "user", content: "Hello" }];
 * readRoutingConstraints("only=groq,cerebras;max-price=0.01;deadline=20s", { messages });
 * readRoutingConstraints(undefined, { messages, mesh: { order: ["acme-small"], deadline: "20s", tags: { team: "search" } } });
 * ```
 */
export function readRoutingConstraints(
  header: string | null | undefined,
  body: Readonly<Record<string, unknown>>,
  { priority = null, tags = null, cache = null }: HeaderValues = {},
): RoutingConstraints | undefined {
  const mesh: unknown = isObject(body) ? body.mesh : undefined;
  const hasHeader = (header ?? "") !== "" || (priority ?? tags ?? cache) !== null;
  if (!hasHeader && (mesh ?? undefined) === undefined) return undefined;
  const draft: Draft = {};
  readHeader(header ?? "", draft);
  if (priority !== null) {
    const field = { label: `The header "${priorityHeader}"`, param: priorityHeader };
    draft.priority = readPriority(decimal(priority), field);
  }
  if (tags !== null) {
    const field = { label: `The header "${tagsHeader}"`, param: tagsHeader };
    draft.tags = readTags(tags.split(",").map((tag) => tag.trim()), field);
  }
  if (cache !== null) draft.cache = { value: cache.trim(), param: cacheHeader };
  readMeshMember(mesh ?? {}, draft);
  return Object.keys(draft).length === 0 ? undefined : draft;
}

function readHeader(header: string, draft: Draft): void {
  const headerField: ConstraintField = { label: `The header "${routeHeader}"`, param: routeHeader };
  if (header.length > maxHeaderChars) throw invalid(headerField, `may have up to ${maxHeaderChars} characters`);
  const seen = new Set<string>();
  for (const segment of header.split(";")) {
    if (segment.trim() === "") continue;
    const at = segment.indexOf("=");
    const name = segment.slice(0, at < 0 ? undefined : at).trim().toLowerCase();
    const field: ConstraintField = { label: `${quoteShort(name)} of the header "${routeHeader}"`, param: routeHeader };
    if (at < 0 && !Object.hasOwn(headerReaders, name)) {
      throw invalid(field, 'is not a routing field: write fields as in "only=groq;deadline=20s"');
    }
    const reader = findReader(headerReaders, name, field);
    if (seen.has(name)) throw invalid(field, "is given twice");
    seen.add(name);
    reader(at < 0 ? "" : segment.slice(at + 1).trim(), field, draft);
  }
}

function readMeshMember(mesh: unknown, draft: Draft): void {
  if (!isObject(mesh)) throw invalid({ label: '"mesh"', param: "mesh" }, "has to be an object");
  for (const [name, value] of Object.entries(mesh)) {
    const param = `mesh.${name.length > maxTagChars ? `${name.slice(0, maxTagChars)}…` : name}`;
    const field: ConstraintField = { label: JSON.stringify(param), param };
    const reader = findReader(bodyReaders, name, field);
    if (value !== null && value !== undefined) reader(value, field, draft);
  }
}

function findReader(readers: Readonly<Record<string, Reader>>, name: string, field: ConstraintField): Reader {
  const reader = Object.hasOwn(readers, name) ? readers[name] : undefined;
  if (reader !== undefined) return reader;
  const [likely] = nearest(name.slice(0, maxTagChars), Object.keys(readers), 1);
  const hint = likely === undefined ? `the fields are ${Object.keys(readers).join(", ")}` : `did you mean "${likely}"?`;
  throw invalid(field, `is not a routing field: ${hint}`);
}

/** A name cannot contain `=` here: it indicates a field after a comma, as gateways join repeated headers. */
function splitNames(value: unknown, field: ConstraintField): string[] {
  const names = toText(value).split(",").map((name) => name.trim());
  if (names.some((name) => name.includes("="))) throw invalid(field, 'has a "=": fields are separated by ";"');
  return names;
}

function readNameList(value: unknown, field: ConstraintField): NameList {
  const isList = Array.isArray(value) && value.length > 0 && value.length <= maxNames;
  if (!isList || !value.every((name) => isTagText(name, maxNameChars))) {
    throw invalid(field, `has to be a list of 1 to ${maxNames} names of 1 to ${maxNameChars} characters`);
  }
  return { names: [...new Set<string>(value)], param: field.param };
}

/** Digits with an optional fraction; NaN otherwise. */
function decimal(value: unknown): number {
  return /^\d{1,7}(\.\d{1,12})?$/.test(toText(value)) ? Number(value) : NaN;
}

function readPriceLimit(value: unknown, field: ConstraintField): PriceLimit {
  if (typeof value === "number" && value >= 0 && value <= maxPriceUsd) {
    return { nanoUsd: Math.round(value * nanoPerUsd), param: field.param };
  }
  throw invalid(field, `has to be a number of USD from 0 to ${maxPriceUsd}, such as 0.01`);
}

function readPriority(value: unknown, field: ConstraintField): number {
  if (Number.isInteger(value) && Number(value) >= 0 && Number(value) <= maxPriority) return Number(value);
  throw invalid(field, `has to be an integer from 0 to ${maxPriority}`);
}

/** A bare number is ambiguous, as in the configuration (contract, section 4). */
function readDuration(value: unknown, field: ConstraintField): number {
  const isBare = typeof value === "number" ? Number.isSafeInteger(value) : /^\d{1,15}$/.test(toText(value));
  if (isBare && Number(value) > 0) {
    throw invalid(field, `has to be a duration, not ${value}: write "${value}s" or "${value}ms"`);
  }
  const ms = typeof value === "string" ? parseDuration(value) : undefined;
  if (ms === undefined || ms === 0) {
    throw invalid(field, 'has to be a duration longer than 0, such as "20s" or "1m30s"');
  }
  return ms;
}

function readCommit(value: unknown, field: ConstraintField): Commit {
  if (value === "first_content" || value === "complete") return { at: value, param: field.param };
  throw invalid(field, 'has to be "first_content" or "complete"');
}

function readConstraintText(value: unknown, field: ConstraintField, longest: number): string {
  if (isTagText(value, longest)) return value;
  throw invalid(field, `has to be a text of 1 to ${longest} characters`);
}

function readTags(value: unknown, field: ConstraintField): Tags {
  const strings = Array.isArray(value) ? value : isObject(value) ? Object.entries(value).flat() : undefined;
  const count = Array.isArray(value) ? value.length : (strings?.length ?? 0) / 2;
  if (strings === undefined || count > maxTags || !strings.every((text) => isTagText(text, maxTagChars))) {
    throw invalid(
      field,
      `has to be a list of strings, or an object of them: up to ${maxTags}, of 1 to ${maxTagChars} characters`,
    );
  }
  return Array.isArray(value) ? [...strings] : { ...value as Record<string, string> };
}

/** Puts tags together; undefined without any. An object stays one if it is alone. */
function mergeTags(all: readonly (Tags | undefined)[]): Tags | undefined {
  const some = all.filter((tags) => tags !== undefined);
  return some.length < 2 ? some[0] : [...new Set(some.flatMap(listTags))];
}

/**
 * Reads the team, the tags and the end user of a request; undefined if it has none. The end user is `mesh.user`, else
 * `user`, `safety_identifier` or `metadata.user_id`; tags are also in `metadata.tags`, with commas or in a list, where
 * others are ignored. In Gemini's API, `labels` stands for `metadata`.
 *
 * @param body The body as received.
 */
export function readLabels(
  body: Readonly<Record<string, unknown>>,
  { team, tags, user, ownTags }: RequestLabels & { readonly ownTags?: Tags | undefined },
): RequestLabels | undefined {
  const facts = [body.metadata, body.labels].find(isObject) ?? {};
  const names = [user, body.user, body.safety_identifier, facts.user_id, isObject(body.labels) && facts.user];
  const named = names.find((name) => typeof name === "string" && name !== "") as string | undefined;
  const texts = typeof facts.tags === "string" ? facts.tags.split(",") : facts.tags;
  const more = !Array.isArray(texts) ? [] : texts.map((text) => typeof text === "string" ? text.trim() : text)
    .filter((text) => isTagText(text, maxTagChars)).slice(0, maxTags);
  const merged = mergeTags([ownTags, tags, more.length === 0 ? undefined : more]);
  return (team ?? merged ?? named) === undefined ? undefined : { team, tags: merged, user: named };
}

function isTagText(value: unknown, longest: number): value is string {
  return typeof value === "string" && value.length <= longest && value.trim() !== "";
}

function quoteShort(text: string): string {
  return JSON.stringify(text.length > maxTagChars ? `${text.slice(0, maxTagChars)}…` : text);
}

function invalid({ label, param }: ConstraintField, what: string): UnsupportedRequestError {
  return new UnsupportedRequestError(`${label} ${what}`, { code: "invalid_value", param });
}
