/**
 * Streams a file of batch requests to a provider: validates each line, adapts it to the model that serves the batch,
 * and splits the file to fit the provider's limits.
 * @module
 */
import type { RequestBody } from "../contracts/openai.ts";
import { MeshError, UnsupportedRequestError } from "../errors.ts";
import { adaptRequest } from "../pipeline/adapt_request.ts";
import { invalid, memberFinder } from "../pipeline/check_body.ts";
import type { RequestNeeds } from "../pipeline/operation.ts";
import { poolFor } from "../pipeline/select_pool.ts";
import type { Member, Pool } from "../registry/registry.ts";
import { memberText, repeatedMember } from "../util/json_members.ts";
import { batchLimits } from "./account.ts";
import { batchTerms } from "./batch_money.ts";
import { type BatchOperation, batchOperationFor } from "./batch_operations.ts";
import { brokenLine, type Line, parseLineObject, readLines } from "./json_lines.ts";
import { ChangedLines, changeLine, type LineChanges } from "./line_changes.ts";
import type { InfrastructureMesh, ObjectCall } from "./mesh.ts";
import { toText } from "../util/to_text.ts";

/** Maximum number of provider batches per batch; with more, the id would be too long for a URL. */
const maxParts = 64;

/** Maximum line length, bytes; same as the limit of a single request. */
const maxLineBytes = 32 * 1024 * 1024;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** A validated line. */
interface BatchLine {
  readonly number: number;
  readonly text: string;
  readonly members: Readonly<Record<string, unknown>>;
  readonly body: RequestBody;
  readonly needs: RequestNeeds;
}

/** What the first line determines for the whole file. */
export interface BatchOpening {
  readonly pool: Pool;
  readonly operation: BatchOperation;
  readonly needs: RequestNeeds;
}

/** Dependencies of a {@linkcode BatchFile}. */
interface BatchFileParts {
  readonly call: ObjectCall;
  readonly mesh: InfrastructureMesh;
  /** The pool that the request names, if any. */
  readonly pool: Pool | undefined;
}

/** A file of batch requests. Its parts must be read one after the other. */
export class BatchFile {
  /** Number of lines read. */
  items = 0;
  /** Estimated cost of the lines as single requests, nano-dollars; null once a price is unknown. */
  costNanoUsd: number | null = 0;
  readonly #parts: BatchFileParts;
  readonly #lines: AsyncGenerator<Line>;
  readonly #changed = new ChangedLines();
  readonly #customIds = new Set<string>();
  #opening!: BatchOpening;
  #member!: Member;
  #next: BatchLine | undefined;
  #count = 0;

  private constructor(content: AsyncIterable<Uint8Array>, parts: BatchFileParts) {
    this.#parts = parts;
    this.#lines = readLines(content, maxLineBytes);
  }

  /**
   * Opens a file by reading its first line.
   *
   * @throws {UnsupportedRequestError} When the line is not a batch request, or the file is empty.
   */
  static async open(content: AsyncIterable<Uint8Array>, parts: BatchFileParts): Promise<BatchFile> {
    const file = new BatchFile(content, parts);
    const { done, value } = await file.#lines.next();
    if (done) throw new UnsupportedRequestError("The file has no lines", { code: "invalid_value", param: "file" });
    const members = readLineMembers(value);
    const operation = batchOperationFor(members.url, value.number);
    file.#opening = { operation } as BatchOpening;
    file.#next = file.#read(value, members);
    return file;
  }

  /** What the first line determines for the whole file. */
  get opening(): BatchOpening {
    return this.#opening;
  }

  /** Whether all lines have been read. */
  get isOver(): boolean {
    return this.#next === undefined;
  }

  /** Returns what the parts read so far have changed in a file of so many bytes. */
  changes(bytes: number): LineChanges {
    return this.#changed.toRecord(bytes);
  }

  /** Sets the model that serves the batch. Call it before reading the first part. */
  use(member: Member): void {
    this.#member = member;
  }

