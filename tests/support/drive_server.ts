/**
 * A server with the behaviour of Google Drive and Google's token service: issues tokens for verified assertions and for
 * a refresh token, rejects calls without a valid token, paginates lists, and allows two files with one name.
 * @module
 */
import { createVerify } from "node:crypto";
import { nextRsaPair } from "./_rsa.ts";

/** A running server. */
export interface DriveServer extends AsyncDisposable {
  readonly url: string;
  /** Content of a service account's key file. */
  readonly credentials: Readonly<Record<string, string>>;
  /** Credentials with a refresh token. */
  readonly person: Readonly<Record<string, string>>;
  /** Number of calls of the token service. */
  tokens: number;
  /** Its files. */
  readonly files: DriveFile[];
  /** Reason for rejecting every call from now on. */
  refusal?: { readonly status: number; readonly reason: string };
  /** Invalidates all issued tokens. */
  forgetTokens(): void;
}

interface DriveFile {
  readonly id: string;
  readonly name: string;
  readonly parents: readonly string[];
  readonly createdTime: number;
  modifiedTime: string;
  appProperties?: Record<string, string>;
  bytes: Uint8Array;
}

/** Its folders. */
const folders = ["appDataFolder", "folder-1"];
const pageSize = 2;
const email = "mesh@project.iam.gserviceaccount.example";
const person = { client_id: "client-1", client_secret: "client-secret-1", refresh_token: "refresh-token-1" };

class Refusal extends Error {
  readonly status: number;
  readonly reason: string;

  constructor(status: number, reason: string) {
    super(reason);
    this.status = status;
    this.reason = reason;
  }
}

/** Starts a server. */
export function startDrive(): Promise<DriveServer> {
  const { privateKey, publicKey } = nextRsaPair();
  const issued = new Set<string>();
  const files: DriveFile[] = [];
  const http = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
    const url = new URL(request.url);
    try {
      if (url.pathname === "/token") return await giveToken(request);
      if (!issued.has(request.headers.get("authorization")?.replace(/^Bearer /, "") ?? "")) {
        throw new Refusal(401, "authError");
      }
      if (server.refusal !== undefined) throw new Refusal(server.refusal.status, server.refusal.reason);
      return await answer(request, url, files);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { status, reason } = error;
      const body = { error: { code: status, errors: [{ reason }], message: `about ${url.pathname}` } };
      return Response.json(body, { status });
    }
  });
  const url = `http://127.0.0.1:${http.addr.port}`;

  async function giveToken(request: Request): Promise<Response> {
    server.tokens++;
    const form = new URLSearchParams(await request.text());
    const isPerson = form.get("grant_type") === "refresh_token" &&
      Object.entries(person).every(([name, value]) => form.get(name) === value);
    if (!isPerson && !isAssertion(form)) return Response.json({ error: "invalid_grant" }, { status: 400 });
    const access_token = crypto.randomUUID();
    issued.add(access_token);
    return Response.json({ access_token, expires_in: 3600, token_type: "Bearer" });
  }

  function isAssertion(form: URLSearchParams): boolean {
    const [head = "", body = "", signature = ""] = (form.get("assertion") ?? "").split(".");
    const bytesOf = (text: string) =>
      Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
    const read = (text: string) => JSON.parse(new TextDecoder().decode(bytesOf(text)) || "{}");
    const isOurs = createVerify("RSA-SHA256").update(`${head}.${body}`).verify(publicKey, bytesOf(signature));
    const { iss, scope, aud, iat, exp } = read(body);
    return isOurs && form.get("grant_type") === "urn:ietf:params:oauth:grant-type:jwt-bearer" &&
      read(head).alg === "RS256" && iss === email && scope === "https://www.googleapis.com/auth/drive" &&
      aud === `${url}/token` && exp - iat === 3600;
  }

  const server: DriveServer = {
    url,
    credentials: { type: "service_account", client_email: email, private_key: privateKey, token_uri: `${url}/token` },
    person: { ...person, token_url: `${url}/token` },
    tokens: 0,
    files,
    forgetTokens: () => issued.clear(),
    [Symbol.asyncDispose]: () => http.shutdown(),
  };
  return Promise.resolve(server);
}

