/**
 * Lists of models at places and of shapes of their vendors' own.
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import { UpstreamError } from "../../src/errors.ts";
import type { OpenAiCompatible } from "./_openai_vendor.ts";

type ModelList = NonNullable<OpenAiCompatible["list"]>;

/** Far more than there are models: a server that never ends its list must not keep us. */
const maxPages = 20;

/**
 * The ids of a list, page by page.
 *
 * @param list Where and how it is.
 * @param get Asks for a path below the vendor's address.
 * @returns Undefined where the answer lists no models.
 * @throws {UpstreamError} For an answer that is no success or no list.
 */
export async function idsOf(
  { path, members, next }: ModelList,
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

function idsIn(page: JsonObject, [list, id]: NonNullable<ModelList["members"]>): readonly string[] {
  const entries = page[list];
  if (!Array.isArray(entries)) {
    throw new UpstreamError(`The provider's model list has no ${list}`, { kind: "invalid_response" });
  }
  return entries.flatMap((entry) => typeof entry?.[id] === "string" ? entry[id] : []);
}