  /** Yields the lines of one part, within the provider's limits. */
  async *part(): AsyncGenerator<Uint8Array> {
    const { maxItems, maxBytes } = batchLimits(this.#member.model);
    if (++this.#count > maxParts) {
      const message = `The file exceeds ${maxParts} batches of the provider: split it into smaller files`;
      throw new UnsupportedRequestError(message, { code: "invalid_value", param: "file" });
    }
    await this.#opening.operation.operation.prepare?.(this.#member.model);
    let items = 0;
    let bytes = 0;
    while (this.#next !== undefined) {
      const { line, change } = this.#rewritten(this.#next);
      if (line.length > maxBytes) throw brokenLine(this.#next.number, `is over ${maxBytes} bytes (batch.max_payload)`);
      if (items === maxItems || bytes + line.length > maxBytes) return;
      this.#take(this.#next);
      this.#changed.add(change);
      items++;
      bytes += line.length;
      yield line;
      const { done, value } = await this.#lines.next();
      this.#next = done ? undefined : this.#read(value, readLineMembers(value));
    }
  }

  /** Stops reading. */
  async close(): Promise<void> {
    await this.#lines.return(undefined);
  }

  #read({ number, bytes }: Line, members: Readonly<Record<string, unknown>>): BatchLine {
    const { operation } = this.#opening;
    const text = decoder.decode(bytes);
    checkRepeated(text, number);
    const { custom_id, url } = members;
    if (url !== operation.endpoint) {
      throw brokenLine(number, `has a different "url" than earlier lines: all lines of a batch have the same one`);
    }
    if (this.#customIds.has(custom_id as string)) {
      throw brokenLine(
        number,
        `has the "custom_id" ${JSON.stringify(toText(custom_id).slice(0, 80))} of an earlier line`,
      );
    }
    this.#customIds.add(custom_id as string);
    try {
      const body = operation.check(members.body);
      if (body.stream === true) throw invalid('"stream" is not supported in batches', "stream");
      this.#checkPool(body, operation);
      const needs = operation.measureNeeds(body);
      this.#opening = { ...this.#opening, needs: this.#opening.needs ?? needs };
      return { number, text, members, body, needs };
    } catch (error) {
      throw MeshError.isInstance(error) ? brokenLine(number, `cannot be sent: ${error.message}`) : error;
    }
  }

  #checkPool({ model }: RequestBody, { defaultModel }: BatchOperation): void {
    const { mesh: { registry }, call, pool: named } = this.#parts;
    const name = model ?? defaultModel ?? named?.name;
    if (name === undefined) throw invalid('"model" is missing', "model");
    const pool = poolFor(name, call, registry);
    const expected = this.#opening.pool ?? named;
    if (expected !== undefined && pool !== expected) {
      throw invalid(
        `it names the pool "${pool.name}", but earlier lines or the request name "${expected.name}"`,
        "model",
      );
    }
    this.#opening = { ...this.#opening, pool };
  }

  /** Returns a line adapted to the model, and what was changed. */
  #rewritten({ number, text, members, body, needs }: BatchLine) {
    const { model } = this.#member;
    const lack = needs.findLack(model.info);
    if (lack !== undefined) throw brokenLine(number, `requires what the model "${model.name}" lacks: ${lack}`);
    const { call: { requestId: id, timeoutMs, client } } = this.#parts;
    const request = { id, timeoutMs, client, body, model: model.name, delivery: "batch" as const };
    const { completion, clientNames } = adaptRequest(
      { ...request, operation: this.#opening.operation.operation },
      model,
    );
    // the provider's results are passed on as they are
    const sent = clientNames?.restoreTools(completion.body) ?? completion.body;
    const after = { ...sent, model: model.info.id };
    const before = members.body as Readonly<Record<string, unknown>>;
    const { text: changed, change } = changeLine(text, { before, after });
    return { line: encoder.encode(`${changed}\n`), change };
  }

  #take({ needs }: BatchLine): void {
    this.items++;
    const { state, model } = this.#member;
    const cost = state.tracker.maxCost({ ...needs.load, units: { ...needs.load.units, ...batchTerms(model) } });
    this.costNanoUsd = cost === undefined || this.costNanoUsd === null ? null : this.costNanoUsd + cost;
  }
}

/** Readers differ in which of several members with one name counts. */
function checkRepeated(text: string, number: number): void {
  const name = repeatedMember(text) ?? repeatedMember(memberText(text, "body"));
  if (name !== undefined) throw brokenLine(number, `has the member ${JSON.stringify(name.slice(0, 80))} twice`);
}

const findMember = memberFinder(["custom_id", "method", "url", "body"]);

/** Checks the members that OpenAI's reference requires of every line. */
function readLineMembers(line: Line): Readonly<Record<string, unknown>> {
  const members = parseLineObject(line);
  const { custom_id, method, url, body } = members;
  const { number } = line;
  for (const name of Object.keys(members)) {
    const member = findMember(name);
    if (member === undefined || member === name) continue;
    throw brokenLine(number, `has the member ${JSON.stringify(name)}, which differs from "${member}" in case alone`);
  }
  if (typeof custom_id !== "string" || custom_id === "") throw brokenLine(number, 'has no "custom_id"');
  if (method !== undefined && method !== "POST") throw brokenLine(number, 'has a "method" other than "POST"');
  if (typeof url !== "string") throw brokenLine(number, 'has no "url"');
  if (typeof body !== "object" || body === null) throw brokenLine(number, 'has no "body"');
  return members;
}
