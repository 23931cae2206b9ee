/**
 * Writes the built-in catalogue as a signed document, for `discovery.catalogue`. Run manually: `deno task catalogue:sign
 * --key=<file>`.
 * @module
 */
import { parseArgs } from "@std/cli/parse-args";
import { serverConnectors } from "../../connectors/server.ts";
import { isProvider } from "../../src/config/settings/known.ts";
import type { ModelInfo } from "../../src/contracts/provider.ts";
import { findBuiltInDate } from "../../src/registry/renewed_models.ts";
import { fromBase64, toBase64 } from "../../src/util/base64.ts";
import { isDay } from "../../src/util/windows.ts";

const help = `Usage: deno task catalogue:sign --key=<file> [--date=<YYYY-MM-DD>] > catalogue.json

Writes the built-in catalogue of this checkout as a signed document, whose address others enter as discovery.catalogue.url.

  --key=<file>         Private Ed25519 key, PKCS #8 in PEM: openssl genpkey -algorithm ed25519 -out key.pem
                       Its public key, for discovery.catalogue.public_key: openssl pkey -in key.pem -pubout
  --date=<YYYY-MM-DD>  Date of the document; that of the newest facts unless given
`;

/** The contents of a document: the models of connectors, in the format of the document. */
export function toPayload(
  providers: readonly { readonly id: string; readonly models: readonly ModelInfo[] }[],
  date: string,
): string {
  const lists = providers.filter(({ models }) => models.length > 0).map(({ id, models }) => [id, models.map(toEntry)]);
  return JSON.stringify({ format: 1, date, providers: Object.fromEntries(lists) });
}

function toEntry({ defaultFor, asOf, ...facts }: ModelInfo): Record<string, unknown> {
  return { ...facts, ...(defaultFor && { default_for: defaultFor }), as_of: asOf };
}

/**
 * Signs a payload.
 *
 * @param pem The private key.
 * @returns The document.
 */
export async function signPayload(payload: string, pem: string): Promise<string> {
  const bytes = fromBase64(pem.replace(/-----(?:BEGIN|END) PRIVATE KEY-----/g, ""));
  const key = await crypto.subtle.importKey("pkcs8", bytes, { name: "Ed25519" }, false, ["sign"]);
  const signature = await crypto.subtle.sign({ name: "Ed25519" }, key, new TextEncoder().encode(payload));
  return JSON.stringify({ payload, signature: toBase64(new Uint8Array(signature)) });
}

if (import.meta.main) {
  const { key, date: dateText, help: isHelp } = parseArgs(Deno.args, { string: ["key", "date"], boolean: ["help"] });
  if (isHelp || typeof key !== "string") {
    console.log(help);
    Deno.exit(isHelp ? 0 : 2);
  }
  const date = typeof dateText === "string" ? dateText : findBuiltInDate({ all: serverConnectors });
  if (!isDay(date)) fail(`"--date" takes a day such as 2027-01-31, not "${date}"`);
  const pem = await Deno.readTextFile(key).catch(() => fail(`Cannot read ${key}: is the path right?`));
  const payload = toPayload(serverConnectors.filter(isProvider), date);
  console.log(
    await signPayload(payload, pem).catch(() => fail(`${key} is not a private Ed25519 key (PKCS #8 in PEM)`)),
  );
}

function fail(message: string): never {
  console.error(message);
  Deno.exit(1);
}
