/**
 * Simulated 1Password Connect server, with two vaults, one of which is writable.
 * @module
 */
import { type SimulatedVendor, startVendor, type VendorRequest } from "./_server.ts";

/** The accepted token. */
export const connectToken = "eyJ.connect-token-0123456789";

type Item = Record<string, unknown> & { id: string; title: string; fields: unknown[] };

const vaults = [{ id: "vault1aaaaaaaaaaaaaaaaaaaa", name: "Keys" }, {
  id: "vault2bbbbbbbbbbbbbbbbbbbb",
  name: "Other",
}];

/** Starts it. The given items are in the first vault. */
export function startOnePassword(first: readonly Omit<Item, "id">[] = []): Promise<SimulatedVendor> {
  const items = new Map<string, Item>();
  const add = (item: Omit<Item, "id">) => {
    const id = `item${items.size + 1}xxxxxxxxxxxxxxxxxxxx`;
    items.set(id, { ...item, id } as Item);
    return items.get(id)!;
  };
  for (const item of first) add(item);
  return startVendor((request) => {
    if (request.headers.get("authorization") !== `Bearer ${connectToken}`) {
      return Response.json({ status: 401, message: "Invalid token signature" }, { status: 401 });
    }
    if (request.url.pathname === "/v1/vaults") return Response.json(vaults);
    const root = `/v1/vaults/${vaults[0]!.id}/items`;
    if (!request.url.pathname.startsWith(root)) return failure(403, "vault is not in scope");
    return perform(request, request.url.pathname.slice(root.length + 1), items, add);
  });
}

function perform(
  { method, url, json }: VendorRequest,
  id: string,
  items: Map<string, Item>,
  add: (item: Omit<Item, "id">) => Item,
): Response {
  if (id === "" && method === "GET") {
    const filter = url.searchParams.get("filter");
    const title = filter === null ? undefined : JSON.parse(/^title eq (".*")$/.exec(filter)?.[1] ?? "null");
    if (title === null) return failure(400, "invalid filter");
    const found = [...items.values()].filter((item) => title === undefined || item.title === title);
    return Response.json(found.map(({ fields: _, ...summary }) => summary));
  }
  if (id === "" && method === "POST") {
    const item = json() as Item & { vault?: { id?: string } };
    if (item.vault?.id !== vaults[0]!.id || typeof item.category !== "string") return failure(400, "invalid item");
    return Response.json(add(item));
  }
  const item = items.get(id);
  if (item === undefined) return failure(404, "item not found");
  if (method === "GET") return Response.json(item);
  if (method === "PUT") {
    const next = json() as Item;
    if (next.id !== id || !Array.isArray(next.fields)) return failure(400, "invalid item");
    items.set(id, next);
    return Response.json(next);
  }
  if (method !== "DELETE") return failure(405, "not allowed");
  items.delete(id);
  return new Response(null, { status: 204 });
}

function failure(status: number, message: string): Response {
  return Response.json({ status, message }, { status });
}
