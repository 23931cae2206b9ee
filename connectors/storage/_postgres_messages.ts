/**
 * Messages between processes: notifications of PostgreSQL, on one channel for all of a schema.
 * @module
 */
import { getOrCreate } from "../../src/util/once.ts";
import type { PostgresConnection } from "./_postgres_client.ts";

/** Maximum size of a notification, bytes. Longer messages are stored, and the notification refers to them. */
const maxPayloadBytes = 7_999;

/** The payload of a notification. */
interface Notification {
  /** Prefix of the tables of its mesh. */
  readonly prefix: string;
  readonly channel: string;
  /** The message, or the id of the row that has it. */
  readonly message?: string;
  readonly id?: string;
}

/** Publishes messages, and passes them on to subscribers in order. */
export class PostgresMessages {
  readonly #connection: PostgresConnection;
  readonly #receivers = new Map<string, Set<(message: string) => void>>();
  /** The last message that is being read. */
  #last: Promise<void> = Promise.resolve();

  constructor(connection: PostgresConnection) {
    this.#connection = connection;
  }

  async publish(channel: string, message: string): Promise<void> {
    const { names } = this.#connection;
    const { schema, prefix } = names;
    const payload = JSON.stringify({ prefix, channel, message });
    if (new TextEncoder().encode(payload).length <= maxPayloadBytes) {
      await this.#connection.query("", "SELECT pg_notify($1, $2)", [schema, payload]);
      return;
    }
    const text = `WITH stored AS (INSERT INTO ${names("messages")} (message) VALUES ($1) RETURNING id)
      SELECT pg_notify($2, json_build_object('prefix', $3::text, 'channel', $4::text, 'id', id::text)::text) FROM stored`;
    await this.#connection.query("", text, [JSON.stringify(message), schema, prefix, channel]);
  }

  /** Subscribes until the returned function is called. */
  async subscribe(channel: string, receive: (message: string) => void): Promise<() => Promise<void>> {
    await this.#connection.listen((payload) => this.#receive(payload));
    const receivers = getOrCreate(this.#receivers, channel, () => new Set<(message: string) => void>());
    const receiver = (message: string) => receive(message);
    receivers.add(receiver);
    return () => {
      receivers.delete(receiver);
      return Promise.resolve();
    };
  }

  /** Other programs may notify on the same channel. */
  #receive(payload: string): void {
    const notification = readNotification(payload);
    if (notification?.prefix !== this.#connection.names.prefix) return;
    this.#last = this.#last.then(() => this.#deliver(notification)).catch(() => {}); // a lost message, as in an outage
  }

  async #deliver({ channel, message, id }: Notification): Promise<void> {
    const receivers = this.#receivers.get(channel);
    if (receivers === undefined || receivers.size === 0) return;
    const text = message ?? await this.#readMessage(id);
    if (text !== undefined) { for (const receive of receivers) receive(text); }
  }

  async #readMessage(id: string | undefined): Promise<string | undefined> {
    const text = `SELECT message FROM ${this.#connection.names("messages")} WHERE id = $1`;
    const [row] = await this.#connection.query("messages", text, [id]);
    return row === undefined ? undefined : JSON.parse(String(row.message));
  }
}

function readNotification(payload: string): Notification | undefined {
  try {
    const { prefix, channel, message, id } = Object(JSON.parse(payload));
    const isText = (value: unknown) => typeof value === "string";
    if (!isText(prefix) || !isText(channel) || !isText(message) && !/^\d{1,18}$/.test(String(id))) return undefined;
    return { prefix, channel, ...(isText(message) ? { message } : { id: String(id) }) };
  } catch {
    return undefined;
  }
}
