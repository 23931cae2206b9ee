/**
 * A request as its client wrote it, in the words of another API. Only who translates imports this.
 * @module
 */
import type { NativeRequest } from "../contracts/provider.ts";
import { UnsupportedRequestError } from "../errors.ts";
import type { Member, ModelEntry } from "../registry/registry.ts";
import { editMembers } from "../util/json_members.ts";
import { privateFields } from "./private_fields.ts";
import type { Rewording } from "./operation.ts";

/** Its form for providers that speak those words. */
interface NativeForm {
  /** The JSON. */
  readonly text: string;
  /** What differs from it for a model, and by what differs in our form; undefined removes a member. */
  readonly edits: (modelId: string, inChat: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
  readonly headers: Readonly<Record<string, string>>;
  /** The member for which only those are asked. */
  readonly only?: string | undefined;
  /** The error where the models that it may go to are not those of one such provider. */
  readonly pinned?: UnsupportedRequestError | undefined;
}

/** What an {@linkcode OriginalRequest} is made of. */
interface OriginalParts {
  /** Whose words they are: the dialect's name. */
  readonly dialect: string;
  /** Members that our form of the request lacks. */
  readonly dropped: readonly string[];
  /** Undefined: all providers get our form. */
  readonly native?: NativeForm | undefined;
}

/** What a provider that speaks the dialect gets. */
interface NativeText {
  readonly request: NativeRequest;
  /** The members that differ for the model. */
  readonly edited: readonly string[];
}

/** A request as its client wrote it, where that was in the words of another API. */
export class OriginalRequest {
  /** Members that our form of the request lacks. */
  readonly dropped: readonly string[];
  /** Whose words they are: the dialect's name. */
  readonly dialect: string;
  readonly #native: NativeForm | undefined;

  /** @param parts What it is made of. */
  constructor({ dialect, dropped, native }: OriginalParts) {
    this.dialect = dialect;
    this.dropped = dropped;
    this.#native = native;
  }

  /**
   * Keeps the members that speak the dialect, where the request says what our form has no words for.
   *
   * @param members Capable of the operation.
   * @throws {UnsupportedRequestError} When no member is left.
   */
  withDialect(members: readonly Member[]): readonly Member[] {
    const param = this.#native?.only;
    if (param === undefined) return members;
    const withDialect = members.filter(({ model }) => this.#isSupportedBy(model));
    if (withDialect.length > 0) return withDialect;
    throw new UnsupportedRequestError(
      `No model of the pool has words for "${param}": leave it out, or ask a model of that API itself`,
      { code: "unsupported_by_pool", param },
    );
  }

  /**
   * What a provider keeps, or runs itself, is with that one provider.
   *
   * @param members All that the request may go to, at least one.
   * @throws {UnsupportedRequestError} When it asks for that, and they are not one such provider's.
   */
  checkPinned(members: readonly Member[]): void {
    const error = this.#native?.pinned;
    if (error === undefined) return;
    const { instance } = members[0]!.model;
    if (!members.every(({ model }) => model.instance === instance && this.#isSupportedBy(model))) throw error;
  }

  /**
   * The request in its own words; undefined for a model whose provider does not speak them.
   *
   * @param model Where it goes.
   * @param inChat What differs for the model in our form.
   */
  nativeFor(model: ModelEntry, inChat: Rewording["edits"]): NativeText | undefined {
    if (this.#native === undefined || !this.#isSupportedBy(model)) return undefined;
    const { text, edits, headers } = this.#native;
    const own = edits(model.info.id, inChat);
    const hidden = Object.fromEntries(privateFields.map((name) => [name, undefined]));
    const request = { dialect: this.dialect, text: editMembers(text, { ...own, ...hidden }), headers };
    return { request, edited: Object.keys(own) };
  }

  #isSupportedBy({ instance, info }: ModelEntry): boolean {
    const dialects = instance.provider?.dialects;
    return (typeof dialects === "function" ? dialects(info.id) : dialects)?.includes(this.dialect) === true;
  }
}