async function answer(request: Request, url: URL, files: DriveFile[]): Promise<Response> {
  const { method } = request;
  const [, isUpload, id] = /^(\/upload)?\/drive\/v3\/files(?:\/([^/]+))?$/.exec(url.pathname) ?? [];
  const place = files.findIndex((file) => file.id === id);
  if (id !== undefined && place < 0) throw new Refusal(404, "notFound");
  if (isUpload !== undefined) {
    const { facts, bytes } = parseRelated(request.headers.get("content-type") ?? "", await request.bytes());
    const file = id === undefined ? make(facts, files) : files[place]!;
    file.bytes = bytes;
    file.modifiedTime = String(facts.modifiedTime ?? file.modifiedTime);
    if (facts.appProperties !== undefined) {
      file.appProperties = { ...file.appProperties, ...facts.appProperties as Record<string, string> };
    }
    return Response.json({ id: file.id });
  }
  if (method === "DELETE") {
    files.splice(place, 1);
    return new Response(null, { status: 204 });
  }
  if (id !== undefined && url.searchParams.get("alt") === "media") {
    return new Response(files[place]!.bytes as BodyInit);
  }
  return list(url.searchParams, files);
}

function make(facts: Record<string, unknown>, files: DriveFile[]): DriveFile {
  const parents = facts.parents as string[];
  if (!folders.includes(parents[0]!)) throw new Refusal(404, "notFound");
  const at = new Date(0).toISOString();
  const created = {
    id: crypto.randomUUID(),
    name: String(facts.name),
    parents,
    modifiedTime: at,
    bytes: new Uint8Array(),
  };
  const file: DriveFile = { ...created, createdTime: (files.at(-1)?.createdTime ?? 0) + 1 };
  files.push(file);
  return file;
}

function list(query: URLSearchParams, files: readonly DriveFile[]): Response {
  const pattern = /^'([\w-]+)' in parents and trashed = false(?: and name = '([^'\\]*)')?$/;
  const [, folder = "", name] = pattern.exec(query.get("q") ?? "") ?? [];
  if (!folders.includes(folder)) throw new Refusal(404, "notFound");
  if (query.get("spaces") !== (folder === "appDataFolder" ? folder : "drive")) throw new Refusal(400, "invalid");
  if (query.get("orderBy") !== "createdTime") throw new Refusal(400, "invalid");
  const found = files.filter((file) => file.parents[0] === folder && (name === undefined || file.name === name));
  const from = Number(query.get("pageToken") ?? 0);
  const page = found.slice(from, from + pageSize).map(({ id, name, modifiedTime, appProperties, bytes }) => {
    return {
      id,
      name,
      modifiedTime,
      size: String(bytes.length),
      ...(appProperties === undefined ? {} : { appProperties }),
    };
  });
  const next = from + pageSize < found.length ? { nextPageToken: String(from + pageSize) } : {};
  return Response.json({ ...next, files: page });
}

/** Parses a multipart/related body (RFC 2387) of JSON and bytes. */
function parseRelated(type: string, body: Uint8Array): { facts: Record<string, unknown>; bytes: Uint8Array } {
  const [, boundary] = /^multipart\/related; boundary=(\S+)$/.exec(type) ?? [];
  if (boundary === undefined) throw new Refusal(400, "badContent");
  const text = Array.from(body, (byte) => String.fromCharCode(byte)).join("");
  const [before, first = "", second = "", after] = text.split(`--${boundary}`);
  if (before !== "" || after !== "--") throw new Refusal(400, "malformedBodyContent");
  const contentOf = (part: string) => part.slice(part.indexOf("\r\n\r\n") + 4, -2);
  const binary = (content: string) => Uint8Array.from(content, (char) => char.charCodeAt(0));
  return {
    facts: JSON.parse(new TextDecoder().decode(binary(contentOf(first)))),
    bytes: binary(contentOf(second)),
  };
}
