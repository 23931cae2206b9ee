/**
 * The package `@redis/client`: the part of it that is used, and its options.
 * @module
 */
import { ConnectorError } from "../../src/errors.ts";
import type { RedisLogin, RedisNode, RedisTls } from "./_redis_address.ts";
import { redisId } from "./_redis_errors.ts";

/**
 * Connect timeout of the package, ms. The shorter one of the connection counts the time during which the process runs: a
 * native timer ends first after the event loop has been busy, although the server has accepted meanwhile.
 */
const connectTimeoutMs = 10_000;

/** The used part of a client. */
export interface RedisClient {
  readonly isReady: boolean;
  on(event: "error" | "terminated", listener: (error: unknown) => void): unknown;
  connect(): Promise<unknown>;
  unref(): void;
  destroy(): void;
  sendCommand(words: readonly string[]): Promise<unknown>;
  subscribe(channel: string, listener: (message: string) => void): Promise<void>;
  unsubscribe(channel: string, listener: (message: string) => void): Promise<void>;
}

/** The used part of the package. */
export interface ClientModule {
  createClient(options: Readonly<Record<string, unknown>>): RedisClient;
}

/** Bundlers treat an import whose rejection is handled as optional. */
function notInstalled(error: unknown): never {
  throw error;
}

const importInstalled = (): Promise<unknown> =>
  // deno-lint-ignore no-import-prefix -- an entry in deno.json would be downloaded before any task
  import("npm:@redis/client@6.3.1").catch(notInstalled);

/**
 * Loads `@redis/client`.
 *
 * @param importClient Imports a replacement of the installed package.
 * @throws {ConnectorError} If it is not installed.
 */
export async function loadRedisClient(
  importClient: () => Promise<unknown> = importInstalled,
): Promise<ClientModule> {
  try {
    return await importClient() as ClientModule;
  } catch (error) {
    throw new ConnectorError(
      `The storage "${redisId}" requires the package "@redis/client", which is not installed: ` +
        'add it with "npm install @redis/client@6"',
      error,
    );
  }
}

/** Options of a connection. */
export interface ConnectionOptions {
  readonly login: RedisLogin;
  /** Certificates and keys as PEM. */
  readonly tls: RedisTls;
  readonly db?: number;
  /** Whether it reads from a replica of a cluster. */
  readonly isReadOnly?: boolean;
}

/** Returns the options of a client. */
export function toClientOptions(
  { host, port }: RedisNode,
  { login: { isTls, username, password }, tls, db, isReadOnly }: ConnectionOptions,
): Readonly<Record<string, unknown>> {
  return {
    socket: {
      host,
      port,
      ...(isTls ? { tls: true, ...tls } : {}),
      connectTimeout: connectTimeoutMs,
      reconnectStrategy: false, // its timers would keep an idle process alive
    },
    username,
    password,
    ...(db === undefined ? {} : { database: db }),
    ...(isReadOnly ? { readonly: true } : {}),
    disableClientInfo: true, // one command less that an access control list has to allow
    disableOfflineQueue: true, // the caller decides what to do while Redis is unavailable
    maintNotifications: "disabled",
  };
}

/** Reads the files that a TLS configuration names. */
export async function readTlsFiles(
  { servername, ...files }: RedisTls,
  readText: ((path: string) => Promise<string>) | undefined,
): Promise<RedisTls> {
  const read = await Promise.all(
    Object.entries(files).map(async ([name, value]) => {
      if (value.includes("-----BEGIN")) return [name, value];
      const text = await readText?.(value).catch(() => undefined);
      if (text?.includes("-----BEGIN")) return [name, text];
      const reason = text === undefined ? "cannot be read" : "holds nothing in PEM";
      throw new ConnectorError(
        `storage.tls.${name}: the file ${JSON.stringify(value)} ${reason}`,
        undefined,
        "forbidden",
      );
    }),
  );
  return { ...Object.fromEntries(read), ...(servername === undefined ? {} : { servername }) };
}
