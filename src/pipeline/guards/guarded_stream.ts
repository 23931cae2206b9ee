/**
 * A stream whose texts pass guards before they are sent.
 * @module
 */
import type { GuardedText } from "../../contracts/guard.ts";
import type { ChatCompletionChunk } from "../../contracts/openai.ts";
import type { CompletionChunk } from "../../contracts/provider.ts";
import { isObject } from "../../util/is_object.ts";
import type { EventStream } from "../committed_stream.ts";
import { carriesContent } from "../read_response.ts";
import { isBlocked } from "./guard_chain.ts";
import { TextWindow } from "./text_window.ts";
import type { CheckedTexts } from "./guard_chain.ts";
import { listTexts, visitTexts } from "./texts.ts";

/** What a guarded stream needs of its guards. */
interface StreamGuards {
  /** Length of the longest match, characters. */
  readonly reach: number;
  /** Number of new characters after which texts are checked again. */
  readonly interval: number;
  /**
   * Checks texts of the response.
   *
   * @throws If they are blocked.
   */
  check(texts: readonly GuardedText[]): CheckedTexts;
}

/** A text that arrives in parts: of one member of one choice. */
interface Run {
  readonly choice: number;
  /** Its place in the response, such as `choices[0].message.tool_calls[1].function.arguments`. */
  readonly path: string;
  readonly window: TextWindow;
  /** Returns a delta that contains nothing but a part of this text. */
  readonly toDelta: (text: string) => Record<string, unknown>;
}

type Choice = ChatCompletionChunk["choices"][number];

/** The events of a response, each as soon as the guards let its text pass. */
export class GuardedStream implements EventStream {
  onStop?: (reason: unknown) => void;
  readonly #stream: EventStream;
  readonly #guards: StreamGuards;
  readonly #runs = new Map<string, Run>();
  /** Texts beside the deltas, by path, and what they were passed on as: events repeat them. */
  readonly #beside = new Map<string, { readonly text: string; readonly passed: string }>();
  /** Events that may be sent. */
  #ready: CompletionChunk[] = [];
  /** Why the stream ends after these. */
  #failure: { readonly error: unknown } | undefined;
  #last: ChatCompletionChunk | undefined;
  #isOver = false;

  constructor(stream: EventStream, guards: StreamGuards) {
    this.#stream = stream;
    this.#guards = guards;
    stream.onStop = (reason) => this.onStop?.(reason);
  }

  get isStopped(): boolean {
    return this.#stream.isStopped;
  }

