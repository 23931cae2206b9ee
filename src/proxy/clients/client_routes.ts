/**
 * Handles `/mesh/clients` and the paths below it.
 * @module
 */
import type { PlainResponse } from "../../contracts/shell.ts";
import { ConnectorError } from "../../errors.ts";
import { toBase64Url } from "../../util/base64.ts";
import { sha256 } from "../../util/sha256.ts";
import { dayMs } from "../../util/windows.ts";
import { runtimePrefix } from "../authenticator.ts";
import { readJsonBody } from "../body.ts";
import { HttpError } from "../error_body.ts";
import type { Exchange } from "../exchange.ts";
import { json } from "../json.ts";
import { usageDays } from "../usage/daily_usage.ts";
import { readUsageQuery } from "../usage/usage_query.ts";
import { formatUsageCsv, groupUsage } from "../usage/usage_table.ts";
import { type ClientChange, readChange, readNewClient, readRotation, wrong } from "./client_input.ts";
import { type ClientsDocument, listTokens, shownClient, type StoredClient } from "./client_record.ts";
import type { RuntimeClients } from "./runtime_clients.ts";

/** Maximum time for the body, which is small, ms. */
const bodyLimitMs = 10_000;

/** A request about clients. */
interface ClientRequest {
  readonly exchange: Exchange;
  readonly clients: RuntimeClients;
  /** The id in the path. */
  readonly id: string;
}

/** Handlers by method and subpath. */
const handlers: Readonly<Record<string, (request: ClientRequest) => Promise<PlainResponse>>> = {
  "GET": listClients,
  "POST": createClientRecord,
  "PATCH": update,
  "DELETE": revoke,
  "POST rotate": rotate,
  "GET usage": usage,
};

/**
 * Handles a request of an administrator.
 *
 * @throws {HttpError} 400 without a storage, 404 for an unknown client, 503 while the storage fails.
 */
export async function handleClients(exchange: Exchange): Promise<PlainResponse> {
  const { runtimeClients: clients, path, request } = exchange;
  if (clients === undefined) {
    const message = "Clients made at runtime are kept in the storage: add a section `storage` to the configuration";
    throw new HttpError(message, { status: 400, code: "no_storage" });
  }
  const [, , , id = "", action] = path.split("/");
  const method = request.method === "HEAD" ? "GET" : request.method;
  try {
    return await handlers[action ? `${method} ${action}` : method]!({ exchange, clients, id });
  } catch (error) {
    if (!ConnectorError.isInstance(error)) throw error;
    const facts = { status: 503, type: "server_error", code: "storage_unavailable" } as const;
    throw new HttpError(`The storage failed, nothing has changed as far as is known: ${error.message}`, facts);
  }
}

async function listClients({ exchange: { headers, mesh }, clients }: ClientRequest): Promise<PlainResponse> {
  const { clients: data } = await clients.refresh();
  const now = mesh.runtime.clock.now();
  return json({ object: "list", data: data.map((client) => shownClient(client, now)) }, { headers });
}

async function createClientRecord({ exchange, clients }: ClientRequest): Promise<PlainResponse> {
  const { mesh, headers } = exchange;
  const { token_hash, ...facts } = readNewClient(await readClientBody(exchange), mesh);
  const { token, stored } = createToken(token_hash);
  const now = mesh.runtime.clock.now();
  const created: StoredClient = { id: newClientId(), ...facts, created_at: new Date(now).toISOString(), ...stored };
  await clients.change((document) => {
    const isTaken = clients.isConfigured(created.name) || document.clients.some(({ name }) => name === created.name);
    if (isTaken) throw wrong(`Another client is called "${created.name}": metrics are counted by name`, "name");
    if (token_hash !== undefined) refuseTakenToken(token_hash, { document, exchange });
    return { ...document, clients: [...document.clients, created] };
  });
  traceChange(exchange, `The client "${created.name}" (${created.id}) was created`);
  return json({ ...shownClient(created, now), ...token }, { headers, status: 201 });
}

async function update(request: ClientRequest): Promise<PlainResponse> {
  const { exchange } = request;
  const change = readChange(await readClientBody(exchange), exchange.mesh);
  const changed = await changeOne(request, (client) => {
    if (change.name !== undefined && change.name !== client.name) {
      throw wrong("A name cannot change: records and metrics go by it. Create another client", "name");
    }
    return changedBy(client, change);
  });
  traceChange(exchange, `The client "${changed.name}" (${changed.id}) was changed`);
  return json(shownClient(changed, exchange.mesh.runtime.clock.now()), { headers: exchange.headers });
}

/** Replaces the token. The present one is accepted for the grace time; one from before it is not any more. */
async function rotate(request: ClientRequest): Promise<PlainResponse> {
  const { exchange } = request;
  const { graceMs, token_hash } = readRotation(await readOptionalBody(exchange));
  const { token, stored } = createToken(token_hash);
  const now = exchange.mesh.runtime.clock.now();
  const changed = await changeOne(request, (client, document) => {
    if (token_hash !== undefined) refuseTakenToken(token_hash, { document, exchange });
    const { previous_token: _, token_sha256, is_supplied, ...others } = client;
    const previous = {
      token_sha256,
      ...(is_supplied && { is_supplied }),
      ends_at: new Date(now + graceMs).toISOString(),
    };
    return { ...others, ...stored, ...(graceMs > 0 && { previous_token: previous }) };
  });
  traceChange(exchange, `The client "${changed.name}" (${changed.id}) has another token`);
  return json({ ...shownClient(changed, now), ...token }, { headers: exchange.headers });
}

