/**
 * The section `proxy`.
 * @module
 */
import { credentialProblem, hostProblem, originProblem, secretProblem } from "./formats.ts";
import { either, list, object } from "./_containers.ts";
import { type Field, field } from "./field.ts";
import { duration, flag, integer, oneOf, size, text } from "./_fields.ts";
import { show } from "./report.ts";
import { defaultCors, defaultDeadlineMs, defaultProxy } from "../settings/defaults.ts";
import { budget, type BudgetValues } from "./providers.ts";

/** A token with limits of its client, as parsed. */
export interface TokenValues {
  readonly token?: string;
  readonly name?: string;
  readonly pools?: readonly string[];
  readonly budget?: BudgetValues;
  readonly rpm?: number;
}

export interface CorsValues {
  readonly enabled?: boolean;
  readonly origins?: readonly string[];
  readonly headers?: readonly string[];
  readonly methods?: readonly string[];
  readonly max_age?: number;
}

export interface ProxyValues {
  readonly host?: string;
  readonly port?: number;
  readonly endpoints?: readonly string[];
  readonly auth?: {
    readonly method?: "bearer";
    readonly tokens?: readonly (string | TokenValues)[];
    readonly admin_tokens?: readonly string[];
  };
  readonly cors?: CorsValues;
  readonly allowed_hosts?: readonly string[];
  readonly max_concurrent?: number;
  readonly max_connections?: number;
  readonly body_limit?: number;
  readonly body_memory?: number;
  readonly upload_limit?: number;
  readonly request_timeout?: number;
  readonly drain_delay?: number;
  readonly heartbeat?: number;
  readonly listener?: "http1" | "node" | "deno";
  readonly tls?: { readonly cert: string; readonly key: string };
  readonly id_secret?: string;
}

const endpoints = [
  "models",
  "chat/completions",
  "completions",
  "embeddings",
  "audio/speech",
  "audio/transcriptions",
  "audio/translations",
  "responses",
  "messages",
  "messages/count_tokens",
  "v1beta/models",
  "images/generations",
  "images/edits",
  "moderations",
  "files",
  "batches",
  "fine_tuning/jobs",
  "rerank",
  "search",
  "documents/parse",
] as const;

/** Paths that the list does not limit. */
const alwaysServed = /^(?:health|ready|live|metrics|ui|mesh(?:\/.*)?)$/;

/** An endpoint; a whole path is answered with the spelling to write. */
const endpoint = () => {
  const { shape, read } = oneOf(endpoints);
  return field<typeof endpoints[number]>(shape, (value, path, report) => {
    const name = typeof value === "string" ? value.replace(/^\/?(?:v1\/)?/, "") : "";
    const known = endpoints.find((one) => one === name);
    if (alwaysServed.test(name)) return report.problem(path, `${show(value)} is always served: leave it out`);
    if (known === undefined || known === value) return read(value, path, report);
    return report.problem(path, `unknown value ${show(value)}: write ${JSON.stringify(known)}`);
  });
};

const token = () => text({ isSecret: true, check: credentialProblem });

const client = () =>
  object<TokenValues>({
    /** The client's bearer token. */
    token: token(),
    /** Name of the client in records and metrics. */
    name: text({ isLiteral: true }),
    /** Pools that the client may use, and whose models it may use by name. By default all pools and models. */
    pools: list(text({ isLiteral: true }), { min: 1 }),
    /** Maximum amount that the client may spend. */
    budget: budget(),
    /** Maximum number of requests per minute. */
    rpm: integer({ min: 1 }),
  }, { required: ["token", "name"] });

const cors = () =>
  object<CorsValues>({
    /** `false` disables CORS. */
    enabled: flag({ default: defaultCors.enabled }),
    /** Allowed origins. By default any origin if a token is set, otherwise loopback origins only. */
    origins: list(text({ check: originProblem })),
    /** Allowed request headers. By default those that the preflight request names. */
    headers: list(text()),
    /** Allowed methods. By default those of the path. */
    methods: list(oneOf(["GET", "POST", "DELETE", "OPTIONS"])),
    /** How long browsers may cache the preflight response. */
    max_age: duration({ min: 0, default: defaultCors.maxAgeSeconds * 1000 }),
  });

