/**
 * The section `proxy`.
 * @module
 */
import { credentialProblem, hostProblem, originProblem, secretProblem } from "./formats.ts";
import { either, list, object } from "./_containers.ts";
import type { Field } from "./field.ts";
import { duration, flag, integer, oneOf, size, text } from "./_fields.ts";
import { defaultCors, defaultDeadlineMs, defaultProxy } from "../settings/defaults.ts";
import { budget, type BudgetValues } from "./providers.ts";

/** A token with facts about its holder, as read. */
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
  readonly body_limit?: number;
  readonly body_memory?: number;
  readonly upload_limit?: number;
  readonly request_timeout?: number;
  readonly drain_delay?: number;
  readonly listener?: "node" | "deno";
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

const token = () => text({ isSecret: true, check: credentialProblem });

const client = () =>
  object<TokenValues>({
    /** What the client sends. */
    token: token(),
    /** The client's name in records and metrics. */
    name: text({ isLiteral: true }),
    /** The only pools it may use; all, and models by name, unless given. */
    pools: list(text({ isLiteral: true }), { min: 1 }),
    /** The most that it may spend. */
    budget: budget(),
    /** Requests it may send a minute. */
    rpm: integer({ min: 1 }),
  }, { required: ["token", "name"] });

const cors = () =>
  object<CorsValues>({
    /** False switches CORS off. */
    enabled: flag({ default: defaultCors.enabled }),
    /** Origins browsers may come from; any with a token, loopback ones without, unless given. */
    origins: list(text({ check: originProblem })),
    /** Request headers that are allowed; those asked for unless given. */
    headers: list(text()),
    /** Methods that are allowed; those of the path unless given. */
    methods: list(oneOf(["GET", "POST", "DELETE", "OPTIONS"])),
    /** How long browsers may keep the answer. */
    max_age: duration({ min: 0, default: defaultCors.maxAgeSeconds * 1000 }),
  });

const auth = () =>
  object<NonNullable<ProxyValues["auth"]>>({
    /** How clients authenticate. */
    method: oneOf(["bearer"], "bearer"),
    /** Tokens that are accepted. */
    tokens: list(either(token(), client()), { min: 1 }),
    /**
     * Tokens that administrate the proxy: they see everything, and activate and deactivate models. They need not be
     * among `tokens`. Those without pools, budget and rpm unless given.
     */
    admin_tokens: list(token(), { min: 1 }),
  });

const tls = () =>
  object<NonNullable<ProxyValues["tls"]>>({
    /** File with the certificate and those between it and an authority, PEM. */
    cert: text({ isLiteral: true }),
    /** File with its private key, PEM without a passphrase. */
    key: text({ isLiteral: true }),
  }, { required: ["cert", "key"] });

/** The HTTP proxy. */
export const proxy = (): Field<ProxyValues> =>
  object<ProxyValues>({
    /** Address it listens on. */
    host: text({ default: defaultProxy.host, check: hostProblem }),
    /** Port it listens on; 0 takes a free one. */
    port: integer({ min: 0, max: 65_535, default: defaultProxy.port }),
    /** Paths it serves, without `/v1`; all unless given. */
    endpoints: list(oneOf(endpoints), { min: 1 }),
    /** Who may use it. */
    auth: auth(),
    /** Browser clients. */
    cors: cors(),
    /** Host names served without a token, beside loopback ones. */
    allowed_hosts: list(text({ check: hostProblem })),
    /** Requests at once; more are answered 503. */
    max_concurrent: integer({ min: 1, default: defaultProxy.maxConcurrent }),
    /** Largest JSON body. */
    body_limit: size({ default: defaultProxy.bodyLimit }),
    /**
     * What the bodies of all requests may take together while they are being read; more are answered 503. One client (its
     * token, else its address, unless that is the own machine's) gets a quarter.
     */
    body_memory: size({ default: defaultProxy.bodyMemory }),
    /** Largest upload of sound or files, and what all of them may take together while they are being read. */
    upload_limit: size({ default: defaultProxy.uploadLimit }),
    /** Deadline of a request. */
    request_timeout: duration({ default: defaultDeadlineMs }),
    /** Time between the signal to stop and refusing connections, in which only `/ready` says so. */
    drain_delay: duration({ min: 0, default: defaultProxy.drainDelayMs }),
    /**
     * `node:http`, or on Deno `Deno.serve`, which knows no limit for slow headers and may miss a client that leaves before
     * its answer begins.
     */
    listener: oneOf(["node", "deno"], defaultProxy.listener),
    /**
     * Signs the ids of files, batches and fine-tuning jobs, best as a secret reference: the same on every proxy that
     * serves them. The provider's API key does it unless given; then ids end with that key.
     */
    id_secret: text({ isSecret: true, check: secretProblem }),
    /** Serves HTTPS, through Node's own server. The files are read again when they change. */
    tls: tls(),
  });
