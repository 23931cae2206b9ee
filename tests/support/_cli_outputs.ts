/**
 * JSON Schemas of the output of commands with `--json`.
 * @module
 */
import { AssertionError } from "@std/assert";
// deno-lint-ignore no-import-prefix -- an entry of `imports` would be downloaded before every task
import Ajv from "npm:ajv@8.20.0/dist/2020.js";

const text = { type: "string" };
const count = { type: "integer", minimum: 0 };
const amount = { type: "number", minimum: 0 };
const orNull = (schema: Record<string, unknown>) => ({ anyOf: [schema, { type: "null" }] });
const list = (items: unknown) => ({ type: "array", items });
const state = { enum: ["active", "standby"] };

/** Schema of an object with exactly these members; a suffix `?` marks optional ones. */
function members(properties: Record<string, unknown>) {
  const plain = Object.fromEntries(Object.entries(properties).map(([key, value]) => [key.replace("?", ""), value]));
  const required = Object.keys(properties).filter((key) => !key.endsWith("?"));
  return { type: "object", properties: plain, required, additionalProperties: false };
}

const problem = members({ path: text, message: text });
const client = {
  "id": { type: "string", pattern: "^client_" },
  "name": text,
  "pools?": list(text),
  "budget?": members({ "daily_limit?": amount, "monthly_limit?": amount }),
  "rpm?": count,
  "notes?": text,
  "models?": list(text),
  "previous_token_ends_at?": text,
  "expires_at?": text,
  "created_at": text,
};
const used = { requests: count, tokens_in: count, tokens_out: count, cost_usd: amount };
const model = members({
  "name": text,
  "provider": text,
  "status": state,
  "reason?": text,
  "since?": text,
  "retryAt?": text,
});

/** Names of the schemas. */
export type OutputName =
  | "version"
  | "failure"
  | "check"
  | "init"
  | "proxy"
  | "chat"
  | "pools"
  | "models"
  | "catalogue"
  | "status"
  | "client"
  | "clients"
  | "revoked"
  | "usage"
  | "cache"
  | "cleared"
  | "secrets";

const schemas: Readonly<Record<OutputName, Record<string, unknown>>> = {
  version: members({ version: text }),
  failure: members({ ok: { const: false }, problems: list(problem) }),
  check: members({
    "ok": { type: "boolean" },
    "problems": list(problem),
    "warnings": list(problem),
    "cache?": members({ storage: text }),
    "probes?": list(
      members({
        "provider": text,
        "ok": { type: "boolean" },
        "models?": count,
        "ms": count,
        "status?": count,
        "error?": text,
      }),
    ),
  }),
  init: members({ ok: { const: true }, path: text, providers: list(text), pools: list(text) }),
  proxy: members({
    url: text,
    pools: list(members({
      name: text,
      capability: orNull(text),
      strategy: text,
      models: list(members({ name: text, provider: text, pricing: orNull({ type: "object" }) })),
    })),
  }),
  chat: members({
    model: text,
    provider: orNull(text),
    pool: orNull(text),
    attempts: count,
    fallbacks: count,
    content: orNull(text),
    finish_reason: orNull(text),
    usage: orNull({ type: "object" }),
    cost_usd: orNull(amount),
    request_id: orNull(text),
  }),
  pools: list(members({
    name: text,
    capability: orNull(text),
    strategy: text,
    status: state,
    active: count,
    standby: count,
  })),
  catalogue: {
    ...list({
      type: "object",
      required: ["id", "name", "provider", "capabilities", "default_for", "pricing"],
      properties: {
        id: text,
        name: text,
        provider: text,
        capabilities: { ...list(text), minItems: 1 },
        default_for: list(text),
        pricing: orNull(list({ type: "object" })),
        as_of: { type: "string", pattern: "^\\d{4}-\\d{2}-\\d{2}$" },
      },
    }),
    minItems: 100,
  },
  models: list(members({
    "name": text,
    "provider": text,
    "capabilities": list(text),
    "status": state,
    "pricing?": list({ type: "object" }),
  })),
  status: members({
    "version": text,
    "uptime_seconds": count,
    "pools": {
      type: "object",
      additionalProperties: members({
        capability: orNull(text),
        strategy: text,
        status: { enum: ["ok", "unavailable"] },
        active: count,
        standby: count,
        total: count,
        models: list(model),
      }),
    },
    "providers": list(
      members({
        "id": text,
        "status": state,
        "reason?": text,
        "retry_at?": text,
        "last_error?": members({ "kind": text, "status?": count, "at": text }),
        "active": count,
        "total": count,
      }),
    ),
    "budgets": list(members({
      scope: text,
      id: text,
      window: { enum: ["day", "month"] },
      spent_usd: amount,
      limit_usd: amount,
      reserved_usd: amount,
      resets_at: text,
    })),
    "clients?": list(members({ name: text, ...used })),
    "in_flight": count,
    "daily_usage?": { const: true },
    "cache?": { const: true },
    "teams?": { const: true },
    "process?": text,
    "role": { enum: ["administrator", "client"] },
    "recent": list({ type: "object", required: ["type", "timestamp"] }),
  }),
  client: members({ ...client, "token?": { type: "string", pattern: "^mm_" } }),
  clients: list(members(client)),
  cache: members({ entries: count, bytes: count, hits: count, misses: count, saved_usd: amount }),
  cleared: members({ cleared: count }),
  revoked: members({ id: text, name: text, deleted: { const: true } }),
  usage: members({
    id: text,
    name: text,
    from: text,
    to: text,
    data: list(members({ day: text, pool: text, ...used })),
  }),
  secrets: members({ ok: { const: true }, store: text, names: list(text) }),
};

/**
 * Fails unless a command's output is one line of JSON that matches a schema.
 *
 * @param name Name of the schema.
 * @param out Standard output.
 * @returns The parsed value.
 */
// deno-lint-ignore no-explicit-any -- the schema has checked it
export function assertOutput(name: OutputName, out: string): any {
  if (!/^[^\n]+\n$/.test(out)) throw new AssertionError(`Not one line: ${JSON.stringify(out)}`);
  const value = JSON.parse(out);
  const ajv = new Ajv.default({ strict: false, allErrors: true });
  if (ajv.validate(schemas[name], value)) return value;
  throw new AssertionError(`Not the output of ${name}: ${ajv.errorsText()}\nin ${JSON.stringify(value, null, 2)}`);
}
