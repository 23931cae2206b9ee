/**
 * Uploads: a file is streamed to its provider. A file of batch requests is validated and adapted on the way.
 * @module
 */
import type { FileObject, FileUpload } from "../contracts/infrastructure.ts";
import type { CallOptions } from "../contracts/provider.ts";
import { ProviderError, UnsupportedRequestError } from "../errors.ts";
import { invalid, missing } from "../pipeline/check_body.ts";
import type { Member, Pool, ProviderInstance } from "../registry/registry.ts";
import { type Account, getInfrastructure, maxFileBytes, newAccount } from "./account.ts";
import { refuseUnpriced } from "./batch_money.ts";
import { BatchFile } from "./batch_file.ts";
import { checkUnguarded, chooseMember, firstPoolFor, membersFor, namedPool } from "./choice.ts";
import { CountedContent, JsonLinesCheck, looksLikeRequests, PeekableContent, TrackedContent } from "./content.ts";
import type { LineChanges } from "./line_changes.ts";
import type { InfrastructureMesh, ObjectCall } from "./mesh.ts";
import type { BatchFacts } from "./object_id.ts";
import { callProvider, type FailedCall, tryProvider } from "./provider_call.ts";

/** A file being uploaded. */
export interface FileSource extends Pick<FileUpload, "name" | "type" | "content" | "fields" | "laterFields"> {
  /**
   * The pool that selects the provider. By default it is derived from the requests in the file, else the first pool
   * that supports files.
   */
  readonly pool?: string | undefined;
}

/** An uploaded file. */
interface Uploaded {
  readonly account: Account;
  readonly pool: Pool;
  /** The model selected by the pool's strategy. */
  readonly member: Member;
  /** The provider's files; several if the file was split. */
  readonly files: readonly FileObject[];
  /** Number of bytes received. */
  readonly bytes: number;
  readonly purpose: string;
  readonly batch?: BatchFacts;
  /** Changes of the lines, of a file of batch requests. */
  readonly changes?: LineChanges;
}

/** Maximum length of the first line of a file of batch requests, bytes. */
const maxPeekBytes = 64 * 1024;

/**
 * Uploads a file. If it fails, uploaded parts are deleted.
 *
 * @throws {MeshError} When the upload fails. An aborted call throws the signal's reason; errors of the content are
 * rethrown.
 */
export async function upload(source: FileSource, call: ObjectCall, mesh: InfrastructureMesh): Promise<Uploaded> {
  const { purpose } = source.fields;
  const content = new PeekableContent(source.content);
  try {
    const isBatch = purpose === undefined ? looksLikeRequests(await content.peek(maxPeekBytes)) : purpose === "batch";
    const parts = { source: { ...source, content }, call, mesh };
    return isBatch ? await uploadRequests(parts) : await uploadPlain(parts);
  } finally {
    await content.close();
  }
}

interface UploadParts {
  readonly source: FileSource;
  readonly call: ObjectCall;
  readonly mesh: InfrastructureMesh;
}

/** Form fields that follow the file, validated together with those before it. */
class LaterFields {
  readonly #source: FileSource;
  #purpose: string | undefined;

  constructor(source: FileSource) {
    this.#source = source;
    this.#purpose = source.fields.purpose;
  }

  get purpose(): string {
    return this.#purpose ?? "";
  }

