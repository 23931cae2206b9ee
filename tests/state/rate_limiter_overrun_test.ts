import { assertEquals } from "@std/assert";
import { seededRandom } from "../../src/runtime/test.ts";
import { RateLimiter } from "../../src/state/limits/rate_limiter.ts";
import type { ReservedRate } from "../../src/state/limits/reserved_rate.ts";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;

Deno.test("concurrent requests never overrun declared limits, whatever the order of their ends", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = seededRandom(seed);
    const limits = {
      rpm: 1 + Math.floor(random() * 20),
      tpm: 500 + Math.floor(random() * 5000),
      rpd: 30 + Math.floor(random() * 300),
      concurrent: 1 + Math.floor(random() * 6),
    };
    const meter = new RateLimiter(limits);
    const sent: { at: number; tokens: number }[] = [];
    const open: ReservedRate[] = [];
    let now = random() * 1e9;
    for (let step = 0; step < 1500; step++) {
      now += random() < 0.01 ? random() * dayMs / 4 : random() * 2000;
      const tokens = Math.floor(random() * 450);
      if (open.length > 0 && random() < 0.5) {
        const [one] = open.splice(Math.floor(random() * open.length), 1);
        if (random() < 0.1) {
          const place = sent.findLastIndex(({ at }) => at === one!.at);
          sent.splice(place, 1);
          one!.release(now);
        } else one!.settle({ tokens: random() < 0.5 ? undefined : Math.floor(random() * one!.tokens) }, now);
      }
      if (meter.fullUntil(now, tokens) !== undefined) {
        const until = meter.fullUntil(now, tokens)!;
        assertEquals(until > now, true, `seed ${seed}, step ${step}`);
        if (until === Infinity || random() < 0.8) continue;
        now = until;
        assertEquals(meter.fullUntil(now, tokens), undefined, `seed ${seed}, step ${step}`);
      } else {
        open.push(meter.reserve(now, tokens));
        sent.push({ at: now, tokens });
      }
      const minute = sent.filter(({ at }) => at > now - minuteMs);
      const day = sent.filter(({ at }) => Math.floor(at / dayMs) === Math.floor(now / dayMs));
      const context = `seed ${seed}, step ${step}`;
      assertEquals(open.length <= limits.concurrent && meter.inFlight === open.length, true, context);
      assertEquals(minute.length <= limits.rpm && day.length <= limits.rpd, true, context);
    }
    assertEquals(sent.length > 20, true, `seed ${seed}: requests did go through`);
  }
});

Deno.test("reserved tokens never overrun the limit of any minute", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = seededRandom(seed);
    const meter = new RateLimiter({ tpm: 1000 });
    const sent: { at: number; tokens: number }[] = [];
    let now = 0;
    for (let step = 0; step < 1000; step++) {
      now += random() * 4000;
      const tokens = 1 + Math.floor(random() * 400);
      if (meter.fullUntil(now, tokens) !== undefined) continue;
      meter.reserve(now, tokens);
      sent.push({ at: now, tokens });
      const inMinute = sent.filter(({ at }) => at > now - minuteMs).reduce((sum, one) => sum + one.tokens, 0);
      assertEquals(inMinute <= 1000, true, `seed ${seed}, step ${step}`);
    }
  }
});

/** A vendor with a fixed window of a minute, whose answers come late and out of order. */
interface Message {
  readonly at: number;
  readonly reservation: ReservedRate;
  /** Undefined on the way there. */
  readonly remaining?: number;
  readonly resetMs?: number;
}

Deno.test("a vendor whose limit is known by its headers alone is never overrun, however late they come", () => {
  for (let seed = 1; seed <= 20; seed++) {
    const random = seededRandom(seed);
    const limit = 5 + Math.floor(random() * 40);
    const phase = random() * minuteMs;
    const windowOf = (at: number) => Math.floor((at + phase) / minuteMs);
    const meter = new RateLimiter();
    let messages: Message[] = [];
    let [window, used, served, now] = [windowOf(0), 0, 0, 0];
    const arrive = (message: Message) => {
      if (windowOf(message.at) !== window) [window, used] = [windowOf(message.at), 0];
      used++;
      served++;
      assertEquals(used <= limit, true, `seed ${seed}, at ${message.at}`);
      const resetMs = (window + 1) * minuteMs - phase - message.at;
      messages.push({
        at: message.at + random() * 15_000,
        reservation: message.reservation,
        remaining: limit - used,
        resetMs,
      });
    };
    const send = () => messages.push({ at: now + random() * 400, reservation: meter.reserve(now, 10) });
    send();
    for (let step = 0; step < 4000; step++) {
      now += random() * 300;
      for (const message of messages.filter(({ at }) => at <= now).sort((one, other) => one.at - other.at)) {
        messages = messages.filter((one) => one !== message);
        if (message.remaining === undefined) arrive(message);
        else {
          const { remaining, resetMs } = message;
          message.reservation.observe(message.at, { requests: { limit, remaining, resetMs } });
          if (random() < 0.7) message.reservation.settle({}, message.at);
        }
      }
      if (meter.requests(now) !== undefined && meter.fullUntil(now, 1) === undefined && random() < 0.6) send();
    }
    assertEquals(served > limit * 3, true, `seed ${seed}: ${served} of ${limit} a minute`);
  }
});
