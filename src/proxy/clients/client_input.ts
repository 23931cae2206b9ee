/**
 * Requests of administrators about clients, validated like configured clients.
 * @module
 */
import { parse } from "../../config/schema/parse.ts";
import { client } from "../../config/schema/proxy.ts";
import { Report, show, suggest } from "../../config/schema/report.ts";
import type { Engine } from "../../engine/engine.ts";
import { UnsupportedRequestError } from "../../errors.ts";
import { findNamedModels } from "../../registry/named_models.ts";
import { isObject } from "../../util/is_object.ts";
import { sha256 } from "../../util/sha256.ts";
import { dayMs } from "../../util/windows.ts";
import type { RuntimeClientFacts } from "./client_record.ts";

/** Maximum length of a name. */
const maxNameLength = 128;

/** A change of a client. Undefined members are unchanged; null removes a limit. */
export type ClientChange = { readonly [Key in keyof RuntimeClientFacts]?: RuntimeClientFacts[Key] | null };

/** Limits that null removes. */
const removable: ReadonlySet<string> = new Set([
  ...[
    "team",
    "tags",
    "pools",
    "models",
    "guards",
    "budget",
    "rpm",
    "tpm",
    "concurrent",
    "priority",
    "byok",
    "expires_at",
    "notes",
  ],
]);

/** Maximum grace time of a rotation. */
const maxGraceMs = 90 * dayMs;

const { team, tags, pools, models, guards, budget, rpm, tpm, concurrent, priority, notes, byok, token_hash } =
  client.fields;
const fields = {
  type: "object",
  fields: {
    name: { type: "text", isLiteral: true, format: nameProblem },
    team,
    tags,
    pools,
    models,
    guards,
    budget,
    rpm,
    tpm,
    concurrent,
    priority,
    notes,
    byok,
    expires_at: { type: "text", isLiteral: true, format: timeProblem },
  },
} as const;

const newFields = { type: "object", fields: { ...fields.fields, token_hash } } as const;

const rotationFields = { type: "object", fields: { grace: { type: "duration", min: 0 }, token_hash } } as const;

/** SHA-256 of an empty token, which no request can have. */
const emptyHash = sha256("");

/** A new client, and the hash of its token if it has one already. */
type NewClient = RuntimeClientFacts & { readonly token_hash?: string };

/**
 * Reads the body that creates a client.
 *
 * @throws {UnsupportedRequestError} `invalid_value` or `missing_required_parameter`, with the field's name.
 */
export function readNewClient(body: unknown, mesh: Engine): NewClient {
  const { name, ...limits } = readClientInput(body, mesh, newFields);
  if (name !== undefined) return { name, ...limits };
  throw new UnsupportedRequestError('"name" is missing: it stands in records and metrics', {
    code: "missing_required_parameter",
    param: "name",
  });
}

/**
 * Reads the body that changes a client.
 *
 * @throws {UnsupportedRequestError} `invalid_value`, with the field's name.
 */
export function readChange(body: unknown, mesh: Engine): ClientChange {
  if (!isObject(body)) return readClientInput(body, mesh);
  const removed = Object.keys(body).filter((key) => body[key] === null && removable.has(key));
  const fields = Object.fromEntries(Object.entries(body).filter(([key]) => !removed.includes(key)));
  return { ...readClientInput(fields, mesh), ...Object.fromEntries(removed.map((key) => [key, null])) };
}

/**
 * Reads the body that replaces the token of a client.
 *
 * @returns How long the present token is still accepted, ms; and the hash of the next one, if it exists already.
 * @throws {UnsupportedRequestError} `invalid_value`, with the field's name.
 */
export function readRotation(body: unknown): { readonly graceMs: number; readonly token_hash?: string } {
  if (!isObject(body)) throw wrong("The body has to be an object, or empty");
  const report = new Report();
  const { grace = 0, token_hash } = parse(rotationFields, body, { path: "", report })!;
  if (grace > maxGraceMs) report.problem("grace", "expected a duration of up to 90d");
  raiseProblem(report);
  return { graceMs: grace, ...(token_hash !== undefined && { token_hash: toTokenHash(token_hash) }) };
}

