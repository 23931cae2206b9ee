/**
 * The original of a request that was translated from another API. Imported only by translators.
 * @module
 */
import type { VendorFees } from "./estimate.ts";
import type { ChatApi, NativeRequest } from "../contracts/provider.ts";
import type { UnsupportedRequestError } from "../errors.ts";
import type { Member, ModelEntry } from "../registry/registry.ts";
import { editMembers } from "../util/json_members.ts";
import { privateFields } from "./check_body.ts";
import type { Rewording } from "./operation.ts";
import { requireResult } from "../util/once.ts";

/** The native form of a request, for providers that support the dialect. */
interface NativeForm {
  /** The JSON. */
  readonly text: string;
  /** Members that differ for a model, given those that differ in chat form; undefined removes a member. */
  readonly edits: (modelId: string, inChat: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
  /** Members that `edits` adds, and that the request can do without. */
  readonly adds?: readonly string[] | undefined;
  /** Its members for members of chat, where the names differ. */
  readonly names?: Readonly<Record<string, string>> | undefined;
  /** Members that it removes because the API would reject them. */
  readonly dropped?: readonly string[] | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** The most calls of tools that it lets the provider run for a fee. */
  readonly fees?: VendorFees | undefined;
  /** Set if only such providers support the request: the error if there is no model of theirs. */
  readonly only?: UnsupportedRequestError | undefined;
  /** Whether such providers are preferred, because the chat form has less than the request. */
  readonly isPreferred?: boolean | undefined;
  /** The error unless all models belong to one such provider. */
  readonly pinned?: UnsupportedRequestError | undefined;
}

/** The original of a translated request. */
export class OriginalRequest {
  /** Members that the chat form lacks. */
  readonly dropped: readonly string[];
  /** Name of the dialect. */
  readonly dialect: string;
  readonly #native: NativeForm | undefined;

  constructor({ dialect, dropped, native }: {
    /** Name of the dialect. */
    readonly dialect: string;
    /** Members that the chat form lacks. */
    readonly dropped: readonly string[];
    /** Undefined if all providers receive the chat form. */
    readonly native?: NativeForm | undefined;
  }) {
    this.dialect = dialect;
    this.dropped = dropped;
    this.#native = native;
  }

  /**
   * Whether only providers that support the dialect can take it, as a request with tools that the provider runs or with
   * stored objects.
   */
  get isNativeOnly(): boolean {
    return (this.#native?.only ?? this.#native?.pinned) !== undefined;
  }

  /** Whether its chat form lacks a part that a model which supports the dialect would act on. */
  get isNativePreferred(): boolean {
    return this.#native?.isPreferred === true;
  }

  /** Returns the original of a request that is sent in chat form to all providers. */
  withoutNative(): OriginalRequest {
    return new OriginalRequest({ dialect: this.dialect, dropped: this.dropped });
  }

  /**
   * The most calls of tools that it lets the provider run for a fee, which the chat form does not contain.
   *
   * @param members The members that may get it: without any that supports the dialect, there are none.
   */
  findFees(members: readonly Member[]): VendorFees | undefined {
    const { fees, isPreferred } = this.#native ?? {};
    return isPreferred === true && !members.some(({ model }) => this.#isSupportedBy(model)) ? undefined : fees;
  }

  /**
   * Keeps the members that support the dialect, if chat cannot express the request.
   *
   * @param members Members that support the operation.
   * @throws {UnsupportedRequestError} If no member is left.
   */
  withDialect(members: readonly Member[]): readonly Member[] {
    const error = this.#native?.only;
    if (error === undefined) return members;
    const withDialect = members.filter(({ model }) => this.#isSupportedBy(model));
    if (withDialect.length > 0) return withDialect;
    throw error;
  }

  /**
   * Prefers candidates that support the dialect, if the chat form has less than the request.
   *
   * @returns Undefined if that makes no difference.
   */
  findPreference(members: readonly Member[]): ((candidates: readonly Member[]) => readonly Member[]) | undefined {
    if (this.#native?.isPreferred !== true) return undefined;
    const supporting = new Set(members.filter(({ model }) => this.#isSupportedBy(model)));
    if (supporting.size === 0 || supporting.size === members.length) return undefined;
    return (candidates) => {
      const preferred = candidates.filter((member) => supporting.has(member));
      return preferred.length === 0 ? candidates : preferred;
    };
  }

  /**
   * Checks that a request which refers to objects or tools of one provider is routed only to that provider.
   *
   * @param members The eligible members, at least one.
   * @throws {UnsupportedRequestError} If they do not all belong to one such provider.
   */
  checkPinned(members: readonly Member[]): void {
    const error = this.#native?.pinned;
    if (error === undefined) return;
    const { instance } = members[0]!.model;
    if (!members.every(({ model }) => model.instance === instance && this.#isSupportedBy(model))) throw error;
  }

  /**
   * Returns the native request; undefined if the model's provider does not support the dialect.
   *
   * @param inChat Members that differ for the model in chat form.
   * @param rejected Members that the model rejects.
   */
  nativeFor(
    model: ModelEntry,
    { inChat, rejected }: { readonly inChat: Rewording["edits"]; readonly rejected: ReadonlySet<string> },
  ): {
    readonly request: NativeRequest;
    /** Whether a member of chat differs for the model. */
    readonly isEdited: (name: string) => boolean;
    /** Members that it lacks. */
    readonly dropped: readonly string[];
    /** Members that the client has not sent, and that it can do without. */
    readonly added: readonly string[];
  } | undefined {
    if (this.#native === undefined || !this.isNativeTo(model)) return undefined;
    const { text, edits, adds: added = [], names = {}, dropped = [], headers } = this.#native;
    const without = added.filter((name) => rejected.has(name)).map((name) => [name, undefined]);
    const own = edits(model.info.id, { ...inChat, ...Object.fromEntries(without) });
    const hidden = Object.fromEntries(privateFields.map((name) => [name, undefined]));
    const request = { dialect: this.dialect, text: editMembers(text, { ...own, ...hidden }), headers };
    return { request, isEdited: (name) => (names[name] ?? name) in own, dropped, added };
  }

  /** Whether a model receives the native request. */
  isNativeTo(model: ModelEntry): boolean {
    return this.#native !== undefined && this.#isSupportedBy(model);
  }

  #isSupportedBy({ instance, info }: ModelEntry): boolean {
    const { dialects, apis, stream } = instance.provider ?? {};
    if (stream === undefined) return false; // what streams a complete response has chat's form
    // a model whose chat requests all go through the API of this dialect
    const { api = info.parameters?.apis?.join() } = info;
    if (api === this.dialect && apis?.includes(api as ChatApi)) return true;
    if (typeof dialects !== "function") return dialects?.includes(this.dialect) === true;
    try {
      return requireResult(dialects(info.id)).includes(this.dialect);
    } catch {
      return false; // without a response, it receives chat requests
    }
  }
}