/**
 * Refuses a token that another client, or this one, has.
 *
 * @throws {UnsupportedRequestError} `invalid_value`.
 */
function refuseTakenToken(
  hash: string,
  { document, exchange: { mesh, proxy } }: {
    readonly document: ClientsDocument;
    readonly exchange: Pick<Exchange, "mesh" | "proxy">;
  },
): void {
  const now = mesh.runtime.clock.now();
  const isStored = document.clients.some((client) =>
    listTokens(client, now).some(({ token_sha256 }) => token_sha256 === hash)
  );
  const { clients, adminTokens = [] } = proxy;
  const isConfigured = [...clients.flatMap(({ token }) => token ?? []), ...adminTokens].some((token) =>
    sha256(token) === hash
  );
  if (isStored || isConfigured || clients.some(({ tokenHash }) => tokenHash === hash)) {
    throw wrong("token_hash: another client has this token", "token_hash");
  }
}

/** Returns what to store of a token: of a new one, which is returned, or of the one with a hash. */
function createToken(hash: string | undefined): {
  readonly token: { readonly token?: string };
  readonly stored: Pick<StoredClient, "token_sha256" | "is_supplied">;
} {
  if (hash !== undefined) return { token: {}, stored: { token_sha256: hash, is_supplied: true } };
  const token = newToken();
  return { token: { token }, stored: { token_sha256: sha256(token) } };
}

async function revoke({ exchange, clients, id }: ClientRequest): Promise<PlainResponse> {
  const now = exchange.mesh.runtime.clock.now();
  let name = "";
  await clients.change((document) => {
    name = clientIn(document, id).name;
    const revoked = document.revoked.filter(({ revoked_at }) => Date.parse(revoked_at) > now - usageDays * dayMs);
    return {
      ...document,
      clients: document.clients.filter((client) => client.id !== id),
      revoked: [...revoked, { id, name, revoked_at: new Date(now).toISOString() }],
    };
  });
  traceChange(exchange, `The client "${name}" (${id}) was revoked`);
  return json({ id, name, deleted: true }, { headers: exchange.headers });
}

/** The usage of a client, also of a revoked one. */
async function usage({ exchange, clients, id }: ClientRequest): Promise<PlainResponse> {
  const { headers } = exchange;
  const { clients: present, revoked } = await clients.refresh();
  const found = [...present, ...revoked].find((client) => client.id === id);
  if (found === undefined) throw unknownClient(id);
  const { from, to, days, format } = readUsageQuery(exchange);
  const by = ["day", "pool"] as const;
  const data = groupUsage((await exchange.usage!.readRows(days)).filter(({ clientId }) => clientId === id), by);
  if (format === "json") return json({ id, name: found.name, from, to, data }, { headers });
  headers["content-type"] = "text/csv; charset=utf-8";
  return { status: 200, headers, body: formatUsageCsv(data, by) };
}

async function changeOne(
  { clients, id }: ClientRequest,
  change: (client: StoredClient, document: ClientsDocument) => StoredClient,
): Promise<StoredClient> {
  let changed: StoredClient | undefined;
  await clients.change((document) => {
    const client = clientIn(document, id);
    changed = { ...change(client, document), revision: (client.revision ?? 0) + 1 };
    return { ...document, clients: document.clients.map((client) => client.id === id ? changed! : client) };
  });
  return changed!;
}

function changedBy(client: StoredClient, change: ClientChange): StoredClient {
  const merged = Object.entries({ ...client, ...change }).filter(([, value]) => value !== null);
  return Object.fromEntries(merged) as unknown as StoredClient;
}

function clientIn({ clients }: ClientsDocument, id: string): StoredClient {
  const found = clients.find((client) => client.id === id);
  if (found === undefined) throw unknownClient(id);
  return found;
}

function unknownClient(id: string): HttpError {
  const message = `There is no client ${JSON.stringify(id.slice(0, 64))}: GET /mesh/clients lists them`;
  return new HttpError(message, { status: 404, code: "client_not_found" });
}

async function readClientBody(exchange: Pick<Exchange, "mesh" | "request" | "body">): Promise<unknown> {
  const time = { startedAt: exchange.mesh.runtime.clock.monotonic(), limitMs: bodyLimitMs };
  return (await readJsonBody(exchange, time)).value;
}

/** Reads a body; an empty one is an empty object. */
async function readOptionalBody(exchange: Exchange): Promise<unknown> {
  const { mesh, request } = exchange;
  const bytes = await exchange.body({ startedAt: mesh.runtime.clock.monotonic(), limitMs: bodyLimitMs });
  return bytes.length === 0 ? {} : await readClientBody({ mesh, request, body: () => Promise.resolve(bytes) });
}

function traceChange({ mesh: { hub }, requestId }: Exchange, message: string): void {
  hub.trace({ severity: "info", component: "clients", message, request_id: requestId });
}

const tokenBytes = 32;
const idBytes = 12;

/** `mm_` and 32 random bytes, base64url. */
function newToken(): string {
  return runtimePrefix + random(tokenBytes);
}

/** The id of a client. */
function newClientId(): string {
  return `client_${random(idBytes)}`;
}

function random(bytes: number): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(bytes)));
}
