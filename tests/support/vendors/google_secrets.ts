/**
 * Simulated Google Cloud Secret Manager, with token endpoint and metadata server. Assertions are verified with the
 * service account's public key.
 * @module
 */
import { createVerify, generateKeyPairSync } from "node:crypto";
import { page, type SimulatedVendor, startVendor, type VendorRequest } from "./_server.ts";

/** The simulation, and its credentials. */
export interface SimulatedGoogle extends SimulatedVendor {
  /** A service account's key file. */
  readonly keyFile: string;
  /** A user's credentials, as Google's tools write them. */
  readonly personFile: string;
  /** Number of issued tokens. */
  readonly tokens: number;
}

const email = "router@project-1.iam.gserviceaccount.com";
const person = { client_id: "client-1", client_secret: "secret-of-client", refresh_token: "refresh-1" };
let keys: { publicKey: string; privateKey: string } | undefined;

/** Starts it, empty. `now`: wall clock, ms; `region`: region of the secrets. */
export async function startGoogleSecrets(
  { now, region }: { readonly now: () => number; readonly region?: string },
): Promise<SimulatedGoogle> {
  keys ??= generateKeyPairSync("rsa", {
    modulusLength: 1024,
    publicKeyEncoding: { type: "spki", format: "pem" },
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
  });
  const { publicKey, privateKey } = keys;
  const secrets = new Map<string, string[]>();
  const issued = new Map<string, number>();
  const give = () => {
    const token = `ya29.token-${issued.size + 1}`;
    issued.set(token, now() + 3_600_000);
    return Response.json({ access_token: token, expires_in: 3599, token_type: "Bearer" });
  };
  const vendor: SimulatedVendor = await startVendor((request) => {
    const { url: { pathname }, headers } = request;
    if (pathname === "/token") return isKnown(request, publicKey, `${vendor.url}/token`, now()) ? give() : badGrant();
    if (pathname.endsWith("/instance/service-accounts/default/token")) {
      return headers.get("metadata-flavor") === "Google" ? give() : new Response("Missing header", { status: 403 });
    }
    const token = headers.get("authorization")?.replace(/^Bearer /, "") ?? "";
    if (!((issued.get(token) ?? 0) > now())) return failure(401, "UNAUTHENTICATED");
    const root = `/v1/projects/project-1${region === undefined ? "" : `/locations/${region}`}/secrets`;
    if (!pathname.startsWith(root)) return failure(403, "PERMISSION_DENIED");
    return perform(request, pathname.slice(root.length), secrets, region !== undefined);
  });
  const shared = { token_uri: `${vendor.url}/token` };
  const account = { type: "service_account", project_id: "project-1", client_email: email, private_key_id: "key-1" };
  return Object.assign(Object.create(vendor, { tokens: { get: () => issued.size } }), {
    keyFile: JSON.stringify({ ...account, private_key: privateKey, ...shared }),
    personFile: JSON.stringify({ type: "authorized_user", ...person, ...shared }),
    [Symbol.asyncDispose]: () => vendor[Symbol.asyncDispose](),
  });
}

function perform(
  { method, url, text, json }: VendorRequest,
  path: string,
  secrets: Map<string, string[]>,
  isRegional: boolean,
): Response {
  if (path === "" && method === "GET") {
    const names = [...secrets.keys()].map((name) => ({ name: `projects/123456/secrets/${name}` }));
    const { items, next } = page(names, url.searchParams.get("pageToken"));
    return Response.json({ secrets: items, ...(next === undefined ? {} : { nextPageToken: next }) });
  }
  if (path === "" && method === "POST") {
    const name = url.searchParams.get("secretId") ?? "";
    if (!/^[\w-]{1,255}$/.test(name)) return failure(400, "INVALID_ARGUMENT");
    if (("replication" in json()) === isRegional) return failure(400, "INVALID_ARGUMENT");
    if (secrets.has(name)) return failure(409, "ALREADY_EXISTS");
    secrets.set(name, []);
    return Response.json({ name: `projects/123456/secrets/${name}` });
  }
  const [, name = "", task = ""] = /^\/([\w-]+)(.*)$/.exec(path) ?? [];
  const versions = secrets.get(name);
  if (versions === undefined) return failure(404, "NOT_FOUND");
  if (task === ":addVersion" && method === "POST") {
    const { data } = (json().payload ?? {}) as { data?: string };
    if (data === undefined || data === "") return failure(400, "INVALID_ARGUMENT");
    versions.push(data);
    return Response.json({ name: `projects/123456/secrets/${name}/versions/${versions.length}` });
  }
  if (task === "/versions/latest:access" && method === "GET" && text === "") {
    const data = versions.at(-1);
    return data === undefined ? failure(404, "NOT_FOUND") : Response.json({ payload: { data } });
  }
  if (task === "" && method === "DELETE") return Response.json(secrets.delete(name) ? {} : {});
  return failure(404, "NOT_FOUND");
}

function isKnown({ text }: VendorRequest, publicKey: string, audience: string, now: number): boolean {
  const form = Object.fromEntries(new URLSearchParams(text));
  if (form.grant_type === "refresh_token") {
    return Object.entries(person).every(([name, value]) => form[name] === value);
  }
  if (form.grant_type !== "urn:ietf:params:oauth:grant-type:jwt-bearer") return false;
  const [head = "", body = "", signature = ""] = (form.assertion ?? "").split(".");
  const read = (part: string) => JSON.parse(new TextDecoder().decode(decodeBase64Url(part))) as Record<string, unknown>;
  const { alg, kid } = read(head);
  const { iss, aud, scope, iat, exp } = read(body);
  const isMeant = iss === email && aud === audience && String(scope).endsWith("/auth/cloud-platform");
  const isTimely = Math.abs(Number(iat) - now / 1000) < 300 && Number(exp) - Number(iat) <= 3600;
  if (alg !== "RS256" || kid !== "key-1" || !isMeant || !isTimely) return false;
  return createVerify("RSA-SHA256").update(`${head}.${body}`).verify(publicKey, decodeBase64Url(signature));
}

function decodeBase64Url(base64url: string): Uint8Array {
  return Uint8Array.from(atob(base64url.replaceAll("-", "+").replaceAll("_", "/")), (char) => char.charCodeAt(0));
}

function badGrant(): Response {
  return Response.json({ error: "invalid_grant", error_description: "as Google would say" }, { status: 400 });
}

function failure(code: number, status: string): Response {
  return Response.json({ error: { code, message: "as Google would say", status } }, { status: code });
}
