/**
 * The sixteen faults of a provider, and the good conduct under each.
 * @module
 */
import { hang, reset } from "../support/upstream.ts";
import { type Conduct, healthy, refusePrefill } from "./_mock.ts";
import type { Seen } from "./_scene.ts";

/** A fault of the first model. */
export interface Fault {
  readonly number: number;
  /** As `docs/failover.md` has it. */
  readonly title: string;
  readonly first: Conduct;
  /** The other model; healthy by default. */
  readonly second?: Conduct;
  /** Whether it exists in streams only. */
  readonly isOfStreams?: true;
  /** Whether a response breaks after its beginning. */
  readonly isBreak?: true;
  /** Whether a clean error is the right answer. */
  readonly isError?: true;
  /** Number of requests, one every 4 s. @default {1} */
  readonly requests?: number;
  /** Whether caller and provider have nothing to complain about, apart from the text. */
  isGood(seen: Seen): boolean;
}

const rateLimited = { status: 429, code: "rate_limit_exceeded", message: "Slow down" };
const unavailable = { status: 503, code: "service_unavailable", message: "Try again later" };
const broken = { status: 500, code: "server_error", message: "Something went wrong" };
const tooLong = {
  status: 400,
  code: "context_length_exceeded",
  message: "prompt is too long: input token count exceeds the maximum context length of this model",
};
const forbidden = {
  status: 400,
  code: "content_policy_violation",
  message: "Output blocked by content filtering policy",
};

/** When the first model of an outage is healthy again, ms after the first request. */
const outageMs = 60_000;

/** Tries of one request: at most six, apart from each other. */
const isSpread = ({ first }: Seen) =>
  first.length <= 6 && first.every(({ at }, index) => index === 0 || at - first[index - 1]!.at >= 50);

const servedBy = (name: string) => ({ answers }: Seen) => answers.every(({ text }) => text.startsWith(`${name}-`));
const calls = ({ first, second }: Seen) => `${first.length} ${second.length}`;

/** Sixty words or an error with what is known; everything is free for the next request. */
export const faults: readonly Fault[] = [
  {
    number: 1,
    title: "429 with `Retry-After: 2`, once",
    first: (mock, { number }) => number === 1 ? mock.fail(rateLimited, { "retry-after": "2" }) : mock.answer(),
    isGood: (seen) => calls(seen) === "1 1" || calls(seen) === "2 0" && seen.first[1]!.at - seen.first[0]!.at >= 2_000,
  },
  {
    number: 2,
    title: "429 for ever, without `Retry-After`",
    first: (mock) => mock.fail(rateLimited),
    isGood: isSpread,
  },
  {
    number: 3,
    title: "500, once",
    first: (mock, { number }) => number === 1 ? mock.fail(broken) : mock.answer(),
    isGood: (seen) => calls(seen) === "2 0",
  },
  { number: 4, title: "503 for ever", first: (mock) => mock.fail(unavailable), isGood: isSpread },
  {
    number: 5,
    title: "connection reset before the head, once",
    first: (mock, { number }) => number === 1 ? reset() : mock.answer(),
    isGood: (seen) => calls(seen) === "2 0",
  },
  {
    number: 6,
    title: "accepts the request and never answers",
    first: () => hang(),
    isGood: (seen) => calls(seen) === "1 1" && seen.answers[0]!.ms <= 45_000,
  },
  {
    number: 7,
    title: "head at once, first token after 20 s",
    isOfStreams: true,
    first: (mock) => mock.respond((events) => [20_000, ...events], [], "end"),
    isGood: ({ answers }) => answers[0]!.firstMs! <= 15_500,
  },
  {
    number: 8,
    title: "stream dies after 40 of 60 tokens",
    isBreak: true,
    first: (mock) => mock.breakOff(40, { ending: "close" }),
    isGood: servedBy("b"),
  },
  {
    number: 9,
    title: "silent after 20 tokens for 30 s, then closed",
    isBreak: true,
    first: (mock) => mock.breakOff(20, { ending: "end", pauseMs: 30_000 }),
    isGood: servedBy("b"),
  },
  {
    number: 10,
    title: "one event of the stream is not JSON",
    isOfStreams: true,
    first: (mock) =>
      mock.respond(
        (events) => {
          const middle = mock.vendor.lead + 30;
          return [...events.slice(0, middle), 'data: {"choi\n\n', ...events.slice(middle)];
        },
        [],
        "end",
      ),
    isGood: (seen) => calls(seen) === "1 0",
  },
  {
    number: 11,
    title: "no `[DONE]`, connection left open",
    isOfStreams: true,
    first: (mock) => mock.respond((events) => events.slice(0, events.length - mock.vendor.marks), [], "hang"),
    isGood: (seen) => calls(seen) === "1 0" && seen.answers[0]!.ms <= 10_000,
  },
  {
    number: 12,
    title: "400 `context_length_exceeded`",
    first: (mock) => mock.fail(tooLong),
    isGood: (seen) => calls(seen) === "1 1",
  },
  {
    number: 13,
    title: "400 `content_policy_violation`",
    isError: true,
    first: (mock) => mock.fail(forbidden),
    isGood: (seen) => {
      const [{ status, error }] = seen.answers as [Seen["answers"][0]];
      return calls(seen) === "1 0" && status === 400 && error === forbidden.message;
    },
  },
  {
    number: 14,
    title: "as 8, and the other model refuses a prefilled assistant turn",
    isBreak: true,
    first: (mock) => mock.breakOff(40, { ending: "close" }),
    second: refusePrefill,
    isGood: (seen) => servedBy("b")(seen) && seen.second.every(({ isRefused }) => !isRefused),
  },
  {
    number: 15,
    title: "503 for 60 s, then healthy; 20 requests, one every 4 s",
    requests: 24,
    first: (mock, { at }) => at < outageMs ? mock.fail(unavailable) : mock.answer(),
    isGood: ({ first, answers }) => {
      const probes = first.filter(({ at }) => at < outageMs).length;
      const back = answers.find(({ startedAt, text }) => startedAt >= outageMs && text.startsWith("a-"));
      return probes <= 10 && back !== undefined && back.startedAt <= outageMs + 30_000;
    },
  },
  {
    number: 16,
    title: "503 for ever: name and usage of the other model",
    first: (mock) => mock.fail(unavailable),
    second: healthy,
    isGood: (seen) => isSpread(seen) && servedBy("b")(seen),
  },
];