  /** Reads them. */
  async read(): Promise<Record<string, string>> {
    const { pool, laterFields } = this.#source;
    const { "mesh[pool]": latePool, ...fields } = await laterFields();
    this.#purpose ??= fields.purpose;
    if (this.#purpose === undefined) throw missing("purpose");
    if (latePool !== undefined && latePool !== pool) {
      throw invalid('"mesh[pool]" has to precede "file", or be in the header x-mesh-pool', "mesh");
    }
    return fields;
  }
}

async function uploadPlain({ source, call, mesh }: UploadParts): Promise<Uploaded> {
  const { fields, name } = source;
  const later = new LaterFields(source);
  const ability = fields.purpose === "fine-tune" ? "fineTuning" : "files";
  const pool = namedPool(source.pool, call, mesh) ?? firstPoolFor(ability, call, mesh);
  checkUnguarded(pool, call);
  const counted = new CountedContent(source.content);
  const isOfLines = fields.purpose === "fine-tune" || fields.purpose === undefined && /\.jsonl$/i.test(name);
  const check = isOfLines ? new JsonLinesCheck(counted, fields.purpose !== undefined) : undefined;
  const tuning = ability === "files" ? undefined : membersFor(ability, pool);
  const sent = await sendFirst({ source, call, mesh }, {
    pool,
    members: membersFor("files", pool).filter((member) => tuning?.includes(member) ?? true),
    content: () => check ?? counted,
    onChoice: ({ model: { instance } }) => counted.limit = sizeLimit(instance),
    async laterFields() {
      const rest = await later.read();
      if (later.purpose === "batch") throw noRequests();
      if (later.purpose === "fine-tune") check?.throwIfBroken();
      return rest;
    },
  });
  return { ...sent, files: [sent.file], pool, bytes: counted.bytes, purpose: later.purpose };
}

/** The error when the purpose followed the file and the sent lines were not adapted. */
function noRequests(): UnsupportedRequestError {
  return new UnsupportedRequestError(
    'Line 1 of the file is not a batch request: it needs "custom_id", "url" and "body"',
    { code: "invalid_value", param: "file" },
  );
}

async function uploadRequests({ source, call, mesh }: UploadParts): Promise<Uploaded> {
  const later = new LaterFields(source);
  const counted = new CountedContent(source.content);
  const named = namedPool(source.pool, call, mesh);
  const file = await BatchFile.open(counted, { call, mesh, pool: named });
  const { opening } = file;
  const { pool } = opening;
  const laterFields = async () => file.isOver ? await readBatchFields(later) : { purpose: "batch" };
  const files: FileObject[] = [];
  let account: Account | undefined;
  try {
    checkUnguarded(pool, call);
    const members = membersFor("batch", pool, opening);
    const onChoice = (member: Member) => file.use(member);
    const context = { pool, members, laterFields, content: () => file.part(), onChoice };
    const first = await sendFirst({ source, call, mesh }, context);
    account = first.account;
    files.push(first.file);
    while (!file.isOver) files.push(await sendTo(account, { ...context, source, call, mesh }));
    const { items, costNanoUsd } = file;
    const batch = {
      pool: pool.name,
      model: first.member.model.name,
      endpoint: opening.operation.endpoint,
      items,
      costNanoUsd,
    };
    const { bytes } = counted;
    return { ...first, files, pool, bytes, purpose: "batch", batch, changes: file.changes(bytes) };
  } catch (error) {
    if (account !== undefined) await discard(files, account, mesh);
    throw error;
  } finally {
    await file.close();
  }
}

/** Reads the fields after the file, whose purpose was assumed. */
async function readBatchFields(later: LaterFields): Promise<Readonly<Record<string, string>>> {
  const fields = await later.read();
  if (later.purpose === "batch") return fields;
  throw invalid(
    `a file of batch requests has the purpose "batch": put "purpose" before "file" for another purpose`,
    "purpose",
  );
}

interface Sending {
  readonly pool: Pool;
  readonly members: readonly Member[];
  /** The content to be sent next. */
  readonly content: () => AsyncIterable<Uint8Array>;
  readonly laterFields: FileUpload["laterFields"];
  readonly onChoice: (member: Member) => void;
}

/** Tries one provider after another until one can be reached. From then on the content cannot be sent elsewhere. */
async function sendFirst(
  parts: UploadParts,
  sending: Sending,
): Promise<{ readonly account: Account; readonly member: Member; readonly file: FileObject }> {
  const { pool, members, onChoice } = sending;
  const unreached = new Set<string>();
  let failed: FailedCall | undefined;
  for (;;) {
    if (failed !== undefined && members.every(({ model }) => unreached.has(model.instance.entry.id))) {
      throw failed.error;
    }
    const member = chooseMember(members, { pool, unreached }, parts.mesh);
    const { provider } = member.model.instance;
    if (provider?.infrastructure?.facts.files?.hasFee) refuseUnpriced("A file with a fee", [member], parts.call);
    onChoice(member);
    const account = await newAccount(member.model.instance, parts.mesh);
    const end = await trySending(account, { ...sending, ...parts });
    if ("value" in end) return { account, member, file: end.value };
    if (!end.neverSent) throw end.error;
    failed = end;
    unreached.add(member.model.instance.entry.id);
  }
}

async function sendTo(account: Account, sending: Sending & UploadParts): Promise<FileObject> {
  const end = await trySending(account, sending);
  if ("value" in end) return end.value;
  throw end.error;
}

async function trySending(account: Account, sending: Sending & UploadParts) {
  const { source: { name, type, fields: formFields }, call, mesh, laterFields } = sending;
  const { "mesh[pool]": _pool, ...fields } = formFields;
  const content = new TrackedContent(sending.content());
  const upload = { name, type, content, fields, laterFields };
  const send = (options: CallOptions) => getInfrastructure(account, "files").uploadFile(upload, options);
  const end = await tryProvider({ account, call, send }, mesh);
  return "value" in end ? end : { ...end, neverSent: end.neverSent && !content.isBegun };
}

function sizeLimit(instance: ProviderInstance): CountedContent["limit"] {
  const maxBytes = maxFileBytes(instance);
  const { id: provider } = instance.entry;
  const message = `The file exceeds the ${maxBytes} bytes that the provider "${provider}" accepts (files.max_size)`;
  const facts = { code: "request_too_large", status: 413, type: "invalid_request_error", param: "file" };
  return { maxBytes, tooLarge: () => new ProviderError(message, { ...facts, provider, attempts: [] }) };
}

/** Deletes uploaded files that are not needed, ignoring failures. */
async function discard(files: readonly FileObject[], account: Account, mesh: InfrastructureMesh): Promise<void> {
  const call: ObjectCall = { requestId: "", timeoutMs: discardMs };
  const infrastructure = getInfrastructure(account, "files");
  await Promise.allSettled(
    files.map(({ id }) =>
      callProvider({ account, call, send: (options) => infrastructure.deleteFile(id, options) }, mesh)
    ),
  );
}

const discardMs = 10_000;
