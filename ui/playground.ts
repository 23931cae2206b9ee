/**
 * Sends a chat, and shows how it was routed.
 * @module
 */
import type { RoutingRecord } from "../src/contracts/events.ts";
import { type Connection } from "./connection.ts";
import { chainOf } from "./decision_row.ts";
import { byId, el } from "./dom.ts";
import { count, duration, usd } from "./format.ts";
import type { MeshStatus } from "./records.ts";

/** The part of the page that sends. */
export class Playground {
  readonly #connection: Connection;
  readonly #answer = byId("play-answer");
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
      if (this.#running === undefined) void this.#send();
    });
    byId("play-prompt").addEventListener("keydown", (event) => {
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) form.requestSubmit();
    });
    byId("play-stop").addEventListener("click", () => this.#running?.abort());
  }

  /** Offers pools and models. */
  setModels({ pools }: Pick<MeshStatus, "pools">): void {
    const models = [...new Set(Object.values(pools).flatMap(({ models }) => models.map(({ name }) => name)))].sort();
    const names = JSON.stringify([Object.keys(pools), models]);
    if (names === this.#names) return;
    this.#names = names;
    const selected = this.#model.value;
    const optionsOf = (label: string, list: readonly string[]) =>
      el("optgroup", { label }, ...list.map((name) => el("option", { value: name }, name)));
    this.#model.replaceChildren(optionsOf("Pools", Object.keys(pools)), optionsOf("Models", models));
    if (selected !== "") this.#model.value = selected;
  }

  /** Shows the decision of the request that was sent last. */
  onRecord(record: RoutingRecord): void {
    if (this.#requestId === "" || record.request_id !== this.#requestId) return;
    const { duration_ms, ttft_ms, routing_latency_ms, tokens_in = 0, tokens_out = 0, cost_usd } = record;
    const facts = [
      duration(duration_ms),
      ttft_ms === undefined ? "" : `first token ${duration(ttft_ms)}`,
      `${count(tokens_in)} tokens in, ${count(tokens_out)} out`,
      cost_usd === undefined ? "" : usd(cost_usd),
      `overhead ${duration(routing_latency_ms)}`,
    ];
    this.#route.replaceChildren(chainOf(record.fallback_chain), el("span", {}, facts.filter(Boolean).join(" · ")));
  }

  async #send(): Promise<void> {
    const running = this.#running = new AbortController();
    this.#setRunning(true);
    this.#answer.classList.remove("problem");
    this.#answer.textContent = "";
    this.#route.replaceChildren();
    const stream = byId<HTMLInputElement>("play-stream").checked;
    const content = byId<HTMLTextAreaElement>("play-prompt").value;
    this.#requestId = `ui-${crypto.randomUUID?.() ?? Math.random().toString(36).slice(2)}`;
    try {
      const body = { model: this.#model.value, messages: [{ role: "user", content }], ...(stream ? { stream } : {}) };
      const response = await this.#connection.post("/v1/chat/completions", body, {
        headers: { "x-request-id": this.#requestId },
        signal: running.signal,
      });
      const model = response.headers.get("x-mesh-model") ?? "a model";
      if (this.#route.childElementCount === 0) this.#route.textContent = `Answered by ${model}`; // else its record is there
      if (stream) await this.#read(response);
      else this.#answer.textContent = textOf((await response.json()).choices?.[0]?.message);
    } catch (error) {
      this.#fail(running.signal.aborted ? "Stopped." : (error as Error).message);
    } finally {
      this.#running = undefined;
      this.#setRunning(false);
    }
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
        if (event.error !== undefined) return this.#fail(event.error.message);
        this.#answer.append(textOf(event.choices?.[0]?.delta));
      }
      this.#answer.scrollTop = this.#answer.scrollHeight;
    }
  }

  #fail(message: string): void {
    this.#answer.classList.add("problem");
    this.#answer.append(this.#answer.textContent === "" ? message : `\n${message}`);
  }

  #setRunning(isRunning: boolean): void {
    byId("play-stop").hidden = !isRunning;
    byId<HTMLButtonElement>("play-send").disabled = isRunning;
    this.#answer.hidden = false;
    this.#answer.setAttribute("aria-busy", String(isRunning));
  }
}

function textOf(message: { readonly content?: unknown } | undefined): string {
  return typeof message?.content === "string" ? message.content : "";
}
