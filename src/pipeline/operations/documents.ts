/**
 * The operation `documents`: the pages of a document as Markdown.
 * @module
 */
import { servesOperation } from "../../capability/operations.ts";
import type { DocumentRequest, DocumentResponse } from "../../contracts/openai.ts";
import type { CompletionResponse, ModelInfo, UploadedFile } from "../../contracts/provider.ts";
import { UnsupportedRequestError } from "../../errors.ts";
import { bodyChecker, invalid, isNonNegativeInteger, wrongType } from "../check_body.ts";
import type { CheckedOperation, RequestNeeds, ResponseUsage, TakenUsage, UsageContext } from "../operation.ts";
import { readBilled } from "../read_usage.ts";
import { refusedBy } from "./_chat_lacks.ts";
import { dropRefused } from "./_rewording.ts";

const checkMembers = bodyChecker(["url"]);
const field = "file";
/** A page of text takes at least this much, even compressed. */
const minBytesPerPage = 2_000;
/** A bound above the pages that vendors accept. */
const maxPages = 10_000;
const pagesByUrl = 100;
/** A bound above the tokens of any document. */
const maxTokens = 100_000_000;

/** Document parsing. A URL is passed to the provider; the mesh does not fetch it. */
export const documents: CheckedOperation<DocumentRequest, DocumentResponse> = {
  name: "documents",
  form: { fields: {}, takesJson: true },
  serves: (leaf) => servesOperation(leaf, "documents"),
  check: checkDocumentRequest,
  measureNeeds: findDocumentNeeds,
  reword: dropRefused,
  finish: ({ body: { model, text, pages } }): CompletionResponse<DocumentResponse> => ({
    body: { object: "document", model, text, pages },
  }),
  isEmpty: ({ pages }) => pages.length === 0,
  usageIn: ({ usage, pages }) => ({ usage: { counted: pages.length, ...Object(usage) }, written: () => 0 }),
  readUsage: readDocumentUsage,
};

function checkDocumentRequest(value: unknown, files: readonly UploadedFile[]): DocumentRequest {
  const body = checkMembers(value);
  const { url } = body;
  const [file] = files;
  const other = files.find((candidate) => candidate.field !== field);
  if (other !== undefined) throw invalid(`The file has to be in the field "${field}"`, other.field.slice(0, 80));
  if (files.length > 1) throw invalid("One file at a time is parsed", field);
  if (file !== undefined && url !== undefined) throw invalid('Either a file or a "url" is parsed, not both', "url");
  if (file === undefined && url === undefined) throw nothingGiven();
  if (file?.bytes.length === 0) throw invalid("The file is empty", field);
  if (url !== undefined) checkUrl(url);
  return body as unknown as DocumentRequest;
}

function nothingGiven(): UnsupportedRequestError {
  const message = `A document is missing: a file in the field "${field}" of a form, or a "url"`;
  return new UnsupportedRequestError(message, { code: "missing_required_parameter", param: field });
}

function checkUrl(url: unknown): void {
  if (typeof url !== "string") throw wrongType("url", "a string", url);
  const parsed = URL.canParse(url) ? new URL(url) : undefined;
  if (parsed?.protocol !== "https:" && parsed?.protocol !== "http:") {
    throw invalid('"url" has to be an address that begins with https:// or http://', "url");
  }
}

function findDocumentNeeds(body: DocumentRequest, [file]: readonly UploadedFile[]): RequestNeeds {
  return {
    load: { input: 0, output: 0, units: { pages: estimatePages(file) } },
    findLack: ({ constraints, parameters }: ModelInfo) => {
      const size = file?.bytes.length ?? 0;
      if (size > (constraints?.max_file_size ?? Infinity)) return `room for a file of ${size} bytes`;
      return refusedBy(parameters, body);
    },
  };
}

/** Pages of a document, high; of one that is given by its URL, those of a long report. */
function estimatePages(file: UploadedFile | undefined): number {
  return file === undefined ? pagesByUrl : Math.min(Math.ceil(file.bytes.length / minBytesPerPage), maxPages);
}

/** Pages, and tokens for vendors that bill them. The usage of a model priced by tokens is unknown unless reported. */
function readDocumentUsage({ usage, billed }: ResponseUsage, { model }: UsageContext<DocumentRequest>): TakenUsage {
  const { total_tokens, counted } = Object(usage);
  const { pages = counted } = readBilled(billed, maxTokens);
  const isReported = isNonNegativeInteger(total_tokens) && total_tokens <= maxTokens;
  const tokens = isReported ? total_tokens : 0;
  const countsTokens = model.pricing?.some(({ input }) => input !== undefined) ?? false;
  return { quantities: { input: tokens, output: 0, pages }, tokens, isEstimated: countsTokens && !isReported };
}
