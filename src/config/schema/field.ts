/**
 * Keys of the document as data. The parser, the defaults, the types of values and settings, the JSON Schema and the
 * documentation follow from them.
 * @module
 */
import type { Provider } from "../../contracts/provider.ts";
import type { SelectionStrategy } from "../../contracts/rotation.ts";
import type { Report } from "./report.ts";

/** A format of strings. */
export type Format =
  | "credential"
  | "secret"
  | "header"
  | "baseUrl"
  | "origin"
  | "host"
  | "cron"
  | "hash"
  | "day"
  | "hours"
  | "download"
  | "publicKey"
  | "keysUrl";

/** What a key of the document may have as its value. */
export interface Field {
  readonly type: keyof Leaves | "choice" | "instance" | "list" | "map" | "record" | "object" | "either";
  /** Default, in base units. */
  readonly default?: unknown;
  /** Minimum: number, ms, bytes, or number of items. */
  readonly min?: number;
  /** Maximum. */
  readonly max?: number;
  /** Exclusive minimum. */
  readonly above?: number;
  /** The words of a choice. */
  readonly values?: readonly string[];
  /** Whether the words of a choice are paths below `/v1`, which are answered with the spelling to write. */
  readonly isPath?: boolean;
  /** Field of the items of a list or map. */
  readonly item?: Field;
  /** Whether a single item stands for a list of it. */
  readonly isSingleAllowed?: boolean;
  /** What reads any value but an object, and what reads an object. */
  readonly options?: readonly [other: Field, object: Field];
  /** The keys of an object; each has a comment that says what it is for. */
  readonly fields?: Fields;
  readonly required?: readonly string[];
  /** Whether an object has settings only if it is given. */
  readonly isOptional?: boolean;
  /** Whether settings have an object as given: connectors declare the same facts, under the names of the document. */
  readonly isVerbatim?: boolean;
  /** Whether other keys are accepted and passed to the connector. */
  readonly isOpen?: boolean;
  /** Aliases among the keys. */
  readonly aliases?: readonly (readonly [string, string])[];
  /**
   * Spellings of the specification that begin with other words, such as `provider.execution.timeout`: where their
   * parameters are, by the first word; empty for the section itself. A document leaves out these words.
   */
  readonly spellings?: Readonly<Record<string, string>>;
  /** Keys of other gateways, by the gateway's name: what to write instead of each. */
  readonly foreign?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** What a program passes instead of a name. */
  readonly instance?: keyof Instances;
  /** Whether the value is never shown. */
  readonly isSecret?: boolean;
  /** Whether secret references are rejected, since the value is a name. */
  readonly isLiteral?: boolean;
  /** Whether a string may have line breaks. */
  readonly isMultiline?: boolean;
  /** Format of a string without secret references, or what returns the error of one. */
  readonly format?: Format | ((text: string) => string | undefined);
  /** Reports what is wrong with a list or an object as a whole. Parts that are invalid have been left out. */
  readonly check?: (value: unknown, location: { readonly path: string; readonly report: Report }) => void;
}

export type Fields = Readonly<Record<string, Field>>;

/** Objects that a program can pass. */
interface Instances {
  readonly provider: Provider;
  readonly strategy: SelectionStrategy;
}

/** Values of fields without inner fields; durations are in ms, sizes in bytes. */
interface Leaves {
  readonly text: string;
  readonly flag: boolean;
  readonly integer: number;
  readonly number: number;
  readonly duration: number;
  readonly size: number;
  /** Attributes that are passed to a connector unchanged; their strings may contain secret references. */
  readonly any: Readonly<Record<string, unknown>>;
}

/** The value of a field as given: in base units, without defaults. */
export type Given<One> = One extends { readonly type: infer Type extends keyof Leaves } ? Leaves[Type]
  : One extends { readonly values: readonly (infer Word)[] } ? Word
  : One extends { readonly instance: infer Kind extends keyof Instances } ? Instances[Kind]
  : One extends { readonly type: "list"; readonly item: infer Item } ? readonly Given<Item>[]
  : One extends { readonly type: "map"; readonly item: infer Item } ? ReadonlyMap<string, Given<Item>>
  : One extends { readonly type: "record"; readonly item: infer Item } ? Readonly<Record<string, Given<Item>>>
  : One extends { readonly fields: infer Keys } ? { readonly [Key in keyof Keys]?: Given<Keys[Key]> }
  : One extends { readonly options: readonly [infer Other, infer Inner] } ? Given<Other> | Given<Inner>
  : never;
