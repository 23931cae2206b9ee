/**
 * Secrets that a test looks for in everything that can be read from outside, however they are written there.
 * @module
 */
import { AssertionError } from "@std/assert";
import type { ConfigSource, MeshEvent, RoutingRecord, TraceEntry } from "../../mod.ts";
import { ModelMesh } from "../../mod.ts";
import { createHandler, listen } from "../../proxy.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { testConfig } from "./proxy.ts";
import type { ReceivedRequest } from "./upstream.ts";

/** Secrets with characters that JSON, URLs and base64 all write differently. */
export const canaries = {
  key: 'canary-key+/="\\%0123456789',
  second: "canary~second?key&0123456789",
  token: "canary-token+/=%0123456789",
  variable: "canary-variable+/=%0123456789",
  base: "canary-base-0123456789",
} as const;

const spellings = Object.entries(canaries).flatMap(([name, value]) =>
  spellingsOf(value).map((text) => ({ name, text }))
);

/**
 * A secret as it may be written down.
 *
 * @param value The secret.
 */
export function spellingsOf(value: string): string[] {
  const unpadded = (text: string) => btoa(text).replace(/=+$/, "");
  return [
    value,
    unpadded(value),
    unpadded(`Bearer ${value}`),
    unpadded(value).replaceAll("+", "-").replaceAll("/", "_"),
    Array.from(value, (character) => character.charCodeAt(0).toString(16).padStart(2, "0")).join(""),
    encodeURIComponent(value),
    encodeURI(value),
    JSON.stringify(value).slice(1, -1),
    JSON.stringify(JSON.stringify(value)).slice(3, -3),
  ];
}

/**
 * Fails when a text has a canary in it.
 *
 * @param text Anything that leaves.
 * @param where Said when it has.
 */
export function assertNoSecret(text: string, where: string): void {
  for (const { name, text: secret } of spellings) {
    if (text.includes(secret)) throw new AssertionError(`${where}: the canary "${name}" is in ${text.slice(0, 2000)}`);
  }
}

/**
 * Fails when a value has a canary anywhere in it.
 *
 * @param value Anything: hidden members, causes, stacks and maps are looked into.
 * @param where Said when it has.
 */
export function assertNoSecretIn(value: unknown, where: string): void {
  for (const text of textsOf(value, new Set())) assertNoSecret(text, where);
}

function textsOf(value: unknown, seen: Set<unknown>): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null || seen.has(value)) return [];
  seen.add(value);
  const members = Reflect.ownKeys(value).map((key): unknown => Reflect.get(value, key));
  const entries = value instanceof Map || value instanceof Set ? [...value] : [];
  const own = value instanceof Error ? [String(value), value.stack ?? ""] : [];
  const keys = Reflect.ownKeys(value).map(String);
  return [...own, ...keys, ...[...members, ...entries].flatMap((member) => textsOf(member, seen))];
}

/**
 * The key a request came with.
 *
 * @param request As a provider got it.
 */
export function keyOf(request: ReceivedRequest): string {
  return (request.headers.authorization ?? "none").replace(/^Bearer /, "");
}

/** What a proxy reported to its sinks. */
export type Reported = MeshEvent | RoutingRecord | TraceEntry;

/** A proxy full of canaries. */
export interface Site extends AsyncDisposable {
  readonly url: string;
  readonly mesh: ModelMesh;
  /** Every record and trace. */
  readonly reported: Reported[];
}

/** The secrets that {@linkcode canaryConfig} refers to. */
export const canaryEnv: Readonly<Record<string, string>> = {
  KEY: canaries.key,
  TOKEN: canaries.token,
  BASE: canaries.base,
};

/**
 * A configuration of two models, `a` with its key by reference and `b` with a literal one, and a token.
 *
 * @param url Of both providers.
 */
export function canaryConfig(url: string): Record<string, unknown> {
  const config = testConfig({
    upstreams: { a: url, b: url },
    config: {
      pools: {
        "*": { retry: { max_attempts: 0 }, deactivation: { retry_limit: 100 } },
        chat: { models: ["a", "b"], strategy: "priority", model_priority: ["a", "b"] },
      },
      proxy: { auth: { tokens: ["${secrets:TOKEN}"] } },
    },
  });
  const providers = config.providers as Record<string, object>;
  providers.a = { ...providers.a, api_key: "${secrets:KEY}" };
  providers.b = { ...providers.b, api_key: canaries.second };
  return config;
}

/**
 * Starts a proxy whose records and traces are kept.
 *
 * @param config Its configuration.
 * @param Kind Of its engine.
 */
export async function startSite(config: ConfigSource, Kind: typeof ModelMesh = ModelMesh): Promise<Site> {
  const reported: Reported[] = [];
  const clock = fakeClock({ skipSleeps: true });
  const mesh = new Kind({ clock, env: canaryEnv, on: (record) => reported.push(record) });
  mesh.addSink({ emit: () => {}, trace: (entry) => reported.push(entry), flush: () => Promise.resolve() });
  await mesh.initialize(config);
  const server = await listen(createHandler(mesh), { port: 0 });
  return {
    url: `http://127.0.0.1:${server.port}`,
    mesh,
    reported,
    async [Symbol.asyncDispose]() {
      await server.stop(0);
      await mesh.close();
    },
  };
}

/**
 * All of an answer as one text: status, headers, body.
 *
 * @param response Its body has not been read yet.
 */
export async function everything(response: Response): Promise<string> {
  const text = await response.text().catch((error) => `cut off: ${error}`);
  return `${response.status} ${JSON.stringify([...response.headers])} ${text}`;
}
