/**
 * The operation `rerank`: documents by relevance to a query.
 * @module
 */
import { servesOperation } from "../../capability/operations.ts";
import type { RerankDocument, RerankRequest, RerankResponse } from "../../contracts/openai.ts";
import type { CompletionResponse, ModelInfo } from "../../contracts/provider.ts";
import { isObject } from "../../util/is_object.ts";
import { addText, emptyText, type TextSize } from "../request_size.ts";
import { bodyChecker, checkOptional, invalid, isNonNegativeInteger, missing, wrongType } from "../check_body.ts";
import { countMinTokens, countTokens } from "../estimate.ts";
import type { CheckedOperation, RequestNeeds, ResponseUsage, TakenUsage, UsageContext } from "../operation.ts";
import { readInputUsage } from "./_input_usage.ts";
import { refusedBy } from "./_chat_lacks.ts";
import { dropRefused } from "./_rewording.ts";

const checkMembers = bodyChecker(["query", "documents", "top_n", "return_documents"]);
/** Vendors that charge per search count one search for this many documents. */
const documentsPerSearch = 100;

/** Reranking: documents by relevance, highest first. */
export const rerank: CheckedOperation<RerankRequest, RerankResponse> = {
  name: "rerank",
  mayHedge: () => true,
  serves: (leaf) => servesOperation(leaf, "rerank"),
  check: checkRerankRequest,
  measureNeeds: findRerankNeeds,
  reword(body, model) {
    const { edits, dropped } = dropRefused(body, model);
    // all vendors accept strings; documents are added to the results here
    return {
      edits: { ...edits, documents: body.documents.map(getDocumentText), return_documents: undefined },
      dropped,
    };
  },
  finish: toRerankResponse,
  isEmpty: ({ results }) => results.length === 0,
  usageIn: ({ usage }) => ({ usage, written: () => 0 }),
  readUsage: readRerankUsage,
};

function checkRerankRequest(value: unknown): RerankRequest {
  const body = checkMembers(value);
  const { query, documents } = body;
  if (query === undefined) throw missing("query");
  if (typeof query !== "string") throw wrongType("query", "a string", query);
  if (query === "") throw invalid('"query" must not be empty', "query");
  if (documents === undefined) throw missing("documents");
  if (!Array.isArray(documents)) throw wrongType("documents", "an array", documents);
  if (documents.length === 0) throw invalid('"documents" must not be empty', "documents");
  documents.forEach((document: unknown, index) => {
    const isText = typeof document === "string" || isObject(document) && typeof document.text === "string";
    if (!isText) throw wrongType(`documents[${index}]`, "a string or an object with a text", document);
  });
  checkOptional(body, {
    name: "top_n",
    expected: "an integer, at least 1",
    isValid: (value) => isNonNegativeInteger(value) && value > 0,
  });
  checkOptional(body, {
    name: "return_documents",
    expected: "a boolean",
    isValid: (value) => typeof value === "boolean",
  });
  return body as unknown as RerankRequest;
}

function getDocumentText(document: RerankDocument): string {
  return typeof document === "string" ? document : document.text;
}

function findRerankNeeds(body: RerankRequest): RequestNeeds {
  const { query, documents } = body;
  const [all, querySize] = [emptyText(), emptyText()];
  addText(query, querySize);
  let longest = 0;
  for (const document of documents) {
    const size: TextSize = { ...querySize }; // a model reads the query once per document
    addText(getDocumentText(document), size);
    longest = Math.max(longest, countMinTokens(size));
    for (const kind of ["latin", "alphabetic", "ideographic"] as const) all[kind] += size[kind];
  }
  return {
    load: {
      input: Math.ceil(countTokens(all)),
      output: 0,
      units: { searches: Math.ceil(documents.length / documentsPerSearch) },
    },
    findLack: (model) => findRerankLack(model, body, longest),
  };
}

function findRerankLack(
  { constraints, parameters }: ModelInfo,
  body: RerankRequest,
  longest: number,
): string | undefined {
  if (longest > (constraints?.context_window ?? Infinity)) return `room for about ${longest} tokens`;
  return refusedBy(parameters, body);
}

/** Returns the most relevant documents, up to the requested number, with their content if requested. */
function toRerankResponse(
  { body }: CompletionResponse<RerankResponse>,
  { documents, top_n, return_documents }: RerankRequest,
): CompletionResponse<RerankResponse> {
  const results = [...body.results]
    .sort((first, second) => second.relevance_score - first.relevance_score)
    .slice(0, top_n ?? undefined)
    .map(({ index, relevance_score }) => ({
      index,
      relevance_score,
      ...(return_documents && documents[index] !== undefined
        ? { document: { text: getDocumentText(documents[index]) } }
        : {}),
    }));
  return { body: { ...body, results } };
}

/** Searches as billed by the vendor, if reported. */
function readRerankUsage(response: ResponseUsage, context: UsageContext<RerankRequest>): TakenUsage {
  const { quantities, tokens } = readInputUsage(response, context);
  const { total_tokens, search_units } = Object(response.usage);
  const searches = isNonNegativeInteger(search_units) ? search_units : context.load.units?.searches;
  const isEstimated = !isNonNegativeInteger(search_units) && !isNonNegativeInteger(total_tokens);
  return { quantities: { ...quantities, searches }, tokens, isEstimated };
}
