/**
 * `client.images`.
 * @module
 */
import type { ImageParams } from "../contracts/params.ts";
import type { ImageEditRequest, ImageRequest, ImagesResponse } from "../contracts/images.ts";
import { image } from "../pipeline/operations/image.ts";
import { imageEdit } from "../pipeline/operations/image_edit.ts";
import { callWhole } from "./call_whole.ts";
import type { CallContext } from "./call_context.ts";
import { filesOf } from "./files_of.ts";
import type { CallSettings } from "./options.ts";

/** Images. */
export class Images {
  readonly #context: CallContext;

  /**
   * Made by a client.
   *
   * @param context Of the client.
   */
  constructor(context: CallContext) {
    this.#context = context;
  }

  /**
   * Asks for images of a text.
   *
   * @param request OpenAI's request; without `model` it goes to the client's pool for images. With `response_format` images
   *   come in that form whichever model answers.
   * @param settings Signal, time limit (ms), session.
   * @throws A `MeshError`, or the signal's reason.
   *
   * @example
   * ```ts ignore
   * const { data } = await client.images.generate({ prompt: "a red bicycle", response_format: "b64_json" });
   * console.log(data[0]?.b64_json?.length);
   * ```
   */
  generate(request: ImageParams<ImageRequest>, settings?: CallSettings): Promise<ImagesResponse> {
    return callWhole(this.#context, {
      operation: image,
      request: withModel(request),
      settings,
    });
  }

  /**
   * Asks for images made of images. Files are read once, and sent to a further provider from the same bytes. Middleware gets
   * the request without them.
   *
   * @param request OpenAI's request; without `model` it goes to the client's pool for edits of images.
   * @param settings Signal, time limit (ms), session.
   * @throws A `MeshError`, or the signal's reason.
   *
   * @example
   * ```ts ignore
   * const image = new File([bytes], "room.png", { type: "image/png" });
   * const { data } = await client.images.edit({ image, prompt: "paint the wall green" });
   * ```
   */
  async edit(request: ImageParams<ImageEditRequest>, settings?: CallSettings): Promise<ImagesResponse> {
    const { image: images, mask, ...fields } = request;
    const files = [...await filesOf("image", images), ...await filesOf("mask", mask)];
    return callWhole(this.#context, {
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