  /**
   * Reads on until there is something to send, so that a response which is blocked before that is not a stream.
   *
   * @throws If the response is blocked, or fails, before anything can be sent.
   */
  async open(): Promise<this> {
    const hasContent = () => this.#ready.some(({ value }) => carriesContent(value));
    while (!this.#isOver && !hasContent()) await this.#readOn();
    if (this.#failure !== undefined && !hasContent()) throw this.#failure.error;
    return this;
  }

  async read(): Promise<CompletionChunk | undefined> {
    while (this.#ready.length === 0 && !this.#isOver) await this.#readOn();
    const chunk = this.#ready.shift();
    if (chunk !== undefined) return chunk;
    if (this.#failure !== undefined) throw this.#failure.error;
    return undefined;
  }

  cancel(reason?: unknown): void {
    this.#isOver = true;
    this.#ready = [];
    this.#stream.cancel(reason);
  }

  async #readOn(): Promise<void> {
    try {
      const chunk = await this.#stream.read();
      if (chunk === undefined) await this.#finish();
      else if (chunk.isPing) this.#ready.push(chunk);
      else await this.#take(chunk);
    } catch (error) {
      await this.#fail(error);
    }
  }

  async #finish(): Promise<void> {
    await this.#flush([...this.#runs.values()]);
    this.#isOver = true;
  }

  /** What has arrived before a provider failed is sent, unless it is blocked. */
  async #fail(error: unknown): Promise<void> {
    if (this.isStopped) throw error;
    this.#isOver = true;
    this.#failure = { error };
    if (isBlocked(error)) return this.#stream.cancel(error);
    try {
      await this.#flush([...this.#runs.values()]);
    } catch (blocked) {
      this.#failure = { error: blocked };
    }
  }

  async #take(chunk: CompletionChunk): Promise<void> {
    const { value, others = [], billed } = chunk;
    for (const [index, event] of [value, ...others].entries()) {
      const passed = await this.#pass(event);
      if (passed !== undefined) this.#ready.push({ value: passed, ...(index === 0 && billed && { billed }) });
    }
    for (const ready of this.#ready.slice(0, -1)) ready.more = true;
    const last = this.#ready.at(-1);
    if (last !== undefined && chunk.more) last.more = true;
  }

  /** Returns an event with what may be sent of its texts; undefined if nothing is left of it. */
  async #pass(received: ChatCompletionChunk): Promise<ChatCompletionChunk | undefined> {
    const { event, isNew } = await this.#checkBeside(received);
    this.#last = event;
    const complete: GuardedText[] = [];
    const touched = new Map<string, Run>();
    for (const choice of event.choices) this.#collect(choice, { complete, touched });
    await this.#flushEnded(event, touched);
    const due = [...touched.values()].filter(({ window }) => window.isDue && window.unchecked >= this.#guards.interval);
    const { released, replaced } = await this.#check(due, { complete, isFinal: false });
    let hasMore = isNew || event.choices.length === 0;
    const choices = event.choices.map((choice) => {
      const delta = visitTexts(choice.delta, {
        scope: "response",
        visit: (path) => {
          const at = toPath(choice, path);
          const run = touched.get(at);
          const text = run === undefined ? replaced.get(at) : released.get(run) ?? "";
          if (run !== undefined) released.delete(run); // once, though a member may stand twice in it
          return text;
        },
      }) as Choice["delta"];
      hasMore ||= choice.finish_reason !== null && choice.finish_reason !== undefined || carries(delta);
      return { ...choice, delta, ...("logprobs" in choice && { logprobs: null }) };
    });
    return hasMore || event.usage ? { ...event, choices } : undefined;
  }

  /** Checks the texts of an event that are in no delta, such as the sources of a search. Most events have none. */
  async #checkBeside(received: ChatCompletionChunk) {
    const { choices, ...event } = received;
    const beside = { ...event, choices: choices.map(withoutDelta) };
    const found = listTexts(beside, "response");
    const unknown = found.filter(({ path, text }) => this.#beside.get(path)?.text !== text);
    if (unknown.length > 0) {
      const checked = await this.#guards.check(unknown);
      unknown.forEach(({ path, text }, index) => this.#beside.set(path, { text, passed: checked[index]!.text }));
    }
    const visit = (path: string) => this.#beside.get(path)?.passed;
    const passed = visitTexts(beside, { scope: "response", visit }) as typeof beside;
    const checked = passed.choices.map((choice, index) => ({ ...choice, delta: choices[index]!.delta }));
    return { event: { ...passed, choices: checked } as ChatCompletionChunk, isNew: unknown.length > 0 };
  }

  /** Adds the texts of a choice to their windows. */
  #collect(choice: Choice, { complete, touched }: {
    /** Texts that do not arrive in parts. */
    readonly complete: GuardedText[];
    readonly touched: Map<string, Run>;
  }): void {
    visitTexts(choice.delta, {
      scope: "response",
      visit: (path, text) => {
        const at = toPath(choice, path);
        if (!isStreamed(path)) return void complete.push({ path: at, text });
        let run = this.#runs.get(at);
        if (run === undefined) {
          const window = new TextWindow(this.#guards.reach);
          run = { choice: choice.index, path: at, window, toDelta: deltaFor(choice, path) };
          this.#runs.set(at, run);
        }
        run.window.append(text);
        touched.set(at, run);
      },
    });
  }

  /** Sends what is left of texts that have ended: with their choice, or because another member follows. */
  async #flushEnded(event: ChatCompletionChunk, touched: ReadonlyMap<string, Run>): Promise<void> {
    for (const choice of event.choices) {
      const isOver = choice.finish_reason !== null && choice.finish_reason !== undefined;
      const isContinued = carriesContent({ ...event, choices: [{ ...choice, finish_reason: null }] });
      const runs = [...this.#runs.values()].filter((run) => run.choice === choice.index);
      await this.#flush(runs.filter(({ path }) => isOver || isContinued && !touched.has(path)));
    }
  }

  async #flush(runs: readonly Run[]): Promise<void> {
    const open = runs.filter(({ window }) => !window.isEmpty);
    if (open.length === 0 || this.#last === undefined) return;
    const { released } = await this.#check(open, { complete: [], isFinal: true });
    const { usage: _, ...last } = this.#last;
    for (const [{ choice: index, toDelta }, text] of released) {
      if (text === "") continue;
      const choices = [{ index, delta: toDelta(text), finish_reason: null }] as Choice[];
      this.#ready.push({ value: { ...last, choices } });
    }
  }

  /** @throws If a text is blocked; nothing more is sent then. */
  async #check(runs: readonly Run[], { complete, isFinal }: {
    readonly complete: readonly GuardedText[];
    /** Whether the texts of the runs have ended. */
    readonly isFinal: boolean;
  }): Promise<{ readonly released: Map<Run, string>; readonly replaced: ReadonlyMap<string, string> }> {
    const released = new Map<Run, string>();
    if (runs.length + complete.length === 0) return { released, replaced: new Map() };
    const texts = [...runs.map(({ path, window }) => ({ path, text: window.text })), ...complete];
    const checked = await this.#guards.check(texts);
    runs.forEach((run, index) => released.set(run, run.window.release(checked[index]!.text, isFinal)));
    return { released, replaced: new Map(checked.slice(runs.length).map(({ path, text }) => [path, text])) };
  }
}

