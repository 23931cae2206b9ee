/**
 * Canary secrets, which tests search for, in any encoding, in everything that leaves the process.
 * @module
 */
import { AssertionError } from "@std/assert";
import type { ConfigSource, MeshEvent, RoutingRecord, TraceEntry } from "../../mod.ts";
import { ModelMesh } from "../../mod.ts";
import { createHandler, listen } from "../../proxy.ts";
import { fakeClock } from "../../src/runtime/test.ts";
import { testConfig } from "./proxy.ts";
import type { ReceivedRequest } from "./upstream.ts";

/** Secrets with characters that JSON, URLs and Base64 encode differently. */
export const canaries = {
  key: 'canary-key+/="\\%0123456789',
  second: "canary~second?key&0123456789",
  token: "canary-token+/=%0123456789",
  variable: "canary-variable+/=%0123456789",
  base: "canary-base-0123456789",
} as const;

const spellings = Object.entries(canaries).flatMap(([name, value]) =>
  listSpellings(value).map((text) => ({ name, text }))
);

/** Returns the encodings of a secret. */
export function listSpellings(value: string): string[] {
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
 * Fails when a text contains a canary.
 *
 * @param text Output of the process.
 * @param where Description for the error message.
 */
export function assertNoSecret(text: string, where: string): void {
  for (const { name, text: secret } of spellings) {
    if (text.includes(secret)) throw new AssertionError(`${where}: the canary "${name}" is in ${text.slice(0, 2000)}`);
  }
}

/**
 * Fails when a value contains a canary, including non-enumerable members, causes, stacks and maps.
 *
 * @param value Any value.
 * @param where Description for the error message.
 */
export function assertNoSecretIn(value: unknown, where: string): void {
  for (const text of listTexts(value, new Set())) assertNoSecret(text, where);
}

function listTexts(value: unknown, seen: Set<unknown>): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null || seen.has(value)) return [];
  seen.add(value);
  const members = Reflect.ownKeys(value).map((key): unknown => Reflect.get(value, key));
  const entries = value instanceof Map || value instanceof Set ? [...value] : [];
  const own = value instanceof Error ? [String(value), value.stack ?? ""] : [];
  const keys = Reflect.ownKeys(value).map(String);
  return [...own, ...keys, ...[...members, ...entries].flatMap((member) => listTexts(member, seen))];
}

/**
 * Returns the API key of a request.
 *
 * @param request The request received by a provider.
 */
export function readApiKey(request: ReceivedRequest): string {
  return (request.headers.authorization ?? "none").replace(/^Bearer /, "");
}

/** What a proxy emits to its sinks. */
export type Reported = MeshEvent | RoutingRecord | TraceEntry;

/** A proxy whose configuration contains canaries. */
export interface Site extends AsyncDisposable {
  readonly url: string;
  readonly mesh: ModelMesh;
  /** All records and traces. */
  readonly reported: Reported[];
}

/** The secrets that {@linkcode canaryConfig} refers to. */
export const canaryEnv: Readonly<Record<string, string>> = {
  KEY: canaries.key,
  TOKEN: canaries.token,
  BASE: canaries.base,
};

/**
 * A configuration with a token and two models: `a` with its API key by reference, and `b` with a literal one.
 *
 * @param url Base URL of both providers.
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
 * Starts a proxy and collects its records and traces.
 *
 * @param Kind Class of its engine.
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
 * Returns a response as one string: status, headers, body.
 *
 * @param response A response whose body has not been read.
 */
export async function everything(response: Response): Promise<string> {
  const text = await response.text().catch((error) => `cut off: ${error}`);
  return `${response.status} ${JSON.stringify([...response.headers])} ${text}`;
}
