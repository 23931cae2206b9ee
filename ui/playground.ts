/**
 * Sends a chat, and shows how it was routed.
 * @module
 */
import type { RoutingRecord } from "../src/contracts/events.ts";
import { showAttempts, showFacts } from "./attempts.ts";
import { type Connection, ResponseError } from "./connection.ts";
import { byId, el, setText } from "./dom.ts";
import { count, duration, rate, usd } from "./format.ts";
import type { MeshStatus } from "./records.ts";

/** The leaf of the tree of capabilities that a chat asks for. */
const chat = "generation.text-generation.chat-completion";

/** The part of the page that sends. */
export class Playground {
  readonly #connection: Connection;
  readonly #response = byId("play-answer");
  readonly #state = byId("play-state");
  readonly #route = byId("play-route");
  readonly #model = byId<HTMLSelectElement>("play-model");
  #names = "";
  #running: AbortController | undefined;
  #requestId = "";

  constructor(connection: Connection) {
    this.#connection = connection;
    const form = byId<HTMLFormElement>("play");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      if (this.#running === undefined) this.#send().catch(reportError);
    });
    byId("play-prompt").addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    });
    byId("play-stop").addEventListener("click", () => this.#running?.abort());
  }

  /** Offers pools, those for chats first, and models. */
  setModels({ pools }: Pick<MeshStatus, "pools">): void {
    const entries = Object.entries(pools);
    const rank = (capability: string | null) => `${chat}.`.startsWith(`${capability ?? chat}.`) ? 0 : 1;
    const sorted = entries.toSorted(([, first], [, other]) => rank(first.capability) - rank(other.capability));
    const names = sorted.map(([name]) => name);
    const models = [...new Set(entries.flatMap(([, { models }]) => models.map(({ name }) => name)))].sort();
    const shape = JSON.stringify([names, models]);
    if (shape === this.#names) return;
    this.#names = shape;
    const selected = this.#model.value;
    const createOptions = (label: string, list: readonly string[]) =>
      el("optgroup", { label }, ...list.map((name) => el("option", { value: name }, name)));
    this.#model.replaceChildren(createOptions("Pools", names), createOptions("Models", models));
    if (names.includes(selected) || models.includes(selected)) this.#model.value = selected;
  }

  /** Shows the routing record of the request that was sent last. */
  onRecord(record: RoutingRecord): void {
    if (this.#requestId === "" || record.request_id !== this.#requestId) return;
    const { model, provider, duration_ms = 0, ttft_ms = 0, tokens_in, tokens_out, cost_usd } = record;
    const writingMs = duration_ms - ttft_ms;
    const facts = showFacts({
      "Model": model ?? undefined,
      "Provider": provider ?? undefined,
      "Latency": duration(duration_ms),
      "First token": ttft_ms > 0 ? duration(ttft_ms) : undefined,
      "Speed": tokens_out && ttft_ms > 0 && writingMs > 0
        ? `${rate(tokens_out / writingMs * 1000)} tokens/s`
        : undefined,
      "Tokens in": tokens_in === undefined ? undefined : count(tokens_in),
      "Tokens out": tokens_out === undefined ? undefined : count(tokens_out),
      "Cost": cost_usd === undefined ? undefined : usd(cost_usd),
      "Overhead": duration(record.routing_latency_ms),
    });
    this.#route.replaceChildren(el("h3", {}, "Routing"), showAttempts(record.fallback_chain), facts);
  }

  async #send(): Promise<void> {
    const running = this.#running = new AbortController();
    this.#begin();
    const stream = byId<HTMLInputElement>("play-stream").checked;
    const content = byId<HTMLTextAreaElement>("play-prompt").value;
    try {
      const body = { model: this.#model.value, messages: [{ role: "user", content }], ...(stream ? { stream } : {}) };
      const response = await this.#connection.post("/v1/chat/completions", body, {
        headers: { "x-request-id": this.#requestId },
        signal: running.signal,
      });
      setText(this.#state, `Answer of ${response.headers.get("x-mesh-model") ?? "the model"}`);
      if (stream) await this.#read(response);
      else this.#response.textContent = getMessageText((await response.json()).choices?.[0]?.message);
      if (this.#response.textContent === "") setText(this.#state, "The answer has no text");
    } catch (error) {
      if (running.signal.aborted) setText(this.#state, "Stopped");
      else this.#fail(error as Error);
    } finally {
      this.#running = undefined;
      this.#setRunning(false);
    }
  }

  #begin(): void {
    this.#setRunning(true);
    this.#response.classList.remove("problem");
    this.#response.textContent = "";
    setText(this.#state, "Waiting for an answer");
    this.#route.replaceChildren();
    this.#requestId = `ui-${crypto.randomUUID?.() ?? Math.random().toString(36).slice(2)}`; // no UUIDs without TLS
  }

  async #read(response: Response): Promise<void> {
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const lines = (text + value).split("\n");
      text = lines.pop()!;
      for (const line of lines) {
        if (!line.startsWith("data: {")) continue;
        const event = JSON.parse(line.slice("data: ".length));
        if (event.error !== undefined) throw new Error(event.error.message);
        this.#response.append(getMessageText(event.choices?.[0]?.delta));
      }
      this.#response.scrollTop = this.#response.scrollHeight;
    }
  }

  #fail(error: Error): void {
    const { status, code } = error instanceof ResponseError ? error : {};
    setText(this.#state, ["Failed", status, code].filter(Boolean).join(" · "));
    this.#response.classList.add("problem");
    const message = error instanceof TypeError ? "The connection to the proxy was lost" : error.message;
    this.#response.append(this.#response.textContent === "" ? message : `\n${message}`);
  }

  #setRunning(isRunning: boolean): void {
    byId("play-stop").hidden = !isRunning;
    byId("play-send").setAttribute("aria-disabled", String(isRunning));
    byId("play-result").hidden = false;
    this.#response.setAttribute("aria-busy", String(isRunning));
  }
}

function getMessageText(message: { readonly content?: unknown } | undefined): string {
  return typeof message?.content === "string" ? message.content : "";
}
