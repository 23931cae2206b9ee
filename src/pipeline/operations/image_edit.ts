/**
 * The operation `image-edit`: images from images.
 * @module
 */
import { servesOperation } from "../../capability/operations.ts";
import type { ImageOptions, ImagesResponse } from "../../contracts/images.ts";
import type { ModelInfo, UploadedFile } from "../../contracts/provider.ts";
import { bodyChecker, checkOptional, invalid, missing } from "../check_body.ts";
import type { CheckedOperation } from "../operation.ts";
import {
  checkImageOptions,
  imageMembers,
  inRequestedForm,
  needsOfImages,
  readImageUsage,
  rewordForImages,
  usageInImages,
} from "./_images.ts";

const checkMembers = bodyChecker([...imageMembers, "image", "mask", "input_fidelity"]);
const maxFiles = 16;

/** Image editing: forms with images, complete responses. */
export const imageEdit: CheckedOperation<ImageOptions, ImagesResponse> = {
  name: "image-edit",
  serves: (leaf) => servesOperation(leaf, "image-edit"),
  form: { fields: { n: "number", output_compression: "number", partial_images: "number", stream: "boolean" } },
  check(value, files) {
    const body = checkMembers(value);
    checkFiles(files, body);
    checkImageOptions(body);
    checkOptional(body, {
      name: "input_fidelity",
      expected: "a string",
      isValid: (value) => typeof value === "string",
    });
    return body as unknown as ImageOptions;
  },
  measureNeeds(body, files) {
    const needs = needsOfImages(body, files);
    const hasMask = files.some(({ field }) => field === "mask");
    return { ...needs, findLack: (model) => hasMask && !takesMasks(model) ? "inpainting" : needs.findLack(model) };
  },
  reword: rewordForImages,
  finish: inRequestedForm,
  isEmpty: ({ data }) => data.length === 0,
  usageIn: usageInImages,
  readUsage: readImageUsage,
};

/** Whether a model supports masks; unknown support counts as support. */
function takesMasks({ capabilities }: ModelInfo): boolean {
  return capabilities?.some((path) => path === "inpainting" || path.endsWith(".inpainting")) ?? true;
}

/** The images, and at most one mask. Clients name each of several images `image[]`. */
function checkFiles(files: readonly UploadedFile[], body: Readonly<Record<string, unknown>>): void {
  for (const field of ["image", "mask"]) {
    if (body[field] !== undefined) throw invalid(`"${field}" has to be a file`, field);
  }
  const named = files.map(({ field }) => field.replace(/\[\d*\]$/, ""));
  const unknown = named.find((field) => field !== "image" && field !== "mask");
  if (unknown !== undefined) {
    throw invalid(`The file ${JSON.stringify(unknown)} is none of "image" and "mask"`, unknown);
  }
  const images = named.filter((field) => field === "image").length;
  if (images === 0) throw missing("image");
  if (images > maxFiles) throw invalid(`"image" may be up to ${maxFiles} files`, "image");
  if (named.length - images > 1) throw invalid('"mask" has to be one file', "mask");
  const empty = files.findIndex(({ bytes }) => bytes.length === 0);
  if (empty >= 0) throw invalid(`The file "${named[empty]}" is empty`, named[empty]);
}
