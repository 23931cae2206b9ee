/**
 * Files: uploaded to the provider that the pool selects, and located by their ids.
 * @module
 */
import type { FileObject, FilePurpose, ObjectPage } from "../contracts/infrastructure.ts";
import { getInfrastructure, locate, type Located, mintId } from "./account.ts";
import { type FileContent, openFileContent } from "./file_content.ts";
import { restoreLines } from "./line_changes.ts";
import { getObjectOwner, getObjectRecords, type InfrastructureMesh, type ObjectCall } from "./mesh.ts";
import type { ObjectRef } from "./object_id.ts";
import { callProvider } from "./provider_call.ts";
import { type FileSource, upload } from "./uploads.ts";
import { toText } from "../util/to_text.ts";

const defaultLimit = 10_000;

/** The files of a mesh. A file of another client is reported as not found. */
export class FileService {
  readonly #mesh: InfrastructureMesh;

  constructor(mesh: InfrastructureMesh) {
    this.#mesh = mesh;
  }

  /**
   * Uploads a file.
   *
   * @throws {MeshError} When the upload fails. An aborted call throws the signal's reason; errors of the content are
   * rethrown.
   */
  async create(source: FileSource, call: ObjectCall): Promise<{ object: FileObject; pool: string; provider: string }> {
    const mesh = this.#mesh;
    const { account, files, bytes, purpose, batch, pool, changes } = await upload(source, call, mesh);
    const fileId = await mintId(
      {
        kind: "file",
        owner: getObjectOwner(call),
        madeAt: mesh.runtime.clock.now(),
        ids: files.map(({ id }) => id),
        batch,
      },
      account,
      mesh,
    );
    const [first] = files;
    const { filename = source.name, status = "processed" } = first!;
    const object = { ...first!, id: fileId.id, bytes, purpose: purpose as FilePurpose, filename, status };
    await getObjectRecords(mesh).save(fileId.ref, { id: fileId.id, object, isOver: true, changes });
    return { object, pool: pool.name, provider: account.instance.entry.id };
  }

  /** Returns the metadata of a file from its provider. */
  async retrieve(id: string, call: ObjectCall): Promise<FileObject> {
    const { ref, account } = await locate(id, { kind: "file", call }, this.#mesh);
    const infrastructure = getInfrastructure(account, "files");
    const files = await Promise.all(ref.ids.map((id) =>
      callProvider({
        account,
        call,
        isRead: true,
        send: (options) => infrastructure.retrieveFile(id, options),
      }, this.#mesh)
    ));
    const [first] = files;
    const uploaded = ref.batch && (await getObjectRecords(this.#mesh).load(ref))?.changes?.bytes;
    return {
      ...first!,
      id,
      status: first!.status ?? "processed",
      bytes: uploaded ?? files.reduce((sum, { bytes }) => sum + (bytes ?? 0), 0),
    };
  }

  /** Returns a page of the caller's files, with the metadata from their upload. */
  async list({ purpose, after, limit = defaultLimit, order }: {
    readonly purpose?: string | undefined;
    readonly after?: string | undefined;
    /** @default {10_000} */
    readonly limit?: number | undefined;
    /** Order by creation time. @default {"desc"} */
    readonly order?: "asc" | "desc" | undefined;
  }, call: ObjectCall): Promise<ObjectPage> {
    const last = after === undefined ? undefined : (await locate(after, { kind: "file", call }, this.#mesh)).ref;
    await call.scopes?.admit();
    const { records, hasMore } = await getObjectRecords(this.#mesh).page({
      kind: "file",
      owner: getObjectOwner(call),
      after: last,
      limit,
      isAscending: order === "asc",
      matches: (object) => purpose === undefined || object.purpose === purpose,
    });
    return toPage(records.map(({ object }) => object), hasMore);
  }

  /** Returns the content of a file as a stream: of a file of batch requests, as it was uploaded. */
  async content(id: string, call: ObjectCall): Promise<FileContent> {
    const mesh = this.#mesh;
    const { ref, account } = await locate(id, { kind: "file", call }, mesh);
    await call.scopes?.admit();
    const content = await openFileContent(ref.ids, { account, call, mesh });
    if (ref.batch === undefined) return content;
    const changes = (await getObjectRecords(mesh).load(ref))?.changes;
    return { type: content.type, bytes: restoreLines(content.bytes, { changes, name: ref.batch.pool }) };
  }

  /** Deletes a file at its provider. */
  async delete(id: string, call: ObjectCall): Promise<{ id: string; object: "file"; deleted: true }> {
    const { ref, account } = await locate(id, { kind: "file", call }, this.#mesh);
    const infrastructure = getInfrastructure(account, "files");
    for (const fileId of ref.ids) {
      const send = { account, call, send: deleting(fileId) };
      await callProvider(send, this.#mesh);
    }
    await getObjectRecords(this.#mesh).delete(ref);
    return { id, object: "file", deleted: true };

    function deleting(id: string) {
      return (options: Parameters<typeof infrastructure.deleteFile>[1]) => infrastructure.deleteFile(id, options);
    }
  }
}

/**
 * Creates the id of a file that a provider has created, such as batch results.
 *
 * @param file The provider's file ids, several if the file is split; its metadata if it contains batch requests.
 * @param owner The object it belongs to.
 */
export async function resultFileId(
  file: Pick<ObjectRef, "ids" | "batch">,
  { ref, account }: Located,
  mesh: InfrastructureMesh,
): Promise<string> {
  return (await mintId({ kind: "file", owner: ref.owner, madeAt: ref.madeAt, ...file }, account, mesh)).id;
}

/** Returns a page of a list in OpenAI's shape. */
export function toPage<Item>(data: (Item & { readonly id?: unknown })[], hasMore: boolean): ObjectPage<Item> {
  const readItemId = (item: { readonly id?: unknown } | undefined) => item === undefined ? null : toText(item.id);
  return { object: "list", data, first_id: readItemId(data[0]), last_id: readItemId(data.at(-1)), has_more: hasMore };
}
