/**
 * 1Password through a Connect server. Source: developer.1password.com/docs/connect/api-reference, read 2026-11.
 * @module
 */
import type { Connector } from "../../src/contracts/connector.ts";
import type { SecretStore } from "../../src/contracts/secret_store.ts";
import { ConfigError } from "../../src/errors.ts";
import { address, attribute, variable, Vendor, type VendorCall, type VendorResponse } from "./_vendor.ts";
import { onePasswordDeclaration } from "./declarations.ts";

const { id } = onePasswordDeclaration;

/** A field of an item. */
type ItemField = Readonly<Record<"id" | "label" | "purpose" | "value", unknown>>;

/** An item, as the server returns it. */
interface Item extends Readonly<Record<string, unknown>> {
  readonly id?: unknown;
  readonly title?: unknown;
  readonly fields?: readonly ItemField[];
}

/**
 * 1Password, through a Connect server. A secret is the item whose title is its name: the field labelled `credential`,
 * or else the password. Settings: `url` (defaults to `OP_CONNECT_HOST`), `vault` (name or id; defaults to
 * `OP_CONNECT_VAULT`, then to the only vault that the token can access). The token is read from `OP_CONNECT_TOKEN`.
 */
export const onePasswordSecrets: Connector<"secretStore"> = {
  ...onePasswordDeclaration,
  create(settings, runtime) {
    const url = attribute(settings.url, "url") ?? variable(runtime, "OP_CONNECT_HOST");
    if (url === undefined) {
      const message = `${id} requires the Connect server's URL: set "secrets.url" or OP_CONNECT_HOST`;
      throw new ConfigError([{ path: "secrets.url", message }]);
    }
    const vault = attribute(settings.vault, "vault") ?? variable(runtime, "OP_CONNECT_VAULT");
    const vendor = new Vendor(id, runtime, "OP_CONNECT_TOKEN and its access to vaults");
    return createConnectStore(new Connect(vendor, address(url, "url"), vault));
  },
};

function createConnectStore(connect: Connect): Required<SecretStore> {
  return {
    async get(name) {
      const task = `look up the secret "${name}"`;
      const item = await connect.find(task, name);
      if (item === undefined) return undefined;
      const value = findSecretField(item)?.value;
      if (typeof value === "string") return value;
      throw connect.error(task, 'its item has neither a field labelled "credential" nor a password');
    },
    async set(name, value) {
      const task = `store the secret "${name}"`;
      const item = await connect.find(task, name);
      if (item === undefined) {
        const fields = [{ id: "credential", type: "CONCEALED", label: "credential", value }];
        const content = { vault: { id: await connect.vault(task) }, title: name, category: "API_CREDENTIAL", fields };
        await connect.call({ task, path: "/items", content });
        return;
      }
      const field = findSecretField(item);
      if (field === undefined) throw connect.error(task, "its item has no field for it");
      const fields = item.fields!.map((candidate) => candidate === field ? { ...field, value } : candidate);
      await connect.call({ task, path: toItemPath(item), method: "PUT", content: { ...item, fields } });
    },
    async list() {
      const items = await connect.items("list secrets", "");
      return items.map(({ title }) => String(title)).sort();
    },
    async delete(name) {
      const task = `delete the secret "${name}"`;
      const item = await connect.find(task, name);
      if (item === undefined) return false;
      const path = toItemPath(item);
      const { status } = await connect.call({ task, path, method: "DELETE", expected: [404] });
      return status !== 404;
    },
  };
}

function toItemPath({ id }: Item): string {
  return `/items/${encodeURIComponent(String(id))}`;
}

/** The field of an item that contains the secret. */
function findSecretField({ fields }: Item): ItemField | undefined {
  if (!Array.isArray(fields)) return undefined;
  return fields.find(({ id, label }) => label === "credential" || id === "credential") ??
    fields.find(({ purpose }) => purpose === "PASSWORD");
}

interface ConnectCall extends Pick<VendorCall, "task" | "method" | "expected"> {
  /** Path after the vault's path. */
  readonly path: string;
  /** JSON request body. */
  readonly content?: object;
}

/** Calls a Connect server for one vault. */
class Connect {
  readonly #vendor: Vendor;
  readonly #url: string;
  readonly #wanted: string | undefined;
  #vault: Promise<string> | undefined;

  constructor(vendor: Vendor, url: string, vault: string | undefined) {
    this.#vendor = vendor;
    this.#url = url;
    this.#wanted = vault;
  }

  error(task: string, reason: string): Error {
    return this.#vendor.error(task, reason);
  }

  /** Resolves the vault's id. */
  vault(task: string): Promise<string> {
    return this.#vault ??= this.#findVault(task).catch((error) => {
      this.#vault = undefined; // retried at the next attempt
      throw error;
    });
  }

  /** Finds the only item with a title, including its fields. */
  async find(task: string, title: string): Promise<Item | undefined> {
    const filter = `?filter=${encodeURIComponent(`title eq ${JSON.stringify(title)}`)}`;
    // the server may not support the filter
    const [item, ...others] = (await this.items(task, filter)).filter((candidate) => candidate.title === title);
    if (others.length > 0) throw this.error(task, `${others.length + 1} items have this title`);
    if (item === undefined) return undefined;
    const { status, body } = await this.call({ task, path: toItemPath(item), method: "GET", expected: [404] });
    return status === 404 ? undefined : body;
  }

  /** Lists items, without their fields. */
  async items(task: string, filter: string): Promise<readonly Item[]> {
    const { body } = await this.call({ task, path: `/items${filter}`, method: "GET" });
    return Array.isArray(body.items) ? body.items : [];
  }

  async call({ path, ...call }: ConnectCall): Promise<VendorResponse> {
    return await this.#send({ ...call, path: `/v1/vaults/${await this.vault(call.task)}${path}` });
  }

  async #findVault(task: string): Promise<string> {
    const { body } = await this.#send({ task, path: "/v1/vaults", method: "GET" });
    const vaults = Array.isArray(body.items) ? body.items as { id?: unknown; name?: unknown }[] : [];
    const wanted = this.#wanted;
    const found = vaults.filter(({ id, name }) => wanted === undefined || id === wanted || name === wanted);
    const id = found[0]?.id;
    if (found.length === 1 && typeof id === "string" && /^\w+$/.test(id)) return id;
    const names = vaults.map(({ name }) => `"${name}"`).join(", ") || "none";
    throw this.error(
      task,
      `set "secrets.vault" or OP_CONNECT_VAULT to one of the vaults that the token can access: ${names}`,
    );
  }

  #send({ task, path, method = "POST", expected = [], content }: ConnectCall): Promise<VendorResponse> {
    const token = variable(this.#vendor.runtime, "OP_CONNECT_TOKEN");
    if (token === undefined) throw this.error(task, "set OP_CONNECT_TOKEN");
    return this.#vendor.call({
      task,
      url: `${this.#url}${path}`,
      method,
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(content === undefined ? {} : { body: JSON.stringify(content) }),
      expected,
    });
  }
}
