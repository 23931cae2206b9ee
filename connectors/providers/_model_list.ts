/**
 * Model lists at vendor-specific paths and in vendor-specific shapes.
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import { UpstreamError } from "../../src/errors.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";

type ListedPage = NonNullable<OpenAiCompatible["list"]>;

/** Page limit, far above the number of models: guards against a list that never ends. */
const maxPages = 20;

/**
 * The model ids of a list, page by page.
 *
 * @param list Path and shape of the list.
 * @param get Requests a path relative to the vendor's base URL.
 * @returns Undefined if the response lists no models.
 * @throws {UpstreamError} If the response status is not a success, or the body is not a list.
 */
export async function fetchModelIds(
  { path, members, next }: ListedPage,
  get: (path: string) => Promise<JsonObject>,
): Promise<readonly string[] | undefined> {
  const ids = new Set<string>();
  let page: string | undefined = path;
  for (let number = 1; page !== undefined && number <= maxPages; number++) {
    const body = await get(page);
    if (members === undefined) return undefined;
    for (const id of idsIn(body, members)) ids.add(id);
    page = next?.(body, number);
  }
  return [...ids];
}

function idsIn(page: JsonObject, [list, id]: NonNullable<ListedPage["members"]>): readonly string[] {
  const entries = page[list];
  if (!Array.isArray(entries)) {
    throw new UpstreamError(`The provider's model list has no ${list}`, { kind: "invalid_response" });
  }
  return entries.flatMap((entry) => typeof entry?.[id] === "string" ? entry[id] : []);
}
