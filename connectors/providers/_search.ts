/**
 * Web search. Vendors name request and response members differently.
 * @module
 */
import type { JsonObject } from "../../src/contracts/openai.ts";
import type { OperationCall, OperationRequest } from "../../src/contracts/provider.ts";
import { UpstreamError } from "../../src/errors.ts";
import { isObject } from "../../src/util/is_object.ts";
import { readJsonObject } from "./_base.ts";
import { throwIfError } from "./_http.ts";
import { undeclaredParams } from "./_dropped_params.ts";
import type { Post } from "./_openai_vendor.ts";

/** A search query. */
interface SearchQuery {
  readonly query: string;
  /** Maximum number of results, capped at the vendor's maximum; undefined for the vendor's default. */
  readonly count: number | undefined;
  /** The upstream model id. */
  readonly model: string;
}

/** A vendor's dialect of web search. */
export interface SearchDialect {
  /** Path relative to the vendor's base URL. */
  readonly path: string;
  /** Maximum number of results per request. */
  readonly maxResults: number;
  /** Additional headers. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Creates the request body. */
  readonly write: (query: SearchQuery) => JsonObject;
  /** Extracts the results from a response. */
  readonly resultsIn: (body: JsonObject) => unknown;
  /** Member names of a result. */
  readonly names: { readonly [name in "title" | "url" | "snippet" | "published" | "score"]?: string };
  /** Extracts the billed usage from a response; one search by default. */
  readonly usageIn?: (body: JsonObject) => JsonObject;
}

/** Parameters that every dialect carries, or that the engine handles. */
const translated: ReadonlySet<string> = /* @__PURE__ */ new Set(["model", "query", "max_results", "stream"]);

/**
 * Web search by a vendor. Further parameters are dropped and reported: vendors have none in common.
 *
 * @param dialect The vendor's dialect.
 */
export function searchIn(dialect: SearchDialect): (post: Post) => OperationCall {
  return (post) => async (request, options) => {
    const { body, model } = request;
    const left = undeclaredParams(body, translated);
    if (left.length > 0) options.reportDropped?.(left);
    const { path, headers = {} } = dialect;
    const posted = { ...request, headers, json: writeQuery(request, dialect) };
    const response = await readJsonObject(await post(path, posted, options));
    throwIfError(response);
    const usage = dialect.usageIn?.(response) ?? { searches: 1 };
    return { body: { object: "search", model: model.id, results: readResults(response, dialect), usage } };
  };
}

function writeQuery({ body, model }: OperationRequest, { write, maxResults }: SearchDialect): JsonObject {
  const requested = body.max_results as number | null | undefined;
  const count = requested === undefined || requested === null ? undefined : Math.min(requested, maxResults);
  return write({ query: body.query as string, count, model: model.id });
}

/** Results without a URL are dropped; a list of only such results is an invalid response. */
function readResults(body: JsonObject, { resultsIn, names }: SearchDialect): readonly JsonObject[] {
  const found = resultsIn(body);
  const pages: readonly unknown[] | undefined = Array.isArray(found) ? found : undefined;
  const results = (pages ?? []).flatMap<JsonObject>((one) => readResult(one, names) ?? []);
  if (pages === undefined || results.length === 0 && pages.length > 0) {
    throw new UpstreamError("The provider's response has no search results", { kind: "invalid_response" });
  }
  return results;
}

function readResult(value: unknown, names: SearchDialect["names"]): JsonObject | undefined {
  if (!isObject(value)) return undefined;
  const text = (name: string | undefined) => {
    const given = name === undefined ? undefined : value[name];
    return typeof given === "string" && given !== "" ? given : undefined;
  };
  const url = text(names.url ?? "url");
  if (url === undefined) return undefined;
  const published = text(names.published);
  const score = names.score === undefined ? undefined : value[names.score];
  return {
    title: text(names.title ?? "title") ?? "",
    url,
    snippet: text(names.snippet ?? "snippet") ?? "",
    ...(published === undefined ? {} : { published }),
    ...(Number.isFinite(score) ? { score } : {}),
  };
}