/** An error of a field of the body. */
export function wrong(message: string, param?: string): UnsupportedRequestError {
  return new UnsupportedRequestError(message, { code: "invalid_value", ...(param === undefined ? {} : { param }) });
}

function readClientInput(
  body: unknown,
  mesh: Engine,
  shape: typeof fields | typeof newFields = fields,
): Partial<NewClient> {
  if (!isObject(body)) throw wrong("The body has to be an object with the client's name and limits");
  const report = new Report();
  for (const [key, value] of Object.entries(body)) {
    if (value === null) report.problem(key, "expected a value, found nothing");
  }
  const { pools, expires_at, token_hash, ...values } = parse(shape as typeof newFields, body, { path: "", report })!;
  const { teams, guards } = mesh.settings;
  if (values.team !== undefined && !teams?.has(values.team)) {
    report.problem("team", `no team ${show(values.team)}${suggest(values.team, [...teams?.keys() ?? []])}`);
  }
  values.guards?.forEach((name, index) => {
    if (guards?.has(name)) return;
    report.problem(`guards[${index}]`, `no guard ${show(name)}${suggest(name, [...guards?.keys() ?? []])}`);
  });
  values.models?.forEach((name, index) => checkModel(name, `models[${index}]`, { mesh, report }));
  const named = pools?.flatMap((name, index) => findPool(name, `pools[${index}]`, { mesh, report }));
  if (expires_at !== undefined && Date.parse(expires_at) <= mesh.runtime.clock.now()) {
    report.problem("expires_at", "is in the past: to end a client now, delete it");
  }
  raiseProblem(report);
  return {
    ...values,
    ...(token_hash !== undefined && { token_hash: toTokenHash(token_hash) }),
    ...(named && { pools: named }),
    ...(expires_at !== undefined && { expires_at: new Date(expires_at).toISOString() }),
  };
}

/** Reports a name that no model has. */
function checkModel(
  name: string,
  path: string,
  { mesh: { registry }, report }: { readonly mesh: Engine; readonly report: Report },
): void {
  if (findNamedModels(registry.aliases.get(name) ?? name, registry) !== undefined) return;
  report.problem(path, `no model ${show(name)}${suggest(name, registry.models.map((model) => model.name))}`);
}

function raiseProblem({ problems: [problem] }: Report): void {
  if (problem !== undefined) throw wrong(`${problem.path}: ${problem.message}`, problem.path);
}

function toTokenHash(text: string): string {
  const hash = text.toLowerCase();
  if (hash === emptyHash) {
    throw wrong("token_hash: is that of an empty token, which requests cannot have", "token_hash");
  }
  return hash;
}

/** Resolves a pool, or the one created on demand for a node of the capability tree. */
function findPool(
  name: string,
  path: string,
  { mesh: { registry }, report }: { readonly mesh: Engine; readonly report: Report },
): string[] {
  if (registry.pool(name) !== undefined) return [name];
  const target = registry.aliases.get(name) ?? name;
  if (registry.pool(target) !== undefined) return [target];
  const node = registry.tree.resolve(target);
  if (node !== undefined) return [registry.tree.shortName(node)];
  report.problem(path, `no pool ${show(name)}${suggest(name, registry.pools.map((pool) => pool.name))}`);
  return [];
}

function nameProblem(name: string): string | undefined {
  return name.length <= maxNameLength && name.trim() === name
    ? undefined
    : `expected a name of 1 to ${maxNameLength} characters without space around it`;
}

function timeProblem(time: string): string | undefined {
  const isTime = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2}))?$/.test(time);
  return isTime && !Number.isNaN(Date.parse(time))
    ? undefined
    : 'expected an ISO 8601 time such as "2027-01-31T00:00:00Z"';
}
