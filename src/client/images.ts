/**
 * `client.images`.
 * @module
 */
import type { ImageParams } from "../contracts/params.ts";
import type { ImageEditRequest, ImageRequest, ImagesResponse } from "../contracts/images.ts";
import { image } from "../pipeline/operations/image.ts";
import { imageEdit } from "../pipeline/operations/image_edit.ts";
import { callNonStreaming } from "./call_non_streaming.ts";
import type { CallContext } from "./call_context.ts";
import { readFiles } from "./read_files.ts";
import type { CallSettings } from "./options.ts";

/** Generates and edits images. */
export class Images {
  readonly #context: CallContext;

  /** Created by the client; programs do not construct it. */
  constructor(context: CallContext) {
    this.#context = context;
  }

  /**
   * Generates images from a prompt.
   *
   * @param request OpenAI's request. Without `model`, the client's pool for image generation is used. `response_format`
   * is honored whichever model responds.
   * @param settings Abort signal, timeout in milliseconds, session id.
   * @throws {MeshError} When the request fails. An aborted call throws the signal's reason.
   *
   * @example
   * ```ts
   * import { create } from "@modelmesh/core";
   *
   * const client = create("text-to-image");
   * const { data } = await client.images.generate({ prompt: "a red bicycle", response_format: "b64_json" });
   * console.log(data[0]?.b64_json?.length);
   * ```
   */
  generate(request: ImageParams<ImageRequest>, settings?: CallSettings): Promise<ImagesResponse> {
    return callNonStreaming(this.#context, {
      operation: image,
      request: withModel(request),
      settings,
    });
  }

  /**
   * Edits images. Files are read once; a retry or a failover sends the same bytes. Middleware receives the request
   * without its files.
   *
   * @param request OpenAI's request. Without `model`, the client's pool for image editing is used.
   * @param settings Abort signal, timeout in milliseconds, session id.
   * @throws {MeshError} When the request fails. An aborted call throws the signal's reason.
   *
   * @example
   * ```ts
   * import { create } from "@modelmesh/core";
   *
   * const client = create("image-editing");
   * const image = new File([await Deno.readFile("wall.png")], "wall.png", { type: "image/png" });
   * const { data } = await client.images.edit({ image, prompt: "paint the wall green" });
   * ```
   */
  async edit(request: ImageParams<ImageEditRequest>, settings?: CallSettings): Promise<ImagesResponse> {
    const { image: images, mask, ...fields } = request;
    const files = [...await readFiles("image", images), ...await readFiles("mask", mask)];
    return callNonStreaming(this.#context, {
      operation: imageEdit,
      request: withModel(fields),
      files,
      settings,
    });
  }
}

function withModel<Request extends { readonly model?: string | null }>({ model, ...fields }: Request): object {
  return model === null || model === undefined ? fields : { ...fields, model };
}