/** Also without what some providers repeat in each event: what the deltas have said so far, checked or not. */
function withoutDelta({ delta: _, message: __, ...choice }: Choice & { readonly message?: unknown }): object {
  return choice;
}

/** Lists of a delta whose items arrive in parts, and have an `index`. */
const partLists = /^(tool_calls|reasoning_details)\[(\d+)\]/;

/** Whether a member of a delta continues the same member of earlier ones. */
function isStreamed(path: string): boolean {
  return !path.includes("[") || partLists.test(path);
}

/** The index of an item in the complete response. */
function findIndex(
  choice: Choice,
  path: string,
): { readonly list: string; readonly at: number; readonly index: number } | undefined {
  const match = partLists.exec(path);
  if (match === null) return undefined;
  const [, list = "", at = "0"] = match;
  const items = choice.delta[list] as readonly { readonly index?: number }[];
  return { list, at: Number(at), index: items[Number(at)]?.index ?? Number(at) };
}

/** The place of a text in the complete response. */
function toPath(choice: Choice, path: string): string {
  const item = findIndex(choice, path);
  const inMessage = item === undefined ? path : path.replace(partLists, `${item.list}[${item.index}]`);
  return `choices[${choice.index}].message.${inMessage}`;
}

/** Returns what makes a delta of a part of one text. */
function deltaFor(choice: Choice, path: string): Run["toDelta"] {
  const item = findIndex(choice, path);
  if (item === undefined) {
    const names = path.split(".");
    return (text) => names.reduceRight<unknown>((value, name) => ({ [name]: value }), text) as Record<string, unknown>;
  }
  const names = path.slice(path.indexOf("]") + 2).split(".");
  const { type } = (choice.delta[item.list] as readonly { readonly type?: unknown }[])[item.at] ?? {};
  const own = { index: item.index, ...(item.list === "reasoning_details" && { type }) };
  return (text) => {
    const value = names.reduceRight<unknown>((inner, name) => ({ [name]: inner }), text);
    return { [item.list]: [{ ...own, ...(value as object) }] };
  };
}

/** Whether anything is left of a delta beside empty texts. */
function carries(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(carries);
  if (isObject(value)) return Object.entries(value).some(([name, member]) => name !== "index" && carries(member));
  return value !== "" && value !== null && value !== undefined;
}
