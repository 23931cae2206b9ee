/**
 * Resources of a client, such as `client.audio`, whose code is imported at their first call, which keeps pages small.
 * @module
 */
import type { CallContext } from "./call_context.ts";
import type { Speech } from "./speech.ts";
import type { Transcriptions, Translations } from "./transcriptions.ts";

/** The methods of a resource. */
export type Lazy<Resource> = Pick<Resource, keyof Resource>;

/**
 * Makes a resource whose methods import its code when they are called.
 *
 * @param load Imports the resource.
 * @param names The names of its methods.
 */
export function lazy<Resource>(load: () => Promise<Resource>, ...names: (keyof Resource)[]): Lazy<Resource> {
  const createLazyCall = (name: keyof Resource) => async (...given: unknown[]) =>
    await (await load() as Record<keyof Resource, (...given: unknown[]) => unknown>)[name](...given);
  return Object.fromEntries(names.map((name) => [name, createLazyCall(name)])) as unknown as Lazy<Resource>;
}

/** Speech synthesis, transcription and translation of audio. */
export interface Audio {
  /** Text to speech. */
  readonly speech: Lazy<Speech>;
  /** Speech to text. */
  readonly transcriptions: Lazy<Transcriptions>;
  /** Speech to text in English. */
  readonly translations: Lazy<Translations>;
}

/** Creates `client.audio`. */
export function createAudio(context: CallContext): Audio {
  const load = () => import("./transcriptions.ts");
  return {
    speech: lazy(async () => new (await import("./speech.ts")).Speech(context), "create"),
    transcriptions: lazy(async () => new (await load()).Transcriptions(context), "create"),
    translations: lazy(async () => new (await load()).Translations(context), "create"),
  };
}
