/**
 * Simulated Azure Key Vault, with the token endpoint of its directory. A deleted secret can be recovered, which takes
 * two polls.
 * @module
 */
import { page, type SimulatedVendor, startVendor, type VendorRequest } from "./_server.ts";

/** Credentials of the application. */
export const keyVaultClient = { tenant: "tenant-1", id: "client-1", secret: "client+secret/=&1" } as const;

interface Kept {
  readonly name: string;
  value: string;
  state: "there" | "deleted" | number;
}

/** Starts it, empty. `now`: wall clock, ms. */
export async function startKeyVault({ now }: { readonly now: () => number }): Promise<SimulatedVendor> {
  const secrets = new Map<string, Kept>();
  const issued = new Map<string, number>();
  const vendor: SimulatedVendor = await startVendor((request) => {
    const { url: { pathname, searchParams }, headers, text } = request;
    if (pathname === `/${keyVaultClient.tenant}/oauth2/v2.0/token`) {
      const form = Object.fromEntries(new URLSearchParams(text));
      const isKnown = form.client_id === keyVaultClient.id && form.client_secret === keyVaultClient.secret;
      if (!isKnown || form.grant_type !== "client_credentials" || form.scope !== "https://vault.azure.net/.default") {
        return Response.json({ error: "invalid_client", error_description: "as Microsoft would say" }, { status: 401 });
      }
      const token = `eyJ.token-${issued.size + 1}`;
      issued.set(token, now() + 3_600_000);
      return Response.json({ token_type: "Bearer", expires_in: 3599, access_token: token });
    }
    const token = headers.get("authorization")?.replace(/^Bearer /, "") ?? "";
    if (!((issued.get(token) ?? 0) > now())) return failure(401, "Unauthorized");
    if (searchParams.get("api-version") !== "7.4") return failure(400, "BadParameter");
    return perform(request, secrets, vendor.url);
  });
  return vendor;
}

function perform({ method, url, json }: VendorRequest, secrets: Map<string, Kept>, vault: string): Response {
  const { pathname, searchParams } = url;
  if (pathname === "/secrets" && method === "GET") {
    const there = [...secrets.values()].filter(({ state }) => state === "there");
    const { items, next } = page(
      there.map(({ name }) => ({ id: `${vault}/secrets/${name}` })),
      searchParams.get("$skiptoken"),
    );
    const nextLink = next === undefined ? null : `${vault}/secrets?api-version=7.4&$skiptoken=${next}`;
    return Response.json({ value: items, nextLink });
  }
  const [, place, name = "", task] = /^\/(secrets|deletedsecrets)\/([A-Za-z0-9-]{1,127})(\/recover)?$/.exec(pathname) ??
    [];
  if (place === undefined) return failure(400, "BadParameter");
  const kept = secrets.get(name.toLowerCase()); // names are case-insensitive
  if (place === "deletedsecrets") {
    if (task === undefined || kept?.state !== "deleted") return failure(404, "SecretNotFound");
    kept.state = 2;
    return Response.json({ id: `${vault}/secrets/${name}` });
  }
  if (typeof kept?.state === "number" && --kept.state <= 0) kept.state = "there";
  const isThere = kept?.state === "there";
  if (method === "PUT") {
    if (kept !== undefined && !isThere) return failure(409, "Conflict");
    const { value } = json();
    if (typeof value !== "string") return failure(400, "BadParameter");
    secrets.set(name.toLowerCase(), { name: kept?.name ?? name, value, state: "there" });
    return Response.json({ value, id: `${vault}/secrets/${name}/1` });
  }
  if (!isThere) return failure(404, "SecretNotFound");
  if (method === "GET") return Response.json({ value: kept!.value, id: `${vault}/secrets/${name}/1` });
  if (method !== "DELETE") return failure(405, "MethodNotAllowed");
  kept!.state = "deleted";
  return Response.json({ recoveryId: `${vault}/deletedsecrets/${name}` });
}

function failure(status: number, code: string): Response {
  return Response.json({ error: { code, message: "as Microsoft would say" } }, { status });
}