const auth = () =>
  object<NonNullable<ProxyValues["auth"]>>({
    /** Authentication method of clients. */
    method: oneOf(["bearer"], "bearer"),
    /** Accepted tokens: strings, or objects with the client's name and limits. */
    tokens: list(either(token(), client()), { min: 1 }),
    /**
     * Administrators' tokens: they see everything, activate and deactivate models, and manage clients. They need not be
     * listed in `tokens`. By default all tokens without pools, budget and rpm.
     */
    admin_tokens: list(token(), { min: 1 }),
  });

const tls = () =>
  object<NonNullable<ProxyValues["tls"]>>({
    /** PEM file with the certificate, followed by the intermediate certificates. */
    cert: text({ isLiteral: true }),
    /** PEM file with the private key, without a passphrase. */
    key: text({ isLiteral: true }),
  }, { required: ["cert", "key"] });

/** The HTTP proxy. */
export const proxy = (): Field<ProxyValues> =>
  object<ProxyValues>({
    /** Address to listen on. */
    host: text({ default: defaultProxy.host, check: hostProblem }),
    /** Port to listen on. 0 selects a free port. */
    port: integer({ min: 0, max: 65_535, default: defaultProxy.port }),
    /** Served endpoints, as paths without `/v1`. All by default. */
    endpoints: list(endpoint(), { min: 1 }),
    /** Authentication of clients. */
    auth: auth(),
    /** Cross-origin requests of browsers. */
    cors: cors(),
    /** Host names that are served without a token, in addition to loopback names. */
    allowed_hosts: list(text({ check: hostProblem })),
    /** Maximum number of concurrent requests. Further requests are answered with 503. */
    max_concurrent: integer({ min: 1, default: defaultProxy.maxConcurrent }),
    /**
     * Maximum number of connections of clients, of each worker with `--workers`. Beyond it, the connection that has been
     * idle for longest is closed; if none is idle, the new one. It is lower where the process may open too few files
     * (`ulimit -n`): each connection needs up to two. `Deno.serve` has no such limit.
     */
    max_connections: integer({ min: 1, default: defaultProxy.maxConnections }),
    /** Maximum size of a JSON body. */
    body_limit: size({ default: defaultProxy.bodyLimit }),
    /**
     * Maximum memory for all request bodies, from their first byte to the end of their response. What a body has above
     * 1 MiB counts three times: as received, parsed and sent. Further requests are answered with 503. A single client
     * (identified by its token, otherwise by its address unless that is a loopback address) may use a quarter.
     */
    body_memory: size({ default: defaultProxy.bodyMemory }),
    /** Maximum size of an audio or file upload, and of all uploads together while they are being read. */
    upload_limit: size({ default: defaultProxy.uploadLimit }),
    /** Deadline of a request. */
    request_timeout: duration({ default: defaultDeadlineMs }),
    /**
     * Time between the stop signal and the refusal of connections. During this time only `/ready` reports the shutdown.
     */
    drain_delay: duration({ min: 0, default: defaultProxy.drainDelayMs }),
    /**
     * Interval of heartbeats in a stream that waits for its provider. After 10 s without content, a stream begins with
     * one. `0s` disables them.
     */
    heartbeat: duration({ min: 0, default: defaultProxy.heartbeatMs }),
    /**
     * HTTP server: ModelMesh's own (`http1`), `node:http` (`node`), or `Deno.serve` (`deno`, only on Deno). `Deno.serve`
     * has no time limit for slow request headers, and may not detect a client that disconnects before its response
     * begins. With `proxy.tls`, `node:https` serves, and `node:http` in the workers of `--workers` on Deno.
     */
    listener: oneOf(["http1", "node", "deno"], defaultProxy.listener),
    /**
     * Secret that signs the ids of files, batches and fine-tuning jobs. Use a secret reference, and the same value on every
     * proxy that serves them. Defaults to the provider's API key; ids then become invalid when that key changes.
     */
    id_secret: text({ isSecret: true, check: secretProblem }),
    /** Serves HTTPS through `node:https`. The files are reloaded when they change. */
    tls: tls(),
  });
